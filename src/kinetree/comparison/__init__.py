"""Robots compared with other libraries' readings of their files, or with each other."""

from kinetree.comparison.compare import compare
from kinetree.comparison.result import Comparison, Counterpart, Difference, Quantity
from kinetree.comparison.steps import Parting, StepComparison, compare_steps

__all__ = [
    "Comparison",
    "Counterpart",
    "Difference",
    "Parting",
    "Quantity",
    "StepComparison",
    "compare",
    "compare_steps",
]
