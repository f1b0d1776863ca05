"""Bodies on fixed joints at other placements, and all that is fixed to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kinetree.expr import Scalar
from kinetree.model import Frame, Model, Named
from kinetree.model.parameters import placement_from
from kinetree.spatial import Transform

__all__ = ["Placed", "placed_bodies", "placed_frames"]

Placed = Mapping[str, Transform]
"""Placements in the moving body that a body is merged into, by name."""


def placed_bodies(model: Model, given: Mapping[str, Sequence[Scalar]]) -> Placed:
    """The bodies that are given a placement in the frame of the body they are fixed to, and those fixed to them."""
    if not given:
        return {}
    above = {spec.child: spec for spec in model.parts.joints}
    found: dict[str, Transform] = {}
    for body in model.bodies.values():
        chain: list[str] = []
        name = body.name
        while name not in found and model.bodies[name].is_fixed and name in above:
            chain.append(name)
            name = above[name].parent
        for name in reversed(chain):
            parent = above[name].parent
            if name in given or parent in found:
                own = placement_from(given[name]) if name in given else above[name].placement
                found[name] = own @ found.get(parent, model.bodies[parent].placement)
    return found


def placed_frames(model: Model, placed: Placed) -> Named[Frame]:
    """All frames, where those of the bodies that are placed again follow them."""
    own = {spec.name: spec.placement for spec in model.parts.frames}
    frames = {}
    for name, frame in model.frames.items():
        if frame.body in placed:
            X = placed[frame.body]
            frame = replace(frame, placement=own[name] @ X if name in own else X)
        frames[name] = frame
    return Named("frame", frames)
