"""Other forms of one robot, for kernels: with other axes, inertias or numbers, or looped over."""
