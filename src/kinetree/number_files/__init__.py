"""Files of numbers, read strictly and without their meaning: NumPy's arrays, tables as CSV, messages."""
