"""Pictures of numbers over time: empty sheets in matplotlib, and what all of them look like."""
