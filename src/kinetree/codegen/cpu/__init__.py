"""Machine code for this processor: walks over batches, calls from Python, and loading."""
