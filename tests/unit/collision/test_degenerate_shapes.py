"""Pairs without a shortest way out of each other, of flat and thin shapes, and of worlds that are not numbers."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kinetree import collision
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.collision.convex import core_of
from kinetree.collision.pairs import ITERATIVE
from kinetree.spatial import Vec3
from tests.unit.collision.test_pairs import placed, program_of, random_placement

Array = NDArray[np.float64]
CUBE = tuple(product((-0.1, 0.1), repeat=3))
SHAPES: dict[str, Any] = {
    "sphere": collision.Sphere(0.2),
    "capsule": collision.Capsule(0.1, 0.3),
    "capsule without length": collision.Capsule(0.1, 0.0),
    "segment": collision.Capsule(0.0, 0.3),
    "ellipsoid": collision.Ellipsoid(0.1, 0.2, 0.3),
    "round ellipsoid": collision.Ellipsoid(0.2, 0.2, 0.2),
    "disc": collision.Ellipsoid(0.2, 0.2, 1e-6),
    "cylinder": collision.Cylinder(0.15, 0.25),
    "flat cylinder": collision.Cylinder(0.2, 0.0),
    "box": collision.Box(0.1, 0.2, 0.3),
    "cube": collision.Box(0.2, 0.2, 0.2),
    "sheet": collision.Box(0.2, 0.1, 0.0),
    "hull": collision.Hull(CUBE),
    "hull of four corners": collision.Hull(
        ((0.0, 0.0, 0.2), (0.2, 0.0, -0.1), (-0.1, 0.15, -0.1), (-0.1, -0.15, -0.1))
    ),
    "flat hull": collision.Hull(((0.1, 0.1, 0.0), (-0.1, 0.1, 0.0), (-0.1, -0.1, 0.0), (0.1, -0.1, 0.0))),
}
EVERY_TWO = pytest.mark.parametrize("names", [*combinations_with_replacement(SHAPES, 2)], ids=" and ".join)
ONES = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
RENAMED = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
OFFSETS = [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.0, 0.1), (0.1, 0.2, 0.0), (0.0, 0.0, 2.0)]
ROUNDING = [(1e-16, 0.0, 0.0), (1e-12, -2e-12, 1e-12), (0.0, 1e-9, 0.0)]


def row(point: collision.ContactPoint) -> Array:
    vectors = (point.position, point.normal, point.tangent)
    return np.array([point.distance, *(x for v in vectors for x in v.components())], float)


def overlap(shapes: Any, X: Any, Y: Any, n: Vec3) -> float:
    """How far two shapes overlap along a direction."""
    a, b = map(core_of, shapes)
    first, second = X.E @ n, Y.E @ -n
    return float(a.extents([first])[0] + b.extents([second])[0] + a.radius + b.radius - n.dot(Y.r - X.r))


@EVERY_TWO
def test_contacts_are_numbers_with_frames(names: tuple[str, str]) -> None:
    shapes = [SHAPES[name] for name in names]
    rng = np.random.default_rng(2)
    some = [(ONES, offset) for offset in (*OFFSETS, *ROUNDING)] + [(RENAMED, OFFSETS[0]), (RENAMED, OFFSETS[1])]
    some += [(random_placement(rng)[:9], (0.0, 0.0, 0.0)), (random_placement(rng)[:9], (0.05, 0.02, 0.01))]
    for E, offset in some:
        X, Y = placed([*ONES, 0.0, 0.0, 0.0]), placed([*E, *offset])
        closest = collision.closest(shapes[0], X, shapes[1], Y)
        for point in (closest, *collision.contacts(shapes[0], X, shapes[1], Y, 0.01)):
            numbers = row(point)
            assert np.isfinite(numbers).all()
            frame = numbers[4:].reshape(2, 3)
            np.testing.assert_allclose(frame @ frame.T, np.eye(2), atol=1e-9)
        if float(closest.distance) < -1e-6:  # type: ignore[arg-type]
            way_out = overlap(shapes, X, Y, closest.normal)
            assert way_out == pytest.approx(-float(closest.distance), abs=1e-6)  # type: ignore[arg-type]


@EVERY_TWO
def test_distances_hardly_change_by_rounding(names: tuple[str, str]) -> None:
    a, b = (SHAPES[name] for name in names)
    for offset in OFFSETS[:4]:
        distances = [
            float(collision.closest(a, placed([*ONES, 0.0, 0.0, 0.0]), b, placed([*ONES, *place])).distance)  # type: ignore[arg-type]
            for place in (offset, *(np.add(offset, small) for small in ROUNDING))
        ]
        np.testing.assert_allclose(distances, distances[0], rtol=0.0, atol=1e-6)


@EVERY_TWO
def test_the_depth_of_concentric_shapes_is_the_least_of_many_directions(names: tuple[str, str]) -> None:
    shapes = [SHAPES[name] for name in names]
    rng = np.random.default_rng(5)
    directions = rng.normal(size=(300, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for E in (ONES, RENAMED, random_placement(rng)[:9]):
        X, Y = placed([*ONES, 0.0, 0.0, 0.0]), placed([*E, 0.0, 0.0, 0.0])
        depth = -float(collision.closest(shapes[0], X, shapes[1], Y).distance)  # type: ignore[arg-type]
        axes = [*(sign * v for v in (*np.eye(3), *np.reshape(E, (3, 3))) for sign in (-1.0, 1.0)), *directions]
        least = min(overlap(shapes, X, Y, Vec3(*map(float, n))) for n in axes)
        assert depth <= least + 1e-6


@pytest.mark.parametrize("pair", [("box", "box"), ("capsule", "box"), *ITERATIVE], ids="-".join)
def test_a_world_that_is_not_a_number_leaves_its_neighbours_alone(pair: tuple[str, str]) -> None:
    rng = np.random.default_rng(6)
    x, y = (np.array([random_placement(rng) for _ in range(9)]) for _ in range(2))
    run = batch_function(program_of(pair))
    expected = run(x, y)
    x[4, 9], y[6, 0] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        found = run(x, y)
    others = [0, 1, 2, 3, 5, 7, 8]
    np.testing.assert_array_equal(found[others], expected[others])
    assert np.isfinite(expected).all()
