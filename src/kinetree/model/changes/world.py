"""Common parts of a scene's changes: a root that does not move, things in its world, and how their shapes touch.

A robot with one thing more is assembled when it is first asked for anything: each thing is checked as it comes, as a
robot of its own, and its names against all others'. So the time for hundreds of things is proportional to their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from kinetree.errors import ModelError
from kinetree.inputs import real_array
from kinetree.joints import Free
from kinetree.locks import restoring
from kinetree.model.changes.common import Changed, base_joint, changed, closed, joint_names, opened, unused
from kinetree.model.collector import Collector
from kinetree.model.elements import Geometry
from kinetree.model.extras import ContactParameters
from kinetree.model.given import gravity_of
from kinetree.model.robot import Robot
from kinetree.model.specs import Parts
from kinetree.records import record

__all__ = [
    "Scenery",
    "Thing",
    "in_the_world",
    "scenery_of",
    "shape_name",
    "surface_contact",
    "with_gravity",
    "with_shapes_in_the_world",
    "world_of",
]

_ALL_BITS = 2**31 - 1
"""All shapes that touch anything touch those that a scene adds."""
_USUAL = ContactParameters(contype=_ALL_BITS, conaffinity=_ALL_BITS)
_CONDIM = (3, 4, 6)
"""Dimension of the contact force by how many coefficients of friction there are."""


@record(frozen=True, slots=True)
class Thing:
    """A free body, or a shape that does not move."""

    sentence: str
    """The note about it."""
    shape: Geometry
    alone: Parts | None = None
    """A free body on a root of its own; None for a fixed shape."""


class _Ledger:
    """A robot and the things put into its world, with all names; scenes that follow from each other share one."""

    def __init__(self, base: Robot) -> None:
        self.base = base
        self.world: str = world_of(base)
        self.things: list[Thing] = []
        self.frames: dict[str, int] = dict.fromkeys((*base.frames, self.world), 0)
        """How many things there are before the one with this name; 0 for the robot's own."""
        self.joints: frozenset[str] = frozenset(joint_names(base))
        """The joints of the robot; others are named after their bodies."""
        self.shapes: dict[str, tuple[int, str]] = {}
        """The number of things before each shape, and the body that has the shape."""
        own = [(shape, body.name) for body in base.bodies.values() for shape in body.geometry]
        for shape, body in own:
            self.shapes.setdefault(shape.name, (0, body))
        self.priorities: list[int] = [max((shape.contact.priority for shape, _ in own if shape.contact), default=0)]
        """The highest priority of a contact, with this many things."""
        self.coordinates: frozenset[str] = frozenset((*base.q_names, *base.v_names, *base.couplings))

    def add(self, thing: Thing) -> None:
        self.things.append(thing)
        count, body = len(self.things), self.world
        if thing.alone is not None:
            body = thing.alone.links[1].name
            self.frames[body] = count
        self.shapes[thing.shape.name] = count, body
        self.priorities.append(max(self.priorities[-1], thing.shape.contact.priority if thing.shape.contact else 0))


@record(frozen=True, slots=True)
class Scenery:
    """A robot, and the first `count` things of its ledger."""

    ledger: _Ledger
    count: int

    @property
    def name(self) -> str:
        return self.ledger.base.name

    @property
    def priority(self) -> int:
        """The highest priority of a contact."""
        return self.ledger.priorities[self.count]

    def has_frame(self, name: str) -> bool:
        return self.ledger.frames.get(name, self.count + 1) <= self.count

    def owner_of_shape(self, name: str) -> str | None:
        """The body that has a shape of this name."""
        count, body = self.ledger.shapes.get(name, (self.count + 1, ""))
        return body if count <= self.count else None

    def with_thing(self, thing: Thing) -> Scenery:
        """One more; if another scene has gone on from here, this one gets a ledger of its own."""
        with restoring:
            ledger = self.ledger
            if len(ledger.things) > self.count:
                ledger = _Ledger(ledger.base)
                for earlier in self.ledger.things[: self.count]:
                    ledger.add(earlier)
            ledger.add(thing)
        return Scenery(ledger, self.count + 1)

    @property
    def last(self) -> Thing:
        """The thing that was put there last."""
        return self.ledger.things[self.count - 1]

    @property
    def may_clash(self) -> bool:
        """Whether the last joint might have a coordinate with the name of another."""
        joints = () if self.last.alone is None else self.last.alone.joints
        names = {f"{joint.name}.{end}" for joint in joints for end in (*joint.kind.q_names, *joint.kind.v_names)}
        return not self.ledger.coordinates.isdisjoint(names.union(one.name for one in joints))

    def changed(self) -> Changed:
        """The parts of the robot with all things."""
        first, *later = self.ledger.things[: self.count]
        shapes = [thing.shape for thing in (first, *later) if thing.alone is None]
        free = [thing.alone for thing in (first, *later) if thing.alone is not None]
        collector = in_the_world(self.ledger.base, first.sentence, shapes)
        collector.notes[:0] = [thing.sentence for thing in reversed(later)]
        if free:
            links = tuple(parts.links[1] for parts in free)
            joints = tuple(joint for parts in free for joint in parts.joints)
            collector.add_parts(replace(free[0], links=links, joints=joints))
        return closed(collector, floating_base=False)


def scenery_of(model: Robot) -> Scenery:
    """The robot and the objects put into its world since it was assembled."""
    try:
        scenery: Scenery = model._scenery
    except AttributeError:
        scenery = Scenery(_Ledger(model), 0)
    return scenery


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


def shape_name(scenery: Scenery, name: str, what: str) -> str:
    """The name of a shape that is added; `what` begins the error's message."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"{what}'s name must be a string, not {name!r:.60}")
    if (owner := scenery.owner_of_shape(name)) is not None:
        raise ModelError(f"{scenery.name!r} has a shape named {name!r} already, on {owner!r}; give another name=")
    return name


def surface_contact(scenery: Scenery, friction: float | Sequence[float] | None) -> ContactParameters:
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
    three = (*numbers, *_USUAL.friction[len(numbers) :])
    condim = _CONDIM[len(numbers) - 1] if any(numbers) else 1
    return replace(
        _USUAL, condim=condim, priority=scenery.priority + 1, friction=(three[0], three[1], three[2])
    )  # fmt: skip


def with_gravity(model: Robot, gravity: Sequence[float]) -> Changed:
    """See `Model.with_gravity`."""
    given = gravity_of(gravity)
    return changed(replace(model.parts, gravity=given), f"gravity is {_text(given)} m/s², not {_text(model.gravity)}")


def _text(numbers: Sequence[float]) -> str:
    return f"({', '.join(f'{x:.12g}' for x in numbers)})"
