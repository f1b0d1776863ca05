"""Common parts of a scene's changes: a root that does not move, shapes on it, and how these touch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from kinetree.errors import ModelError
from kinetree.inputs import real_array
from kinetree.joints import Free
from kinetree.model.changes.common import Changed, base_joint, changed, closed, opened, unused
from kinetree.model.collector import Collector
from kinetree.model.elements import Geometry
from kinetree.model.extras import ContactParameters
from kinetree.model.given import gravity_of
from kinetree.model.robot import Robot

__all__ = ["in_the_world", "shape_name", "surface_contact", "with_gravity", "with_shapes_in_the_world", "world_of"]

_ALL_BITS = 2**31 - 1
"""All shapes that touch anything touch those that a scene adds."""
_USUAL = ContactParameters(contype=_ALL_BITS, conaffinity=_ALL_BITS)
_CONDIM = (3, 4, 6)
"""Dimension of the contact force by how many coefficients of friction there are."""


def world_of(model: Robot) -> str:
    """The body that does not move: the root, or the one that a floating base gets below it."""
    return unused("world", model.frames) if model.floating_base else model.root


def in_the_world(model: Robot, sentence: str, shapes: Sequence[Geometry] = ()) -> Collector:
    """A collector of the robot's parts whose root does not move and has the shapes; the sentence is its first note.

    A floating base gets a massless root, on which its joint is a free one.
    """
    parts = model.parts
    if not model.floating_base:
        links = tuple(
            replace(link, geometry=(*link.geometry, *shapes)) if link.name == model.root else link
            for link in parts.links
        )
        return opened(replace(parts, links=links), sentence)
    (joint,), world = base_joint(model), world_of(model)
    collector = Collector(model.name, gravity=model.gravity, source=parts.source)
    collector.add_body(world, geometry=shapes)
    collector.add_joint(joint, Free(), world, model.root)
    sentence = f"{sentence}; joint {joint!r} joins {model.root!r} to it"
    collector.add_parts(replace(parts, notes=(sentence, *parts.notes)))
    return collector


def with_shapes_in_the_world(model: Robot, shapes: Sequence[Geometry], sentence: str) -> Changed:
    """The robot with fixed shapes; they become part of its root, or of the one that it gets."""
    return closed(in_the_world(model, sentence, shapes), floating_base=False)


def shape_name(model: Robot, name: str, what: str) -> str:
    """The name of a shape that is added; `what` begins the error's message."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"{what}'s name must be a string, not {name!r:.60}")
    owner = next((b.name for b in model.bodies.values() if any(shape.name == name for shape in b.geometry)), None)
    if owner is not None:
        raise ModelError(f"{model.name!r} has a shape named {name!r} already, on {owner!r}; give another name=")
    return name


def surface_contact(model: Robot, friction: float | Sequence[float] | None) -> ContactParameters:
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


def with_gravity(model: Robot, gravity: Sequence[float]) -> Changed:
    """See `Model.with_gravity`."""
    given = gravity_of(gravity)
    return changed(replace(model.parts, gravity=given), f"gravity is {_text(given)} m/s², not {_text(model.gravity)}")


def _text(numbers: Sequence[float]) -> str:
    return f"({', '.join(f'{x:.12g}' for x in numbers)})"
