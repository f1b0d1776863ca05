"""Large meshes have fewer triangles, and are kept on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinetree.appearance import decimation
from kinetree.appearance.file_mesh import from_bytes, to_bytes
from kinetree.appearance.formats import read
from kinetree.appearance.mesh_files import file_mesh
from kinetree.appearance.primitives import primitive
from tests.unit.appearance.files import write_dae, write_png, write_stl

BALL = primitive("sphere", (1.0,), (0, 0, 0, 255), 128)


@pytest.mark.parametrize("has_package", [True, False])
def test_a_ball_stays_one(has_package: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if not has_package:
        monkeypatch.setattr(decimation, "_collapse", lambda: None)
    monkeypatch.setenv("KINETREE_CACHE", "off")
    mesh = file_mesh(write_stl(tmp_path / "ball.stl", BALL.vertices, BALL.faces), 1000)
    assert 300 < len(mesh.faces) <= 1100
    assert np.linalg.norm(mesh.vertices, axis=1) == pytest.approx(1.0, abs=0.04)
    assert np.quantile(np.einsum("ij,ij->i", mesh.normals, mesh.vertices), 0.1) > 0.97


def test_millions_of_triangles_are_read_through_a_grid(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(read, "_MANY", 1000)
    monkeypatch.setattr(read, "_AT_ONCE", 3000)
    monkeypatch.setattr(read, "_CELLS", 32)
    path = write_stl(tmp_path / "ball.stl", BALL.vertices, BALL.faces)
    (piece,) = read.read_pieces(".stl", path, path.read_bytes(), lambda _: None)
    assert len(piece.faces) + piece.left_out == len(BALL.faces)
    assert piece.left_out > 5000
    assert np.linalg.norm(piece.vertices, axis=1) == pytest.approx(1.0, abs=0.06)


def test_a_kept_mesh_is_the_same_and_is_made_again_when_its_image_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KINETREE_CACHE", "on")
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "cache"))
    write_png(tmp_path / "half.png")
    path = write_dae(tmp_path / "cube.dae", image="half.png")
    first, second = file_mesh(path, 3000), file_mesh(path, 3000)
    assert to_bytes(first) == to_bytes(second) == to_bytes(from_bytes(to_bytes(first)))
    assert len(list((tmp_path / "cache").glob("*.mesh"))) == 1
    write_png(tmp_path / "half.png", (0, 255, 0), (0, 255, 0))
    assert (file_mesh(path, 3000).colors == (0, 255, 0, 255)).all()
    (tmp_path / "half.png").unlink()
    assert "is not in the mesh's package" in file_mesh(path, 3000).remarks[0]
