"""Points of faces: none is deeper than the shapes overlap, the deepest one is so, and tilted corners are higher."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kinetree import collision
from kinetree.spatial import Mat3, Transform, Vec3
from tests.oracles.two_geoms import configurations

Array = NDArray[np.float64]
SHAPES: dict[str, collision.Shape] = {
    "capsule": collision.Capsule(0.1, 0.2),
    "cylinder": collision.Cylinder(0.15, 0.2),
    "box": collision.Box(0.1, 0.2, 0.3),
    "hull": collision.Hull(
        ((0.2, 0.1, -0.1), (-0.2, 0.1, -0.1), (0.2, -0.1, -0.1), (-0.2, -0.1, -0.1), (0.0, 0.1, 0.2), (0.0, -0.1, 0.2))
    ),
}
PAIRS = [("box", "hull"), ("hull", "hull"), ("cylinder", "box"), ("cylinder", "hull"), ("capsule", "hull")]
COUNT = 200


def column(x: Any) -> Array:
    return np.broadcast_to(np.asarray(x, dtype=np.float64), (COUNT,))


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_the_deepest_point_is_as_deep_as_the_shapes_overlap(kinds: tuple[str, str]) -> None:
    given = configurations(kinds, COUNT, seed=5)
    a, b, X, Y = *(SHAPES[kind] for kind in kinds), given.placement(0), given.placement(1)
    margin: Any = given.margin
    points = collision.contacts(a, X, b, Y, margin)
    assert len(points) == collision.slots(*kinds) > 1
    distances = np.stack([column(point.distance) for point in points])
    assert all(np.isfinite(column(x)).all() for point in points for x in point.position.components())
    nearest = column(collision.closest(a, X, b, Y).distance)
    assert (distances >= nearest - (1e-8 if "cylinder" in kinds else 1e-12)).all()  # that of round shapes has an error
    near = nearest < given.margin
    # Points of faces count unless the nearest one is deeper by 1e-6 of the smaller shape.
    np.testing.assert_allclose(distances.min(axis=0)[near], nearest[near], rtol=0, atol=1e-6)
    exists = distances < collision.FAR
    assert (exists.sum(axis=0) > 1).sum() > 5
    assert (distances[exists & (np.arange(len(points)) > 0)[:, None]] <= np.max(given.margin)).all()


def turned(x: float, y: float, z: float) -> Array:
    """The matrix of turns about x, then y, then z."""
    A = np.array([[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]])
    B = np.array([[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]])
    C = np.array([[np.cos(z), -np.sin(z), 0], [np.sin(z), np.cos(z), 0], [0, 0, 1]])
    found: Array = C @ B @ A
    return found


@pytest.mark.parametrize("size", [0.0, 1e-4, 1e-2])
def test_a_tilted_face_has_the_distances_of_its_corners(size: float) -> None:
    R = turned(0.6 * size, -0.8 * size, 0.3)
    X = Transform(Mat3(*(Vec3(*row) for row in R.T.tolist())), Vec3(0.02, -0.03, 0.399))
    points = collision.contacts(SHAPES["hull"], X, collision.Box(1.0, 1.0, 0.3), Transform.identity(), 1.0)
    found = np.sort([float(point.distance) for point in points])
    corners = np.array([(x, y, -0.1) for x in (-0.2, 0.2) for y in (-0.1, 0.1)])
    np.testing.assert_allclose(found, np.sort(0.099 + (corners @ R.T)[:, 2]), rtol=0, atol=1e-9 + size * size)
