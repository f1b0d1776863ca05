"""The commands of a simulation's actuators that are known in advance, constant or held over a step each; and the
activations that they begin with."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ConfigurationError, OptionError, ShapeError, listed
from kinetree.functions.actuators import actuation_of_robot
from kinetree.inputs import real_array
from kinetree.model import Model
from kinetree.sim.endings import actuator_names

__all__ = ["command_rows", "first_activations"]

Array = NDArray[np.float64]


def command_rows(robot: Model, ctrl: ArrayLike, steps: int) -> Array:
    """Commands that are known in advance, one row per step (…, steps, nu).

    Of one motion they are finite; of a batch, a motion ends where they are not.
    """
    names = actuator_names(robot)
    nu = len(names)
    values = real_array("ctrl", ctrl, f"({nu},) or (…, {steps}, {nu})").astype(np.float64)
    rows = values[None] if values.ndim == 1 else values
    is_constant = values.ndim != 2 and rows.shape[-2:] == (1, nu)
    if not is_constant and rows.shape[-2:] != (steps, nu):
        raise ShapeError(
            f"ctrl has shape {values.shape}, but {robot.name!r} with {steps} steps needs ({nu},) for constant "
            f"commands or ({steps}, {nu}) for one row per step; a batch has (…, {steps}, {nu}), or (…, 1, {nu}) for "
            f"commands that are constant. Its actuators are {listed(map(repr, names), most=8)}"
        )
    if rows.ndim == 2 and not np.isfinite(rows).all():
        row, column = (int(k) for k in np.argwhere(~np.isfinite(rows))[0])
        place = str(column) if values.ndim == 1 else f"{row}, {column}"
        raise ConfigurationError(
            f"ctrl[{place}], the command of {names[column]!r}, is {rows[row, column]}: it must be finite"
        )
    return np.broadcast_to(rows, (*rows.shape[:-2], steps, nu))


def first_activations(robot: Model, act: ArrayLike | None) -> Array:
    """The activations (…, na) that a motion begins with; zeros if none are given."""
    actuation = actuation_of_robot(robot)
    names = [actuator_names(robot)[k] for k in actuation.with_activation]
    na = len(names)
    if act is None:
        return np.zeros(na)
    if not na:
        raise OptionError(f"simulate: none of the actuators of {robot.name!r} has an activation; leave act= out")
    values = real_array("act", act, f"(…, {na})").astype(np.float64)
    if values.shape[-1:] != (na,):
        raise ShapeError(
            f"act has shape {values.shape}, but {robot.name!r} needs ({na},), or (…, {na}) for a batch: one number for "
            f"each of {listed(map(repr, names), most=8)}"
        )
    if not np.isfinite(values).all():
        *_, k = (int(k) for k in np.argwhere(~np.isfinite(values))[0])
        raise ConfigurationError(f"act must be finite everywhere, and is not for {names[k]!r}")
    return values
