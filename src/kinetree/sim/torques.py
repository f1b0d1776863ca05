"""The torques of a simulation: none, constant, samples held over a step each, or a function of time and state; and its
external forces, constant or held over a step each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ActuationError, ConfigurationError, DTypeError, ShapeError
from kinetree.inputs import real_array
from kinetree.model import Model, no_motor
from kinetree.model.external_forces import ExternalForces, ForceKey, acting

__all__ = ["Controller", "Torque", "checked_controller", "force_rows", "torque_rows", "vector"]

Array = NDArray[np.float64]

Controller = Callable[[float, Array, Array], ArrayLike]
"""(t, q, v) -> torques (nv,)."""

Torque = Callable[[float, Array, Array], Array]
"""The same, checked."""


def torque_rows(robot: Model, tau: ArrayLike | None, steps: int) -> Array:
    """Torques that are known in advance, one row per step (steps, nv)."""
    shape = (steps, robot.nv)
    if tau is None:
        return np.broadcast_to(np.zeros(robot.nv), shape)
    values = _real("tau", tau, f"({robot.nv},) or ({steps}, {robot.nv})")
    if values.ndim == 1:
        constant = vector(robot, "tau", values, robot.v_names)
        robot.check_actuation(constant)
        return np.broadcast_to(constant, shape)
    if values.shape != shape:
        raise ShapeError(
            f"tau has shape {values.shape}, but {robot.name!r} with {steps} steps needs ({robot.nv},) for constant "
            f"torques or ({steps}, {robot.nv}) for one row per step"
        )
    if not np.isfinite(values).all():
        row, column = (int(k) for k in np.argwhere(~np.isfinite(values))[0])
        raise ConfigurationError(
            f"tau[{row}, {column}] ({robot.v_names[column]}) is {values[row, column]}: it must be finite"
        )
    robot.check_actuation(values)
    return values


def force_rows(robot: Model, f_ext: ExternalForces | None, steps: int) -> dict[ForceKey, Array]:
    """External forces, one row per step (steps, 6) each."""
    if f_ext is None:
        return {}
    if not isinstance(f_ext, Mapping):
        raise DTypeError(
            f"f_ext must be a dict from frame names (or kt.WrenchOn, kt.ForceOn) to arrays (6,) or ({steps}, 6), "
            f"not {type(f_ext).__name__}"
        )
    rows = {}
    for key, given in f_ext.items():
        acting(robot.frames, key)  # raises if there is no such frame
        name = f"f_ext[{key!r:.80}]"
        values = _real(name, given, f"(6,) or ({steps}, 6)")
        if values.shape not in ((6,), (steps, 6)):
            raise ShapeError(
                f"{name} has shape {values.shape}, but a motion of {steps} steps needs (6,) for a constant force or "
                f"({steps}, 6) for one row per step"
            )
        if not np.isfinite(values).all():
            raise ConfigurationError(f"{name} must be finite everywhere")
        rows[key] = np.broadcast_to(values, (steps, 6))
    return rows


def vector(robot: Model, name: str, x: ArrayLike, coordinates: list[str]) -> Array:
    """x as a new array with one finite number per coordinate, or an error that says what is wrong."""
    n = len(coordinates)
    values = _real(name, x, f"({n},)")
    if values.shape != (n,):
        raise ShapeError(f"{name} has shape {values.shape}, but {robot.name!r} needs ({n},)")
    if not np.isfinite(values).all():
        k = int(np.argmin(np.isfinite(values)))
        raise ConfigurationError(f"{name}[{k}] ({coordinates[k]}) is {values[k]}: it must be finite")
    return values


def _real(name: str, x: ArrayLike, shape: str) -> Array:
    return real_array(name, x, shape).astype(np.float64)


def checked_controller(robot: Model, controller: Controller) -> Torque:
    """A user's function, whose results are checked and which cannot change the motion's state."""
    nv, idle = robot.nv, np.flatnonzero(~robot.actuated)

    def torque(t: float, q: Array, v: Array) -> Array:
        # Read-only views, so that a controller that writes into its arguments does not change the motion.
        seen = q.view(), v.view()
        for array in seen:
            array.flags.writeable = False
        values = _real("what tau(t, q, v) returns", controller(t, *seen), f"({nv},)")
        if values.shape != (nv,):
            raise ShapeError(
                f"tau(t, q, v) returned the shape {values.shape} at t = {t:g} s, but {robot.name!r} needs ({nv},)"
            )
        if idle.size and np.count_nonzero(values[idle]):  # quicker than any()
            column = int(idle[np.flatnonzero(values[idle])[0]])
            raise ActuationError(
                f"tau(t, q, v) returned {values[column]:g} as entry {column} at t = {t:g} s, but "
                f"{no_motor(robot, column)}"
            )
        return values

    return torque
