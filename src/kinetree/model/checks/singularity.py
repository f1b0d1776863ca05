"""Joints that move nothing with inertia, so that forward dynamics is not defined.

A float run of the inward pass of the articulated-body algorithm (RBDA table 7.1) at a generic configuration, over the
part of the tree where it can matter. A body whose own inertia is positive definite settles the question for its joint,
as D = Sᵀ Iᴬ S is at least Sᵀ I S; and for the joints further in, nothing outward of it matters, as its Iᵃ resists all
motions except those of its joint with or without the bodies it carries.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.joints import JointKind
from kinetree.model.checks.masses import central_inertias, principal_moments, ten
from kinetree.model.elements import Joint
from kinetree.model.specs import JointSpec, fault
from kinetree.spatial import Transform
from kinetree.tree.unrolled import UnrolledTree

__all__ = ["generic_motion", "plucker", "singular_joints"]

TOLERANCE = 1e-12
"""A difference this small, relative to its operands, is zero."""
MAX_PASSES = 6_000
"""Each takes a quarter of a millisecond; no real robot comes near, but a malicious file can."""

Floats = NDArray[np.float64]


def singular_joints(tree: UnrolledTree, joints: Iterable[JointSpec] | Iterable[Joint]) -> tuple[str, ...]:
    """The names, by slot, of the `joints` that some motion of the joints outward of them frees of all inertia.

    If joints share coordinates, the result is empty if all of the robot's own coordinates move some inertia.

    Raises `ModelError` if more than `MAX_PASSES` bodies have to take part in the pass, or if their inertias overflow.
    """
    by_slot: list[JointSpec | Joint] = [*joints]
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that overflow are reported with their joint
        singular = _freed_slots(tree, by_slot)
        if singular and tree.coordinates is not None and _shared_are_definite(tree, by_slot):
            return ()
    return tuple(by_slot[slot - 1].name for slot in singular)


def _freed_slots(tree: UnrolledTree, joints: Sequence[JointSpec | Joint]) -> list[int]:
    """The slots if each joint has coordinates of its own."""
    suspect = _suspects(tree)
    if not suspect.any():
        return []
    passes = _foreseen_passes(tree, suspect)
    rng = np.random.default_rng(0)  # any seed: the configuration only has to be generic
    IA: dict[int, Floats] = {}
    parts = [0] * tree.size
    full = ~suspect
    heard: set[object] = set()
    singular: list[int] = []
    for i, p in tree.inward:
        if not suspect[i]:
            if full[p]:
                continue
            # Definite bodies on equal joints at one place resist the same motions: one of them is enough.
            likeness = (p, tree.joint[i], tree.X_T[i], tree.armature[i])
            if likeness in heard:
                continue
            heard.add(likeness)
            passes += 1
        own = ten(tree.I[i])
        if any(own):
            IA[i] = IA[i] + _six_by_six(own) if i in IA else _six_by_six(own)
        if i not in IA:
            if not all(tree.armature[i]):
                singular.append(i)
            continue
        if passes > MAX_PASSES:
            raise ModelError(
                f"this robot has {passes:,} or more moving bodies with an inertia that is not positive definite, or on "
                f"such a body; no more than {MAX_PASSES:,} are checked, so give them mass and rotational inertia"
            )
        X_J, S = generic_motion(tree.joint[i], rng)
        U, D, scale = _resistance(IA[i], S, np.array(tree.armature[i], dtype=np.float64))
        _check_finite(joints[i - 1], U, D, scale)
        Ia, is_singular = _free_joint(IA[i], U, D, scale)
        if is_singular and suspect[i]:
            singular.append(i)
        if Ia is None or full[p]:
            continue
        X = plucker(X_J @ tree.X_T[i])
        back = X.T @ Ia @ X
        IA[p] = IA[p] + back if p in IA else back
        _check_finite(joints[i - 1], IA[p])
        parts[p] += 1
        # A body that carries many need not include all of them; checking after each would cost as much as including it.
        if parts[p] & (parts[p] - 1) == 0:
            full[p] = _is_definite(IA[p])
    return sorted(singular)


def _shared_are_definite(tree: UnrolledTree, joints: Sequence[JointSpec | Joint]) -> bool:
    """Whether the mass matrix of the shared coordinates, Σ JᵀIJ, is definite at a generic configuration."""
    assert tree.coordinates is not None
    rng = np.random.default_rng(0)
    G, starts = tree.coordinates.matrix(), tree.v_starts
    J: dict[int, Floats] = {0: np.zeros((6, G.shape[1]))}
    M = np.zeros((G.shape[1], G.shape[1]))
    for i, p in tree.outward:
        X_J, S = generic_motion(tree.joint[i], rng)
        own = G[starts[i] : starts[i + 1]]
        J[i] = plucker(X_J @ tree.X_T[i]) @ J[p] + S @ own
        M += (
            J[i].T @ _six_by_six(ten(tree.I[i])) @ J[i]
            + own.T @ np.diag(np.array(tree.armature[i], dtype=np.float64)) @ own
        )
        _check_finite(joints[i - 1], M)
    size = 1.0 / np.sqrt(np.where(M.diagonal() > 0.0, M.diagonal(), 1.0))
    return bool(np.linalg.eigvalsh(_balanced(M, size))[0] > TOLERANCE)


def _suspects(tree: UnrolledTree) -> NDArray[np.bool_]:
    """By slot: bodies whose own inertia is not positive definite."""
    table = np.array([ten(inertia) for inertia in tree.I], dtype=np.float64)
    central, noise = central_inertias(table)
    moments = principal_moments(central)
    suspect: NDArray[np.bool_] = (table[:, 0] <= 0.0) | (moments[:, 0] <= np.maximum(TOLERANCE * moments[:, 2], noise))
    suspect[0] = False
    return suspect


def _foreseen_passes(tree: UnrolledTree, suspect: NDArray[np.bool_]) -> int:
    """Number of suspects that have or carry some inertia: those that do not cost nothing."""
    has_inertia = [any(ten(inertia)) for inertia in tree.I]
    for i, p in tree.inward:
        has_inertia[p] |= has_inertia[i]
    return int(np.count_nonzero(suspect & np.array(has_inertia)))


def _resistance(IA: Floats, S: Floats, armature: Floats) -> tuple[Floats, Floats, Floats]:
    """U = Iᴬ S and D = Sᵀ U of a joint, and an upper bound of a motion's energy in any direction."""
    U = IA @ S
    return U, S.T @ U + np.diag(armature), 2.0 * _lengths(IA) @ (S * S) + armature


def _check_finite(joint: JointSpec | Joint, *numbers: Floats) -> None:
    """Raise if numbers of a joint, or of the bodies it carries, overflow."""
    if not all(np.isfinite(array).all() for array in numbers):
        raise fault(
            joint.where if isinstance(joint, JointSpec) else "",
            f"joint {joint.name!r} and what it carries, from body {joint.child!r} outward, have masses, placements or "
            "ratios so large that the inertia that the joint moves overflows; give them in SI units",
            "bad-inertia",
        )


def _free_joint(IA: Floats, U: Floats, D: Floats, scale: Floats) -> tuple[Floats | None, bool]:
    """Iᵃ = Iᴬ - U D⁻¹ Uᵀ (None if nothing is left), and whether D is singular.

    Directions in which D is zero up to rounding are left out of D⁻¹: U is zero there too.
    """
    lengths = _lengths(IA)
    unit = 1.0 / np.sqrt(np.where(scale > 0.0, scale, 1.0))
    w, V = np.linalg.eigh(_balanced(D, unit))
    kept = w > TOLERANCE
    W = (U * unit) @ V[:, kept]
    Ia = IA - (W / w[kept]) @ W.T
    # The remainder in a freed direction is rounding error; joints further in must not take it for inertia.
    balance = 1.0 / np.sqrt(np.where(lengths > 0.0, lengths, 1.0))
    left, directions = np.linalg.eigh(_balanced(Ia, balance))
    real = left > TOLERANCE
    is_singular = not kept.all()
    if not real.any():
        return None, is_singular
    root = directions[:, real] * np.sqrt(left[real])
    for rows in (slice(3), slice(3, 6)):  # where only rounding is left, it must not count as inertia
        if np.square(root[rows]).sum() <= TOLERANCE:
            root[rows] = 0.0
    root /= balance[:, None]
    return root @ root.T, is_singular


def _is_definite(IA: Floats) -> bool:
    """Whether it is positive definite by a wide margin."""
    lengths = _lengths(IA)
    if not (lengths > 0.0).all():  # rounding may leave less than nothing
        return False
    balance = 1.0 / np.sqrt(lengths)
    return bool(np.linalg.eigvalsh(_balanced(IA, balance))[0] > 1e-6)


def _balanced(A: Floats, unit: Floats) -> Floats:
    """A positive semidefinite matrix in units in which its diagonal is at most one, and so is all the rest, except for
    rounding: next to numbers that are far larger it may exceed all bounds.
    """
    balanced: Floats = np.clip(A * unit[:, None] * unit, -1.0, 1.0)
    return balanced


def _lengths(IA: Floats) -> Floats:
    """Magnitudes of the three angular and the three linear entries, the same in all axes."""
    a, b, c, x, y, z = IA.diagonal().tolist()
    rotation, translation = a + b + c, x + y + z
    return np.array([rotation, rotation, rotation, translation, translation, translation])


def generic_motion(kind: JointKind, rng: np.random.Generator) -> tuple[Transform, Floats]:
    """X_J and S (6, nv), angular first, at a generic configuration."""
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


def plucker(X: Transform) -> Floats:
    """The 6 by 6 matrix of a motion transform (RBDA eq. 2.24)."""
    E = np.array(X.E.components(), dtype=np.float64).reshape(3, 3)
    rx, ry, rz = map(float, X.r.components())
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = matrix[3:, 3:] = E
    matrix[3:, :3] = -E @ np.array([[0.0, -rz, ry], [rz, 0.0, -rx], [-ry, rx, 0.0]])
    return matrix
