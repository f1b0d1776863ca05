"""SRDF, the Semantic Robot Description Format: groups, named states and collision pairs that accompany a robot file."""

from kinetree.io.srdf.reader import read_srdf

__all__ = ["read_srdf"]
