"""Several robots side by side in one world."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from kinetree.errors import ModelError, ShapeError, listed
from kinetree.joints import Fixed, Free
from kinetree.model.builder import ModelBuilder
from kinetree.model.changes.common import (
    base_joint,
    check_clashes,
    check_robot,
    frame_names,
    placement_of,
    prefixed,
    unused,
)
from kinetree.model.model import Model
from kinetree.spatial import Transform
from kinetree.spatial.poses import Pose

__all__ = ["merge"]

T = TypeVar("T")


def merge(
    robots: Sequence[Model],
    *,
    name: str,
    placements: Sequence[Pose | None] | None = None,
    prefixes: Sequence[str] | None = None,
    gravity: Sequence[float] | None = None,
) -> Model:
    """Several robots as one: side by side on a massless root, each as it was.

    q, v and forces are those of the robots, one after the other, and so are the bodies. Robots with a floating base
    keep it, as a free joint on the root.

    Args:
        robots: one or more; the same one may appear several times.
        name: of the new robot.
        placements: of each robot's world frame in the new one, each a `Transform` or an array (4, 4); by default all
            at the origin.
        prefixes: added before all names of each robot; by default none, and names must differ.
        gravity: of the new world (3,), m/s²; by default that of the robots, if they agree.

    Returns:
        One robot with the root "world" (with underscores, if a body of that name exists).

    Raises:
        ModelError: two robots share a name, gravities differ, or something is not a Model or a placement.
        ShapeError: the number of placements or prefixes differs from that of robots.

    >>> import kinetree as kt
    >>> arm = kt.zoo.load("arm6")
    >>> pair = kt.model.merge([arm, arm], name="two arms", prefixes=["left_", "right_"])
    >>> pair.nq, pair.root
    (12, 'world')
    """
    robots = _robots(robots)
    places = [placement_of(place) for place in _one_each("placements", placements, robots, None)]
    before = _one_each("prefixes", prefixes, robots, "")
    named = [
        (
            robot.name,
            prefixed(robot.parts, prefix, base=base_joint(robot)),
            [prefix + joint for joint in base_joint(robot)],
        )
        for robot, prefix in zip(robots, before, strict=True)
    ]
    check_clashes(named, "give prefixes, one a robot, which are put before all of its names")
    world = unused("world", {name for _, parts, _ in named for name in frame_names(parts)})
    joints = {name for _, parts, bases in named for name in (*(spec.name for spec in parts.joints), *bases)}

    builder = ModelBuilder(name, gravity=_gravity(robots) if gravity is None else gravity)
    builder.note(f"merged robots {listed(repr(robot.name) for robot in robots)} side by side on the body {world!r}")
    builder.add_body(world)
    for robot, prefix, place, (_, parts, bases) in zip(robots, before, places, named, strict=True):
        root = prefix + robot.root
        joint = bases[0] if bases else unused(f"{world}_to_{root}", joints)
        builder.add_joint(joint, Free() if robot.floating_base else Fixed(), world, root, place)
        builder.add_parts(parts)
    return builder.build()


def _robots(robots: Sequence[Model]) -> list[Model]:
    if isinstance(robots, Model):
        raise ModelError("merge takes a list of robots, not one; put it in brackets")
    if not isinstance(robots, Iterable) or isinstance(robots, str):
        raise ModelError(f"merge takes a list of robots, such as [left, right], not {robots!r:.60}")
    robots = list(robots)
    if not robots:
        raise ModelError("there is nothing to merge; give at least one robot")
    for k, robot in enumerate(robots):
        check_robot(robot, f"robots[{k}]")
    return robots


def _one_each(what: str, values: Sequence[T] | None, robots: Sequence[Model], default: T) -> list[T]:
    if values is None:
        return [default] * len(robots)
    if not isinstance(values, Iterable) or isinstance(values, str | Transform):
        raise ShapeError(f"{what} must be a list with one for each of the {len(robots)} robots, not {values!r:.60}")
    values = list(values)
    if len(values) != len(robots):
        raise ShapeError(f"there are {len(values)} {what} for {len(robots)} robots; give one for each")
    return values


def _gravity(robots: Sequence[Model]) -> tuple[float, float, float]:
    """The gravity shared by all robots."""
    for robot in robots:
        if robot.gravity != robots[0].gravity:
            raise ModelError(
                f"the gravity of {robots[0].name!r} is {robots[0].gravity}, that of {robot.name!r} {robot.gravity}; "
                "give the one that is meant: gravity=(x, y, z)"
            )
    return robots[0].gravity
