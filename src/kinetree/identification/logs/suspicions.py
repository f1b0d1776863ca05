"""Suspicious values in a log: numbers that would make sense in other units, and signs that contradict each other."""

from __future__ import annotations

from math import degrees

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import listed
from kinetree.functions.dynamics import rnea
from kinetree.identification.logs.log import Log, check_log
from kinetree.model import Joint

__all__ = ["suspicions"]

Array = NDArray[np.float64]

_ALIKE = 0.2
"""The part by which a ratio may differ from the one that indicates a unit."""
_ROWS = 2000
"""The rows that are looked at."""
_REACH = 0.05
"""s: over which positions are differentiated, so that their noise does not matter."""
_STILL = 1e-3
"""rad/s, m/s: joints that move less are not compared."""
_RATIOS = {
    degrees(1.0): "the velocities are {times} the rates of the positions: degrees per second?",
    1.0 / degrees(1.0): "the velocities are {times} the rates of the positions: positions in degrees?",
    1000.0: "the velocities are {times} the rates of the positions: times in milliseconds?",
    1e6: "the velocities are {times} the rates of the positions: times in microseconds?",
    -1.0: "the velocities have the opposite sign of the rates of the positions",
}
_TORQUES = {
    1000.0: "are {times} those of the robot's own numbers: in N·mm?",
    0.001: "are {times} those of the robot's own numbers: in kN·m?",
    -1.0: "have the opposite sign of those of the robot's own numbers",
}


def suspicions(log: Log) -> list[str]:
    """Sentences about unusual values in a log, as far as its numbers and the robot's own show; empty if none are.

    They suggest mistakes of units, signs and times, and change nothing. Positions are compared with the limits of the
    joints, velocities with the rates of the positions, and torques with those that the robot's own masses would need,
    to a factor.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("double_pendulum")
    >>> motion = kt.simulate(robot, q=[1.0, 0.5], duration=1.0)
    >>> log = kt.identification.log_of(robot, motion.time, motion.q, motion.tau, v=np.degrees(motion.v))
    >>> kt.identification.suspicions(log)[0]
    'the velocities are 57.3 times the rates of the positions: degrees per second?'
    """
    check_log("suspicions", log)
    return [*_times(log), *_positions(log), *_velocities(log), *_torques(log)]


def _times(log: Log) -> list[str]:
    notes = []
    if log.step >= 0.5:
        notes.append(
            f"rows are {log.step:g} s apart, which is long for a robot's log: times in milliseconds, or finer units?"
        )
    if gaps := log.gaps:
        longest = float(np.diff(log.time).max())
        notes.append(f"there are gaps ({len(gaps)}), the longest of {longest:g} s, between rows {log.step:.3g} s apart")
    elif not log.is_even:
        notes.append(
            f"times are not even: from {np.diff(log.time).min():.3g} s to {np.diff(log.time).max():.3g} s from one row "
            "to the next"
        )
    return notes


def _positions(log: Log) -> list[str]:
    notes = []
    if not _curved(log):
        low, high = log.robot.lower, log.robot.upper
        room = 0.05 * np.where(np.isfinite(high - low), high - low, 1.0)
        outside = ((log.q < low - room) | (log.q > high + room)).any(axis=0)
        if outside.any():
            names = listed([log.robot.q_names[k] for k in np.flatnonzero(outside)], most=4)
            fits = ((np.radians(log.q) >= low) & (np.radians(log.q) <= high)).all()
            hint = ": in degrees?" if fits and np.abs(log.q).max() > 7.0 else ""
            notes.append(f"positions are outside the limits of {names}{hint}")
    constant = np.ptp(log.q, axis=0) == 0.0
    if constant.any():
        names = listed([log.robot.q_names[k] for k in np.flatnonzero(constant)], most=4)
        notes.append(f"{names} did not move at all")
    return notes


def _velocities(log: Log) -> list[str]:
    if log.v is None or _curved(log):
        return []
    rate = np.gradient(log.q, log.time, axis=0)
    notes = []
    v = log.v
    moving = np.abs(v).max(axis=0) > _STILL
    ratio = np.einsum("ti,ti->i", v, rate) / np.maximum(np.einsum("ti,ti->i", rate, rate), 1e-300)
    usual = float(np.median(ratio[moving])) if moving.any() else 1.0
    for factor, sentence in _RATIOS.items():
        if abs(usual / factor - 1.0) < _ALIKE:
            notes.append(sentence.format(times=f"{usual:.3g} times"))
    if not notes:
        other = [k for k in np.flatnonzero(moving) if abs(ratio[k] - 1.0) > _ALIKE]
        notes += [
            f"the velocity of {log.robot.v_names[k]} is {ratio[k]:.3g} times the rate of its position" for k in other
        ]
    return notes


def _torques(log: Log) -> list[str]:
    if _curved(log) or log.robot.floating_base:
        return []
    model, measured = _needed(log, log.q)
    if about_degrees := _in_degrees(log, model, measured):
        return [about_degrees]
    size = float(np.einsum("ti,ti->", model, model))
    notes = []
    if not log.tau.any():
        return ["all torques are zero"]
    limit = log.robot.effort_limit
    beyond = [
        k for k in range(log.robot.nv) if np.isfinite(limit[k]) and np.abs(log.tau[:, k]).max() > 2.0 * limit[k] > 0
    ]
    ratio = float(np.einsum("ti,ti->", measured, model)) / size if size else 1.0
    for factor, sentence in _TORQUES.items():
        if abs(ratio / factor - 1.0) < 0.5:
            notes.append(f"the torques {sentence.format(times=f'{ratio:.3g} times')}")
    if beyond and not notes:
        names = listed([log.robot.v_names[k] for k in beyond], most=4)
        notes.append(f"torques of {names} are more than twice the limits of the motors")
    return notes


def _in_degrees(log: Log, model: Array, measured: Array) -> str:
    """A sentence if the torques fit much better to positions that are read as degrees, which turn round and round."""
    units = [owner.kind.q_units if isinstance(owner, Joint) else ("",) for owner in log.robot.owners]
    turns = np.array([unit == "rad" for each in units for unit in each])
    if not turns.any() or np.abs(log.q[:, turns]).max() < 7.0:
        return ""
    as_given = np.linalg.norm(model - measured)
    in_degrees = np.linalg.norm(_needed(log, np.where(turns, np.radians(log.q), log.q))[0] - measured)
    if in_degrees > 0.3 * as_given:
        return ""
    return "the torques fit the robot's own numbers far better if the positions are in degrees"


def _needed(log: Log, q: Array) -> tuple[Array, Array]:
    """Torques that the robot's own numbers need at some rows, by differences over a twentieth of a second, and those
    measured there."""
    reach = max(1, min(round(_REACH / log.step), (len(log) - 1) // 2))
    if len(log) < 3:
        return np.zeros_like(log.tau), log.tau
    rows = np.unique(np.linspace(reach, len(log) - 1 - reach, min(_ROWS, len(log) - 2 * reach)).astype(int))
    before, here, after = q[rows - reach], q[rows], q[rows + reach]
    time = reach * log.step
    model = rnea(log.robot, here, (after - before) / (2.0 * time), (after - 2.0 * here + before) / time**2)
    return model, log.tau[rows]


def _curved(log: Log) -> bool:
    return log.robot.nq != log.robot.nv or not all(kind.is_flat for kind in log.robot.tree.joint[1:])
