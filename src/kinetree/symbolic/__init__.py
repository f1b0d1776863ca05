"""Symbolic arrays: NumPy's behaviour on the symbols of a trace. It knows nothing about robots."""

from kinetree.symbolic import (
    choices,
    constants,
    einsum,
    elementwise,
    elimination,
    factors,
    norms,
    products,
    reductions,
    sequences,
    structure,
    ufunc_methods,
)
from kinetree.symbolic.array import SymbolicArray
from kinetree.symbolic.operands import symbolic
from kinetree.symbolic.refusals import OUTSIDE, explained, line_of, refuse, user_line
from kinetree.symbolic.samples import by_sample

__all__ = [
    "OUTSIDE",
    "SymbolicArray",
    "by_sample",
    "explained",
    "line_of",
    "refuse",
    "symbolic",
    "user_line",
]

RULES = (
    choices,
    constants,
    einsum,
    elementwise,
    elimination,
    factors,
    norms,
    products,
    reductions,
    sequences,
    structure,
    ufunc_methods,
)
"""The modules that fill the tables of rules when they are imported."""
