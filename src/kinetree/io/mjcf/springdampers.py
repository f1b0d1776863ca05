"""Stiffness and damping of joints with `springdamper`, from the inertia that they move at first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.io.mjcf.joints import MovingJoint
from kinetree.records import record
from kinetree.spatial import Inertia, Transform

__all__ = ["Moved", "set_springs"]

_LEAST = 1e-15
"""MuJoCo's smallest divisor."""

Array = NDArray[np.float64]


@record(slots=True)
class Moved:
    """A body with its joints, as the sums below need it."""

    above: int
    """The place of the body around it; -1 for the world."""
    placement: Transform
    """In the body around it."""
    inertia: Inertia
    joints: Sequence[tuple[MovingJoint, float]]
    """Its joints, in their order, with the armature that actuators add."""


def set_springs(bodies: Sequence[Moved]) -> None:
    """Fill the stiffness and damping of all joints with `springdamper`; each body comes after the one around it.

    The inertia of a joint is the number of its degrees of freedom by the trace of its block of M⁻¹: what a force at the
    joint would have to move if nothing held the others.
    """
    asked = [joint for body in bodies for joint, _ in body.joints if min(joint.spring_damper) > 0.0]
    traces = _traces(bodies)
    for joint in asked:
        constant, ratio = joint.spring_damper
        n = joint.kind.nv
        inertia = n / max(_LEAST, traces[id(joint)])
        stiffness, damping = inertia / max(_LEAST, (constant * ratio) ** 2), 2.0 * inertia / max(_LEAST, constant)
        joint.spring = stiffness, damping
        joint.damping = (damping,) * n
        if joint.type != "free":  # whose springs are only data
            joint.stiffness = (stiffness,) * n


def _traces(bodies: Sequence[Moved]) -> Mapping[int, float]:
    """The trace of each joint's block of M⁻¹, by the joint's identity.

    All is in the world's axes and at its origin, so that nothing need be transformed: inward articulated inertias,
    outward the inverse inertia that a body shows to forces.
    """
    R: list[Array] = []
    p: list[Array] = []
    inertia: list[Array] = []
    directions: list[list[Array]] = []
    for body in bodies:
        X = body.placement.matrix
        R.append(R[body.above] @ X[:3, :3] if body.above >= 0 else X[:3, :3])
        p.append(p[body.above] + R[body.above] @ X[:3, 3] if body.above >= 0 else X[:3, 3])
        inertia.append(_at_origin(body.inertia, R[-1], p[-1]))
        directions.append([_directions(joint, R[-1], p[-1]) for joint, _ in body.joints])
    factors: list[list[tuple[Array, Array]]] = [[] for _ in bodies]
    for k in range(len(bodies) - 1, -1, -1):
        I = inertia[k]
        for (joint, added), S in zip(reversed(bodies[k].joints), reversed(directions[k]), strict=True):
            U = I @ S
            D = S.T @ U + np.diag(joint.armature) + added * np.eye(joint.kind.nv)
            D_inverse: Array = np.linalg.inv(D).astype(np.float64, copy=False)
            factors[k].insert(0, (U, D_inverse))
            I = I - U @ D_inverse @ U.T
        if bodies[k].above >= 0:
            inertia[bodies[k].above] += I
    found: dict[int, float] = {}
    free: list[Array] = []
    for k, body in enumerate(bodies):
        W = free[body.above] if body.above >= 0 else np.zeros((6, 6))
        for (joint, _), S, (U, D_inverse) in zip(body.joints, directions[k], factors[k], strict=True):
            back = U @ D_inverse
            found[id(joint)] = float(np.trace(D_inverse + back.T @ W @ back))
            P = np.eye(6) - S @ back.T
            W = S @ D_inverse @ S.T + P @ W @ P.T
        free.append(W)
    return found


def _at_origin(inertia: Inertia, R: Array, p: Array) -> Array:
    """A body's inertia (6, 6) about the world's origin, turning first."""
    mass = float(inertia.mass)
    center = p + R @ inertia.center_of_mass if mass else np.zeros(3)
    c = _cross(center)
    I = R @ inertia.about_center_of_mass @ R.T - mass * c @ c
    return np.block([[I, mass * c], [mass * c.T, mass * np.eye(3)]])


def _directions(joint: MovingJoint, R: Array, p: Array) -> Array:
    """What the joint's velocities move: columns of turning and of the velocity at the world's origin."""
    if joint.type == "free":
        S = np.zeros((6, 6))
        S[3:, :3] = np.eye(3)
        S[:3, 3:], S[3:, 3:] = R, _cross(p) @ R
        return S
    if joint.type == "slide":
        return np.concatenate([np.zeros(3), R @ np.array(joint.axis)])[:, None]
    axes = R if joint.type == "ball" else (R @ np.array(joint.axis))[:, None]
    return np.concatenate([axes, _cross(p + R @ np.array(joint.anchor)) @ axes])


def _cross(v: Array) -> Array:
    x, y, z = v.tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
