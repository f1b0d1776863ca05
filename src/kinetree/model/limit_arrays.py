"""A robot's limits as arrays in the order of q and v."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.model.elements import Coupling, Joint
from kinetree.model.sharing import left_inverse

__all__ = ["LimitArrays", "limit_arrays"]

Array = NDArray[np.float64]

_ROUNDING = 1e-12


class LimitArrays(NamedTuple):
    """Read-only arrays, infinite without a limit."""

    lower: Array
    upper: Array
    velocity: Array
    effort: Array


def limit_arrays(owners: Iterable[Joint | Coupling], joints: Mapping[str, Joint], nq: int, nv: int) -> LimitArrays:
    """The limits of each coordinate of q (nq) and each degree of freedom of v (nv)."""
    lower, upper = np.full(nq, -math.inf), np.full(nq, math.inf)
    velocity, effort = np.full(nv, math.inf), np.full(nv, math.inf)
    for owner in owners:
        if isinstance(owner, Coupling):
            _limit_coupling(owner, joints, lower, upper, velocity, effort)
            continue
        lower[owner.q_slice], upper[owner.q_slice] = owner.limits.lower, owner.limits.upper
        velocity[owner.v_slice], effort[owner.v_slice] = owner.limits.velocity, owner.limits.effort
        for first in owner.kind.quaternions:
            quaternion = slice(owner.q_start + first, owner.q_start + first + 4)
            lower[quaternion], upper[quaternion] = -math.inf, math.inf
    limits = LimitArrays(lower, upper, velocity, effort)
    for array in limits:
        array.flags.writeable = False
    return limits


def _limit_coupling(
    coupling: Coupling, joints: Mapping[str, Joint], lower: Array, upper: Array, velocity: Array, effort: Array
) -> None:
    """The bounds on a coupling's coordinates z from those of its joints, q = G z + b, that depend on one z only."""
    limits = [joints[name].limits for name in coupling.joints]
    bounds = [pair for own in limits for pair in zip(own.lower, own.upper, strict=True)]
    speeds = [x for own in limits for x in own.velocity]
    efforts = [x for own in limits for x in own.effort]
    for row, k, weight in _single(coupling.matrix):
        ends = sorted((x - coupling.offset[row]) / weight for x in bounds[row])
        q, v = coupling.q_start + k, coupling.v_start + k
        lower[q], upper[q] = max(lower[q], ends[0]), min(upper[q], ends[1])
        velocity[v] = min(velocity[v], speeds[row] / abs(weight))
    back = left_inverse(coupling.matrix)  # forces of the joints are its transpose times those of z
    for row, k, weight in _single([*zip(*back, strict=True)]):
        v = coupling.v_start + k
        effort[v] = min(effort[v], efforts[row] / abs(weight))


def _single(matrix: Sequence[Sequence[float]]) -> Iterator[tuple[int, int, float]]:
    """(row, column, number) of each row with only one number that is not zero, rounding apart."""
    tiny = _ROUNDING * max(abs(x) for row in matrix for x in row)
    for i, row in enumerate(matrix):
        places = [k for k, x in enumerate(row) if abs(x) > tiny]
        if len(places) == 1:
            yield i, places[0], row[places[0]]
