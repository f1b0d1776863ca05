"""Small positive definite systems of arrays, plain or symbolic."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.control.kinematics.numbers import array_of, numbers_of
from kinetree.spatial.linear import LDLT

__all__ = ["damped", "solve"]

_RELATIVE, _ABSOLUTE = 1e-12, 1e-30


def damped(A: Any, amount: Any) -> Any:
    """A + amount I for a positive semidefinite A; a little more, relative to A, so that it can be factored."""
    n = len(A)
    return A + (amount + _RELATIVE * np.trace(A) + _ABSOLUTE) * np.eye(n)


def solve(A: Any, b: Any) -> Any:
    """A⁻¹ b for a symmetric positive definite A (n, n) and b (n,) or (n, k)."""
    factors = LDLT(numbers_of(A))
    if b.ndim == 1:
        return array_of(factors.solve(numbers_of(b)), A, b)
    columns = [factors.solve(numbers_of(column)) for column in b.T]
    return array_of(columns, A, b).T
