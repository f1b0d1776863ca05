"""A payload's mass, centre and inertia, from a log of a robot that carries it.

The robot's own torques are subtracted; the rest is linear in the ten numbers of the payload. They are found as those of
any body: by least squares with the noise of each joint, and as inertias that bodies can have.

Source: Atkeson, An, Hollerbach, "Estimation of inertial parameters of manipulator loads and links" (1986), section 2.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import LogError, OptionError
from kinetree.identification.base_parameters import BaseParameters
from kinetree.identification.estimation.base_estimate import BaseEstimate, base_estimate
from kinetree.identification.estimation.consistent import consistent_estimate
from kinetree.identification.estimation.regression import Regression
from kinetree.identification.friction.curve import FrictionCurve
from kinetree.identification.inertial_parameters import inertial_parameters, parameter_names
from kinetree.identification.logs.log import Log, check_log
from kinetree.identification.report.validation import torques_of
from kinetree.inputs import flag
from kinetree.model import Model
from kinetree.records import record
from kinetree.solids import sphere
from kinetree.spatial import Inertia

__all__ = ["Payload", "identify_payload"]

Array = NDArray[np.float64]

_RADIUS = 0.1
"""m, of the prior payload, if none is given."""


@record(frozen=True, slots=True, eq=False, repr=False)
class Payload:
    """A payload that a robot carried."""

    robot: Model
    """The robot with the payload as a body of its own."""
    mass: float
    """kg."""
    center_of_mass: Array
    """(3,), m, in the frame."""
    inertia: Array
    """(3, 3), kg·m², about the centre of mass, in the frame's axes."""
    deviations: Array
    """(10,): standard deviations of m, h_x, h_y, h_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz about the frame's origin, by
    the log and the prior."""
    estimate: BaseEstimate
    """Least squares without a prior, about the frame's origin; NaN where the motion has no information."""

    def __repr__(self) -> str:
        center = ", ".join(f"{x:.4g}" for x in self.center_of_mass)
        return (
            f"payload of {self.mass:.4g} kg (± {self.deviations[0]:.2g}) at ({center}) m, from "
            f"{self.estimate.rows:,} rows"
        )


def identify_payload(
    log: Log, frame: str, *, prior: Inertia | None = None, prior_deviation: float = 3.0, drives: bool = False,
    friction: FrictionCurve | None = None, name: str = "payload",
) -> Payload:  # fmt: skip
    """The mass, the centre of mass and the inertia of a robot's payload.

    The robot's own parameters are taken as they are, so identify the robot without a payload first. At rest in several
    poses mass and centre are seen, in motion inertia, too; undetermined values come from the prior payload.

    Args:
        log: of the robot with its payload, with v and qdd (see `filtered`); `log.robot` is without it.
        frame: where it is attached, a name in `robot.frames`.
        prior: a guess of the payload, in the frame; by default a sphere of 0.1 m radius at the frame's origin, whose
            mass is that of the least squares estimate, or 1 kg if that is not positive.
        prior_deviation: how far the prior is thought to be from the truth, as a part.
        drives: whether the robot's damping and dry friction are part of its torques.
        friction: with drives=True, friction that `identify` found and the robot has no place for, instead of its own.
        name: of the new body.

    Returns:
        The payload, and the robot with it.

    Raises:
        NameNotFoundError: the robot has no such frame.
        LogError: the log has no velocities or accelerations, or too few rows.
        OptionError: prior_deviation is not positive, the prior is a point, a rod or a plate, or friction is given
            without drives=True.
        ModelError: the robot already has a body of this name.

    Source: Atkeson, An, Hollerbach, "Estimation of inertial parameters of manipulator loads and links" (1986).
    """
    robot = check_log("identify_payload", log).robot
    if log.v is None or log.qdd is None:
        raise LogError(f"the log{log.origin} has no velocities or accelerations; use kinetree.identification.filtered")
    has_drives = flag("drives", drives)
    if friction is not None and not (has_drives and isinstance(friction, FrictionCurve)):
        raise OptionError("friction must be the friction of an Identification, with drives=True")
    loaded = robot.attach_body(name, sphere(_RADIUS, mass=1.0) if prior is None else prior, frame)
    base = _ten_of(loaded, name)
    rest = replace(log, robot=loaded, tau=log.tau - torques_of(robot, log, drives=has_drives, friction=friction))
    equations = Regression(base)
    equations.add(rest)
    estimate = base_estimate(equations)
    if prior is None:
        mass = float(estimate.values[0])
        guess = mass if np.isfinite(mass) and mass > 0.0 else 1.0
        loaded = robot.attach_body(name, sphere(_RADIUS, mass=guess), frame)
    estimate_with_prior = consistent_estimate(estimate, prior_deviation=prior_deviation, robot=loaded)
    if name in estimate_with_prior.held:
        raise OptionError("prior must be a body with some thickness in all directions, not a point, a rod or a plate")
    body = estimate_with_prior.robot.bodies[name]
    return Payload(
        estimate_with_prior.robot, float(body.mass), np.array(body.center_of_mass), np.array(body.rotational_inertia),
        estimate_with_prior.deviations, estimate,
    )  # fmt: skip


def _ten_of(loaded: Model, name: str) -> BaseParameters:
    """The ten parameters of one body, each by itself."""
    place = list(loaded.bodies).index(name)
    columns = tuple(range(10 * place, 10 * place + 10))
    names = parameter_names(loaded, list(loaded.bodies), drives=False)
    matrix = np.zeros((10, len(inertial_parameters(loaded))))
    matrix[range(10), columns] = 1.0
    return BaseParameters(
        loaded, tuple(names[k] for k in columns), matrix, columns, tuple(names), (), False, 1e-9, 1.0
    )  # fmt: skip
