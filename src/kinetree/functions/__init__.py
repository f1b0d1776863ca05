"""The public functions, one family per file: each documents its inputs, its outputs and the algorithm between them."""
