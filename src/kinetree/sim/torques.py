"""Inputs of a simulation known in advance: torques and commands, none, constant, or held over a step each; external
forces, parameters, and the activations at the beginning."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ConfigurationError, DTypeError, OptionError, ShapeError, listed
from kinetree.functions.actuators import actuation_of_robot
from kinetree.inputs import real_array, sample_shape
from kinetree.model import Model
from kinetree.model.external_forces import ExternalForces, ForceKey, acting
from kinetree.sim.endings import actuator_names

__all__ = [
    "checked_state",
    "command_rows",
    "first_activations",
    "for_all_rows",
    "force_rows",
    "parameter_values",
    "torque_rows",
]

Array = NDArray[np.float64]


def torque_rows(robot: Model, tau: ArrayLike | None, steps: int) -> Array:
    """Torques that are known in advance, one row per step (…, steps, nv)."""
    nv = robot.nv
    shape = (steps, nv)
    if tau is None:
        return np.broadcast_to(np.zeros(nv), shape)
    values = _real("tau", tau, f"({nv},) or (…, {steps}, {nv})")
    if values.ndim == 1:
        constant = _vector(robot, "tau", values, robot.v_names)
        robot.check_actuation(constant)
        return np.broadcast_to(constant, shape)
    if not _fits(values, shape):
        raise ShapeError(
            f"tau has shape {values.shape}, but {robot.name!r} with {steps} steps needs ({robot.nv},) for constant "
            f"torques or ({steps}, {robot.nv}) for one row per step; a batch has (…, {steps}, {robot.nv}), or "
            f"(…, 1, {robot.nv}) for torques that are constant"
        )
    if not np.isfinite(values).all():
        *sample, row, column = (int(k) for k in np.argwhere(~np.isfinite(values))[0])
        place = ", ".join(map(str, (*sample, row, column)))
        raise ConfigurationError(
            f"tau[{place}] ({robot.v_names[column]}) is {values[(*sample, row, column)]}: it must be finite"
        )
    robot.check_actuation(values)
    return np.broadcast_to(values, (*values.shape[:-2], *shape))


def _fits(values: Array, shape: tuple[int, ...]) -> bool:
    """Whether values have one row per step, or in a batch one row for all of them."""
    rows = values.shape[-2:]
    return rows == shape or (values.ndim > 2 and rows == (1, shape[-1]))


def force_rows(robot: Model, f_ext: ExternalForces | None, steps: int) -> dict[ForceKey, Array]:
    """External forces, one row per step (…, steps, 6) each."""
    if f_ext is None:
        return {}
    if not isinstance(f_ext, Mapping):
        raise DTypeError(
            f"f_ext must be a dict from frame names (or kt.dynamics.WrenchOn, kt.dynamics.ForceOn) to arrays (6,) "
            f"or ({steps}, 6), not {type(f_ext).__name__}"
        )
    rows = {}
    for key, given in f_ext.items():
        acting(robot.frames, key)  # raises if there is no such frame
        name = f"f_ext[{key!r:.80}]"
        values = _real(name, given, f"(6,) or (…, {steps}, 6)")
        if values.shape != (6,) and (values.ndim < 2 or not _fits(values, (steps, 6))):
            raise ShapeError(
                f"{name} has shape {values.shape}, but a motion of {steps} steps needs (6,) for a constant force or "
                f"({steps}, 6) for one row per step; a batch has (…, {steps}, 6), or (…, 1, 6) for a constant force"
            )
        if not np.isfinite(values).all():
            raise ConfigurationError(f"{name} must be finite everywhere")
        rows[key] = np.broadcast_to(values, (*values.shape[:-2], steps, 6))
    return rows


def parameter_values(robot: Model, parameters: Mapping[str, ArrayLike] | None) -> dict[str, Array]:
    """Values of the robot's parameters (…, *shape of one sample)."""
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping):
        raise DTypeError(
            "simulate: parameters must be a dict from names such as 'body.hand.mass' to arrays, "
            f"not {type(parameters).__name__}"
        )
    found = {}
    for name, given in parameters.items():
        core = robot.parameter(name).shape  # raises if there is no such parameter
        shape = sample_shape(core)
        values = _real(name, given, shape)
        if values.shape[values.ndim - len(core) :] != core:
            raise ShapeError(f"simulate: {name} has shape {values.shape}, but {robot.name!r} needs {shape}")
        if not np.isfinite(values).all():
            raise ConfigurationError(f"{name} must be finite everywhere")
        found[name] = values
    return found


def for_all_rows(robot: Model, parameters: Mapping[str, Array]) -> dict[str, Array]:
    """One value of a parameter for all rows of a motion, (…, 1, *shape of one sample)."""
    if not parameters:
        return {}
    return {name: np.expand_dims(x, x.ndim - robot.parameter(name).ndim) for name, x in parameters.items()}


def checked_state(robot: Model, name: str, x: ArrayLike, coordinates: list[str]) -> Array:
    """x as a new array (…, n) of finite numbers, or an error that describes the fault."""
    n = len(coordinates)
    values = _real(name, x, f"(…, {n})")
    if values.shape[-1:] != (n,):
        raise ShapeError(f"{name} has shape {values.shape}, but {robot.name!r} needs ({n},), or (…, {n}) for a batch")
    if not np.isfinite(values).all():
        if values.ndim == 1:
            return _vector(robot, name, values, coordinates)
        raise ConfigurationError(f"{name} must be finite everywhere")
    return values


def _vector(robot: Model, name: str, x: ArrayLike, coordinates: list[str]) -> Array:
    """x as a new array with one finite number per coordinate, or an error that describes the fault."""
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


def command_rows(robot: Model, ctrl: ArrayLike, steps: int) -> Array:
    """Commands that are known in advance, one row per step (…, steps, nu).

    Of one motion they are finite; of a batch, a motion ends where they are not.
    """
    names = actuator_names(robot)
    nu = len(names)
    values = _real("ctrl", ctrl, f"({nu},) or (…, {steps}, {nu})")
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
    values = _real("act", act, f"(…, {na})")
    if values.shape[-1:] != (na,):
        raise ShapeError(
            f"act has shape {values.shape}, but {robot.name!r} needs ({na},), or (…, {na}) for a batch: one number for "
            f"each of {listed(map(repr, names), most=8)}"
        )
    if not np.isfinite(values).all():
        *_, k = (int(k) for k in np.argwhere(~np.isfinite(values))[0])
        raise ConfigurationError(f"act must be finite everywhere, and is not for {names[k]!r}")
    return values
