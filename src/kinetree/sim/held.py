"""The constraints of a simulation: where each contact is held, and whether the start satisfies them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ConfigurationError
from kinetree.functions.constrained import constraint_errors, constraint_jacobian
from kinetree.functions.constraint_options import HELD, first_sample, listed
from kinetree.functions.kinematics import frame_placement
from kinetree.functions.steps import PLACE
from kinetree.model import Model
from kinetree.model.constraints import Constraint, Contact
from kinetree.records import record
from kinetree.spatial import Transform
from kinetree.spatial.poses import pose

__all__ = ["HeldFrames", "held_frames"]

Array = NDArray[np.float64]
_MET = 1e-6
"""The largest error of a start, m or rad, and of its velocity relative to 1 + |v|."""


@record(frozen=True, slots=True)
class HeldFrames:
    """Constraints whose contacts are at places that are inputs, so that another start compiles nothing."""

    constraints: tuple[Constraint, ...]
    """With the origin as the place of every contact."""
    contacts: int
    places: Array
    """(…, 12 contacts)."""


def held_frames(
    robot: Model, constraints: Any, q: Array, v: Array, parameters: Mapping[str, Array]
) -> HeldFrames | None:
    """The constraints of a motion that starts at q and v. Raises unless they are met there."""
    given = listed(constraints)
    if given is None or given == ():
        return None
    found: Any = HELD["constraints"](robot, given)  # raises if they are no constraints
    given_parameters = parameters or None
    errors = np.abs(constraint_errors(robot, q, found, parameters=given_parameters)).max(axis=-1)
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
    contacts = [c for c in found if isinstance(c, Contact)]
    places = [_place(robot, c, q, given_parameters) for c in contacts]
    shape = np.broadcast_shapes(*(x.shape[:-1] for x in places)) if places else ()
    return HeldFrames(
        tuple(replace(c, at=Transform.identity()) if isinstance(c, Contact) else c for c in found),
        len(contacts),
        np.concatenate([np.broadcast_to(x, (*shape, PLACE)) for x in places] or [np.zeros(0)], axis=-1),
    )


def _refuse_start(robot: Model, wrong: NDArray[np.bool_], sizes: Array, what: str, measure: str, instead: str) -> None:
    if not wrong.any():
        return
    sample, where = first_sample(np.asarray(wrong))
    raise ConfigurationError(
        f"simulate: the constraints on {robot.name!r} {what}{where}: {measure.format(float(sizes[sample]))}; "
        f"start from {instead}"
    )


def _place(robot: Model, contact: Contact, q: Array, parameters: Mapping[str, Array] | None) -> Array:
    """The columns of the rotation matrix and the position, (…, 12)."""
    matrix = (
        frame_placement(robot, q, contact.frame, parameters=parameters)
        if contact.at is None
        else pose("at", contact.at).matrix
    )
    return np.swapaxes(matrix[..., :3, :], -1, -2).reshape((*matrix.shape[:-2], PLACE))
