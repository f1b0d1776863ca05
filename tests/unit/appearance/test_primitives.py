"""Simple shapes as triangles: closed, facing outward, with the volume and the normals of the shape."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinetree.appearance.primitives import PLANE, primitive
from tests.unit.appearance.surfaces import edges_are_shared, normal_errors, volume

COLOR = (10, 20, 30, 255)
SHAPES = {
    "box": ((0.2, 0.4, 0.6), 0.2 * 0.4 * 0.6),
    "sphere": ((0.3,), 4.0 / 3.0 * math.pi * 0.3**3),
    "ellipsoid": ((0.1, 0.2, 0.4), 4.0 / 3.0 * math.pi * 0.1 * 0.2 * 0.4),
    "cylinder": ((0.1, 0.5), math.pi * 0.1**2 * 0.5),
    "capsule": ((0.1, 0.5), math.pi * 0.1**2 * 0.5 + 4.0 / 3.0 * math.pi * 0.1**3),
    "cone": ((0.2, 0.6), math.pi * 0.2**2 * 0.6 / 3.0),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_surface_is_closed_and_faces_outward(shape: str) -> None:
    size, exact = SHAPES[shape]
    surface = primitive(shape, size, COLOR, 64)
    assert edges_are_shared(surface)
    assert volume(surface) == pytest.approx(exact, rel=1e-6 if shape == "box" else 0.01, abs=1e-9)
    assert normal_errors(surface).max() < 0.08  # of faces and of the round surface that they stand for
    assert (surface.colors == COLOR).all()


def test_equal_shapes_are_one_object() -> None:
    assert primitive("box", (1.0, 2.0, 3.0), COLOR) is primitive("box", (1.0, 2.0, 3.0), COLOR)


def test_a_shape_without_a_size_is_a_point() -> None:
    assert np.isfinite(primitive("ellipsoid", (0.0, 0.0, 0.0), COLOR).normals).all()
    assert np.isfinite(primitive("cone", (0.0, 0.0), COLOR).normals).all()


def test_a_plane_without_an_end_is_a_piece() -> None:
    surface = primitive("plane", (math.inf, 3.0), COLOR)
    assert np.ptp(surface.vertices, axis=0).tolist() == [PLANE, 3.0, 0.0]
