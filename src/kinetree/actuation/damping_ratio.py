"""The damping of servos whose files give its ratio to the critical one, and the mobility of their loads.

    d = 2 ζ √(k m),    m = (J M⁻¹ Jᵀ)⁻¹

M and the moment J of the transmission are those in the reference configuration; armature of tendons counts.

Source: MuJoCo documentation, "XML Reference", attribute dampratio; version 4.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kinetree import algorithms
from kinetree.actuation.reaches import reach_of
from kinetree.actuation.spec import TransmissionSpec
from kinetree.algorithms.transmissions import Reach, viewed
from kinetree.errors import ModelError
from kinetree.model import Model
from kinetree.model.by_identity import ByIdentity
from kinetree.model.extras import Actuator
from kinetree.model.reference import reference_configuration, with_tendon_armature

__all__ = ["ease_of_motion", "servo_damping", "unit_acceleration"]

_MASS: ByIdentity[NDArray[np.float64]] = ByIdentity()


def servo_damping(robot: Model, one: Actuator, transmission: TransmissionSpec) -> float | None:
    """The damping of a servo by its ratio; None if it does not have a ratio."""
    if one.damping_ratio is None:
        return None
    row, moved = _row_and_acceleration(robot, transmission)
    ease = float(row @ moved) if np.isfinite(moved).all() else math.inf
    if not ease > 0.0:
        return 0.0
    if not math.isfinite(ease):
        raise ModelError(
            f"{robot.name!r}: the actuator {one.name!r} has a damping ratio, but what it moves has no inertia; give it "
            "kv, or give the bodies inertia"
        )
    return 2.0 * one.damping_ratio * math.sqrt(one.gain_parameters[0] / ease)


def ease_of_motion(robot: Model, transmission: TransmissionSpec) -> float:
    """J M⁻¹ Jᵀ: the acceleration along the length for a force of 1 along it, in the reference configuration."""
    row, moved = _row_and_acceleration(robot, transmission)
    return float(row @ moved) if np.isfinite(moved).all() else 0.0


def unit_acceleration(robot: Model, transmission: TransmissionSpec) -> float:
    """|M⁻¹ Jᵀ|: the acceleration that a force of 1 along the length gives in the reference configuration."""
    return float(np.linalg.norm(_row_and_acceleration(robot, transmission)[1]))


def _row_and_acceleration(
    robot: Model, transmission: TransmissionSpec
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """J, and M⁻¹ Jᵀ; infinite where M is singular."""
    q = robot.tree.split(reference_configuration(robot).tolist(), "nq")
    row = _row(robot, reach_of(viewed(robot.tree, q), robot, transmission))
    if robot not in _MASS:
        M = np.array(algorithms.crba(robot.tree, q).flat(), dtype=np.float64).reshape(robot.nv, robot.nv)
        _MASS[robot] = with_tendon_armature(robot, M)
    try:
        return row, np.asarray(np.linalg.solve(_MASS[robot], row), dtype=np.float64)
    except np.linalg.LinAlgError:
        return row, np.full_like(row, math.inf)


def _row(robot: Model, reach: Reach) -> NDArray[np.float64]:
    """The moment along the degrees of freedom."""
    J = robot.tree.columns(1, apart=True)
    for slot, moment in reach.moment.items():
        J[slot] = [[x] for x in moment]
    return np.array(next(iter(J.in_rows())), dtype=np.float64)
