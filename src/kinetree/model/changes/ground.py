"""A ground under a robot: a plane that is fixed in the world, which all of its shapes may touch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kinetree.errors import ModelError
from kinetree.inputs import real_array
from kinetree.joints import Free
from kinetree.model.changes.common import Changed, base_joint, changed, unused
from kinetree.model.collector import Collector
from kinetree.model.elements import Geometry
from kinetree.model.extras import ContactParameters
from kinetree.model.robot import Robot
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["on_ground"]

_ALL_BITS = 2**31 - 1
"""Whatever touches anything touches the ground."""
_USUAL = ContactParameters(contype=_ALL_BITS, conaffinity=_ALL_BITS)
_CONDIM = (3, 4, 6)
"""Dimension of the contact force by how many coefficients of friction there are."""


def on_ground(
    model: Robot, height: float, *, normal: Sequence[float], friction: float | Sequence[float] | None, name: str
) -> Changed:
    """See `Model.on_ground`."""
    plane = Geometry(
        "collision", "plane", (math.inf, math.inf), _placement(_height(height), _unit(normal)), _name(model, name),
        contact=_contact(model, friction),
    )  # fmt: skip
    parts = model.parts
    if not model.floating_base:
        on_root = tuple(
            replace(link, geometry=(*link.geometry, plane)) if link.name == model.root else link for link in parts.links
        )
        return changed(replace(parts, links=on_root), f"put on the ground {name!r}, a plane on {model.root!r}")
    (joint,) = base_joint(model)
    world = unused("world", model.frames)
    sentence = (
        f"put on the ground {name!r}, a plane on the new root {world!r}; joint {joint!r} joins {model.root!r} to it"
    )
    collector = Collector(model.name, gravity=model.gravity, source=parts.source)
    collector.add_body(world, geometry=[plane])
    collector.add_joint(joint, Free(), world, model.root)
    collector.add_parts(replace(parts, notes=(sentence, *parts.notes)))
    return Changed(collector.parts(floating_base=False), (*collector.known, parts))


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


def _name(model: Robot, name: str) -> str:
    if not isinstance(name, str) or not name:
        raise ModelError(f"the ground's name must be a string, not {name!r:.60}")
    owner = next((b.name for b in model.bodies.values() if any(shape.name == name for shape in b.geometry)), None)
    if owner is not None:
        raise ModelError(f"{model.name!r} has a shape named {name!r} already, on {owner!r}; give another name=")
    return name


def _contact(model: Robot, friction: float | Sequence[float] | None) -> ContactParameters:
    """The usual parameters; with friction of its own they are above those of all shapes of the robot."""
    if friction is None:
        return _USUAL
    given = real_array("friction", friction, "() or (3,)")
    numbers = given.ravel().tolist()
    if given.ndim > 1 or not 1 <= len(numbers) <= len(_CONDIM) or not all(0.0 <= x < math.inf for x in numbers):
        raise ModelError(
            f"friction must be a coefficient of at least 0, or up to three of them, of sliding, torsion (m) and "
            f"rolling (m), not {friction!r:.60}"
        )
    own = [shape.contact.priority for body in model.bodies.values() for shape in body.geometry if shape.contact]
    three = (*numbers, *_USUAL.friction[len(numbers) :])
    condim = _CONDIM[len(numbers) - 1] if any(numbers) else 1
    return replace(
        _USUAL, condim=condim, priority=max(own, default=0) + 1, friction=(three[0], three[1], three[2])
    )  # fmt: skip
