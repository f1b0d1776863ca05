"""Logs of a robot's motion: what they are, the files that hold them, and what is suspicious in them."""
