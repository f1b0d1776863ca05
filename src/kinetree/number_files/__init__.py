"""Files of numbers, read strictly and without knowing what they mean: NumPy's arrays, tables as CSV, messages."""
