"""Results on disk: folders that one process writes, and arrays in chunks, each there whole or not at all."""
