"""Arrays, plain or symbolic, as numbers, and arrays of numbers; work that is left out where nobody needs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree.expr import slopes_of
from kinetree.expr.repeat import otherwise
from kinetree.spatial.linear import LDLT
from kinetree.symbolic import SymbolicArray
from kinetree.symbolic.array import made as symbolic

__all__ = ["array_of", "constant", "damped", "numbers_of", "solve", "unless_idle", "with_slopes_of"]


def numbers_of(x: Any) -> Any:
    """The numbers of an array, in lists."""
    return x.elements.tolist() if isinstance(x, SymbolicArray) else np.asarray(x).tolist()


def array_of(numbers: Sequence[Any], *like: Any) -> Any:
    """An array of these numbers, which is symbolic if one of `like` is."""
    dtypes = [x.dtype for x in like if isinstance(x, SymbolicArray)]
    return symbolic(np.array(numbers, object), dtypes[0]) if dtypes else np.array(numbers)


def unless_idle(idle: Any, make: Callable[[], Any], size: int) -> Any:
    """`make()`, an array of this size, or zeros where `idle` is true.

    A compiled program leaves the work out where all samples that it computes together are idle.
    """
    results: list[Any] = []

    def numbers() -> Any:
        results.append(make())
        return numbers_of(results[0])

    return array_of(otherwise(numbers_of(idle), [0.0] * size, numbers), *results)


def with_slopes_of(x: Any, y: Any) -> Any:
    """The array x with the derivatives of another one of its shape."""
    numbers = [slopes_of(a, b) for a, b in zip(np.ravel(numbers_of(x)), np.ravel(numbers_of(y)), strict=True)]
    return array_of(numbers, y, x).reshape(np.shape(x))


def constant(x: Any) -> Any:
    """The array x without derivatives."""
    return with_slopes_of(x, np.zeros(np.shape(x)))


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
