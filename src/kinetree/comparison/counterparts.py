"""The work behind `kt.compare`, imported when it is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from kinetree.comparison.drake import DrakeSide
from kinetree.comparison.engine import UnreadableError, first_line
from kinetree.comparison.motion import motion
from kinetree.comparison.mujoco import MujocoSide
from kinetree.comparison.own import OwnSide
from kinetree.comparison.pinocchio import PinocchioSide
from kinetree.comparison.result import Counterpart, Difference, Settings
from kinetree.comparison.side import FIXED, Array, Side, Solid
from kinetree.comparison.source import Source, format_of
from kinetree.comparison.structure import MOVING, Pair, Tally, neutral_states, structure
from kinetree.model import Model

__all__ = ["counterparts_of"]

_MOST_DEGREES_OF_FREEDOM = 1000
_SMALLEST = 1e-9
"""The size in metres of the smallest robot that lengths are compared with."""
_READERS: dict[str, Callable[[Source], Side]] = {"mujoco": MujocoSide, "pinocchio": PinocchioSide, "drake": DrakeSide}


def counterparts_of(
    ours: Model,
    second: Model | None,
    titles: Sequence[str],
    file: tuple[Path, Model, tuple[Path, ...]] | None,
    libraries: Sequence[str],
    settings: Settings,
) -> list[Counterpart]:
    """A robot compared with a second one, and with libraries' readings of a file, which is that robot for kinetree."""
    own = OwnSide(ours, titles[0])
    counterparts = []
    if second is not None:
        counterparts.append(_counterpart(own, OwnSide(second, titles[1], _renamed(ours, second)), settings))
    if file is not None:
        source = Source(file[0], format_of(file[0]), *file[1:])
        counterparts += [_with_library(own, name, source, settings) for name in libraries]
    return counterparts


def _renamed(ours: Model, theirs: Model) -> dict[str, str]:
    """Our names of their joints that move the same bodies under names that only they have."""
    movers = {joint.child: joint.name for joint in ours.joints.values() if joint.name not in theirs.joints}
    return {
        joint.name: movers[joint.child]
        for joint in theirs.joints.values()
        if joint.name not in ours.joints and joint.child in movers
    }


def _with_library(ours: OwnSide, name: str, source: Source, settings: Settings) -> Counterpart:
    if not source.format:
        return _unread(name, f"{name} does not read kinetree's own text")
    if ours.robot.nv > _MOST_DEGREES_OF_FREEDOM:
        return _unread(name, f"the robot has more than {_MOST_DEGREES_OF_FREEDOM} degrees of freedom")
    try:
        theirs = _READERS[name](source)
    except UnreadableError as error:
        return _unread(name, f"{name} cannot read it: {error}")
    except Exception as error:  # other libraries may raise anything
        return _unread(name, f"{name} cannot read it: {first_line(error)}")
    try:
        return _counterpart(ours, theirs, settings)
    except UnreadableError as error:
        return _unread(name, f"{name} cannot compute with it: {error}")


def _unread(name: str, sentence: str) -> Counterpart:
    return Counterpart(name, name, sentence, (), (), ())


def _counterpart(ours: OwnSide, theirs: Side, settings: Settings) -> Counterpart:
    here, there = neutral_states(ours, theirs)
    tally = Tally()
    size = max((_reach(here.placements[body.name], body.own) for body in ours.bodies.values()), default=0.0)
    size = size if size > _SMALLEST else 1.0
    pair = Pair(ours, theirs, settings.tolerance, size, tally)
    differences: list[Difference] = [*structure(pair, here, there)]
    reported = {difference.body for difference in differences if difference.what in MOVING}
    differences += motion(pair, settings.samples, settings.seed, reported)
    notes = [*theirs.notes, *_order(ours, theirs), *_mimics(ours, theirs), *_dropped(ours, theirs)]
    return Counterpart(theirs.name, theirs.title, "", tuple(notes), tally.quantities(), tuple(differences))


def _reach(T: Array, own: Solid | None) -> float:
    """How far a body's frame or its centre of mass is from the origin."""
    center = T[:3, :3] @ (own.center if own else np.zeros(3)) + T[:3, 3]
    return max(float(np.linalg.norm(T[:3, 3])), float(np.linalg.norm(center)))


def _order(ours: OwnSide, theirs: Side) -> list[str]:
    both = [name for name in ours.joints if name in theirs.joints]
    if both == [name for name in theirs.joints if name in ours.joints]:
        return []
    return [f"the order of joints in {theirs.name} is another; they were matched by name"]


def _mimics(ours: OwnSide, theirs: Side) -> list[str]:
    if isinstance(theirs, OwnSide):
        return []
    names = [name for name, joint in ours.joints.items() if joint.follows and name in theirs.joints]
    if not names:
        return []
    return [f"{theirs.name} lets {_joints(names)} move freely; it was moved as the joints that it follows demand"]


def _joints(names: list[str]) -> str:
    return f"joint {names[0]!r}" if len(names) == 1 else f"each of {len(names)} joints such as {names[0]!r}"


def _dropped(ours: OwnSide, theirs: Side) -> list[str]:
    fixed = ours.solid_of(FIXED)
    if not theirs.drops_fixed or fixed is None or not fixed.mass:
        return []
    return [f"{theirs.name} keeps no mass of bodies fixed to the world ({fixed.mass:.6g} kg)"]
