"""Inputs of a simulation known in advance: torques and commands, none, constant, or held over a step each; external
forces, parameters, and the activations at the beginning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.compiler.forms.parameters import body_of_alternatives
from kinetree.errors import ConfigurationError, DTypeError, OptionError, ShapeError, listed
from kinetree.functions.actuators import actuation_of_robot
from kinetree.inputs import real_array, sample_shape
from kinetree.model import Model
from kinetree.model.external_forces import ExternalForces, ForceKey, acting
from kinetree.model.parameters import check_alternatives
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
    if tau is None:
        return np.broadcast_to(np.zeros(nv), (steps, nv))
    values = _real("tau", tau, f"({nv},) or (…, {steps}, {nv})")
    if not _fits(values, steps, nv):
        raise ShapeError(
            f"tau has shape {values.shape}, but {robot.name!r} with {steps} steps needs ({nv},) for constant torques "
            f"or ({steps}, {nv}) for one row per step; a batch has (…, {steps}, {nv}), or (…, 1, {nv}) for torques "
            "that are constant"
        )
    if not np.isfinite(values).all():
        raise _not_finite("tau", values, robot.v_names)
    robot.check_actuation(values)
    return np.broadcast_to(values, (*values.shape[:-2], steps, nv))


def _fits(values: Array, steps: int, n: int) -> bool:
    """Whether values are constant, or have one row per step, or in a batch one row for all of them."""
    rows = values.shape[-2:]
    return rows in ((n,), (steps, n)) or (values.ndim > 2 and rows == (1, n))


def _not_finite(name: str, values: Array, columns: Sequence[str]) -> ConfigurationError:
    """The error that names the first of the values (…, n) that is not finite."""
    place = tuple(int(k) for k in np.argwhere(~np.isfinite(values))[0])
    return ConfigurationError(
        f"{name}[{', '.join(map(str, place))}] ({columns[place[-1]]}) is {values[place]}: it must be finite"
    )


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
        if not _fits(values, steps, 6):
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
    result = {}
    for name, given in parameters.items():
        core = robot.parameter(name).shape  # raises if there is no such parameter
        shape = sample_shape(core)
        values = _real(name, given, shape)
        if values.shape[values.ndim - len(core) :] != core:
            raise ShapeError(f"simulate: {name} has shape {values.shape}, but {robot.name!r} needs {shape}")
        if not np.isfinite(values).all():
            raise ConfigurationError(f"{name} must be finite everywhere")
        if (body := body_of_alternatives(robot, name)) is not None:
            check_alternatives(body, values, f"simulate: {name}")
        result[name] = values
    return result


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
            raise _not_finite(name, values, coordinates)
        raise ConfigurationError(f"{name} must be finite everywhere")
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
    if not _fits(values, steps, nu):
        raise ShapeError(
            f"ctrl has shape {values.shape}, but {robot.name!r} with {steps} steps needs ({nu},) for constant "
            f"commands or ({steps}, {nu}) for one row per step; a batch has (…, {steps}, {nu}), or (…, 1, {nu}) for "
            f"commands that are constant. Its actuators are {listed(map(repr, names), most=8)}"
        )
    if values.ndim < 3 and not np.isfinite(values).all():
        raise _not_finite("ctrl", values, names)
    return np.broadcast_to(values, (*values.shape[:-2], steps, nu))


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
