"""Contact points of pairs of shapes against MuJoCo's colliders: distance, position and frame of each, in its order."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree import collision
from tests.oracles.two_geoms import Floats, TwoGeoms, configurations, in_columns, ours

EXACT = [
    ("plane", "sphere"),
    ("plane", "capsule"),
    ("plane", "ellipsoid"),
    ("plane", "cylinder"),
    ("plane", "box"),
    ("sphere", "sphere"),
    ("sphere", "capsule"),
    ("sphere", "cylinder"),
    ("sphere", "box"),
    ("capsule", "capsule"),
    ("capsule", "box"),
    ("box", "box"),
]
IN_ANY_ORDER = [("box", "box")]
"""The corners of a polygon, which start elsewhere."""
COUNT = 500
ROUNDING = 1e-12
"""Whether contacts at exactly the margin are returned depends on the last bit."""


def has_no_area(mine: Floats, theirs: list[tuple[float, Floats, Floats]]) -> bool:
    places = np.array([*mine, *(position for _, position, _ in theirs)])
    return bool(np.linalg.matrix_rank(places - places[0], tol=1e-9) < 2)


@pytest.mark.parametrize("kinds", EXACT, ids="-".join)
def test_contacts_are_those_of_mujoco(kinds: tuple[str, str]) -> None:
    given = configurations(kinds, COUNT)
    distances, positions, frames = ours(given)
    assert distances.shape == (COUNT, collision.slots(*kinds))
    assert all(np.isfinite(x).all() for x in (distances, positions, frames))
    theirs = TwoGeoms(kinds)
    wrong, touching = [], 0
    for n in range(COUNT):
        margin = given.margin[n]
        expected = [contact for contact in theirs.contacts(given, n) if contact[0] < margin - ROUNDING]
        mine = [k for k in range(distances.shape[1]) if distances[n, k] < margin - ROUNDING]
        touching += len(expected)
        if len(mine) != len(expected) and kinds in IN_ANY_ORDER and has_no_area(positions[n, mine], expected):
            continue  # whether faces overlap that meet in a line depends on the last bit
        if len(mine) != len(expected):
            wrong.append(f"{n}: {len(mine)} contacts instead of {len(expected)}")
            continue
        if kinds in IN_ANY_ORDER:
            mine = [min(mine, key=lambda k: np.abs(positions[n, k] - other[1]).max()) for other in expected]
            assert len(set(mine)) == len(mine)
        tolerance = 1e-10 + 1e-15 / max(1e-12, given.between_cores(n, distances[n].min()))
        for k, (distance, position, frame) in zip(mine, expected, strict=True):
            errors = (
                abs(distances[n, k] - distance),
                np.abs(positions[n, k] - position).max(),
                np.abs(frames[n, k] - frame).max(),
            )
            if not max(errors) < tolerance:
                wrong.append(f"{n}, contact {k}: off by {errors}")
    assert touching > 150
    assert wrong == []


def test_the_distance_of_boxes_is_that_of_mujoco() -> None:
    """Their distance is not the smallest one of their contacts."""
    kinds = ("box", "box")
    given = configurations(kinds, COUNT, seed=1)
    point = collision.closest(given.shape(0), given.placement(0), given.shape(1), given.placement(1))
    on_a, on_b = (np.stack(end.components(), axis=1) for end in point.ends)
    theirs, apart = TwoGeoms(kinds), 0
    for n in range(COUNT):
        distance, ends = theirs.distance(given, n)
        if (given.positions[0, n] == given.positions[1, n]).all():
            continue  # MuJoCo finds no direction between boxes with the same centre
        assert abs(point.distance[n] - distance) < 1e-9
        if distance > 1e-3:
            apart += 1
            assert np.linalg.norm(on_b[n] - on_a[n]) == pytest.approx(distance, abs=1e-9)
            both_are_points = np.abs(on_b[n] - on_a[n] - (ends[1] - ends[0])).max()
            assert both_are_points < 1e-6  # the direction is unique, the places may not be
    assert apart > 200


def test_the_lowest_corner_of_a_hull_is_that_of_mujoco() -> None:
    """The others are chosen by another rule, which needs no edges."""
    kinds = ("plane", "hull")
    given = configurations(kinds, COUNT)
    theirs = TwoGeoms(kinds)
    hull = theirs.shape(given, 1)
    points = collision.contacts(collision.Plane(), given.placement(0), hull, given.placement(1), given.margin)
    distances = np.stack([in_columns([p.distance], COUNT)[:, 0] for p in points], axis=1)
    positions = np.stack([in_columns(p.position.components(), COUNT) for p in points], axis=1)
    touching = 0
    for n in range(COUNT):
        expected = theirs.contacts(given, n)
        assert (distances[n, 0] < given.margin[n]) == bool(expected)
        if expected:
            touching += 1
            assert abs(distances[n, 0] - expected[0][0]) < 1e-10
            assert np.abs(positions[n, 0] - expected[0][1]).max() < 1e-10
    assert touching > 150
    exists = distances < collision.FAR
    normal = in_columns(points[0].normal.components(), COUNT)
    corners = positions + 0.5 * np.where(exists, distances, 0.0)[..., None] * normal[:, None]
    given_corners = np.array(hull.vertices)
    middle = 0.5 * (given_corners.min(axis=0) + given_corners.max(axis=0))
    apart = 0.3 * np.linalg.norm(given_corners - middle, axis=1).max()
    for k in range(1, 4):
        assert (distances[:, k] >= distances[:, k - 1]).all()
        for j in range(k):
            gaps = np.linalg.norm(corners[:, k] - corners[:, j], axis=1)
            assert (gaps[exists[:, k]] > apart - 1e-9).all()
