"""A program as controller: the settings it is compiled for, and its arguments and results."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree.actuation import Actuation
from kinetree.compiler.definition import Array
from kinetree.errors import DTypeError, OptionError, ShapeError
from kinetree.inputs import samples
from kinetree.model import Model
from kinetree.model.constraints import Constraint
from kinetree.model.external_forces import ForceKey
from kinetree.programs import Program
from kinetree.records import record

__all__ = [
    "ENERGIES", "ERROR", "SOLVED", "Controlled", "Part", "When", "check_results", "controller_input", "plain_name",
    "ways_to_give",
]  # fmt: skip

When = Literal["steps", "stages", "held"]
"""Whether a controller runs once per step, at each stage of it, or in steps that are marked as fresh."""
ENERGIES = "energies exchanged"
"""The name of work and loss in the state. It has a blank, as all names here but the user's: so none is taken."""
ERROR, SOLVED = "error of contacts", "acceleration of contacts"
"""Reports of steps about contacts: `StageParts.error` of the worst stage, and `StageParts.solved` of the first one."""


@record(frozen=True)
class Controlled:
    """The settings that a closed loop is compiled for, in addition to the robot and the controller."""

    integrator: str
    """Empty if the robot is not moved."""
    switches: tuple[tuple[str, Hashable], ...]
    """The passive forces and limits that are on, resolved."""
    forces: tuple[ForceKey, ...]
    parameters: tuple[str, ...]
    rows: tuple[str, ...]
    """The controller's own arguments that have one row per step."""
    when: When
    with_energies: bool
    """Whether the energies exchanged are part of the state."""
    with_output: bool
    """Whether forces or commands are part of the result."""
    constraints: tuple[Constraint, ...]
    """The constraints during the motion, without numbers."""
    dtype: str
    reports: tuple[str, ...] = ()
    """The reports about contacts, of `ERROR` and `SOLVED`."""
    actuation: Actuation | None = None
    """The actuators whose commands the controller gives; None if it gives joint forces."""
    sources: tuple[tuple[ForceKey, str], ...] = ()
    """The external forces that the controller gives, each with the name of its result."""

    @property
    def output(self) -> str:
        """The name of the controller's output."""
        return "tau" if self.actuation is None else "ctrl"

    @property
    def activations(self) -> int:
        """How many activations the state has."""
        return 0 if self.actuation is None else len(self.actuation.with_activation)

    def motion(self, robot: Model) -> dict[str, tuple[int, ...]]:
        """The arguments of a controller that come from the motion, if it has them, with their shapes."""
        act = {} if self.actuation is None else {"act": (self.activations,)}
        return {"t": (), "q": (robot.nq,), "v": (robot.nv,), **act}


class Part(NamedTuple):
    """A piece of a step's result."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any] = np.dtype(np.float64)

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)


def check_results(robot: Model, controller: Program, setting: Controlled, names: Mapping[str, Any]) -> None:
    """Raise unless the results of a controller, by their names, are those of one for this robot."""
    output, motion, own = setting.output, setting.motion(robot), controller.arguments
    what = "joint forces" if output == "tau" else "commands of actuators"
    if output not in names:
        raise OptionError(
            f"the controller {controller.name!r} returns {', '.join(map(repr, names))}; it must return the {what} "
            f"alone, or a dict, named tuple or dataclass that has them as {output!r}"
        )
    if output == "ctrl" and "tau" in names:
        raise OptionError(
            f"the controller {controller.name!r} returns 'tau' besides 'ctrl'; joint forces besides commands are given "
            "as tau=, an array"
        )
    for name, shape in motion.items():
        if name in own and own[name].shape != shape:
            raise ShapeError(
                f"the controller {controller.name!r} takes {name} of shape {own[name].shape}, but "
                f"{robot.name!r} has {shape}"
            )
    actuation = setting.actuation
    size = robot.nv if actuation is None else len(actuation.actuators)
    if names[output].shape != (size,):
        raise ShapeError(
            f"the controller {controller.name!r} returns {output} of shape {names[output].shape}, but {robot.name!r} "
            f"needs ({size},)"
        )
    for name, leaf in names.items():
        if name in motion:
            raise OptionError(
                f"the controller {controller.name!r} returns {name!r}, reserved for the motion's state: rename it"
            )
        if name in own and leaf.shape != own[name].shape:
            raise ShapeError(
                f"the controller {controller.name!r} has a state {name!r}: it takes shape "
                f"{own[name].shape} and returns {leaf.shape}"
            )
        if name in own and not np.can_cast(leaf.dtype, own[name].symbolic_dtype(leaf.dtype)):
            kind = {float: "real numbers", int: "whole numbers", bool: "booleans"}[own[name].dtype]
            raise DTypeError(
                f"the controller {controller.name!r} has a state {name!r}: it takes {kind} and returns an array of "
                f"dtype {leaf.dtype}; return {name}.astype({own[name].dtype.__name__}), or declare another"
            )


def ways_to_give(name: str) -> str:
    """The end of a message about an argument that is missing."""
    return (
        f"give arguments={{{name!r}: …}} for a value that is constant over a motion, or rows={{{name!r}: …}} for one "
        f"row per step; or return its next value as {name!r}, which makes it a state"
    )


def plain_name(path: str) -> str:
    """The name of a result of a controller."""
    name = path.removeprefix(".").removeprefix("[").removesuffix("]").strip("'\"")
    if not name.isidentifier():
        raise DTypeError(
            "a controller returns tau, or a dict, named tuple or dataclass of arrays with names that could be those of "
            f"variables, not parts like {path}; several numbers become one array by np.stack([a, b])"
        )
    return name


def controller_input(
    function: str, controller: Program, name: str, x: ArrayLike, dtype: np.dtype[Any], before: tuple[int, ...] = ()
) -> Array:
    """An argument of a controller (…, *before, *shape), checked; `function` is the one that messages begin with."""
    argument = controller.arguments[name]
    core = (*before, *argument.shape)
    numbers = argument.numbers(controller.name, name, x)
    array = samples(f"{function}: {name}", numbers, core, f"the controller {controller.name!r}").astype(dtype)
    argument.refuse_zero_quaternions(name, array)
    return array
