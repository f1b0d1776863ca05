"""Surfaces as binary glTF, read back by trimesh."""

from __future__ import annotations

import io

import numpy as np
import trimesh

from kinetree.appearance import Surface
from kinetree.viewer.glb import binary_gltf

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=np.float32)
FACE = np.array([[0, 1, 2]], dtype=np.int32)
UP = np.tile(np.array([0, 0, 1], dtype=np.float32), (3, 1))


def _read(surface: Surface) -> trimesh.Trimesh:
    scene = trimesh.load(io.BytesIO(binary_gltf([surface])), file_type="glb")
    (mesh,) = scene.geometry.values()
    return mesh


def test_one_colour() -> None:
    mesh = _read(Surface(CORNERS, FACE, UP, np.full((3, 4), (255, 0, 188, 255), dtype=np.uint8)))
    assert np.allclose(mesh.vertices, CORNERS)
    assert np.array_equal(mesh.faces, FACE)
    assert np.allclose(mesh.vertex_normals, UP)
    # Linear light: half of it is 188 of 255 in sRGB.
    assert np.allclose(np.array(mesh.visual.material.baseColorFactor) / 255.0, [1.0, 0.0, 0.5, 1.0], atol=0.01)


def test_colours_per_vertex_and_opacity() -> None:
    colors = np.array([[255, 0, 0, 255], [0, 255, 0, 128], [0, 0, 255, 0]], dtype=np.uint8)
    content = binary_gltf([Surface(CORNERS, FACE, UP, colors)])
    assert b'"alphaMode":"BLEND"' in content
    read = _read(Surface(CORNERS, FACE, UP, colors)).visual.vertex_attributes["color"] / 65535.0
    assert np.allclose(read, colors / 255.0, atol=1e-4)  # 0 and 1 are the same in linear light


def test_a_texture() -> None:
    uv = np.array([[0, 0], [1, 0], [0, 1]], dtype=np.float32)
    texture = np.zeros((2, 2, 4), dtype=np.uint8)
    texture[0, 0] = (200, 10, 20, 255)
    mesh = _read(Surface(CORNERS, FACE, UP, np.full((3, 4), 255, dtype=np.uint8), uv, texture))
    assert np.allclose(mesh.visual.uv, uv)  # trimesh counts from the lower left, too
    assert mesh.visual.material.baseColorTexture.getpixel((0, 0))[:3] == (200, 10, 20)
