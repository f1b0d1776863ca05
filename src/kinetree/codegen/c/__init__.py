"""C99: programs as text for any C compiler, with no dependencies except the mathematical functions of the C library."""
