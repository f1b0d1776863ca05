"""Inverse kinematics as a function: arguments checked, targets in one call, what could not be reached is told."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.control.kinematics.arguments import (
    checked_limits,
    checked_number,
    checked_start,
    checked_targets,
    checked_tasks,
)
from kinetree.control.kinematics.coordinates import Coordinates
from kinetree.control.kinematics.program import Found, linearized_program, made_program
from kinetree.control.kinematics.result import InverseKinematics
from kinetree.control.kinematics.rows import levels_of
from kinetree.control.tasks import Task
from kinetree.model import Model, check_robot
from kinetree.model.by_identity import ByIdentity
from kinetree.programs.program import Program

__all__ = ["inverse_kinematics", "inverse_kinematics_program", "solver_of"]

_AT_ONCE, _FEW = 32, 64
"""In a batch of more targets than this, those that take more evaluations than that are computed apart from the rest."""


def inverse_kinematics(
    robot: Model,
    tasks: Task | Sequence[Task],
    targets: Any,
    q0: ArrayLike | None = None,
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    tolerance: float = 1e-6,
    starts: int = 50,
    evaluations: int = 2000,
    seed: int = 0,
    threads: int | None = None,
) -> InverseKinematics:
    """Configurations in which tasks are met: of one target, or of many in one call.

    A search goes from q0 by Levenberg–Marquardt steps within the limits. Where it is stuck, it begins again from
    another configuration, until the tasks of the first priority are met, or until all starts are used up; then the
    nearest configuration that was found is improved until its cost, half the sum of weight × error², is a minimum.
    Tasks of lower priority are met afterwards, as well as those before allow, from the configuration found; they do not
    make the search begin again. A sample's result is the same, to the bit, whichever others are computed with it.

    Args:
        robot: the robot.
        tasks: a task, or several in a list: `kt.control.Pose`, `Position`, `Orientation`, `Axis`, `LookAt`,
            `CenterOfMass`, `Posture`, with weights and priorities.
        targets: for one task its target (…, *shape), for a list of tasks a list with one of each. Leading axes
            broadcast.
        q0: configuration (…, nq) to start from, moved into the limits; by default the middle of the limits, and the
            neutral configuration where there are none.
        lower, upper: limits (…, nq); by default `robot.lower` and `robot.upper`. Infinite where there is none.
        tolerance: largest error of a target that counts as reached, m and rad.
        starts: from how many configurations the search begins at most; 1 is q0 alone. The others are a sequence that
            fills the limits evenly (half a turn or a metre to both sides of q0 where there are none); free and
            spherical joints begin as in q0.
        evaluations: at how many configurations errors are computed at most.
        seed: another whole number gives another sequence of starts.
        threads: how many threads may share a large batch; by default as many as there are cores.

    Returns:
        A `kt.control.InverseKinematics`: q, errors, reached, starts, evaluations. A target that was not reached has
        `reached` False, and its errors say how far it is. One with NaN is not reached either, from q0.

    Raises:
        OptionError: tasks, limits or numbers are not allowed values.
        NameNotFoundError: the robot has no frame or joint of a name.
        ConfigurationError: a q0 or a target is not a configuration, or a matrix is not a rotation.
        ShapeError, DTypeError: as for `kt.aba`.

    Source: Sugihara, "Solvability-unconcerned inverse kinematics by the Levenberg–Marquardt method", IEEE Transactions
    on Robotics 27 (2011); more in docs/inverse_kinematics.md.

    >>> import kinetree as kt, numpy as np
    >>> arm = kt.zoo.load("arm7")
    >>> targets = kt.frame_placement(arm, arm.random(0, size=100), "tool")
    >>> found = kt.control.inverse_kinematics(arm, kt.control.Pose("tool"), targets)
    >>> bool(found.reached.all())
    True
    >>> bool(np.allclose(kt.frame_placement(arm, found.q, "tool"), targets, atol=1e-5))
    True
    """
    check_robot(robot)
    single, several = isinstance(tasks, Task), checked_tasks(tasks)
    solver = solver_of(robot, several)
    arrays = checked_targets(robot, several, [targets] if single else targets)
    limits = solver.limits if lower is None and upper is None else checked_limits(solver.coordinates, lower, upper)
    given = [
        solver.start(limits) if q0 is None else checked_start(robot, q0), *arrays, *limits, solver.weights(several),
        checked_number("tolerance", tolerance, 0.0), float(checked_number("starts", starts, 1, whole=True)),
        float(checked_number("evaluations", evaluations, 1, whole=True)), solver.shift(seed),
    ]  # fmt: skip
    return solver.result(solver.run(given, threads))


def inverse_kinematics_program(robot: Model, tasks: Task | Sequence[Task]) -> Program:
    """The program behind `inverse_kinematics`, to be compiled bare, exported, or used in other programs.

    Args:
        robot: the robot.
        tasks: a task, or several in a list. Their priorities are part of the program, their weights are an argument.

    Returns:
        A `kt.Program` with the arguments q0 (nq,); target, or target_0, target_1, … for several tasks; lower and upper
        (nq,); weights, one per row of all tasks; tolerance, starts and evaluations, one number each; shift, one number
        from 0 to 1 per coordinate with limits, that moves the sequence of starts. It returns q, errors, reached, starts
        and evaluations.

    Raises:
        OptionError, NameNotFoundError: as for `inverse_kinematics`.

    >>> import kinetree as kt, numpy as np
    >>> arm = kt.zoo.load("arm6")
    >>> ik = kt.control.inverse_kinematics_program(arm, kt.control.Position("tool"))
    >>> q0, numbers = np.zeros(6), (np.ones(3), 1e-6, 5.0, 200.0, np.zeros(6))
    >>> bool(ik(q0, [0.3, 0.2, 0.4], arm.lower, arm.upper, *numbers).reached)
    True
    """
    check_robot(robot)
    return solver_of(robot, checked_tasks(tasks)).program


class _Solver:
    """What is known of a robot and tasks before targets are given."""

    def __init__(self, robot: Model, tasks: Sequence[Task]) -> None:
        self.tasks = tasks
        """They live as long as this, so that one without fields of its own is known by its identity."""
        self.program = made_program(robot, tasks)
        self.coordinates = Coordinates(robot)
        self.sizes = [task.size(robot) for task in tasks]
        self._limits: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        self.levels = [level.places for level in levels_of(robot, tasks)]
        self._linearized = linearized_program(robot, tasks)
        self._axes = [len(argument.shape) for argument in self.program.arguments.values()]
        self._ends = np.cumsum(self.sizes).tolist()
        self._middle: NDArray[np.float64] | None = None
        self._robot = robot
        self._shifts: dict[int, NDArray[np.float64]] = {}
        self._weights: dict[tuple[Hashable, ...], NDArray[np.float64]] = {}

    @property
    def limits(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The robot's own limits, once checked."""
        if self._limits is None:
            self._limits = checked_limits(self.coordinates, None, None)
        return self._limits

    def start(self, limits: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """The middle of the limits, or the neutral configuration."""
        is_usual = limits is self.limits
        if is_usual and self._middle is not None:
            return self._middle
        lower, upper = np.broadcast_arrays(*limits)
        q, own = np.broadcast_to(self._robot.neutral(), lower.shape).copy(), self.coordinates.own
        low, high = lower[..., own], upper[..., own]
        with np.errstate(invalid="ignore"):
            middle = 0.5 * (low + high)
        q[..., own] = np.where(np.isfinite(middle), middle, np.clip(q[..., own], low, high))
        if is_usual:
            self._middle = q
        return q

    def shift(self, seed: int) -> NDArray[np.float64]:
        number = checked_number("seed", seed, 0, whole=True)
        if number not in self._shifts:
            count = len(self.coordinates.own)
            self._shifts[number] = np.random.default_rng(number).random(count) if number else np.zeros(count)
        return self._shifts[number]

    def weights(self, tasks: tuple[Task, ...]) -> NDArray[np.float64]:
        keys = tuple(map(_key, tasks))
        if keys not in self._weights:
            self._weights[keys] = np.concatenate([task.weights(self._robot) for task in tasks])
        return self._weights[keys]

    def linearized(self, q: Any, targets: Sequence[Any], threads: int | None) -> Any:
        """The errors of all tasks (…, m), and what a displacement takes from them (…, m, nv)."""
        return self._linearized(q, *targets, threads=threads)

    def run(self, given: Sequence[Any], threads: int | None) -> Found:
        """All samples; of many, those that take long are computed together in the end, from the beginning."""
        shapes = [
            x.shape[: x.ndim - axes] if isinstance(x, np.ndarray) else ()
            for x, axes in zip(given, self._axes, strict=True)
        ]
        if not any(shapes) or given[-2] <= _FEW:
            return self._called(given, threads)
        batch = np.broadcast_shapes(*shapes)
        if math.prod(batch) <= _AT_ONCE:
            return self._called(given, threads)
        found = self._called([*given[:-2], float(_FEW), given[-1]], threads)
        late = ~found.reached
        if not late.any():
            return found
        rest = [
            np.broadcast_to(x, (*batch, *x.shape[len(shape) :]))[late] if shape else x
            for x, shape in zip(given, shapes, strict=True)
        ]
        for whole, part in zip(found, self._called(rest, threads), strict=True):
            whole[late] = part
        return found

    def _called(self, given: Sequence[Any], threads: int | None) -> Found:
        with np.errstate(invalid="ignore"):  # a target with NaN is compared with the tolerance, too
            found: Found = self.program(*given) if threads is None else self.program(*given, threads=threads)
        return found

    def result(self, found: Found) -> InverseKinematics:
        errors = tuple(found.errors[..., end - m : end] for m, end in zip(self.sizes, self._ends, strict=True))
        return InverseKinematics(found.q, errors, found.reached, _whole(found.starts), _whole(found.evaluations))


def _whole(x: Any) -> Any:
    return np.int64(x) if np.ndim(x) == 0 else x.astype(np.int64)


_solvers: ByIdentity[dict[tuple[Hashable, ...], _Solver]] = ByIdentity()


def solver_of(robot: Model, tasks: tuple[Task, ...]) -> _Solver:
    """The solver of these tasks, whatever their weights."""
    if robot not in _solvers:
        _solvers[robot] = {}
    known, keys = _solvers[robot], tuple(map(_key, tasks))
    found = known.get(keys)
    if found is None:
        for task in tasks:
            task.check(robot)
        plain = tuple(replace(task, weight=1.0) if _is_record(task) else task for task in tasks)
        found = known.get(tuple(map(_key, plain))) or _Solver(robot, plain)
        known[keys] = known[tuple(map(_key, plain))] = found
    return found


def _key(task: Task) -> Hashable:
    """What tells tasks apart: their fields, or themselves if they may have more than those."""
    return task if _is_record(task) else id(task)


def _is_record(task: Task) -> bool:
    return is_dataclass(task) and "__dataclass_fields__" in vars(type(task)) and not hasattr(task, "__dict__")
