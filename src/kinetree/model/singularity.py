"""Which joints move nothing that has inertia, so that forward dynamics is not defined.

A float run of the inward pass of the articulated-body algorithm (RBDA table 7.1) at a generic configuration, over
the part of the tree where it can matter: D = Sᵀ Iᴬ S of a joint is at least Sᵀ I S of its own body, so where that
inertia is positive definite no pass is needed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kinetree.model.checks import central_inertias, principal_moments, ten
from kinetree.model.joints import JointKind
from kinetree.model.tree import Tree
from kinetree.spatial import Transform

__all__ = ["singular_slots"]

TOLERANCE = 1e-12
"""What is this small, relative to what it is a difference of, is zero."""

Floats = NDArray[np.float64]


def singular_slots(tree: Tree) -> list[int]:
    """The slots, ascending, of the joints that some motion of the joints outward of them frees of all inertia."""
    suspect, matters = _where_it_matters(tree)
    if not suspect.any():
        return []
    rng = np.random.default_rng(0)  # any seed: the configuration only has to be generic
    IA: dict[int, Floats] = {}
    singular: list[int] = []
    for i, p in tree.inward:
        if not matters[i]:
            continue
        own = ten(tree.I[i])
        if any(own):
            IA[i] = IA[i] + _six_by_six(own) if i in IA else _six_by_six(own)
        armature = np.array(tree.armature[i], dtype=np.float64)
        if i not in IA:
            if not armature.all():
                singular.append(i)
            continue
        X_J, S = _generic(tree.joint[i], rng)
        Ia, is_singular = _free_joint(IA[i], S, armature)
        if is_singular and suspect[i]:
            singular.append(i)
        if matters[p] and Ia is not None:
            X = _plucker(X_J @ tree.X_T[i])
            back = X.T @ Ia @ X
            IA[p] = IA[p] + back if p in IA else back
    return sorted(singular)


def _where_it_matters(tree: Tree) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Bodies whose own inertia is not positive definite, and those with everything outward of them."""
    table = np.array([ten(inertia) for inertia in tree.I], dtype=np.float64)
    central, noise = central_inertias(table)
    moments = principal_moments(central)
    suspect = (table[:, 0] <= 0.0) | (moments[:, 0] <= np.maximum(TOLERANCE * moments[:, 2], noise))
    suspect[0] = False
    matters = suspect.copy()
    for i, p in tree.outward:
        matters[i] |= matters[p]
    return suspect, matters


def _free_joint(IA: Floats, S: Floats, armature: Floats) -> tuple[Floats | None, bool]:
    """Iᵃ = Iᴬ - U D⁻¹ Uᵀ (None if nothing is left), and whether D is singular.

    Directions in which D is zero up to rounding are left out of D⁻¹: U is zero there too.
    """
    rotation, translation = float(np.trace(IA[:3, :3])), float(np.trace(IA[3:, 3:]))
    # Scales that no rotation changes; a motion's energy is at most its scale.
    lengths = np.array([rotation] * 3 + [translation] * 3)
    U = IA @ S
    D = S.T @ U + np.diag(armature)
    scale = 2.0 * lengths @ (S * S) + armature
    unit = 1.0 / np.sqrt(np.where(scale > 0.0, scale, 1.0))
    w, V = np.linalg.eigh(D * unit[:, None] * unit)
    kept = w > TOLERANCE
    W = (U * unit) @ V[:, kept]
    Ia = IA - (W / w[kept]) @ W.T
    # What is left of a direction that was freed is rounding; joints further in must not take it for inertia.
    balance = 1.0 / np.sqrt(np.where(lengths > 0.0, lengths, 1.0))
    left, directions = np.linalg.eigh(Ia * balance[:, None] * balance)
    real = left > TOLERANCE
    if not real.any():
        return None, not kept.all()
    root = (directions[:, real] * np.sqrt(left[real])) / balance[:, None]
    return root @ root.T, not kept.all()


def _generic(kind: JointKind, rng: np.random.Generator) -> tuple[Transform, Floats]:
    """X_J and S (6, nv), angular first, at a configuration with nothing special about it."""
    q = kind.random(rng, (-math.inf,) * kind.nq, (math.inf,) * kind.nq)
    motion = kind.calc(q, (0.0,) * kind.nv)
    columns = [(*s.angular.components(), *s.linear.components()) for s in motion.S.columns]
    return motion.X_J, np.array(columns, dtype=np.float64).T.reshape(6, kind.nv)


def _six_by_six(numbers: tuple[float, ...]) -> Floats:
    """The spatial inertia matrix, angular first (RBDA eq. 2.63)."""
    m, hx, hy, hz, xx, yy, zz, xy, xz, yz = numbers
    return np.array(
        [
            [xx, xy, xz, 0.0, -hz, hy],
            [xy, yy, yz, hz, 0.0, -hx],
            [xz, yz, zz, -hy, hx, 0.0],
            [0.0, hz, -hy, m, 0.0, 0.0],
            [-hz, 0.0, hx, 0.0, m, 0.0],
            [hy, -hx, 0.0, 0.0, 0.0, m],
        ]
    )


def _plucker(X: Transform) -> Floats:
    """The 6 by 6 matrix of a motion transform (RBDA eq. 2.24)."""
    E = np.array(X.E.components(), dtype=np.float64).reshape(3, 3)
    rx, ry, rz = map(float, X.r.components())
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = matrix[3:, 3:] = E
    matrix[3:, :3] = -E @ np.array([[0.0, -rz, ry], [rz, 0.0, -rx], [-ry, rx, 0.0]])
    return matrix
