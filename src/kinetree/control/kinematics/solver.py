"""Everything known of a robot and its tasks before targets are given, kept as long as the robot lives.

How a solution changes with targets, limits and weights: as one more step from it would.

The search itself is not differentiated. At a solution the errors stay zero, so a displacement d follows a change of the
errors δe by A d = δe; of all such d it is the shortest, in which coordinates at a limit move as the limit does.

Sources: Nocedal and Wright, *Numerical Optimization* (2006), appendix A.2 (implicit function theorem); Bolte, Pauwels
and Vaiter, "One-step differentiation of iterative algorithms", NeurIPS 2023.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import is_dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.control.kinematics.arguments import checked_limits, checked_number
from kinetree.control.kinematics.coordinates import Coordinates
from kinetree.control.kinematics.numbers import constant, with_slopes_of
from kinetree.control.kinematics.priorities import refined, solved_by_priority
from kinetree.control.kinematics.result import InverseKinematics, SearchLimits
from kinetree.control.kinematics.rows import Errors, Rows, levels_of, linearized
from kinetree.control.kinematics.search import Bounds, Search, room, search, solved_for
from kinetree.control.tasks import Task, keep_apart
from kinetree.functions.kinematics import integrate
from kinetree.inputs import common_axes
from kinetree.model import Model
from kinetree.model.by_identity import ByIdentity
from kinetree.programs.program import Program, program

__all__ = ["Solver", "solver_of"]

_AT_ONCE, _FEW = 32, 64
"""In a batch of more targets than this, those that take more evaluations than that are computed apart from the rest."""
_ASKED = 100
"""For how many tasks it is remembered at most which solver they have."""


class Solver:
    """Everything known of a robot and its tasks before targets are given."""

    def __init__(self, robot: Model, tasks: Sequence[Task]) -> None:
        self.tasks = tasks
        """They live as long as this, so that one without fields of its own is known by its identity."""
        self.program: Program = made_program(robot, tasks)
        self.coordinates: Coordinates = Coordinates(robot)
        self.sizes: list[int] = [task.size(robot) for task in tasks]
        self._limits: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        ends = np.cumsum(self.sizes).tolist()
        parts = zip(tasks, self.sizes, ends, strict=True)
        self.distances: dict[int, float] = {
            j: task.gain for task, m, end in parts if isinstance(task, keep_apart) for j in range(end - m, end)
        }
        """The rows that are inequalities of differential inverse kinematics, and their gains."""
        levels = ([j for j in level.places if j not in self.distances] for level in levels_of(robot, tasks))
        self.levels: list[list[int]] = [places for places in levels if places] or [[]]
        """The other rows of each priority."""
        self._linearized = linearized_program(robot, tasks)
        self._axes = [len(argument.shape) for argument in self.program.arguments.values()]
        self._ends = ends
        self._middle: NDArray[np.float64] | None = None
        self._robot = robot
        self._nq, self._names = robot.nq, tuple(robot.q_names)
        self._bare: Callable[..., Any] | None = None
        self._unshifted = np.zeros(self.coordinates.drawn)

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
        return np.random.default_rng(number).random(len(self._unshifted)) if number else self._unshifted

    def linearized(self, q: Any, targets: Sequence[Any], threads: int | None) -> Any:
        """The errors of all tasks (…, m), and their decrease per displacement (…, m, nv)."""
        return self._linearized(q, *targets, threads=threads)

    def run(self, arguments: Sequence[Any], threads: int | None) -> InverseKinematics:
        """The results for the arguments of the program."""
        if threads is None and [x.ndim for x in arguments[:-5]] == self._axes[:-5]:
            if self._bare is None:
                self._bare = self.program.compile()
            return self._result_of_one(self._bare(*arguments), SearchLimits(self._names, *arguments[-7:-5]))
        return self._result(self._solutions(arguments, threads), SearchLimits(self._names, *arguments[-7:-5]))

    def _solutions(self, arguments: Sequence[Any], threads: int | None) -> Found:
        """All samples; of many, those that take long are computed together in the end, from the beginning."""
        shapes = [
            x.shape[: x.ndim - axes] if isinstance(x, np.ndarray) else ()
            for x, axes in zip(arguments, self._axes, strict=True)
        ]
        batch = common_axes("inverse_kinematics", dict(zip(self.program.arguments, shapes, strict=True)))
        if arguments[-2] <= _FEW or math.prod(batch) <= _AT_ONCE:
            return self._called(arguments, threads)
        solutions = self._called([*arguments[:-2], float(_FEW), arguments[-1]], threads)
        late = ~solutions.reached
        if not late.any():
            return solutions
        rest = [
            np.broadcast_to(x, (*batch, *x.shape[len(shape) :]))[late] if shape else x
            for x, shape in zip(arguments, shapes, strict=True)
        ]
        for array, part in zip(solutions, self._called(rest, threads), strict=True):
            array[late] = part
        return solutions

    def _called(self, values: Sequence[Any], threads: int | None) -> Found:
        with np.errstate(invalid="ignore"):  # a target with NaN is compared with the tolerance, too
            result: Found = self.program(*values) if threads is None else self.program(*values, threads=threads)
        return result

    def _result_of_one(self, numbers: Any, limits: SearchLimits) -> InverseKinematics:
        """The same as `_result`, of the numbers that the program's results are, one after the other; quicker."""
        reached, starts, evaluations = numbers[-3:].tolist()
        outcome: Any = np.bool_(reached), np.int64(int(starts)), np.int64(int(evaluations)), limits
        n, errors = self._nq, numbers[self._nq : -3]
        return InverseKinematics(numbers[:n], (errors,) if len(self.sizes) == 1 else self.apart(errors), *outcome)

    def _result(self, solutions: Found, limits: SearchLimits) -> InverseKinematics:
        q, joined, reached, starts, evaluations = solutions
        counts = starts.astype(np.int64), evaluations.astype(np.int64)
        return InverseKinematics(q, self.apart(joined), reached, *counts, limits)

    def apart(self, errors: Any) -> tuple[Any, ...]:
        """The errors of each task, from those of all (…, m)."""
        return tuple(errors[..., end - m : end] for m, end in zip(self.sizes, self._ends, strict=True))


class _Known(NamedTuple):
    """The data of a robot."""

    solvers: dict[tuple[Hashable, ...], Solver]
    asked: dict[tuple[int, ...], tuple[Solver, NDArray[np.float64], tuple[Task, ...]]]
    """The tasks of the last calls, by their identities: they are kept so that no other object gets these."""


_known: ByIdentity[_Known] = ByIdentity()


def solver_of(robot: Model, tasks: tuple[Task, ...]) -> tuple[Solver, NDArray[np.float64]]:
    """The solver of these tasks, which is the same for all weights, and the weight of each row."""
    if robot not in _known:
        _known[robot] = _Known({}, {})
    solvers, by_tasks = _known[robot]
    identities = tuple([id(task) for task in tasks])
    entry = by_tasks.get(identities)
    if entry is None:
        for task in tasks:
            task.check(robot)
        plain = tuple(replace(task, weight=1.0) if _is_record(task) else task for task in tasks)
        keys = tuple(map(_key, plain))
        if keys not in solvers:
            solvers[keys] = Solver(replace(robot), plain)  # an equal one: data kept for a robot must not keep it alive
        if len(by_tasks) >= _ASKED:
            by_tasks.clear()
        entry = by_tasks[identities] = solvers[keys], np.concatenate([task.weights(robot) for task in tasks]), tasks
    return entry[:2]


def _key(task: Task) -> Hashable:
    """The key that distinguishes tasks: their fields, or themselves if they may have more than those."""
    return task if _is_record(task) else id(task)


def _is_record(task: Task) -> bool:
    return is_dataclass(task) and "__dataclass_fields__" in vars(type(task)) and not hasattr(task, "__dict__")


_DAMPING = 1e-8
"""Damping relative to the trace of A Aᵀ, for matrices without full rank, in addition to the cost of unmet tasks. A
second step takes its error away."""


def with_slopes(at: Coordinates, q: Any, levels: Sequence[tuple[Any, Any]], bounds: Bounds) -> Any:
    """The configuration q with the derivatives of one more step.

    `levels` has, for each priority, weighted errors at a constant q, and their derivatives A, which are constant.
    """
    fixed = constant(q)
    low, high = room(at, fixed, bounds)
    is_low, is_high = low >= 0.0, high <= 0.0
    d = np.where(is_low, low, np.where(is_high, high, 0.0))
    at_limit = np.where(is_low | is_high, 1.0, 0.0)
    damping = [_DAMPING * np.sum(A * A) + 0.5 * np.sum(constant(e) ** 2) for e, A in levels]
    for _ in range(2):
        if len(levels) == 1:
            ((e, A),) = levels
            d = d + solved_for(e - A @ d, A * (1.0 - at_limit), damping[0])
        else:
            d = solved_by_priority(levels, damping, d, at_limit)
    return with_slopes_of(q, integrate(at.robot, fixed, with_slopes_of(np.zeros(at.robot.nv), d)))


_KIND = inspect.Parameter.POSITIONAL_OR_KEYWORD
_NUMBERS = ("lower", "upper", "weights", "tolerance", "starts", "evaluations", "shift")
"""The arguments after the targets."""


class Found(NamedTuple):
    """The results of the program, by name."""

    q: Any
    errors: Any
    """The errors of all tasks, one after the other (m,)."""
    reached: Any
    starts: Any
    evaluations: Any


def made_program(robot: Model, tasks: Sequence[Task]) -> Program:
    """The program of `inverse_kinematics_program`, for tasks that are checked."""
    at, levels = Coordinates(robot), levels_of(robot, tasks)
    shapes, of_all = _targets(robot, tasks)
    names, first = list(shapes), levels[0]
    signature = inspect.Signature([inspect.Parameter(name, _KIND) for name in ("q0", *names, *_NUMBERS)])

    def inverse_kinematics(*arguments: Any, **by_name: Any) -> Found:
        values = signature.bind(*arguments, **by_name).args
        q, reached, tried, count = found_by(*map(constant, values))
        _, *targets = values
        lower, upper, weights, *_ = targets[len(names) :]
        targets = of_all(targets[: len(names)])
        q = with_slopes(at, q, [x.at_rest(constant(q), targets, weights) for x in levels], Bounds(lower, upper))
        left = np.concatenate([linearized(task, robot, q, x)[0] for task, x in zip(tasks, targets, strict=True)])
        return Found(q, left, reached, tried, count)

    def found_by(q0: Any, *targets: Any) -> tuple[Any, Any, Any, Any]:
        lower, upper, weights, tolerance, starts, evaluations, shift = targets[len(names) :]
        aims, roots, bounds = of_all(targets[: len(names)]), np.sqrt(weights), Bounds(lower, upper)

        def errors(q: Any, rows: Rows = first) -> Errors:
            return rows.linearized(q, aims, roots)

        def is_met(e: Any) -> Any:
            return np.all(np.abs(e) <= tolerance * roots[first.places])

        setting = Search(tolerance, starts, evaluations, shift)
        q, reached, tried, count = search(at, errors, is_met, q0, bounds, setting)
        if len(levels) > 1:
            better = refined(at, lambda q: [errors(q, rows) for rows in levels], q, bounds)
            again = search(at, errors, is_met, better, bounds, setting._replace(starts=0.0))
            q, count = np.where(reached & ~again[1], q, again[0]), count + again[3]
        return q, reached, tried, count

    inverse_kinematics.__signature__ = signature  # type: ignore[attr-defined]
    size = sum(task.size(robot) for task in tasks)
    return program(
        inverse_kinematics, q0=robot, **shapes, lower=robot.nq, upper=robot.nq, weights=size, tolerance=(), starts=(),
        evaluations=(), shift=at.drawn,
    )  # fmt: skip


def linearized_program(robot: Model, tasks: Sequence[Task]) -> Program:
    """The program of q and targets that returns the errors of all tasks, and their decrease per displacement.

    Those of distances are the margins less the distances, also where they are negative.
    """
    shapes, of_all = _targets(robot, tasks)
    signature = inspect.Signature([inspect.Parameter(name, _KIND) for name in ("q", *shapes)])

    def linear_rows(*arguments: Any, **by_name: Any) -> tuple[Any, Any]:
        q, *targets = signature.bind(*arguments, **by_name).args
        errors, slopes = [], []
        for task, x in zip(tasks, of_all(targets), strict=True):
            if isinstance(task, keep_apart):
                excess, J = task.excess(robot, q)
                e, A = -excess, -J
            else:
                e, slope = linearized(task, robot, q, x)
                A = slope()
            errors.append(e)
            slopes.append(A)
        return np.concatenate(errors), -np.concatenate(slopes)

    linear_rows.__signature__ = signature  # type: ignore[attr-defined]
    return program(linear_rows, q=robot, **shapes)


def _targets(
    robot: Model, tasks: Sequence[Task]
) -> tuple[dict[str, tuple[int, ...]], Callable[[Sequence[Any]], list[Any]]]:
    """The shapes of targets by their names as arguments, and a function from these to those of all tasks."""
    shapes = [task.target_shape(robot) for task in tasks]
    aims = [shape for shape in shapes if shape != (0,)]
    names = ["target"] if len(aims) == 1 else [f"target_{k}" for k in range(len(aims))]

    def of_all(targets: Sequence[Any]) -> list[Any]:
        left = iter(targets)
        return [np.zeros(0) if shape == (0,) else next(left) for shape in shapes]

    return dict(zip(names, aims, strict=True)), of_all
