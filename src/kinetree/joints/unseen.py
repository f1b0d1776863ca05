"""The part of a body's inertia that a joint leaves unseen, found by trial for kinds without a closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kinetree.joints.base import JointKind
from kinetree.spatial import Force, Inertia, Sym3, Vec3

__all__ = ["unseen_by_trial"]

_MASS, _MOMENTS, _ROTATION, _RODS = "mass", "moments", "rotation", "rods"
_STATES = 3
_TOLERANCE = 1e-12


def unseen_by_trial(kind: JointKind, inertia: Inertia) -> Inertia:
    """The mass, first moments along axes, all rotational inertia or equal moments across an axis: all that is unseen.

    A part is unseen if no motion of the joint requires a force for it (ΔI S = 0) and no position of the joint changes
    it (X_Jᵀ ΔI X_J = ΔI). These conditions are analytic in q, so they are tested at a few generic configurations.
    """
    free = _free(kind)
    mass = inertia.mass if (_MASS, 0) in free else 0.0
    h = Vec3(*(x if (_MOMENTS, k) in free else 0.0 for k, x in enumerate(inertia.h.components())))
    if (_ROTATION, 0) in free:
        return Inertia(mass, h, inertia.I)
    rods = [k for k in range(3) if (_RODS, k) in free]
    if not rods:
        return Inertia(mass, h, Sym3.zero())
    across = (inertia.I.xx, inertia.I.yy, inertia.I.zz)[(rods[0] + 2) % 3]
    xx, yy, zz = (0.0 if k == rods[0] else across for k in range(3))
    return Inertia(mass, h, Sym3(xx, yy, zz, 0.0, 0.0, 0.0))


@lru_cache(maxsize=1024)
def _free(kind: JointKind) -> frozenset[tuple[str, int]]:
    """The candidates that are unseen."""
    units = [Vec3(*(float(k == n) for k in range(3))) for n in range(3)]
    candidates = {(_MASS, 0): [Inertia(1.0, Vec3.zero(), Sym3.zero())]}
    candidates |= {(_MOMENTS, k): [Inertia(0.0, units[k], Sym3.zero())] for k in range(3)}
    candidates[_ROTATION, 0] = [_rotational(*(float(n == k) for n in range(6))) for k in range(6)]
    candidates |= {(_RODS, k): [_rotational(*(float(n != k) for n in range(3)))] for k in range(3)}
    rng = np.random.default_rng(0)
    infinite = [math.inf] * kind.nq
    positions = [kind.random(rng, [-x for x in infinite], infinite) for _ in range(_STATES)]
    return frozenset(name for name, parts in candidates.items() if _is_free(kind, positions, parts))


def _is_free(kind: JointKind, positions: Sequence[Sequence[float]], parts: Sequence[Inertia]) -> bool:
    for q in positions:
        X_J, S, _, _ = kind.calc(q, [0.0] * kind.nv)
        for part in parts:
            if any(np.abs(_force(part @ column)).max() > _TOLERANCE for column in S.columns):
                return False
            if np.abs(_ten(X_J.back(part)) - _ten(part)).max() > _TOLERANCE:
                return False
    return True


def _force(f: Force) -> NDArray[np.float64]:
    return np.array(f.linear_first(), dtype=np.float64)


def _ten(inertia: Inertia) -> NDArray[np.float64]:
    return np.array([inertia.mass, *inertia.h.components(), *inertia.I.components()], dtype=np.float64)


def _rotational(xx: float, yy: float, zz: float, xy: float = 0.0, xz: float = 0.0, yz: float = 0.0) -> Inertia:
    return Inertia(0.0, Vec3.zero(), Sym3(xx, yy, zz, xy, xz, yz))
