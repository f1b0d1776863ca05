"""The length of a spatial tendon: straight ways from point to point, and its moment.

    ℓ = Σ |p_k+1 - p_k| / n,    ℓ̇ = Σ u·(ṗ_k+1 - ṗ_k) / n,    u = (p_k+1 - p_k) / |p_k+1 - p_k|

n is the divisor of the part of the tendon that a way belongs to. Points that meet have no direction between them: their
way has the moment zero.

Source: MuJoCo documentation, "XML Reference", section on spatial tendons; version 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from kinetree.algorithms.transmissions import Reach, View
from kinetree.expr import Scalar, less, select, sqrt
from kinetree.spatial import Vec3
from kinetree.tree.holds import Anchor

__all__ = ["Stretch", "along_path"]

_TINY = 1e-30
"""The square of a distance below which points meet, m²."""


class Stretch(NamedTuple):
    """A part of a tendon, between two pulleys: the points that it goes through."""

    points: Sequence[Anchor]
    divisor: float


def along_path(view: View, stretches: Sequence[Stretch]) -> Reach:
    """The length of a tendon and its moment."""
    length: Scalar = 0.0
    moment: dict[int, list[Scalar]] = {}
    for stretch in stretches:
        share = 1.0 / stretch.divisor
        for start, end in pairwise(stretch.points):
            distance, direction = _between(*(_position(view, point) for point in (start, end)))
            length = length + distance * share
            meeting = view.tree.meeting(start.slot, end.slot)
            for point, sign in ((start, -share), (end, share)):
                p = _position(view, point)
                for j, _ in view.tree.toward_tip(meeting, point.slot):
                    moved = [(m.linear + m.angular.cross(p)).dot(direction) * sign for m in view.columns[j]]
                    before = moment.get(j, [0.0] * len(moved))
                    moment[j] = [x + y for x, y in zip(before, moved, strict=True)]
    return Reach(length, moment)


def _position(view: View, point: Anchor) -> Vec3:
    return (point.placement @ view.X_0[point.slot]).r


def _between(p: Vec3, q: Vec3) -> tuple[Scalar, Vec3]:
    """The distance of two points, and the direction from one to the other."""
    way = q - p
    squared = way.dot(way)
    is_apart = less(_TINY, squared)
    distance = sqrt(select(is_apart, squared, 1.0))
    return select(is_apart, distance, 0.0), way * select(is_apart, 1.0 / distance, 0.0)
