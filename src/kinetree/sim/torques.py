"""The torques of a simulation: none, constant, samples held over a step each, or a function of time and state."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ConfigurationError, ShapeError
from kinetree.inputs import real_array
from kinetree.model import Model
from kinetree.sim.integrators import Array

__all__ = ["Controller", "Torque", "torque_source", "vector"]

Controller = Callable[[float, Array, Array], ArrayLike]
"""(t, q, v) -> torques (nv,)."""

Torque = Callable[[int, float, Array, Array], Array]
"""(step, t, q, v) -> torques (nv,)."""


def torque_source(robot: Model, tau: ArrayLike | Controller | None, steps: int) -> Torque:
    """What `simulate` was given as `tau`, as one kind of function."""
    if tau is None:
        zero = np.zeros(robot.nv)
        return lambda _step, _t, _q, _v: zero
    if callable(tau):
        return _from_controller(robot, tau)
    values = _real("tau", tau, f"({robot.nv},) or ({steps}, {robot.nv})")
    if values.ndim == 1:
        constant = vector(robot, "tau", values, robot.v_names)
        return lambda _step, _t, _q, _v: constant
    if values.shape != (steps, robot.nv):
        raise ShapeError(
            f"tau has shape {values.shape}, but {robot.name!r} with {steps} steps needs ({robot.nv},) for constant "
            f"torques or ({steps}, {robot.nv}) for a row of torques a step"
        )
    if not np.isfinite(values).all():
        row, column = (int(k) for k in np.argwhere(~np.isfinite(values))[0])
        raise ConfigurationError(
            f"tau[{row}, {column}] ({robot.v_names[column]}) is {values[row, column]}: it must be finite"
        )
    # The last row is asked for once more, for the end of the last step.
    return lambda step, _t, _q, _v: values[min(step, steps - 1)]


def vector(robot: Model, name: str, x: ArrayLike, coordinates: list[str]) -> Array:
    """x as an array of its own of one finite number a coordinate, or an error that says what is wrong."""
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


def _from_controller(robot: Model, controller: Controller) -> Torque:
    nv = robot.nv

    def torque(_step: int, t: float, q: Array, v: Array) -> Array:
        # Read-only views: a controller that writes into its arguments must not bend the motion.
        seen = q.view(), v.view()
        for array in seen:
            array.flags.writeable = False
        values = _real("what tau(t, q, v) returns", controller(t, *seen), f"({nv},)")
        if values.shape != (nv,):
            raise ShapeError(
                f"tau(t, q, v) returned the shape {values.shape} at t = {t:g} s, but {robot.name!r} needs ({nv},)"
            )
        return values

    return torque
