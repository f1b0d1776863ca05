"""The public functions, a family a file: each says what goes in, what comes out, and which algorithm is between."""
