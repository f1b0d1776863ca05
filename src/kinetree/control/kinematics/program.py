"""Inverse kinematics as one program: the search, its refinement by lower priorities, and the remaining errors."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kinetree.control.kinematics.coordinates import Coordinates
from kinetree.control.kinematics.implicit import with_slopes
from kinetree.control.kinematics.numbers import constant
from kinetree.control.kinematics.priorities import refined
from kinetree.control.kinematics.rows import Rows, error_jacobian_of, error_of, levels_of
from kinetree.control.kinematics.search import Bounds, Errors, Search, search
from kinetree.control.tasks import Task
from kinetree.model import Model
from kinetree.programs.program import Program, program

__all__ = ["Found", "linearized_program", "made_program"]

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
    names, shapes = _targets(robot, tasks)
    first = levels[0]
    signature = inspect.Signature([inspect.Parameter(name, _KIND) for name in ("q0", *names, *_NUMBERS)])

    def inverse_kinematics(*arguments: Any, **by_name: Any) -> Found:
        values = signature.bind(*arguments, **by_name).args
        q, reached, tried, count = found_by(*map(constant, values))
        _, *targets = values
        lower, upper, weights, *_ = targets[len(names) :]
        targets = targets[: len(names)]
        q = with_slopes(at, q, [x.at_rest(constant(q), targets, weights) for x in levels], Bounds(lower, upper))
        left = np.concatenate([error_of(task, robot, q, x) for task, x in zip(tasks, targets, strict=True)])
        return Found(q, left, reached, tried, count)

    def found_by(q0: Any, *targets: Any) -> tuple[Any, Any, Any, Any]:
        lower, upper, weights, tolerance, starts, evaluations, shift = targets[len(names) :]
        targets, roots, bounds = targets[: len(names)], np.sqrt(weights), Bounds(lower, upper)

        def errors(q: Any, rows: Rows = first) -> Errors:
            return rows.errors(q, targets, roots), partial(rows.slopes, q, targets, roots)

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
    """The program of q and targets that returns the errors of all tasks, and their decrease per displacement."""
    names, shapes = _targets(robot, tasks)
    signature = inspect.Signature([inspect.Parameter(name, _KIND) for name in ("q", *names)])

    def linearized(*arguments: Any, **by_name: Any) -> tuple[Any, Any]:
        q, *targets = signature.bind(*arguments, **by_name).args
        pairs = list(zip(tasks, targets, strict=True))
        e = np.concatenate([error_of(task, robot, q, x) for task, x in pairs])
        return e, -np.concatenate([error_jacobian_of(task, robot, q, x) for task, x in pairs])

    linearized.__signature__ = signature  # type: ignore[attr-defined]
    return program(linearized, q=robot, **shapes)


def _targets(robot: Model, tasks: Sequence[Task]) -> tuple[list[str], dict[str, tuple[int, ...]]]:
    """The names of the targets as arguments, and their shapes."""
    names = ["target"] if len(tasks) == 1 else [f"target_{k}" for k in range(len(tasks))]
    return names, {name: task.target_shape(robot) for name, task in zip(names, tasks, strict=True)}
