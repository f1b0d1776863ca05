"""Common parts of all laws: the robots that they are for, forces that are never NaN, pickles."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec

import numpy as np

from kinetree.compiler.docstrings import completed
from kinetree.errors import ActuationError
from kinetree.model import Model, check_robot
from kinetree.model.robot import no_motor
from kinetree.programs import Program, program

__all__ = ["applicable", "driven", "makes_a_law", "with_arguments"]


P = ParamSpec("P")
_ARGUMENTS = {
    "robot": "the robot; every degree of freedom has a motor. The law does not count passive forces of joints\n"
    "    (friction, damping, springs), which `kt.simulate` lets act unless `passive=False`."
}
_ERRORS = {"robot": ("ActuationError", "a degree of freedom has no motor.")}


def makes_a_law(make: Callable[P, Program]) -> Callable[P, Program]:
    """The maker of a law from a robot and options; the law is pickled as these, and made again.

    Its docstring is completed: `kinetree.compiler.docstrings`.
    """
    make.__doc__ = completed(make, _ARGUMENTS, _ERRORS)

    @functools.wraps(make)
    def made(*arguments: P.args, **options: P.kwargs) -> Program:
        law = make(*arguments, **options)
        again = functools.partial(made, *arguments, **options)
        type(law).__reduce__ = lambda _: (again, ())  # type: ignore[assignment, method-assign, return-value]
        return law

    return made


def driven(robot: Model, law: str) -> Model:
    """The robot, if every degree of freedom has a motor, which the law needs."""
    model = check_robot(robot)
    idle = np.flatnonzero(~model.actuated)
    if len(idle):
        raise ActuationError(
            f"kt.control.{law} gives a force to every degree of freedom, but {no_motor(model, int(idle[0]))}. Make the "
            "law for a robot without it (robot.lock, a fixed base), or with a motor there (robot.with_actuation); "
            "robots on their feet need whole-body control"
        )
    return model


def applicable(tau: Any) -> Any:
    """The forces, or zero for all joints if any of them is NaN or infinite."""
    return np.where(np.all(np.isfinite(tau)), tau, 0.0)


def with_arguments(
    name: str, function: Callable[..., Any], shapes: Mapping[str, Any], defaults: Mapping[str, Any]
) -> Program:
    """The program of a function whose arguments, taken by name, are chosen when the law is made."""

    def law(**arguments: Any) -> Any:
        return function(**arguments)

    kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
    parameters = [inspect.Parameter(each, kind, default=defaults.get(each, empty)) for each in shapes]
    law.__name__ = name
    law.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return program(law, **shapes)
