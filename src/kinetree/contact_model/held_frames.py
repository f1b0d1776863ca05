"""Frames on bodies, as soft constraints hold them together or tendons go through them."""

from __future__ import annotations

from kinetree.contact_model.held_spec import HeldFrame
from kinetree.model import Model
from kinetree.tree.holds import Anchor

__all__ = ["anchored", "frame_of_site"]


def frame_of_site(robot: Model, name: str) -> HeldFrame:
    """The frame of a site, which has another name if something else has the site's."""
    frame = robot.frames[next((site.frame for site in robot.extras.sites if site.name == name), name)]
    return HeldFrame(frame.body, frame.placement @ robot.bodies[frame.body].placement.inverse)


def anchored(robot: Model, frame: HeldFrame) -> Anchor:
    """The same as algorithms read it."""
    body = robot.bodies[frame.body]
    return Anchor(body.slot, frame.placement @ body.placement)
