"""Shapes that are far apart, which are not searched for contacts."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree.collision import FAR, Box, Capsule, Cylinder, Ellipsoid, Hull, Plane, Shape, Sphere, contacts
from kinetree.collision.far_apart import contacts_nearby
from kinetree.spatial import Transform

CORNERS = tuple((x, y, z) for x in (-0.2, 0.3) for y in (-0.1, 0.1) for z in (-0.4, 0.2))
SHAPES = [
    Sphere(0.2),
    Capsule(0.1, 0.3),
    Ellipsoid(0.1, 0.2, 0.3),
    Cylinder(0.2, 0.2),
    Box(0.1, 0.2, 0.3),
    Hull(CORNERS),
]


def placed(rng: np.random.Generator, reach: float) -> Transform:
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Transform.from_matrix(
        np.block([[rotation * np.linalg.det(rotation), rng.uniform(-reach, reach, (3, 1))], [0.0, 0.0, 0.0, 1.0]])
    )


@pytest.mark.parametrize("a", SHAPES, ids=lambda shape: shape.kind)
def test_what_is_within_the_margin_is_the_same(a: Shape) -> None:
    rng = np.random.default_rng(len(a.kind))
    left_out = 0
    for b in (Plane(), *SHAPES):
        for _ in range(4):
            X_a, X_b = placed(rng, 0.6), placed(rng, 0.6)
            for point, own in zip(contacts(a, X_a, b, X_b, 0.05), contacts_nearby(a, X_a, b, X_b, 0.05), strict=True):
                if point.distance < 0.05:
                    assert own == point
                elif own != point:
                    assert own.distance == FAR
                    left_out += 1
    assert left_out > 3
