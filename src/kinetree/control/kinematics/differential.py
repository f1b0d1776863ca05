"""Differential inverse kinematics: the joints' velocity for the next moment, as a quadratic program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.control.kinematics.arguments import (
    checked_limits,
    checked_number,
    checked_start,
    checked_targets,
    checked_tasks,
)
from kinetree.control.kinematics.solver import solver_of
from kinetree.control.quadratic import quadratic_program
from kinetree.control.tasks import Task
from kinetree.errors import OptionError
from kinetree.inputs import common_axes, number_between, samples
from kinetree.model import Model, check_robot

__all__ = ["DifferentialInverseKinematics", "differential_inverse_kinematics"]

Array = NDArray[Any]


class DifferentialInverseKinematics(NamedTuple):
    """The velocities that `kt.control.differential_inverse_kinematics` returns."""

    v: NDArray[np.float64]
    """Velocities (…, nv); zero without a solution."""
    left: tuple[NDArray[np.float64], ...]
    """The error of each task that is left after dt (…, m), to first order; m and rad."""
    solved: NDArray[np.bool_]
    """Whether the quadratic program of each sample was solved (…); it is not if there is NaN."""


def differential_inverse_kinematics(
    robot: Model,
    tasks: Task | Sequence[Task],
    targets: Any,
    q: ArrayLike,
    dt: float,
    *,
    gain: float = 1.0,
    damping: float = 1e-8,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    velocity_limit: ArrayLike | None = None,
    threads: int | None = None,
) -> DifferentialInverseKinematics:
    """The velocity with which the joints go towards targets in the next dt, within limits of position and velocity.

    With A the derivatives of the errors e by displacements, it minimises ½ Σ weight × (gain e + A d)² + ½ damping |d|²
    over the displacement d = v dt, where every coordinate stays within its limits and every velocity within its own,
    and shapes of a `kt.control.keep_apart` come no nearer to its margin than by a part of the way.
    Tasks of lower priority are met as well as the freedom left by those before allows, by one quadratic program per
    priority: the limits hold exactly, and a task gives nothing up for one of lower priority.

    Args:
        robot: the robot.
        tasks: a task, or several in a list.
        targets: for one task its target (…, *shape), for a list of tasks a list with one of each that has a target.
        q: configuration (…, nq).
        dt: how long the velocity is kept, s.
        gain: the part of the errors that vanishes within dt, from 0 to 1.
        damping: the cost of a displacement relative to the errors; larger values bound the velocity near singularities.
        lower, upper: limits (…, nq); by default `robot.lower` and `robot.upper`. A coordinate outside returns as
            quickly as its velocity allows.
        velocity_limit: largest speeds (…, nv); by default `robot.velocity_limit`.
        threads: how many threads may share a large batch; by default as many as there are cores.

    Returns:
        A `kt.control.DifferentialInverseKinematics`: v, left, solved. Where there is NaN, v is zero and `solved` False.

    Raises:
        OptionError: tasks, limits or numbers are not allowed values.
        NameNotFoundError: the robot has no frame or joint of a name.
        ConfigurationError: a q or a target is not a configuration, or a matrix is not a rotation.
        ShapeError, DTypeError: as for `kt.aba`.

    Source: Kanoun, Lamiraux and Wieber, "Kinematic control of redundant manipulators: generalizing the task-priority
    framework to inequality task", IEEE Transactions on Robotics 27 (2011).

    >>> import kinetree as kt, numpy as np
    >>> arm, q, dt = kt.zoo.load("arm7"), np.array([0.0, 0.5, 0.0, -1.2, 0.0, 0.7, 0.0]), 0.01
    >>> target = kt.frame_placement(arm, q + 0.1, "tool")
    >>> for _ in range(200):
    ...     step = kt.control.differential_inverse_kinematics(
    ...         arm, kt.control.Pose("tool"), target, q, dt, gain=0.1, velocity_limit=np.ones(7)
    ...     )
    ...     q = kt.integrate(arm, q, step.v * dt)
    >>> bool(np.allclose(kt.frame_placement(arm, q, "tool"), target, atol=1e-6))
    True
    """
    check_robot(robot)
    several = checked_tasks(tasks)
    arrays = checked_targets(robot, several, [targets] if isinstance(tasks, Task) else targets)
    start, dt = checked_start(robot, q, "q"), number_between("dt", dt, unit="seconds")
    gain, damping = checked_number("gain", gain, 0.0), checked_number("damping", damping, 0.0)
    if gain > 1.0:
        raise OptionError(f"gain is the part of the errors that goes within dt, at most 1, not {gain:g}")
    solver, weights = solver_of(robot, several)
    limits = solver.limits if lower is None and upper is None else checked_limits(solver.coordinates, lower, upper)
    with np.errstate(invalid="ignore"):
        errors, slopes = solver.linearized(start, arrays, threads)
        room = _room(start, limits, solver.coordinates, _speeds(robot, velocity_limit) * dt)
    roots = np.sqrt(weights)
    held, gains = [*solver.distances], np.array([*solver.distances.values()])
    apart: tuple[Array | None, Array | None] = (None, None)
    if held:
        apart = _apart(slopes[..., held, :], gains * errors[..., held], damping, room, threads)
    d, solved = _displacement(gain * errors, slopes, roots, solver.levels, damping, room, apart, threads)
    d = np.where(np.asarray(solved)[..., None], np.clip(d, *room), d)  # removes rounding errors
    after = errors - (slopes @ d[..., None])[..., 0]
    if held:
        after[..., held] = np.maximum(after[..., held], 0.0)
    return DifferentialInverseKinematics(d / dt, solver.apart(after), solved)


def _displacement(
    e: Array, A: Array, roots: Array, levels: Sequence[Sequence[int]], damping: float, room: tuple[Array, Array],
    apart: tuple[Array | None, Array | None], threads: int | None,
) -> tuple[Array, Any]:  # fmt: skip
    """The displacement of the last priority, which keeps the results of those before, and whether it exists."""
    rows: Array | None = None
    row_values: Array | None = None
    d, solved = np.zeros((*e.shape[:-1], A.shape[-1])), None
    for places in levels:
        own, targets = roots[places][:, None] * A[..., places, :], roots[places] * e[..., places]
        P = own.mT @ own + damping * np.eye(own.shape[-1])
        cost = -(own.mT @ targets[..., None])[..., 0]
        solution = quadratic_program(P, cost, rows, row_values, *apart, None, room[0], room[1], threads=threads)
        d = np.where(np.asarray(solution.solved)[..., None], solution.x, d)
        solved = solution.solved if solved is None else solved
        rows = A[..., places, :] if rows is None else np.concatenate([rows, A[..., places, :]], axis=-2)
        row_values = (rows @ d[..., None])[..., 0]
    return d, solved


def _apart(
    rows: Array, least: Array, damping: float, room: tuple[Array, Array], threads: int | None
) -> tuple[Array, Array]:
    """The rows of distances, and how much these change at least.

    Those that are to grow do so as far as limits and the others allow, in the sense of least squares.
    """
    is_near = least > 0.0
    if is_near.any():
        near = np.where(is_near[..., None], rows, 0.0)
        P, cost = near.mT @ near + damping * np.eye(rows.shape[-1]), -(near.mT @ least[..., None])[..., 0]
        others = rows, np.minimum(least, 0.0)
        d = quadratic_program(P, cost, None, None, *others, None, room[0], room[1], threads=threads).x
        least = np.where(is_near, np.minimum(least, (rows @ d[..., None])[..., 0]), least)
    return rows, least


def _room(q: Array, limits: tuple[Array, Array], at: Any, reach: Array) -> tuple[Array, Array]:
    """How far each degree of freedom may move down and up (…, nv)."""
    given = {"q": q, "lower": limits[0], "upper": limits[1], "velocity_limit": reach}
    shape = common_axes("differential_inverse_kinematics", {name: x.shape[:-1] for name, x in given.items()})
    low, high = (np.broadcast_to(x, (*shape, x.shape[-1])).copy() for x in (-reach, reach))
    down, up = (limit[..., at.own] - q[..., at.own] for limit in limits)
    own = at.freedoms
    low[..., own], high[..., own] = (
        np.minimum(np.maximum(low[..., own], down), high[..., own]),
        np.maximum(np.minimum(high[..., own], up), low[..., own]),
    )
    return low, high


def _speeds(robot: Model, given: ArrayLike | None) -> Array:
    x = robot.velocity_limit if given is None else given
    x = samples("velocity_limit", x, (robot.nv,), repr(robot.name), ", one per velocity")
    if not (x >= 0.0).all():
        raise OptionError(
            "velocity_limit is the largest speed of each degree of freedom: not negative, inf for no limit"
        )
    return x.astype(np.float64)
