"""C99: programs as text for any C compiler, with nothing beside it but the mathematical functions of the C library."""
