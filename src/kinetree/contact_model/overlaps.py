"""Shapes that overlap where the robot is at rest, which are not meant to touch, though their file does not say so."""

from __future__ import annotations

from kinetree.collision import HeightField, Plane, contacts
from kinetree.collision.convex import are_apart
from kinetree.contact_model.groups import FREE
from kinetree.contact_model.inverse_weights import InverseWeights
from kinetree.contact_model.pairs import TouchingPair
from kinetree.contact_model.shapes import Shapes, Surface
from kinetree.model import Model

__all__ = ["overlap_at_rest"]


def overlap_at_rest(robot: Model, weights: InverseWeights, pair: TouchingPair, shapes: Shapes) -> bool:
    """Whether two shapes of one mechanism, whose file says nothing of contacts, overlap in the reference configuration.

    Shapes of bodies between which there is a free joint are not of one mechanism.
    """
    a, b = pair.first, pair.second
    if not (a.is_plain and b.is_plain) or robot.extras.collision_pairs or _is_joint_free_between(robot, a, b):
        return False
    placed = [(shapes.of(side), weights.placement_of(side.body)) for side in (a, b)]
    (one, X_one), (other, X_other) = ((surface.shape, surface.placement @ X) for surface, X in placed if surface)
    if not isinstance(one, Plane | HeightField) and are_apart(one, X_one, other, X_other):
        return False
    return any(float(point.distance) < 0.0 for point in contacts(one, X_one, other, X_other))


def _is_joint_free_between(robot: Model, a: Surface, b: Surface) -> bool:
    tree = robot.tree
    i, j = robot.bodies[a.body].slot, robot.bodies[b.body].slot
    meeting = tree.meeting(i, j)
    between = [k for end in (i, j) for k, _ in tree.toward_root(end, meeting)]
    return any(tree.joint[k].nv == FREE for k in between)
