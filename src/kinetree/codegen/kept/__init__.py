"""Machine code on disk, and everything that it depends on."""
