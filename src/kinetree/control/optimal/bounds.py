"""Bounds of the variables of direct collocation, and the arrays that it reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.control.optimal.inputs import read
from kinetree.control.optimal.problem import OptimalControl
from kinetree.errors import OptionError, ShapeError
from kinetree.functions.kinematics import difference

__all__ = ["bounds", "read_one"]

Array = NDArray[np.float64]


def bounds(
    problem: OptimalControl, reference: Array, v: ArrayLike | None, goal: Any, within: bool, middle: int
) -> tuple[Array, Array]:
    """The lower and the upper bounds (n,) of the variables: the start, the goal, limits.

    Args:
        problem: the problem.
        reference: configurations (steps + 1, nq) that displacements are from.
        v, goal, within: as in `Collocation`.
        middle: how many controls stand between two knots.
    """
    robot = problem.robot
    if not isinstance(within, bool):
        raise OptionError(f"within must be True, or False for coordinates without limits, not {within!r:.60}")
    if within and robot.nq != robot.nv:
        raise OptionError("within=True is for robots whose configurations are vectors; bounds may be set in lb, ub")
    most = np.full((2, 2 * robot.nv), np.inf) * [[-1.0], [1.0]]
    if within:
        most = np.array([[*robot.lower, *-robot.velocity_limit], [*robot.upper, *robot.velocity_limit]])
    knots = np.empty((2, problem.steps + 1, 2 * robot.nv + problem.nu))
    for k, (state, control) in enumerate(zip(most, problem.limits, strict=True)):
        knots[k] = np.concatenate([state, control])
        if within:
            knots[k, :, : robot.nv] -= reference
    ends = [(0, reference[0], np.zeros(robot.nv) if v is None else read_one("v", v, (robot.nv,)))]
    if goal is not None:
        if not (isinstance(goal, tuple | list) and len(goal) == 2):
            raise OptionError("goal must be a pair (q, v) in which the motion ends")
        q_end, v_end = (read_one(f"goal[{i}]", goal[i], (n,)) for i, n in enumerate((robot.nq, robot.nv)))
        ends.append((-1, q_end, v_end))
    for k, q_end, v_end in ends:
        knots[:, k, : 2 * robot.nv] = np.concatenate([difference(robot, reference[k], q_end), v_end])
    lower, upper = (
        np.concatenate([np.hstack([x[:-1], x[:-1, 2 * robot.nv :][:, :middle]]).ravel(), x[-1]]) for x in knots
    )
    return lower, upper


def read_one(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Array:
    """An array of one problem."""
    x = read("Collocation", name, values, shape)
    if x.shape != shape:
        raise ShapeError(f"Collocation is of one problem: {name} must have shape {shape}, not {x.shape}")
    return x
