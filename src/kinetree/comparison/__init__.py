"""Robots beside other libraries' readings of their files, or beside each other."""

from kinetree.comparison.compare import compare
from kinetree.comparison.result import Comparison, Counterpart, Difference, Quantity

__all__ = ["Comparison", "Counterpart", "Difference", "Quantity", "compare"]
