"""Dry friction whose form is more than one number: its columns for least squares, the search for speeds, the result."""
