"""Distances of pairs of shapes against coal's, by GJK and EPA to 1e-9."""

from __future__ import annotations

from typing import Any

import coal
import numpy as np
import pytest

from kinetree import collision
from kinetree.collision.pairs import ITERATIVE
from tests.oracles.two_geoms import Configurations, Floats, TwoGeoms, configurations

EXACT = [("sphere", "box"), ("capsule", "capsule"), ("capsule", "box"), ("box", "box")]
EVERY_PAIR = pytest.mark.parametrize("kinds", [*ITERATIVE, *EXACT], ids="-".join)
TOLERANCE = 1e-7
"""In m; shapes are 0.1 to 0.8 m large."""
SHALLOW = 0.05
"""The depth, m, up to which the way out is nearly always the shortest one."""
EQUAL_WHEN_DEEP = 0.99
"""The fraction of deeper ones whose way out is not longer than coal's."""


def theirs(shape: Any, sizes: Floats) -> Any:
    x, y, z = (float(size) for size in sizes)
    match shape:
        case collision.Sphere():
            return coal.Sphere(x)
        case collision.Capsule():
            return coal.Capsule(x, 2.0 * y)
        case collision.Ellipsoid():
            return coal.Ellipsoid(x, y, z)
        case collision.Cylinder():
            return coal.Cylinder(x, 2.0 * y)
        case collision.Box():
            return coal.Box(2.0 * x, 2.0 * y, 2.0 * z)
    points = coal.StdVec_Vec3s()
    points.extend(np.array(vertex) for vertex in shape.vertices)
    return coal.Convex.convexHull(points, False, "")


def distances_of_coal(given: Configurations, shapes: tuple[Any, Any]) -> Floats:
    request = coal.DistanceRequest()
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    request.gjk_max_iterations = request.epa_max_iterations = 500
    found = np.zeros(len(given))
    for n in range(len(given)):
        placed: list[Any] = []
        for k, shape in enumerate(shapes):
            X = coal.Transform3s(given.rotations[k, n], given.positions[k, n])
            placed += [theirs(shape, given.sizes[k, n]), X]
        found[n] = max(-10.0, coal.distance(*placed, request, coal.DistanceResult()))  # it fails with -1.8e308
    return found


def compare(kinds: tuple[str, str], count: int, seed: int) -> None:
    given, geoms = configurations(kinds, count, seed), TwoGeoms(kinds)
    shapes = geoms.shape(given, 0), geoms.shape(given, 1)
    point = collision.closest(shapes[0], given.placement(0), shapes[1], given.placement(1))
    expected = distances_of_coal(given, shapes)
    error = np.broadcast_to(point.distance, (count,)) - expected
    apart, shallow = expected > 0.0, abs(expected + 0.5 * SHALLOW) < 0.5 * SHALLOW
    distinct = (given.positions[0] != given.positions[1]).any(axis=1)  # of coincident centres its depth is too small
    deep = distinct & ~apart & ~shallow
    assert apart.mean() > 0.2 < (~apart).mean()
    assert (np.abs(error[apart]) < TOLERANCE).mean() > 0.99  # now and then GJK ends early
    assert (error[shallow] > -TOLERANCE).mean() > 0.99
    assert (error[deep] > -TOLERANCE).mean() > EQUAL_WHEN_DEEP
    # Ours is the depth of a way out, so it is not too small; now and then EPA fails, and has one that is too large.
    assert (error[~apart] < TOLERANCE).mean() > 0.85


@EVERY_PAIR
def test_distances_are_those_of_coal(kinds: tuple[str, str]) -> None:
    compare(kinds, 100, seed=8)


@pytest.mark.deep
@EVERY_PAIR
def test_ten_thousand_distances_are_those_of_coal(kinds: tuple[str, str]) -> None:
    compare(kinds, 715, seed=9)
