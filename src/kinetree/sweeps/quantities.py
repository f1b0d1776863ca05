"""Quantities of a motion that can vary, by name; and from their values to the arguments of `simulate`.

q, v, tau, ctrl, act    the start, and torques, commands that are constant; all elements
q.NAME, …               one of them, by the name of a coordinate, degree of freedom or actuator
dq                      how far the start is displaced (nv,), as `robot.integrate` does it
body.NAME.mass, …       a parameter of the robot (`kinetree docs parameters_names`)
f_ext.FRAME             an external force on a frame (6,), constant
arguments.NAME          an argument of a controller that is a program; state.NAME, its initial state
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import DTypeError, NameNotFoundError, OptionError, ShapeError, nearest_names
from kinetree.functions.above_ground import usual_start
from kinetree.functions.actuators import actuation_of_robot
from kinetree.functions.kinematics import integrate
from kinetree.inputs import real_array, sample_shape
from kinetree.model import Model
from kinetree.programs import Program
from kinetree.sim.endings import actuator_names
from kinetree.sim.torques import first_activations

__all__ = ["Quantities"]

Array = NDArray[np.float64]
_OF_STEPS = ("tau", "ctrl")
_NAMED = ("arguments", "state")


class Quantities:
    """The quantities of a robot's motion, with the options of `simulate` for all samples."""

    def __init__(self, robot: Model, options: Mapping[str, Any]) -> None:
        self._robot, self._given = robot, dict(options)

    def nominal(self, name: str) -> Array:
        """The value that a quantity has if it does not vary, in its shape; raises errors for other names."""
        robot = self._robot
        what, _, part = name.partition(".")
        if what in ("q", "v", "tau", "ctrl", "act"):
            whole, names = self._whole(what), self._names(what)
            if not part:
                return whole
            if part not in names:
                labels = [f"{what}.{one}" for one in names]
                raise NameNotFoundError(f"vary: there is no {name!r}: {nearest_names(name, labels)}")
            return np.asarray(whole[names.index(part)])
        if name == "dq":
            return np.zeros(robot.nv)
        if what == "f_ext":
            if part not in robot.frames:
                raise NameNotFoundError(
                    f"vary: {robot.name!r} has no frame {part!r:.60}: {nearest_names(part, robot.frames)}"
                )
            return self._constant(name, self._named("f_ext").get(part, np.zeros(6)), 6)
        if what in _NAMED:
            return self._of_program(name, what, part)
        own = robot.parameter(name)  # raises for other names
        value = self._named("parameters").get(name)
        return own if value is None else _broadcast(name, value, own.shape)

    def arguments(self, values: Mapping[str, Array], count: int) -> dict[str, Any]:
        """The arguments of `simulate` for `count` samples, whose varied values (count, *shape) are these."""
        arguments = dict(self._given)
        for what in ("q", "v", "tau", "ctrl", "act"):
            own = {name: x for name, x in values.items() if name.partition(".")[0] == what}
            if own or what == "q":
                arguments[what] = self._rows(what, own, count)
        if "dq" in values:
            arguments["q"] = integrate(self._robot, arguments["q"], values["dq"])
        for what in ("f_ext", *_NAMED):
            parts = {n.partition(".")[2]: x for n, x in values.items() if n.partition(".")[0] == what}
            if what == "f_ext":
                parts = {name: x[:, None, :] for name, x in parts.items()}
            elif parts:
                parts = {name: x.astype(self._program().arguments[name].dtype) for name, x in parts.items()}
            if parts:
                arguments[what] = {**self._named(what), **parts}
        available = ("q", "v", "tau", "ctrl", "act", "dq", "f_ext", *_NAMED)
        parameters = {name: x for name, x in values.items() if name.partition(".")[0] not in available}
        if parameters:
            arguments["parameters"] = {**self._named("parameters"), **parameters}
        return arguments

    def _rows(self, what: str, values: Mapping[str, Array], count: int) -> Array:
        """The start or the torques of all samples: given as a whole, with some elements in their own places."""
        whole, names = self._whole(what), self._names(what)
        rows = np.array(np.broadcast_to(values.get(what, whole), (count, len(whole))))
        for name, x in values.items():
            if part := name.partition(".")[2]:
                rows[:, names.index(part)] = x
        return rows[:, None, :] if what in _OF_STEPS else rows

    def _whole(self, what: str) -> Array:
        robot, value = self._robot, self._given.get(what)
        if what == "act":
            return np.asarray(first_activations(robot, value))
        if value is not None:
            return self._constant(what, value, len(self._names(what)))
        if what == "q":
            return usual_start(robot, touches=bool(self._given.get("contact")))
        return np.zeros(len(self._names(what)))

    def _constant(self, name: str, value: Any, size: int) -> Array:
        if callable(value) or isinstance(value, Program):
            raise OptionError(f"vary: {name} cannot vary, since a controller computes it; leave one of them out")
        array = real_array(name, value, f"({size},)").astype(np.float64)
        if array.shape != (size,):
            raise OptionError(
                f"vary: {name} can vary if it is constant over the motion, ({size},), and it is given as {array.shape}"
            )
        return array

    def _named(self, what: str) -> Mapping[str, Any]:
        """The values given by name for all samples, such as external forces."""
        values = self._given.get(what)
        if values is None:
            return {}
        if not isinstance(values, Mapping):
            raise DTypeError(f"{what} must be values by name, not {type(values).__name__}")
        return values

    def _names(self, what: str) -> Sequence[str]:
        robot = self._robot
        if what in ("ctrl", "act"):
            names = actuator_names(robot)
            if what == "act":
                return [names[k] for k in actuation_of_robot(robot).with_activation]
            return list(names)
        return list(robot.q_names if what == "q" else robot.v_names)

    def _of_program(self, name: str, what: str, part: str) -> Array:
        program = self._program(name)
        if part not in program.arguments:
            raise NameNotFoundError(
                f"vary: {program.name!r} has no argument {part!r:.60}: {nearest_names(part, program.arguments)}"
            )
        shape = program.arguments[part].shape
        value = self._named(what).get(part)
        return _broadcast(name, 0.0 if value is None else value, shape)

    def _program(self, name: str = "this") -> Program:
        program = next((x for x in map(self._given.get, ("tau", "ctrl")) if isinstance(x, Program)), None)
        if program is None:
            raise OptionError(f"vary: {name} is for a controller that is a kt.program, and there is none")
        return program


def _broadcast(name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """The value given for a quantity of some shape."""
    array = real_array(name, value, sample_shape(shape)).astype(np.float64)
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ShapeError(f"{name} has shape {array.shape}, and {shape} is needed") from None
