"""Symbolic arrays: NumPy's behaviour on the symbols of a trace. It knows nothing about robots."""

from kinetree.symbolic import choices, elementwise, products, reductions, structure, ufunc_methods  # noqa: F401
from kinetree.symbolic.array import SymbolicArray
from kinetree.symbolic.operands import symbolic
from kinetree.symbolic.refusals import user_line

__all__ = ["SymbolicArray", "symbolic", "user_line"]
