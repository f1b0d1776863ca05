"""Quadratic programs, one or many at a time: the small interface behind which solvers are."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.compiler.helper_threads import on_threads
from kinetree.compiler.thread_count import thread_count
from kinetree.control.quadratic.active_set import INFEASIBLE, SOLVED, TOO_MANY
from kinetree.control.quadratic.arguments import (
    beyond_reach,
    flat,
    given_arrays,
    leading_axes,
    not_numbers,
    row_count,
)
from kinetree.control.quadratic.one_problem import Problems, Size, Solutions, room_for, solved
from kinetree.control.quadratic.proximal import NOT_CONVEX, UNBOUNDED
from kinetree.errors import MissingPackageError, OptionError
from kinetree.records import record

__all__ = ["STATUS", "QuadraticSolution", "quadratic_program"]

Array = NDArray[Any]

STATUS = (
    "solved",
    "infeasible",
    "too many steps",
    "not convex",
    "unbounded",
    "not convex",
    "not a number",
    "too many steps",
)
"""By the numbers that the machine code ends with."""
_DAQP_ENDS = {1: SOLVED, 2: SOLVED, -1: INFEASIBLE, -3: UNBOUNDED, -5: NOT_CONVEX}
"""By its exit flags."""
_DAQP_EQUATION = 5
_INFEASIBLE, _NOT_NUMBERS = STATUS.index("infeasible"), STATUS.index("not a number")
_WORDS = np.asarray(STATUS)
_SENTENCES = {
    "solved": "solved",
    "infeasible": "no x satisfies all equations and bounds; relax some of them, or make them part of the cost",
    "too many steps": "the solver gave up: rows nearly depend on each other, or the numbers' sizes differ widely; "
    "scale the problem, or add a small multiple of the identity to P",
    "not convex": "P has a negative eigenvalue in a direction that the equations leave free",
    "unbounded": "the cost falls without end in a direction in which P is flat and nothing bounds x",
    "not a number": "there is NaN in the problem, or infinity elsewhere than in a bound",
}


@record(frozen=True, slots=True)
class QuadraticSolution:
    """The solutions that `quadratic_program` returns."""

    x: Array
    """The minimum (…, n); NaN where the problem was not solved."""
    row_multipliers: Array
    """One number (…, m) per row of C: by how much the cost would fall per unit by which an active bound yields;
    positive at upper bounds, negative at lower ones, zero where none is active."""
    bound_multipliers: Array
    """Such multipliers of the bounds of x, (…, n)."""
    status: Array
    """(…), for each problem "solved", "infeasible", "unbounded", "not convex", "not a number" or "too many steps"."""
    steps: Array
    """(…), how often a bound became active or inactive."""

    @property
    def solved(self) -> Any:
        """Whether each problem is solved (…)."""
        return self.status == "solved"

    def summary(self) -> str:
        """A sentence on the first problem that is not solved, or "solved"."""
        flat = self.status.reshape(-1)
        wrong = np.flatnonzero(flat != "solved")
        if not wrong.size:
            return _SENTENCES["solved"]
        index = ", ".join(str(k) for k in np.unravel_index(wrong[0], self.status.shape))
        where = f"problem [{index}]: " if index else ""
        return where + _SENTENCES[str(flat[wrong[0]])]

    def told(self) -> str:
        """The old name of `summary`, for one release."""
        warnings.warn("told() is summary() now", DeprecationWarning, stacklevel=2)
        return self.summary()


def quadratic_program(
    P: ArrayLike,
    q: ArrayLike,
    A: ArrayLike | None = None,
    b: ArrayLike | None = None,
    C: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    x_lower: ArrayLike | None = None,
    x_upper: ArrayLike | None = None,
    *,
    solver: Literal["kinetree", "daqp"] = "kinetree",
    threads: int | None = None,
) -> QuadraticSolution:
    """Minimise ½ xᵀ P x + qᵀ x where A x = b, lower ≤ C x ≤ upper and x_lower ≤ x ≤ x_upper.

    For the problems of control: dense, of up to a few hundred unknowns, exact to rounding. Leading axes are
    problems, and broadcast; a problem's solution does not depend on its neighbours. kinetree's own solver uses the
    equations up by Gauss–Jordan elimination and goes on by the dual active-set method of Goldfarb and Idnani, in
    machine code. Equations that follow from others do no harm. Where P is flat, proximal steps are taken, and of
    several minima one is returned.

    Args:
        P: (…, n, n), symmetric, without negative eigenvalues in directions that the equations leave free.
        q: (…, n).
        A, b: equations (…, e, n) and (…, e).
        C: rows (…, m, n) that are bounded.
        lower, upper: their bounds (…, m), either may be left out; infinite for rows without a bound.
        x_lower, x_upper: bounds of the unknowns, (…, n).
        solver: "kinetree", or "daqp" for the package daqp (`pip install 'kinetree[control]'`), which needs a P with
            positive eigenvalues only and is a second opinion.
        threads: how many threads may share a large batch; by default as many as there are cores.

    Returns:
        The record `QuadraticSolution`. Its `status` reports infeasible problems, and `summary()` describes it in words.

    Raises:
        ShapeError: shapes that do not fit each other.
        OptionError: A without b, C without bounds or the reverse, a P that is not symmetric, or an unknown solver.
        DTypeError: something that is not an array of real numbers.
        MissingPackageError: the solver's package is not installed.

    Source: Goldfarb and Idnani, Mathematical Programming 27 (1983).

    >>> import kinetree as kt
    >>> P, q = [[2.0, 0.0], [0.0, 2.0]], [-2.0, -5.0]
    >>> found = kt.control.quadratic_program(P, q, [[1.0, 1.0]], [1.0], x_lower=[0.0, 0.0])
    >>> found.x.tolist(), str(found.status), found.bound_multipliers.tolist()
    ([0.0, 1.0], 'solved', [-1.0, 0.0])
    >>> kt.control.quadratic_program([[1.0]], [0.0], [[1.0]], [3.0], x_upper=[2.0]).summary()[:43]
    'no x satisfies all equations and bounds; re'
    """
    if solver not in ("kinetree", "daqp"):
        raise OptionError(f"quadratic_program: solver must be 'kinetree' or 'daqp', not {solver!r:.60}")
    if threads is not None:
        thread_count(threads)
    arrays = given_arrays(P, q, A, b, C, lower, upper, x_lower, x_upper)
    lead = leading_axes(arrays)
    n, m, e = arrays["q"].shape[-1], row_count(C, arrays["C"]), row_count(A, arrays["A"])
    size = Size(n, m, e, x_lower is not None or x_upper is not None)
    sick = not_numbers(arrays, lead)
    count = int(np.prod(lead))
    if solver == "daqp":
        solutions = _solved_by_daqp(size, _flat(arrays, lead), count)
    elif count == 1:
        room = room_for(size)
        for place, x in zip(room.given, arrays.values(), strict=True):
            if x.size:
                place[0] = x if not lead else x.reshape(place.shape[1:])
        room.solve()
        solutions = Solutions._make(x.copy() for x in room.results)
    else:
        solutions = _many(size, _flat(arrays, lead), count, threads)
    x, row_multipliers, bound_multipliers, status, steps = solutions
    if sick.any():
        status[sick.reshape(-1)] = _NOT_NUMBERS
    beyond = beyond_reach(arrays, lead)
    if beyond.any():
        status[beyond.reshape(-1) & (status != _NOT_NUMBERS)] = _INFEASIBLE
    bad = status != 0
    if bad.any():
        x[bad], row_multipliers[bad], bound_multipliers[bad] = np.nan, np.nan, np.nan
    return QuadraticSolution(
        x.reshape(*lead, n), row_multipliers[:, : size[1]].reshape(*lead, size[1]), bound_multipliers.reshape(*lead, n),
        _WORDS[status].reshape(lead), steps.reshape(lead),
    )  # fmt: skip


def _flat(arrays: dict[str, Array], lead: tuple[int, ...]) -> Problems:
    return Problems(*(flat(x, lead, name) for name, x in arrays.items()))


def _many(size: Size, problems: Problems, count: int, threads: int | None) -> Solutions:
    """A batch, in pieces on threads."""
    solutions = Solutions.of(count, size)

    def compute(piece: slice) -> None:
        parts = Problems(*(x[piece] if len(x) > 1 else x for x in problems))
        solved(size, parts, Solutions._make(x[piece] for x in solutions), size.workspace())

    pieces = max(1, min(count, 4 * thread_count(threads)))
    ends = [count * k // pieces for k in range(pieces + 1)]
    on_threads(compute, [slice(a, b) for a, b in pairwise(ends)], threads)
    return solutions


def _solved_by_daqp(size: Size, problems: Problems, count: int) -> Solutions:
    """All problems of a batch, one after the other, by the dual active-set method in C of the package daqp."""
    try:
        import daqp
    except ImportError:
        raise MissingPackageError("solver='daqp' needs the package daqp: pip install 'kinetree[control]'") from None
    n, m, equal, is_bounded = size
    solutions = Solutions.of(count, size)
    bounds = n if is_bounded else 0
    kinds = np.zeros(bounds + m + equal, np.int32)
    kinds[bounds + m :] = _DAQP_EQUATION
    for k in range(count):
        one = Problems(*(x[k if len(x) > 1 else 0] for x in problems))
        rows = np.vstack([one.C[:m], one.A[:equal]])
        low = np.concatenate([one.x_lower[:bounds], one.lower[:m], one.b[:equal]])
        high = np.concatenate([one.x_upper[:bounds], one.upper[:m], one.b[:equal]])
        x, _, ended, info = daqp.solve(one.P, one.q, rows, high, low, kinds.copy())
        multipliers = info["lam"]
        solutions.x[k], solutions.status[k], solutions.steps[k] = x, _DAQP_ENDS.get(ended, TOO_MANY), info["iterations"]
        solutions.bound_multipliers[k, :bounds] = multipliers[:bounds]
        solutions.row_multipliers[k, :m] = multipliers[bounds : bounds + m]
    return solutions
