"""Gearboxes: joints that connect no links, but couple the angles of two hinges.

A gearbox names a parent, a child and a reference body. With θ1 the angle from the reference body to the parent about
<axis>, and θ2 that from the reference body to the child about <axis2>, θ2 = -ratio θ1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kinetree.io.document import Element, shown
from kinetree.io.notes import Notes
from kinetree.io.sdf.axes import read_axis
from kinetree.io.sdf.joints import ends
from kinetree.io.sdf.scopes import Node, body_of
from kinetree.io.sdf.values import number_in, required, word
from kinetree.model import ModelBuilder
from kinetree.spatial import Vec3

__all__ = ["Edge", "read_gearbox"]

_PARALLEL = 1e-6
_LONGEST = 1000
"""The number of joints after which a body is taken to be on no path to another."""


class Edge(NamedTuple):
    """The joint above a link."""

    joint: Node
    type: str
    parent: Node
    child: Node


def read_gearbox(gearbox: Node, above: Mapping[Node, Edge], builder: ModelBuilder, notes: Notes) -> None:
    """Couple the two hinges of a gearbox: its own coordinate is the angle of the first."""
    element = gearbox.element
    parent, child = ends(gearbox)
    named = required(element, "gearbox_reference_body")
    assert gearbox.scope is not None
    reference = body_of(gearbox.scope.find(word(named), named, "the reference body"))
    ratio = number_in(element, "gearbox_ratio", 1.0)
    hinges = []
    for link, tag in ((parent, "axis"), (child, "axis2")):
        axis = read_axis(required(element, tag), gearbox, notes, bounded=False)
        direction = gearbox.in_world().E.T @ axis.direction
        hinges.append(_hinge(element, reference, link, direction, above, notes))
    (first, s1), (second, s2) = hinges
    if first is second:
        element.fail("its parent and its child turn with the same hinge; a gearbox couples two", "bad-coupling")
    # θ1 = s1 q1 and θ2 = s2 q2 = -ratio θ1.
    notes.add("gearboxes couple two joints, which have no coordinates of their own in q and v", gearbox.full)
    builder.add_coupling(
        gearbox.full,
        [first.full, second.full],
        [[1.0], [-ratio * s1 * s2]],
        coordinates=["angle"],
        where=element,
    )


def _hinge(
    element: Element, reference: Node, link: Node, direction: Vec3, above: Mapping[Node, Edge], notes: Notes
) -> tuple[Node, float]:
    """The hinge between the reference body and a link, and 1 or -1: the sense in which it counts."""
    outward = _path(link, reference, above)
    path, sense = (outward, 1.0) if outward is not None else (_path(reference, link, above), -1.0)
    moving = [edge for edge in path or [] if edge.type != "fixed"]
    if len(moving) != 1 or moving[0].type not in ("revolute", "continuous"):
        element.fail(
            f"between its reference body {shown(reference.full)!r} and {shown(link.full)!r} there must be one revolute "
            f"joint; there {'are' if len(moving) != 1 else 'is'} "
            + (", ".join(f"{shown(edge.joint.full)!r} ({edge.type})" for edge in moving[:4]) or "none"),
            "bad-coupling",
        )
    joint = moving[0].joint
    own = read_axis(required(joint.element, "axis"), joint, notes, bounded=False)
    axis = joint.in_world().E.T @ own.direction
    across = axis.cross(direction)
    if float(across.dot(across)) > _PARALLEL**2 * float(axis.dot(axis)) * float(direction.dot(direction)):
        element.fail(
            f"its axis is not parallel to that of the joint {shown(joint.full)!r}; make them parallel", "bad-coupling"
        )
    return joint, sense if float(axis.dot(direction)) > 0.0 else -sense


def _path(link: Node, top: Node, above: Mapping[Node, Edge]) -> list[Edge] | None:
    """The joints from a link up to another; None if that does not carry it, or only over very many joints."""
    path: list[Edge] = []
    while link is not top:
        edge = above.get(link)
        if edge is None or len(path) >= _LONGEST:
            return None
        path.append(edge)
        link = edge.parent
    return path
