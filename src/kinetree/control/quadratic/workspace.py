"""The arrays of quadratic programs as records: levels of equations, and a solver's workspace."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.codegen.loops.kinds import Floats, Indices

__all__ = ["Levels", "Workspace"]


class Levels(NamedTuple):
    """Levels of equations (A_k | b_k) in order of priority, under lower ≤ C x ≤ upper."""

    n: int
    """The number of unknowns."""
    hard: int
    soft: int
    """The numbers of inequalities. Soft ones, which are the last, are left out where even the first levels, which are
    taken one by one, have no solution with them."""
    rows: Floats
    """(…, n + 1), all levels' rows, one level after the other."""
    weights: Floats
    """One per row: factors of the squares."""
    starts: Indices
    """(levels + 1,), where each level starts."""
    sides: Floats
    """(hard + soft, n + 1), the rows C, and a column of zeros."""
    lower: Floats
    upper: Floats
    """(hard + soft,)."""


class Workspace(NamedTuple):
    """Room for one problem of n unknowns with m inequalities lower ≤ base + Cᵀ x ≤ upper; arrays may be larger."""

    rows: Floats
    """(…, n + 1), equations or other rows that are being changed."""
    tableau: Floats
    """(n, n + 1), see `elimination.py`."""
    basis: Floats
    """(n, n), a direction per row."""
    H: Floats
    g: Floats
    """(n, n) and (n,), of the cost ½ xᵀ H x + gᵀ x."""
    C: Floats
    """(n, m), a column per inequality, of length 1."""
    lower: Floats
    upper: Floats
    """(m,), infinite for rows without a bound."""
    base: Floats
    """(m,), the values of the inequalities where x is zero."""
    lengths: Floats
    """(m,), the factors of the inequalities."""
    x: Floats
    """(n,), the minimum over the unknowns that are free."""
    multipliers: Floats
    """(m,), positive at upper bounds, negative at lower ones."""
    solution: Floats
    """(n,), all unknowns."""
    last: Floats
    factor: Floats
    pulled: Floats
    """(n,), (n, n) and (n,), see `proximal.py`."""
    slack: Floats
    """(m,), the values of the inequalities."""
    J: Floats
    R: Floats
    d: Floats
    z: Floats
    r: Floats
    u: Floats
    """(n, n) twice and (n,) four times, see `working_set.py`."""
    across: Floats
    """(max(n, m) + 1,), see `orthogonal.py`."""
    active: Indices
    """(n,), the inequalities that are active."""
    side: Indices
    """(m,), 1 and -1 for inequalities that are active at their lower and upper bounds, and 2 for given up ones."""
    is_pivot: Indices
    """(n,), 1 for unknowns that are given by others."""
    pivots: Indices
    """(…,), the unknowns that equations give."""
    free: Indices
    """(n,), the unknowns that are not given by others."""
    outcome: Indices
    """(5,), how many levels are solved, the status of the last program, how many programs were solved, how many steps
    they took, and 1 where soft inequalities were left out."""

    @classmethod
    def of(cls, n: int, m: int, equations: int) -> Workspace:
        """For problems with at most so many unknowns, inequalities, and equations of one level."""
        count = max(n, m, equations)
        floats = [
            (count, n + 1), (n, n + 1), (n, n), (n, n), (n,), (n, m), (m,), (m,), (m,), (m,), (n,), (m,), (n,),
            (n,), (n, n), (n,), (m,), (n, n), (n, n), (n,), (n,), (n,), (n,), (max(n, m) + 1,),
        ]  # fmt: skip
        return cls._make([*map(np.zeros, floats), *(np.zeros(k, np.int32) for k in (n, m, n, count, n, 5))])
