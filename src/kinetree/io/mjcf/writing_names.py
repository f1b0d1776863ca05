"""Names that MJCF has no place for: one with another meaning there, and those that several shapes have."""

from __future__ import annotations

from dataclasses import replace

from kinetree.errors import listed
from kinetree.io.chains import distinct_names, free_name
from kinetree.io.losses import Losses
from kinetree.model.changes.extras import with_extras_of
from kinetree.model.specs import Parts

__all__ = ["with_fit_names"]

_WORLD = "world"


def with_fit_names(parts: Parts, losses: Losses) -> Parts:
    """The parts without a body "world" that is not MuJoCo's world, and with shapes whose names differ."""
    return _with_distinct_shapes(_with_fit_bodies(parts, losses), losses)


def _with_distinct_shapes(parts: Parts, losses: Losses) -> Parts:
    """The parts, in which no two shapes have one name. Records that refer to it mean the first of them."""
    named = [shape.name for link in parts.links for shape in link.geometry if shape.name]
    distinct = distinct_names(named)
    if distinct == named:
        return parts
    new = [f"{old!r} becomes {name!r}" for old, name in zip(named, distinct, strict=True) if old != name]
    losses.changed.append(f"the names of all shapes differ in MJCF: {listed(new)}")
    names = iter(distinct)
    links = [
        replace(link, geometry=tuple(replace(x, name=next(names)) if x.name else x for x in link.geometry))
        for link in parts.links
    ]
    return replace(parts, links=tuple(links))


def _with_fit_bodies(parts: Parts, losses: Losses) -> Parts:
    """The parts without a body "world" that is not MuJoCo's world: one that moves, or that something carries."""
    carried = {joint.child for joint in parts.joints}
    known = {link.name for link in parts.links}
    if _WORLD not in known or not (parts.floating_base or _WORLD in carried):
        return parts
    name = free_name(f"{_WORLD}_2", known | {frame.name for frame in parts.frames})
    losses.lost.append(f"the name of body {_WORLD!r} has another meaning in MJCF: it would be {name!r}")

    def to(old: str) -> str:
        return name if old == _WORLD else old

    new = replace(
        parts,
        links=tuple(replace(link, name=to(link.name)) for link in parts.links),
        joints=tuple(replace(joint, parent=to(joint.parent), child=to(joint.child)) for joint in parts.joints),
        frames=tuple(replace(frame, body=to(frame.body)) for frame in parts.frames),
    )
    return with_extras_of(parts, new, base=(), rename=to)
