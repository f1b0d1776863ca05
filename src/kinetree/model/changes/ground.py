"""A ground under a robot: a plane that is fixed in the world, which all of its shapes may touch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from kinetree.errors import ModelError, listed
from kinetree.inputs import real_array
from kinetree.model.changes.common import Changed, changed
from kinetree.model.changes.world import scenery_of, shape_name, surface_contact, with_shapes_in_the_world, world_of
from kinetree.model.elements import Geometry
from kinetree.model.extras import ContactExclusion, UncheckedBody
from kinetree.model.robot import Robot
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["on_ground", "on_slope", "with_contacts", "without_self_contact"]


def on_ground(
    model: Robot, height: float, *, normal: Sequence[float], friction: float | Sequence[float] | None, name: str
) -> Changed:
    """See `Model.on_ground`."""
    scenery = scenery_of(model)
    plane = Geometry(
        "collision", "plane", (math.inf, math.inf), _placement(_height(height), _unit(normal)),
        shape_name(scenery, name, "the ground"), contact=surface_contact(scenery, friction),
    )  # fmt: skip
    world = world_of(model)
    where = f"a plane on {world!r}" if world == model.root else f"a plane on the new root {world!r}"
    return with_shapes_in_the_world(model, [plane], f"put on the ground {name!r}, {where}")


def on_slope(
    model: Robot,
    angle: float,
    *,
    toward: float,
    height: float,
    friction: float | Sequence[float] | None,
    name: str,
) -> Changed:
    """See `Model.on_slope`."""
    steep, heading = _angle("angle", angle), _angle("toward", toward)
    if not abs(steep) < math.pi / 2:
        raise ModelError(f"angle must be between -pi/2 and pi/2 rad, not {angle!r:.60}; 20 degrees are 0.349 rad")
    normal = (math.sin(steep) * math.cos(heading), math.sin(steep) * math.sin(heading), math.cos(steep))
    return on_ground(model, height, normal=normal, friction=friction, name=name)


def _angle(name: str, angle: Any) -> float:
    number = real_array(name, angle, "()")
    if number.shape or not math.isfinite(number):
        raise ModelError(f"{name} must be a number of rad, not {angle!r:.60}")
    return float(number)


def _height(height: Any) -> float:
    number = real_array("height", height, "()")
    if number.shape or not math.isfinite(number):
        raise ModelError(f"height must be a number of metres, not {height!r:.60}")
    return float(number)


def _unit(normal: Sequence[float]) -> Vec3:
    given = real_array("normal", normal, "(3,)")
    length = math.hypot(*given.tolist()) if given.shape == (3,) else math.nan
    if not 0.0 < length < math.inf:
        raise ModelError(
            f"normal must be a direction, three finite numbers that are not all zero, not {normal!r:.60}; "
            "(0, 0, 1) is a level ground"
        )
    return Vec3(*(float(x) / length for x in given))


def _placement(height: float, n: Vec3) -> Transform:
    """The plane's frame, with the normal as z and x as near as can be to the world's; y where that is along z."""
    along = Vec3(1.0, 0.0, 0.0) if abs(float(n.x)) < 0.9 else Vec3(0.0, 1.0, 0.0)
    across = n.cross(along)
    y = across * (1.0 / math.sqrt(float(across.dot(across))))
    return Transform(Mat3(y.cross(n), y, n), Vec3(0.0, 0.0, height))


def with_contacts(model: Robot, bodies: Iterable[str]) -> Changed:
    """See `Model.with_contacts`."""
    if isinstance(bodies, str):
        raise ModelError(f"with_contacts takes names of bodies, such as [{bodies!r}], not one string")
    touching = {model.bodies[name].name for name in bodies}
    silent = {body.name for body in model.bodies.values() if body.slot and body.name not in touching}
    plain = {name for name in silent if any(one.contact is None for _, one in model.bodies[name].every_shape)}
    parts = model.parts
    links = tuple(
        link.changed(lambda one: replace(one, geometry=tuple(map(_silent, one.geometry))))
        if link.name in silent
        else link
        for link in parts.links
    )
    names = {shape.name for body in silent for _, shape in model.bodies[body].every_shape}
    pairs = tuple(pair for pair in parts.extras.contact_pairs if names.isdisjoint((pair.shape1, pair.shape2)))
    known = {unchecked.body for unchecked in parts.extras.unchecked_bodies}
    extras = replace(
        parts.extras,
        contact_pairs=pairs,
        collision_pairs=tuple(
            one for one in parts.extras.collision_pairs if not one.checked or silent.isdisjoint((one.body1, one.body2))
        ),
        unchecked_bodies=(*parts.extras.unchecked_bodies, *(UncheckedBody(name) for name in sorted(plain - known))),
    )
    text = listed(map(repr, sorted(touching))) or "none"
    return changed(replace(parts, links=links, extras=extras), f"of the bodies that move, these touch others: {text}")


def without_self_contact(model: Robot) -> Changed:
    """See `Model.without_self_contact`."""
    parts, extras = model.parts, model.parts.extras
    moving = [body for body in model.bodies.values() if body.slot and any(_touches(x) for _, x in body.every_shape)]
    owner = {shape.name: body.name for body in moving for _, shape in body.every_shape if shape.name}
    pairs = tuple(pair for pair in extras.contact_pairs if pair.shape1 not in owner or pair.shape2 not in owner)
    known = {frozenset((exclusion.body1, exclusion.body2)) for exclusion in extras.contact_exclusions}
    new = tuple(
        ContactExclusion(a.name, b.name)
        for a, b in combinations(moving, 2)
        if a.slot != b.slot and frozenset((a.name, b.name)) not in known
    )
    extras = replace(extras, contact_pairs=pairs, contact_exclusions=(*extras.contact_exclusions, *new))
    return changed(replace(parts, extras=extras), "bodies that move do not touch each other")


def _touches(shape: Geometry) -> bool:
    return shape.contact is not None or shape.role == "collision"


def _silent(shape: Geometry) -> Geometry:
    """The shape, which touches nothing if its file says how it touches."""
    if shape.contact is None:
        return shape
    return replace(shape, contact=replace(shape.contact, contype=0, conaffinity=0))
