"""Plain Python functions of numbers and arrays, made into machine code as they are written."""
