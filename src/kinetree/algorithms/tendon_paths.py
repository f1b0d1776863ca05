"""The length of a spatial tendon, from point to point and around shapes, and its moment.

    ℓ = Σ |p_k+1 - p_k| / n,    ℓ̇ = Σ u·(ṗ_k+1 - ṗ_k) / n,    u = (p_k+1 - p_k) / |p_k+1 - p_k|

n is the divisor of the part of the tendon that a way belongs to. Where a way touches a shape (wrapping.py), it goes
straight to a point of the shape and straight on from another one; as the way is the shortest, ℓ̇ is as if these points
were fixed to the shape. Points that meet have no direction between them: their way has the moment zero.

Source: MuJoCo documentation, "XML Reference", section on spatial tendons; version 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinetree.algorithms.transmissions import Reach, View
from kinetree.algorithms.wrapping import wrapped, wrapped_inside
from kinetree.expr import Scalar, less, select, sqrt
from kinetree.spatial import Transform, Vec3
from kinetree.tree.holds import Anchor

__all__ = ["Round", "Stretch", "along_path"]

_TINY = 1e-30
"""The square of a distance below which points meet, m²."""


class Round(NamedTuple):
    """A sphere, or an endless cylinder about the frame's z, that bends a tendon."""

    frame: Anchor
    radius: float
    is_sphere: bool
    side: Anchor | None
    """The point on whose side it goes around."""
    is_inside: bool
    """Whether it goes through the inside instead."""


class Stretch(NamedTuple):
    """A part of a tendon, between two pulleys: the points that it goes through, and shapes between them."""

    steps: Sequence[Anchor | Round]
    divisor: float


class _Way(NamedTuple):
    """A straight way between points on two bodies."""

    start: tuple[int, Vec3]
    end: tuple[int, Vec3]
    direction: Vec3


def along_path(view: View, stretches: Sequence[Stretch]) -> Reach:
    """The length of a tendon and its moment."""
    length: Scalar = 0.0
    moment: dict[int, list[Scalar]] = {}
    for stretch in stretches:
        share = 1.0 / stretch.divisor
        for start, between, end in _legs(stretch.steps):
            distance, ways = _leg(view, start, between, end)
            length = length + distance * share
            for way in ways:
                meeting = view.tree.meeting(way.start[0], way.end[0])
                for (slot, p), sign in ((way.start, -share), (way.end, share)):
                    for j, _ in view.tree.toward_tip(meeting, slot):
                        moved = [(m.linear + m.angular.cross(p)).dot(way.direction) * sign for m in view.columns[j]]
                        before = moment.get(j, [0.0] * len(moved))
                        moment[j] = [x + y for x, y in zip(before, moved, strict=True)]
    return Reach(length, moment)


def _legs(steps: Sequence[Anchor | Round]) -> Iterator[tuple[Anchor, Round | None, Anchor]]:
    """Neighbouring points, and the shape between them."""
    start: Anchor | None = None
    between: Round | None = None
    for step in steps:
        if isinstance(step, Round):
            between = step
            continue
        if start is not None:
            yield start, between, step
        start, between = step, None


def _leg(view: View, start: Anchor, between: Round | None, end: Anchor) -> tuple[Scalar, list[_Way]]:
    """The length from one point to the next, and its straight ways."""
    p, q = _placed(view, start).r, _placed(view, end).r
    distance, direction = _between(p, q)
    if between is None:
        return distance, [_Way((start.slot, p), (end.slot, q), direction)]
    X = _placed(view, between.frame)
    axis = None if between.is_sphere else X.E.T @ Vec3(0.0, 0.0, 1.0)
    if between.is_inside:
        wrapping = wrapped_inside(p - X.r, q - X.r, between.radius, axis)
    else:
        side = None if between.side is None else _placed(view, between.side).r - X.r
        wrapping = wrapped(p - X.r, q - X.r, between.radius, axis, side)
    first, second = X.r + wrapping.arrives, X.r + wrapping.leaves
    (there, onto), (on, away) = _between(p, first), _between(second, q)

    def chosen(bent: Vec3, straight: Vec3) -> Vec3:
        pairs = zip(bent.components(), straight.components(), strict=True)
        return Vec3(*(select(wrapping.touches, a, b) for a, b in pairs))

    # where the way is straight, what the shape's body has of its two ends cancels
    slot = between.frame.slot
    ways = [
        _Way((start.slot, p), (slot, chosen(first, p)), chosen(onto, direction)),
        _Way((slot, chosen(second, p)), (end.slot, q), chosen(away, direction)),
    ]
    return select(wrapping.touches, there + wrapping.length + on, distance), ways


def _placed(view: View, frame: Anchor) -> Transform:
    return frame.placement @ view.X_0[frame.slot]


def _between(p: Vec3, q: Vec3) -> tuple[Scalar, Vec3]:
    """The distance of two points, and the direction from one to the other."""
    way = q - p
    squared = way.dot(way)
    is_apart = less(_TINY, squared)
    distance = sqrt(select(is_apart, squared, 1.0))
    return select(is_apart, distance, 0.0), way * select(is_apart, 1.0 / distance, 0.0)
