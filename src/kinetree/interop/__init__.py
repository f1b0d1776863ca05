"""kinetree's functions where people already work: one file, or one folder, per framework."""
