"""Which bodies of a robot touch others, where its file has more pairs of shapes than are wanted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations

from kinetree.errors import ModelError, listed
from kinetree.model.changes.common import Changed, changed
from kinetree.model.elements import Geometry
from kinetree.model.extras import ContactExclusion, UncheckedBody
from kinetree.model.robot import Robot

__all__ = ["with_contacts", "without_self_contact"]


def with_contacts(model: Robot, bodies: Iterable[str]) -> Changed:
    """See `Model.with_contacts`."""
    if isinstance(bodies, str):
        raise ModelError(f"with_contacts takes names of bodies, such as [{bodies!r}], not one string")
    chosen = {model.bodies[name].name for name in bodies}
    silent = {body.name for body in model.bodies.values() if body.slot and body.name not in chosen}
    plain = {name for name in silent if any(one.contact is None for one in model.bodies[name].geometry)}
    parts = model.parts
    links = tuple(
        replace(link, geometry=tuple(map(_silent, link.geometry))) if link.name in silent else link
        for link in parts.links
    )
    names = {shape.name for body in silent for shape in model.bodies[body].geometry}
    pairs = tuple(one for one in parts.extras.contact_pairs if names.isdisjoint((one.shape1, one.shape2)))
    known = {one.body for one in parts.extras.unchecked_bodies}
    extras = replace(
        parts.extras,
        contact_pairs=pairs,
        collision_pairs=tuple(
            one for one in parts.extras.collision_pairs if not one.checked or silent.isdisjoint((one.body1, one.body2))
        ),
        unchecked_bodies=(*parts.extras.unchecked_bodies, *(UncheckedBody(name) for name in sorted(plain - known))),
    )
    told = listed(map(repr, sorted(chosen))) or "none"
    return changed(replace(parts, links=links, extras=extras), f"of the bodies that move, these touch others: {told}")


def without_self_contact(model: Robot) -> Changed:
    """See `Model.without_self_contact`."""
    parts, extras = model.parts, model.parts.extras
    moving = [body for body in model.bodies.values() if body.slot and any(map(_touches, body.geometry))]
    owner = {shape.name: body.name for body in moving for shape in body.geometry if shape.name}
    pairs = tuple(one for one in extras.contact_pairs if one.shape1 not in owner or one.shape2 not in owner)
    known = {frozenset((one.body1, one.body2)) for one in extras.contact_exclusions}
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
