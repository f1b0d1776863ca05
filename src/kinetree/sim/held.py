"""The constraints of a simulation: where each contact is held, and whether the start satisfies them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ConfigurationError
from kinetree.functions.constraint_options import ALL, apart, checked_constraints, first_sample, listed
from kinetree.functions.kinematics import frame_placement
from kinetree.model import Model
from kinetree.model.constraints import Constraint, Contact, holds

__all__ = ["held_frames", "leading_axes"]

Array = NDArray[np.float64]
_MET = 1e-6
"""The largest error of a start, m or rad, and of its velocity relative to 1 + |v|."""


def held_frames(
    robot: Model, constraints: Any, q: Array, v: Array, parameters: Mapping[str, Array], places: Mapping[int, Array]
) -> tuple[tuple[Constraint, ...], dict[int, Array]]:
    """The constraints of a motion that starts at q and v, every contact with a place. Raises unless they are met.

    The places of contacts that have none of their own are those of the start, or of an earlier one, by their numbers;
    they are returned too.
    """
    given = listed(constraints)
    if given is None or given == ():
        return (), {}
    from kinetree.functions.constrained import constraint_errors, constraint_jacobian

    found = checked_constraints(robot, given)
    given_parameters = parameters or None
    has_place = np.concatenate([np.full(hold.size, hold.has_place) for hold in holds(robot.frames, found)])
    off = constraint_errors(robot, q, found, parameters=given_parameters)
    errors = np.abs(off * has_place).max(axis=-1)
    _refuse_start(
        robot, errors > _MET, errors, "are not met at the start", "an error of {:.3g} (m or rad)",
        "kt.constraints.nearest_configuration(robot, q, constraints).q",
    )  # fmt: skip
    J = constraint_jacobian(robot, q, found, parameters=given_parameters)
    rates = np.abs((J @ v[..., None])[..., 0]).max(axis=-1)
    _refuse_start(
        robot, rates > _MET * (1.0 + np.abs(v).max(axis=-1, initial=0.0)), rates, "forbid the initial velocity",
        "their frames move by {:.3g} (m/s or rad/s)",
        "kt.constraints.nearest_velocity(robot, q, v, constraints), or kt.constraints.impact(robot, q, v, "
        "constraints).v after a collision",
    )  # fmt: skip
    own = {
        k: places[k] if k in places else _place(robot, c, q, given_parameters)
        for k, c in enumerate(found)
        if isinstance(c, Contact) and c.at is None
    }
    return tuple(_held(c, own.get(k)) for k, c in enumerate(found)), own


def leading_axes(constraints: Any) -> dict[str, tuple[int, ...]]:
    """The leading axes of the numbers of constraints, by name; of anything else none, which is rejected later."""
    if constraints is None:
        return {}
    rest, arrays = apart(constraints, ALL)
    ports = ALL.ports(None, {"constraints": rest}) if arrays else []
    return {port.name: x.shape[: x.ndim - len(port.shape)] for port, x in zip(ports, arrays, strict=True)}


def _refuse_start(robot: Model, wrong: NDArray[np.bool_], sizes: Array, what: str, measure: str, instead: str) -> None:
    if not wrong.any():
        return
    sample, where = first_sample(np.asarray(wrong))
    raise ConfigurationError(
        f"simulate: the constraints on {robot.name!r} {what}{where}: {measure.format(float(sizes[sample]))}; "
        f"start from {instead}"
    )


def _held(c: Constraint, at: Array | None) -> Constraint:
    """The constraint, at a place that it was not given with."""
    return c if at is None or not isinstance(c, Contact) else replace(c, at=at)


def _place(robot: Model, c: Contact, q: Array, parameters: Mapping[str, Array] | None) -> Array:
    """Where the frame of a contact is."""
    at: Array = frame_placement(robot, q, c.frame, parameters=parameters)
    return at if c.directions == "fixed" else at[..., :3, 3]
