"""Torques that a robot would need for a logged motion, compared with those that were measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.functions.dynamics import rnea
from kinetree.identification.friction.curve import FrictionCurve, curve_of, has_own_friction
from kinetree.identification.logs.log import Log
from kinetree.model import Model
from kinetree.records import record

__all__ = ["Validation", "torques_of", "validated"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True, eq=False)
class Validation:
    """Root mean squares over all rows of a motion, per degree of freedom (nv,), N·m or N."""

    rows: int
    measured: Array
    """The torques."""
    before: Array
    """Their differences from those of the robot as it was."""
    after: Array
    """Their differences from those of the robot with its new parameters, and with all friction that was found."""
    robot_alone: Array
    """The differences without the friction that a robot has no place for."""


def torques_of(
    robot: Model, log: Log, *, drives: bool, friction: FrictionCurve | None = None, offsets: Array | None = None
) -> Array:  # fmt: skip
    """The torques (T, nv) of a log's motion; with damping and dry friction if `drives`, the robot's own or others."""
    assert log.v is not None
    assert log.qdd is not None
    if drives and not has_own_friction(robot):
        tau = rnea(robot, log.q, log.v, log.qdd, passive=["damping", "friction"])
    else:
        tau = rnea(robot, log.q, log.v, log.qdd)
        if drives:
            tau = tau + log.of_velocity((friction or curve_of(robot)).torques)
    return tau if offsets is None else tau + offsets


def validated(
    old: Model, new: Model, logs: Sequence[Log], *, drives: bool, friction: FrictionCurve | None = None,
    offsets: Array | None = None,
) -> Validation:  # fmt: skip
    """How far both robots' torques are from those measured."""
    sums, rows = np.zeros((4, old.nv)), 0
    for log in logs:
        errors = (
            log.tau,
            log.tau - torques_of(old, log, drives=drives),
            log.tau - torques_of(new, log, drives=drives, friction=friction, offsets=offsets),
            log.tau - torques_of(new, log, drives=drives, offsets=offsets),
        )
        sums += [np.einsum("ti,ti->i", x, x) for x in errors]
        rows += len(log)
    measured, before, after, robot_alone = np.sqrt(sums / rows)
    return Validation(rows, measured, before, after, robot_alone)
