"""The solver DAQP, a dual active-set method in C, from the package daqp."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.control.quadratic.active_set import INFEASIBLE, SOLVED, TOO_MANY
from kinetree.control.quadratic.proximal import NOT_CONVEX, UNBOUNDED
from kinetree.control.quadratic.room import Size, results
from kinetree.errors import MissingPackageError

__all__ = ["solved_by_daqp"]

Array = NDArray[Any]
_EQUATION = 5
_ENDS = {1: SOLVED, 2: SOLVED, -1: INFEASIBLE, -3: UNBOUNDED, -5: NOT_CONVEX}
"""Its exit flags."""


def solved_by_daqp(size: Size, given: dict[str, Array], count: int) -> tuple[Array, ...]:
    """All problems of a batch, one after the other; arguments and results as for `solved`."""
    try:
        import daqp
    except ImportError:
        raise MissingPackageError("solver='daqp' needs the package daqp: pip install 'kinetree[control]'") from None
    n, m, equal, is_bounded = size
    found = results(count, size)
    bounds = n if is_bounded else 0
    kinds = np.zeros(bounds + m + equal, np.int32)
    kinds[bounds + m :] = _EQUATION
    for k in range(count):
        one = {name: x[k if len(x) > 1 else 0] for name, x in given.items()}
        rows = np.vstack([one["C"][:m], one["A"][:equal]])
        low = np.concatenate([one["x_lower"][:bounds], one["lower"][:m], one["b"][:equal]])
        high = np.concatenate([one["x_upper"][:bounds], one["upper"][:m], one["b"][:equal]])
        x, _, ended, info = daqp.solve(one["P"], one["q"], rows, high, low, kinds.copy())
        multipliers = info["lam"]
        found[0][k], found[3][k], found[4][k] = x, _ENDS.get(ended, TOO_MANY), info["iterations"]
        found[2][k, :bounds], found[1][k, :m] = multipliers[:bounds], multipliers[bounds : bounds + m]
    return found
