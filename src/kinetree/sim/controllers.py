"""Python functions of time and state that give torques, commands or external forces, with checks of their results."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ActuationError, ShapeError, SimulationError
from kinetree.inputs import real_array
from kinetree.model import Model, no_motor
from kinetree.model.external_forces import ForceKey
from kinetree.sim.endings import actuator_names

__all__ = ["Commander", "Controller", "Torque", "checked_commander", "checked_controller", "checked_force"]

Array = NDArray[np.float64]

Controller = Callable[[float, Array, Array], ArrayLike]
"""(t, q, v) -> torques (…, nv)."""

Commander = Callable[[float, Array, Array], ArrayLike] | Callable[[float, Array, Array, Array], ArrayLike]
"""(t, q, v), or (t, q, v, act) -> commands (…, nu)."""

_COMPONENTS = ("fx", "fy", "fz", "nx", "ny", "nz")

Torque = Callable[[float, Array, Array, Array], Array]
"""(t, q, v, act) -> torques, commands or a force, which are checked."""


def checked_controller(robot: Model, controller: Controller, shape: tuple[int, ...]) -> Torque:
    """A user's function of torques, whose results are checked and which cannot change the motion's state."""
    called = _Called("tau", robot.name, robot.v_names, shape)
    idle = np.flatnonzero(~robot.actuated)

    def torque(t: float, q: Array, v: Array, act: Array) -> Array:  # noqa: ARG001
        values, known = called(controller, t, q, v)
        if idle.size and np.count_nonzero(known[..., idle]):  # quicker than any()
            place = tuple(int(k) for k in np.argwhere(known * ~robot.actuated)[0])
            raise ActuationError(
                f"tau(t, q, v) returned {values[place]:g} as entry {', '.join(map(str, place))} at t = {t:g} s, but "
                f"{no_motor(robot, place[-1])}"
            )
        return values

    return torque


def checked_commander(robot: Model, commander: Any, shape: tuple[int, ...]) -> Torque:
    """A user's function of commands, likewise."""
    return _checked(commander, _Called("ctrl", robot.name, actuator_names(robot), shape))


def checked_force(robot: Model, key: ForceKey, force: Any, shape: tuple[int, ...]) -> Torque:
    """A user's function of an external force, likewise."""
    return _checked(force, _Called(f"f_ext[{key!r:.80}]", robot.name, _COMPONENTS, shape))


def _checked(function: Any, called: _Called) -> Torque:
    takes_act = _takes_four(function)

    def value(t: float, q: Array, v: Array, act: Array) -> Array:
        return called(function, t, *((q, v, act) if takes_act else (q, v)))[0]

    return value


class _Called:
    """Calls a user's function, and checks its result."""

    def __init__(self, name: str, robot: str, names: Sequence[str], shape: tuple[int, ...]) -> None:
        self._name, self._robot, self._names, self._shape = name, robot, names, shape
        self._wanted = "(" + ", ".join(map(str, (*shape, len(names)))) + ("," if not shape else "") + ")"
        # States may be about to leave all bounds.
        self._warned: Any = {**np.geterr(), "over": "ignore", "invalid": "ignore"}

    def __call__(self, function: Callable[..., ArrayLike], t: float, *state: Array) -> tuple[Array, Array]:
        """The result, and the same with zeros in place of numbers that are not finite."""
        # Read-only views, so that a controller that writes into its arguments does not change the motion.
        views = [x.view() for x in state]
        for array in views:
            array.flags.writeable = False
        with np.errstate(**self._warned):
            returned = function(t, *views)
        call = f"{self._name}(t, q, v)"
        values = real_array(f"what {call} returns", returned, self._wanted).astype(np.float64)
        if values.shape not in ((len(self._names),), (*self._shape, len(self._names))):
            raise ShapeError(
                f"{call} returned the shape {values.shape} at t = {t:g} s, but {self._robot!r} needs {self._wanted}"
            )
        if np.isfinite(values).all():
            return values, values
        if not self._shape and all(np.isfinite(x).all() for x in state):  # of a batch, one motion ends
            place = tuple(int(k) for k in np.argwhere(~np.isfinite(values))[0])
            raise SimulationError(
                f"the controller {call} returned {values[place]} at t = {t:g} s, as entry "
                f"{', '.join(map(str, place))} ({self._names[place[-1]]}); the state that it was given is finite, "
                f"up to {max(np.abs(x).max(initial=0.0) for x in state):.3g}"
            )
        return values, np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)


def _takes_four(function: Any) -> bool:
    """Whether a function takes t, q, v and act."""
    try:
        inspect.signature(function).bind(0.0, 0.0, 0.0, 0.0)
    except (TypeError, ValueError):
        return False
    return True
