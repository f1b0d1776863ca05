"""Where `kinetree simulate` lets a robot begin if it is not told: a pose from which something is seen to move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import typer

from kinetree.errors import nearest_names, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kinetree.model import Model

__all__ = ["SPREAD", "falling_pose", "keyframe_state", "scattered"]

SPREAD = 0.3
"""rad: how far starts are from each other."""
_LENGTHS = 0.1
"""m of sliding joints beside a radian of the others."""
_AWAY = 0.3
"""rad, m: how far each coordinate is from that of `reference_configuration`."""
_PART = 0.1
"""The part of the room between its limits that this may take, and that is kept from each limit."""


def falling_pose(robot: Model) -> NDArray[np.float64]:
    """A configuration near that of `reference_configuration` and within the limits, in which gravity moves the joints.

    At that one arms and poles often stand upright, in balance. What floats falls anyway, and begins there with all its
    joints, as do quaternions.
    """
    from kinetree.model.reference import reference_configuration

    q = reference_configuration(robot)
    if robot.floating_base:
        return q
    room = np.where(np.isfinite(robot.upper - robot.lower), robot.upper - robot.lower, np.inf)
    margin = np.where(np.isfinite(room), _PART * room, 0.0)
    home = np.clip(q, robot.lower + margin, robot.upper - margin)
    away = np.minimum(_AWAY, _PART * room)
    pose = np.where(home + away <= robot.upper - margin, home + away, home - away)
    for part in (*robot.quaternions.values(), *_floating(robot)):
        pose[part] = q[part]
    return np.asarray(pose)


def scattered(robot: Model, q: NDArray[np.float64], spread: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """A configuration near q (nq,): every degree of freedom goes a way of its own, uniform between -spread and spread.

    In rad; sliding joints go a tenth of that in metres, and free ones turn where they are. Limits are kept.
    """
    away = rng.uniform(-spread, spread, robot.nv)
    for joint in robot.joints.values():
        if joint.has_coordinates:
            motions = joint.kind.calc(list(joint.kind.neutral()), [0.0] * joint.kind.nv).S.columns
            slides = np.array([not any(map(float, motion.angular.components())) for motion in motions])
            away[joint.v_slice] *= np.where(slides, 0.0 if joint.kind.nv == 6 else _LENGTHS, 1.0)
    moved = np.array(robot.integrate(q, away))
    for joint in robot.joints.values():
        if joint.has_coordinates and not joint.kind.quaternions:
            part = joint.q_slice
            moved[part] = np.clip(
                moved[part], np.minimum(robot.lower[part], q[part]), np.maximum(robot.upper[part], q[part])
            )
    return moved


def _floating(robot: Model) -> Iterator[slice]:
    """The places in q of free joints, and of joints that these carry."""
    from kinetree.joints import FloatingBase, Free

    above = {spec.child: spec for spec in robot.parts.joints}
    floats = {robot.root: False}
    for joint in robot.joints.values():
        way: list[str] = [joint.child]
        while way[-1] not in floats:
            spec = above[way[-1]]
            if isinstance(spec.kind, Free | FloatingBase):
                floats[spec.child] = True
            else:
                way.append(spec.parent)
        floats.update(dict.fromkeys(way, floats[way[-1]]))
        if floats[joint.child]:
            yield joint.q_slice


def keyframe_state(robot: Model, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """q and v of a keyframe. Raises a usage error if the robot has none of this name."""
    named = {one.name: one for one in robot.extras.keyframes if one.name}
    if not named:
        raise typer.BadParameter(f"{robot.name!r} has no keyframes with a name", param_hint="--keyframe")
    if name not in named:
        raise typer.BadParameter(
            f"{robot.name!r} has no keyframe {quoted(name)}: {nearest_names(name, named)}", param_hint="--keyframe"
        )
    return named[name].q(robot), named[name].v(robot)
