"""Where the motions of `kinetree simulate` begin: at the given state, near there, or anywhere; and their ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import typer

from kinetree.cli.options import Ground
from kinetree.cli.values import parse_values
from kinetree.errors import nearest_names, quoted
from kinetree.records import record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kinetree.model import Model

    Array = NDArray[np.float64]

__all__ = ["ANGLE", "NATURAL", "SPREAD", "Start", "falling_pose", "scattered"]

ANGLE = 0.35
"""rad, 20 degrees."""
SPREAD = 0.3
"""rad: how far starts are from each other."""
NATURAL = {"ragdoll": Ground.slope}
"""The default ground of robots of the zoo."""
_CLEARANCE = 0.1
"""m between a robot and its ground where it begins."""
_SIZE, _SPACING, _STEEPNESS = 8.0, 0.5, 0.2
"""The hills, m: how far they reach, how far apart their heights are; and how steep they are."""
_LENGTHS = 0.1
"""m of sliding joints per radian of the others."""
_AWAY = 0.3
"""rad, m: how far each coordinate is from that of `reference_configuration`."""
_PART = 0.1
"""The part of the room between its limits that this may take, and that is kept from each limit."""


@record(frozen=True, slots=True)
class Start:
    """A description of where motions begin, as the command line gives it."""

    ground: Ground
    angle: float
    """How steep a slope is, rad."""
    seed: int
    """Which hills, and which random starts."""
    is_random: bool
    """Whether joints begin anywhere."""
    is_chosen: bool
    """Whether the start is free, so that the motion shows something."""
    keyframe: str | None
    q: str | None
    samples: int | None
    spread: float

    def on_ground(self, robot: Model) -> Model:
        """The robot on its ground."""
        match self.ground:
            case Ground.ground:
                return robot.on_ground()
            case Ground.slope:
                return robot.on_slope(self.angle)
            case Ground.terrain:
                return robot.on_terrain(size=(_SIZE, _SIZE), spacing=_SPACING, steepness=_STEEPNESS, seed=self.seed)
        return robot

    def of(self, robot: Model) -> tuple[Array, Array | None, list[str]]:
        """Configurations (nq,), or (samples, nq), the velocity (nv,) if it is known, and messages about them."""
        from kinetree.functions.above_ground import above_ground, free_bases
        from kinetree.model.reference import reference_configuration

        rng, messages = np.random.default_rng(self.seed), []
        home, v = reference_configuration(robot), None
        if self.keyframe is not None:
            home, v = _keyframe_state(robot, self.keyframe)
        elif self.is_chosen:
            home = falling_pose(robot)
            if (home != reference_configuration(robot)).any():
                messages.append(
                    "no start was given: took a pose that gravity moves the joints from (--q gives another)"
                )
        is_near = self.samples is not None and not self.is_random
        if self.is_chosen and not is_near and self.ground is not Ground.nothing and free_bases(robot):
            is_near = True
            messages.append(
                f"no start was given: took one near the pose of its file, up to {self.spread:g} rad away in each joint "
                "(--q gives another)"
            )
        rows = []
        for _ in range(self.samples or 1):
            q = robot.random(rng) if self.is_random else home
            q = q if self.q is None else parse_values("--q", self.q, robot.q_names, q, robot.name)
            rows.append(scattered(robot, q, self.spread, rng) if is_near else q)
        starts = np.array(rows) if self.samples is not None else rows[0]
        if self.keyframe is None and self.ground is not Ground.nothing and not self._says_where(robot):
            raised = above_ground(robot, starts, clearance=_CLEARANCE)
            if (most := float((raised - starts).max(initial=0.0))) > 0.0:
                by = f"{'' if self.samples is None else 'up to '}{most:.3g} m"
                messages.append(f"raised by {by}, to start at least {_CLEARANCE:g} m above the ground")
            starts = raised
        return starts, v, messages

    def _says_where(self, robot: Model) -> bool:
        """Whether --q gives any coordinate of a free base."""
        if self.q is None or "=" not in self.q:
            return self.q is not None
        from kinetree.functions.above_ground import free_bases

        named = {item.partition("=")[0].strip() for item in self.q.split(",")}
        return any(not named.isdisjoint(robot.q_names[joint.q_slice]) for joint in free_bases(robot))


def falling_pose(robot: Model) -> Array:
    """A configuration near that of `reference_configuration` and within the limits, in which gravity moves the joints.

    At that one arms and poles often stand upright, in balance. Floating robots fall anyway, and begin there with all
    their joints, as do quaternions.
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


def scattered(robot: Model, q: Array, spread: float, rng: np.random.Generator) -> Array:
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


def _keyframe_state(robot: Model, name: str) -> tuple[Array, Array]:
    """q and v of a keyframe. Raises a usage error if the robot has none of this name."""
    named = {keyframe.name: keyframe for keyframe in robot.extras.keyframes if keyframe.name}
    if not named:
        raise typer.BadParameter(f"{robot.name!r} has no keyframes with a name", param_hint="--keyframe")
    if name not in named:
        raise typer.BadParameter(
            f"{robot.name!r} has no keyframe {quoted(name)}: {nearest_names(name, named)}", param_hint="--keyframe"
        )
    return named[name].q(robot), named[name].v(robot)
