"""kinetree: a compiler for articulated-body dynamics."""
