"""Names that have another meaning in MJCF."""

from __future__ import annotations

from dataclasses import replace

from kinetree.io.chains import free_name
from kinetree.io.losses import Losses
from kinetree.model.changes.extras import with_extras_of
from kinetree.model.specs import Parts

__all__ = ["with_fit_names"]

_WORLD = "world"


def with_fit_names(parts: Parts, losses: Losses) -> Parts:
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
