"""Logs of a robot's motion: their records, the files that hold them, and suspicious values in them."""
