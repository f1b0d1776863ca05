"""A robot where its file places it, as constants of simulators need it: its configuration, and inertia of tendons."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinetree.model.extras import Tendon, TendonJoint
from kinetree.model.model import Model

__all__ = ["armature_of_tendon", "reference_configuration", "tendon_armatures", "with_tendon_armature"]

Array = NDArray[np.float64]


def reference_configuration(robot: Model) -> Array:
    """The configuration (nq,) in which the robot's file places its bodies; the neutral one if it has none."""
    held = robot.extras.reference_configuration
    return np.array(robot.neutral(), dtype=np.float64) if held is None else held.q(robot)


def with_tendon_armature(robot: Model, M: Array) -> Array:
    """The mass matrix (nv, nv) with the armature of tendons that several joints move; that of one joint is its own."""
    for armature, row in tendon_armatures(robot):
        M = M + armature * np.outer(row, row)
    return M


def tendon_armatures(robot: Model) -> list[tuple[float, Array]]:
    """The armature of each tendon that several joints move, and how its length changes with v (nv,)."""
    rows = ((tendon, _moment(robot, tendon)) for tendon in robot.extras.tendons)
    return [(armature_of_tendon(robot, tendon), row) for tendon, row in rows if np.count_nonzero(row) > 1]


def _moment(robot: Model, tendon: Tendon) -> Array:
    """How the length of a tendon made of joints changes with v; zeros for other tendons."""
    J = robot.tree.columns(1, apart=True)
    for part in tendon.path:
        if isinstance(part, TendonJoint) and part.coefficient:
            J[robot.joints[part.joint].slot] = [[part.coefficient]]
    return np.array(next(iter(J.in_rows())), dtype=np.float64)


def armature_of_tendon(robot: Model, tendon: Tendon) -> float:
    """Its own, and that of the actuators on it."""
    acting = [one for one in robot.extras.actuators if one.transmission == "tendon" and one.target == tendon.name]
    return tendon.armature + sum(one.armature * one.gear[0] ** 2 for one in acting)
