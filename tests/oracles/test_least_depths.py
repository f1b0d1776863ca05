"""Depths of overlapping polyhedra: the distance of the nearest facet of their Minkowski difference, by Qhull."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from kinetree import collision
from kinetree.spatial import Mat3, Transform, Vec3
from tests.oracles.two_geoms import Floats

COUNT = 30
KINDS = [("sphere", "hull"), ("capsule", "hull"), ("box", "hull"), ("hull", "hull")]


def corners_of(rng: np.random.Generator) -> Floats:
    """Corners of a pointed simplex, a prism, a stone, or a cloud, with aspect ratios of up to 20."""
    turns = 2.0 * np.pi * np.arange(5)[:, None] / 5.0
    ring = np.concatenate([np.cos(turns), np.sin(turns), 0.0 * turns], axis=1)
    stone = rng.normal(size=(16, 3))
    points = [
        rng.normal(size=(4, 3)),
        np.concatenate([ring, ring + 2.0 * np.eye(3)[2]]),
        stone / np.linalg.norm(stone, axis=1, keepdims=True),
        rng.normal(size=(9, 3)),
    ][int(rng.integers(4))]
    points = points - points.mean(axis=0)
    kept: Floats = (points * 0.02 * 20.0 ** rng.random(3))[ConvexHull(points).vertices]
    return kept


def shape_of(kind: str, rng: np.random.Generator) -> tuple[Any, Floats, float]:
    """A shape, the corners of its core, and the radius around that."""
    x, y, z = (0.02 * 20.0 ** rng.random(3)).tolist()
    match kind:
        case "sphere":
            return collision.Sphere(x), np.zeros((1, 3)), x
        case "capsule":
            return collision.Capsule(x, y), np.array([[0.0, 0.0, -y], [0.0, 0.0, y]]), x
        case "box":
            return collision.Box(x, y, z), np.array([*product((-x, x), (-y, y), (-z, z))]), 0.0
    points = corners_of(rng)
    return collision.Hull(tuple((x, y, z) for x, y, z in points.tolist())), points, 0.0


@pytest.mark.parametrize("seed", [pytest.param(k, marks=pytest.mark.deep if k else ()) for k in range(12)])
@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
def test_depths_are_the_least_ones(kinds: tuple[str, str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    (a, P, r_a), (b, Q, r_b) = (shape_of(kind, rng) for kind in kinds)
    R, _ = np.linalg.qr(rng.normal(size=(COUNT, 3, 3)))
    R *= np.linalg.det(R)[:, None, None]
    R[0] = np.eye(3)
    facets = [ConvexHull((P[:, None] - Q @ R[k].T).reshape(-1, 3)).equations for k in range(COUNT)]
    # From deep to shallow along a random way: fractions of the distance where the cores part.
    n = rng.normal(size=(COUNT, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    parted = np.array([1.0 / (planes[:, :3] @ n[k] / -planes[:, 3]).max() for k, planes in enumerate(facets)])
    r = n * (parted * np.linspace(0.0, 0.9999, COUNT))[:, None]
    expected = [(-planes[:, 3] - planes[:, :3] @ r[k]).min() + r_a + r_b for k, planes in enumerate(facets)]
    one: Any = np.ones(COUNT)
    zero: Any = np.zeros(COUNT)
    columns: Any = np.moveaxis(R, 0, 2)  # (axis, column, count)
    way: Any = r.T
    X = Transform(Mat3(Vec3(one, zero, zero), Vec3(zero, one, zero), Vec3(zero, zero, one)), Vec3(zero, zero, zero))
    Y = Transform(Mat3(*(Vec3(*columns[:, k]) for k in range(3))), Vec3(*way))
    point = collision.closest(a, X, b, Y)
    size = min(np.abs(P).max() + r_a, np.abs(Q).max() + r_b)
    np.testing.assert_allclose(-np.asarray(point.distance), expected, rtol=0.0, atol=1e-6 * size)
