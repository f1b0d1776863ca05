"""Pictures of numbers over time: empty sheets in matplotlib, and their common look."""
