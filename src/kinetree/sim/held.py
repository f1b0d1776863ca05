"""The constraints of a simulation: where each contact is held, and whether the start satisfies them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ConfigurationError
from kinetree.functions.constrained import constraint_errors, constraint_jacobian
from kinetree.functions.constraint_options import ALL, apart, checked_constraints, first_sample, listed
from kinetree.functions.kinematics import frame_placement
from kinetree.model import Model
from kinetree.model.constraints import Constraint, Contact, holds

__all__ = ["held_frames", "leading_axes"]

Array = NDArray[np.float64]
_MET = 1e-6
"""The largest error of a start, m or rad, and of its velocity relative to 1 + |v|."""


def held_frames(
    robot: Model, constraints: Any, q: Array, v: Array, parameters: Mapping[str, Array]
) -> tuple[Constraint, ...]:
    """The constraints of a motion that starts at q and v, every contact with a place. Raises unless they are met."""
    given = listed(constraints)
    if given is None or given == ():
        return ()
    found = checked_constraints(robot, given)
    given_parameters = parameters or None
    has_place = np.concatenate([np.full(hold.size, hold.has_place) for hold in holds(robot.frames, found)])
    off = constraint_errors(robot, q, found, parameters=given_parameters)
    errors = np.abs(off * has_place).max(axis=-1)
    _refuse_start(
        robot, errors > _MET, errors, "are not met at the start", "an error of {:.3g} (m or rad)",
        "kt.nearest_configuration(robot, q, constraints).q",
    )  # fmt: skip
    J = constraint_jacobian(robot, q, found, parameters=given_parameters)
    rates = np.abs((J @ v[..., None])[..., 0]).max(axis=-1)
    _refuse_start(
        robot, rates > _MET * (1.0 + np.abs(v).max(axis=-1, initial=0.0)), rates, "forbid the initial velocity",
        "their frames move by {:.3g} (m/s or rad/s)",
        "kt.nearest_velocity(robot, q, v, constraints), or kt.impact(robot, q, v, constraints).v after a collision",
    )  # fmt: skip
    return tuple(_placed(robot, c, q, given_parameters) for c in found)


def leading_axes(constraints: Any) -> dict[str, tuple[int, ...]]:
    """The leading axes of the numbers of constraints, by name; of anything else none, which is rejected later."""
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


def _placed(robot: Model, c: Constraint, q: Array, parameters: Mapping[str, Array] | None) -> Constraint:
    """A contact without a place is held where its frame is."""
    if not isinstance(c, Contact) or c.at is not None:
        return c
    at = frame_placement(robot, q, c.frame, parameters=parameters)
    return replace(c, at=at if c.directions == "fixed" else at[..., :3, 3])
