"""Shapes that overlap where the robot is at rest, which are not meant to touch, though their file does not say so."""

from __future__ import annotations

from kinetree.collision import HeightField, Plane, Shape, contacts
from kinetree.collision.supports import core_of
from kinetree.contact.groups import FREE
from kinetree.contact.inverse_weights import InverseWeights
from kinetree.contact.pairs import TouchingPair
from kinetree.contact.shapes import Shapes, Surface
from kinetree.model import Model
from kinetree.spatial import Transform

__all__ = ["overlap_at_rest"]


def overlap_at_rest(robot: Model, weights: InverseWeights, pair: TouchingPair, shapes: Shapes) -> bool:
    """Whether two shapes of one mechanism, whose file says nothing of contacts, overlap in the reference configuration.

    Shapes of bodies between which there is a free joint are not of one mechanism.
    """
    a, b = pair.first, pair.second
    if not (a.is_plain and b.is_plain) or robot.extras.collision_pairs or _is_joint_free_between(robot, a, b):
        return False
    placed = [(shapes.of(side), weights.placement_of(side.body)) for side in (a, b)]
    (one, X_one), (other, X_other) = ((found[0], found[1] @ X) for found, X in placed if found is not None)
    if _are_far_apart(one, X_one, other, X_other):
        return False
    return any(float(point.distance) < 0.0 for point in contacts(one, X_one, other, X_other))


def _are_far_apart(a: Shape, X_a: Transform, b: Shape, X_b: Transform) -> bool:
    """Whether balls around both shapes do not meet."""
    if isinstance(a, Plane | HeightField) or isinstance(b, Plane | HeightField):
        return False
    apart = X_b.r - X_a.r
    return float(apart.dot(apart)) > (float(core_of(a).reach) + float(core_of(b).reach)) ** 2


def _is_joint_free_between(robot: Model, a: Surface, b: Surface) -> bool:
    tree = robot.tree
    i, j = robot.bodies[a.body].slot, robot.bodies[b.body].slot
    meeting = tree.meeting(i, j)
    between = [k for end in (i, j) for k, _ in tree.toward_root(end, meeting)]
    return any(tree.joint[k].nv == FREE for k in between)
