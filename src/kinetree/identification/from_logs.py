"""From logs to a robot with new parameters, and a report of how far it can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kinetree.errors import LogError, OptionError
from kinetree.identification.base_parameters import base_parameters
from kinetree.identification.estimation.base_estimate import base_estimate
from kinetree.identification.estimation.consistent import consistent_estimate
from kinetree.identification.estimation.friction_search import with_form
from kinetree.identification.estimation.regression import Regression
from kinetree.identification.filtering import filtered
from kinetree.identification.friction.curve import curve_of, has_own_friction, with_friction_speeds
from kinetree.identification.friction.forms import COULOMB, FORMS
from kinetree.identification.logs.log import Log, check_log
from kinetree.identification.logs.suspicions import suspicions
from kinetree.identification.report.identification import Identification, unexcited_note
from kinetree.identification.report.validation import validated
from kinetree.inputs import chosen_word, flag

__all__ = ["identify"]


def identify(
    logs: Log | Sequence[Log],
    *,
    cutoff: float | None = None,
    drives: bool = False,
    friction: str = "coulomb",
    offsets: bool = False,
    prior_deviation: float = 1.0,
    tolerance: float = 1e-9,
    validation: Log | None = None,
) -> Identification:
    """The inertial parameters of a robot from logs of its motion.

    In this order: logs are looked at for suspicious numbers, filtered (`filtered`), their equations accumulated
    (`Regression`), base parameters found by least squares with the noise of each joint (`base_estimate`), then inertias
    that bodies can have (`consistent_estimate`), and the torques of the new robot compared with those of a log.

    Args:
        logs: one or several, of one robot, whose parameters are the prior ones.
        cutoff: of the filter, Hz; at least five times the highest frequency of the motion. None for logs that have
            velocities and accelerations and are as they should be.
        drives: whether armature, damping and dry friction of the joints are estimated, too.
        friction: the form of dry friction, with drives=True: "coulomb", F tanh(v / v_s) with the robot's own v_s;
            "sigmoid", the same with v_s found from the logs; "stribeck", (F + B exp(-(v / s)²)) tanh(v / v_s) with B
            and s found from the logs. Joints whose friction is not clearly of that form, by three standard deviations,
            have Coulomb's, and the report lists them.
        offsets: whether each torque may have a constant error.
        prior_deviation: how far the robot's own numbers are thought to be from the truth, as a part.
        tolerance: of `kt.identification.base_parameters`.
        validation: a log of another motion, with which the torques of the new robot are compared; by default the logs
            themselves.

    Returns:
        The robot, the estimates with covariances, a report (`print`) and its picture (`.plot`). Parameters that the
        logs do not excite are reported, and keep the robot's own numbers.

    Raises:
        LogError: the logs are of several robots, have gaps, uneven times, no velocities, or too few rows.
        OptionError: an option is out of its range, or another form of friction is asked for without drives=True or
            for a robot whose joints share coordinates.
        MissingPackageError: a filter is asked for, and SciPy is not installed.

    Source: Gautier and Poignet (2001) for the least squares, Lee, Wensing and Park (2020) for the inertias.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> t = np.arange(0.0, 10.0, 0.01)[:, None]
    >>> q, v, qdd = (np.sin(t * [2.0, 3.0]), [2.0, 3.0] * np.cos(t * [2.0, 3.0]), -np.sin(t * [2.0, 3.0]) * [4.0, 9.0])
    >>> heavier = kt.identification.with_inertial_parameters(robot, 1.3 * kt.identification.inertial_parameters(robot))
    >>> log = kt.identification.log_of(robot, t[:, 0], q, kt.rnea(heavier, q, v, qdd), v=v, qdd=qdd)
    >>> found = kt.identification.identify(log)
    >>> bool(np.allclose(kt.rnea(found.robot, q, v, qdd), log.tau, atol=1e-3))
    True
    """
    training = [logs] if isinstance(logs, Log) else list(logs) if isinstance(logs, Sequence) else []
    if not training or not all(isinstance(log, Log) for log in training):
        raise LogError("identify takes logs, of kinetree.identification.read_log or log_of")
    robot = training[0].robot
    for log in [*training, *([check_log("identify: validation", validation)] if validation is not None else [])]:
        if log.robot != robot:
            raise LogError(f"the logs are of different robots, {robot.name!r} and {log.robot.name!r}")
    has_drives = flag("drives", drives)
    form = FORMS[chosen_word("friction", friction, *FORMS)]
    if form is not COULOMB and not has_drives:
        raise OptionError(f"friction={friction!r} is found with the other numbers of the drives: give drives=True")
    if form is not COULOMB and not has_own_friction(robot):
        raise OptionError(
            f"friction={friction!r} is for joints with coordinates of their own, and {robot.name!r} has joints that "
            "share them"
        )
    suspected = [sentence for log in training for sentence in suspicions(log)]
    remarks = list(suspected)
    smooth = [log if cutoff is None else filtered(log, cutoff) for log in training]
    base = base_parameters(robot, drives=has_drives, tolerance=tolerance)
    if form is COULOMB:
        equations = Regression(base, offsets=offsets)
        for log in smooth:
            equations.add(log)
    else:
        sought = with_form(smooth, base, form, offsets=offsets)
        equations = sought.equations
        remarks += sought.remarks
    estimate = base_estimate(equations)
    if estimate.unexcited:
        remarks.append(f"{unexcited_note(estimate)}. They keep the robot's own numbers; estimate.unexcited lists them")
    try:
        consistent = consistent_estimate(estimate, prior_deviation=prior_deviation)
    except LogError as error:
        raise LogError("; ".join([str(error), *suspected])) from None
    validated_logs = smooth if validation is None else [validation if cutoff is None else filtered(validation, cutoff)]
    numbers = dict(zip(estimate.names, consistent.values.tolist(), strict=True))
    consistent = replace(consistent, robot=with_friction_speeds(consistent.robot, numbers))
    curve = curve_of(consistent.robot, friction, numbers) if has_drives and has_own_friction(robot) else None
    shift = consistent.values[-robot.nv :] if offsets else None
    checks = validated(robot, consistent.robot, validated_logs, drives=has_drives, friction=curve, offsets=shift)
    return Identification(
        consistent.robot, estimate, consistent, curve, shift, tuple(dict.fromkeys(remarks)), checks,
        validation is not None, validated_logs[0],
    )  # fmt: skip
