"""Several images of one mesh, and colours beside them, as one image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinetree.appearance.assembly import Painted, atlas
from kinetree.appearance.images import colors_at
from kinetree.appearance.mesh_files import file_mesh
from tests.unit.appearance.files import write_obj, write_png

CORNERS = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.3, 0.8)])


def image(seed: int, height: int, width: int) -> np.ndarray:
    """Smooth noise."""
    coarse = np.random.default_rng(seed).integers(0, 255, (height // 8, width // 8, 4))
    return np.repeat(np.repeat(coarse, 8, axis=0), 8, axis=1).astype(np.uint8)


def plain(*color: int) -> Painted:
    return Painted(np.tile(np.array(color, np.uint8), (3, 1)), None, None)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_each_part_has_its_own_colours(count: int) -> None:
    images = [image(k, 64, 32 + 16 * k) for k in range(count)]
    shown = [Painted(np.zeros((5, 4), np.uint8), CORNERS, one) for one in images]
    found = atlas([plain(1, 2, 3, 255), *shown, plain(9, 8, 7, 60)])
    assert found is not None
    uv, sheet = found
    seen = colors_at(sheet, uv)
    assert (seen[:3] == (1, 2, 3, 255)).all()
    assert (seen[-3:] == (9, 8, 7, 60)).all()
    for k, one in enumerate(images):
        inside = np.clip(CORNERS, 0.01, 0.99)
        assert np.abs(seen[3 + 5 * k : 8 + 5 * k].astype(int) - colors_at(one, inside)).max() <= 40
        assert (seen[3 + 5 * k] == one[-1, 0]).all()


def test_a_single_image_may_be_repeated() -> None:
    one = image(0, 64, 64)
    found = atlas([Painted(np.zeros((5, 4), np.uint8), 3.0 * CORNERS, one)])
    assert found is not None
    assert (found[0] == 3.0 * CORNERS).all()
    assert (found[1] == one).all()


def test_repeated_images_and_many_colours_are_left_to_the_vertices() -> None:
    one = Painted(np.zeros((5, 4), np.uint8), 3.0 * CORNERS, image(0, 64, 64))
    assert atlas([one, plain(1, 2, 3, 4)]) is None
    varied = Painted(np.arange(12, dtype=np.uint8).reshape(3, 4), None, None)
    assert atlas([Painted(one.colors, CORNERS, one.image), varied]) is None
    assert atlas([plain(1, 2, 3, 4)]) is None


def test_a_mesh_with_an_image_on_one_face(tmp_path: Path) -> None:
    write_png(tmp_path / "half.png")
    mesh = file_mesh(write_obj(tmp_path / "cube.obj", image="half.png"), 5000)
    assert mesh.texture is not None
    assert mesh.uv is not None
    is_on_image = mesh.vertices[:, 0] == 0.0
    is_on_image &= mesh.normals[:, 0] < -0.5
    seen = colors_at(mesh.texture, mesh.uv.astype(float))
    assert (seen[~is_on_image] == (255, 0, 0, 255)).all()
    assert {tuple(color) for color in seen[is_on_image].tolist()} >= {(255, 0, 0, 255), (0, 0, 255, 255)}
    assert np.abs(seen.astype(int) - mesh.colors).max() <= 128  # the vertices have them as well
