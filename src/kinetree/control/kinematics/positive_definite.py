"""Small positive definite systems of arrays, plain or symbolic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.spatial.linear import LDLT
from kinetree.symbolic import SymbolicArray
from kinetree.symbolic.array import made

__all__ = ["damped", "solve"]

_RELATIVE, _ABSOLUTE = 1e-12, 1e-30


def damped(A: Any, amount: Any) -> Any:
    """A + amount I for a positive semidefinite A; a little more, relative to A, so that it can be factored."""
    n = len(A)
    return A + (amount + _RELATIVE * np.trace(A) + _ABSOLUTE) * np.eye(n)


def solve(A: Any, b: Any) -> Any:
    """A⁻¹ b for a symmetric positive definite A (n, n) and b (n,) or (n, k)."""
    factors = LDLT(_numbers(A))
    if b.ndim == 1:
        return _array(factors.solve(_numbers(b)), A, b)
    columns = [factors.solve(_numbers(column)) for column in b.T]
    return _array(columns, A, b).T


def _numbers(x: Any) -> Any:
    return x.elements.tolist() if isinstance(x, SymbolicArray) else np.asarray(x).tolist()


def _array(numbers: Sequence[Any], *like: Any) -> Any:
    symbolic = [x for x in like if isinstance(x, SymbolicArray)]
    return made(np.array(numbers, object), symbolic[0].dtype) if symbolic else np.array(numbers)
