"""Mesh files: triangles, colours, images, and what is said about those that cannot be read."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinetree.appearance.file_mesh import FileMesh, to_bytes
from kinetree.appearance.formats import read_pieces
from kinetree.appearance.mesh_files import file_mesh
from kinetree.appearance.primitives import primitive
from kinetree.solids.meshes import read_mesh
from kinetree.viewer.glb import binary_gltf
from tests.unit.appearance.files import (
    CORNERS,
    FACES,
    write_dae,
    write_obj,
    write_png,
    write_stl,
    write_stl_text,
)  # fmt: skip


def bounds(mesh: FileMesh) -> list[list[float]]:
    return [mesh.vertices.min(axis=0).round(5).tolist(), mesh.vertices.max(axis=0).round(5).tolist()]


@pytest.mark.parametrize("write", [write_stl, write_stl_text, write_obj])
def test_a_cube(write: Callable[[Path], Path], tmp_path: Path) -> None:
    mesh = file_mesh(write(tmp_path / ("cube.obj" if write is write_obj else "cube.stl")), 100)
    assert bounds(mesh) == [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    assert len(mesh.faces) == 12
    assert len(mesh.vertices) == 24
    assert np.abs(mesh.normals).max(axis=1).tolist() == [1.0] * 24
    assert mesh.is_bare.all() == (write is not write_obj)


def test_obj_has_the_colours_of_its_library(tmp_path: Path) -> None:
    mesh = file_mesh(write_obj(tmp_path / "cube.obj"), 100)
    green = (mesh.colors == (0, 255, 0, 255)).all(axis=1)
    assert green.sum() == 4
    assert (mesh.colors[~green] == (255, 0, 0, 255)).all()
    assert (mesh.vertices[green, 0] == 0.0).all()


def test_obj_materials_may_be_named_before_they_are_used(tmp_path: Path) -> None:
    path = write_obj(tmp_path / "cube.obj")
    path.write_text(path.read_text().replace("usemtl green", "usemtl red\nusemtl green", 1))
    mesh = file_mesh(path, 100)
    is_green = mesh.vertices[:, 0] == 0.0
    assert (mesh.colors[:4] == (0, 255, 0, 255)).all()
    assert is_green[:4].all()
    assert (mesh.colors[4:] == (255, 0, 0, 255)).all()


def test_msh_has_normals_and_places_in_images_from_the_upper_left(tmp_path: Path) -> None:
    uv = CORNERS[:, :2] * (0.5, 0.25)
    rows = [CORNERS.astype("<f4"), (2.0 * CORNERS - 1.0).astype("<f4"), uv.astype("<f4"), FACES.astype("<i4")]
    path = tmp_path / "cube.msh"
    path.write_bytes(struct.pack("<4i", 8, 8, 8, 12) + b"".join(block.tobytes() for block in rows))
    (piece,) = read_pieces(".msh", path, path.read_bytes(), lambda _: None)
    assert piece.normals is not None
    assert piece.uv is not None
    assert piece.normals.tolist() == (2.0 * CORNERS - 1.0).tolist()
    assert piece.uv.tolist() == [[u, 1.0 - v] for u, v in uv.tolist()]


def test_obj_lines_may_be_indented_and_have_tabs_and_indices_that_count_back(tmp_path: Path) -> None:
    whole = file_mesh(write_obj(tmp_path / "cube.obj"), 100)
    lines = (tmp_path / "cube.obj").read_text().splitlines()
    for k, line in enumerate(lines):
        word, *rest = line.split()
        if word == "f":
            rest = [
                "/".join(str(int(n) - most - 1) for n, most in zip(c.split("/"), (8, 4), strict=True)) for c in rest
            ]
        lines[k] = f"\t {word}\t{'  '.join(rest)} "
    (tmp_path / "cube.obj").write_text("\r\n".join(lines))
    assert to_bytes(file_mesh(tmp_path / "cube.obj", 100)) == to_bytes(whole)


@pytest.mark.parametrize("write", [write_stl, write_obj])
def test_a_mesh_is_seen_where_it_has_its_inertia(write: Callable[[Path], Path], tmp_path: Path) -> None:
    path = write(tmp_path / ("cube.obj" if write is write_obj else "cube.stl"))
    solid = read_mesh(path)
    (seen, *more) = read_pieces(path.suffix, path, path.read_bytes(), lambda _: None)
    found = np.concatenate([piece.vertices[piece.faces] for piece in (seen, *more)])
    assert len(found) == len(solid.faces) == 12
    corners = [np.unique(some.reshape(-1, 3), axis=0).tolist() for some in (found, solid.vertices[solid.faces])]
    assert corners[0] == corners[1] == CORNERS.tolist()


def test_obj_for_mujoco_has_no_colours(tmp_path: Path) -> None:
    assert file_mesh(write_obj(tmp_path / "cube.obj"), 100, as_mujoco=True).is_bare.all()


def test_dae_is_placed_by_its_scene_in_metres_whatever_is_up(tmp_path: Path) -> None:
    mesh = file_mesh(write_dae(tmp_path / "cube.dae"), 100)
    assert bounds(mesh) == [[1.0, 0.0, 0.0], [2.0, 1.0, 1.0]]
    assert (mesh.colors == (0, 0, 128, 255)).all()
    assert not mesh.is_bare.any()


def test_an_image_is_in_the_colours_of_finer_triangles(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    write_png(tmp_path / "half.png")
    mesh = file_mesh(write_dae(tmp_path / "meshes" / "cube.dae", image="../half.png"), 5000)
    assert len(mesh.faces) > 100
    assert mesh.remarks == ()
    assert mesh.texture is not None
    assert mesh.uv is not None
    left = mesh.colors[mesh.uv[:, 0] < 0.4]
    right = mesh.colors[(mesh.uv[:, 0] > 0.6) & (mesh.uv[:, 0] < 0.97)]
    assert (left[mesh.uv[mesh.uv[:, 0] < 0.4][:, 0] > 0.03] == (255, 0, 0, 255)).all()
    assert (right == (0, 0, 255, 255)).all()
    assert len(right)


@pytest.mark.parametrize("image", ["gone.png", "../../outside.png", "http://example.org/a.png", "/etc/hostname"])
def test_an_image_that_is_not_in_the_package_is_left_out_and_said(image: str, tmp_path: Path) -> None:
    folder = tmp_path / "package" / "meshes"
    folder.mkdir(parents=True)
    write_png(tmp_path / "outside.png")
    mesh = file_mesh(write_dae(folder / "cube.dae", image=image), 100)
    assert len(mesh.faces) == 12
    assert f"its image '{image}' is not in the mesh's package" in mesh.remarks[0]


def test_a_broken_image_is_left_out_and_said(tmp_path: Path) -> None:
    (tmp_path / "half.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    mesh = file_mesh(write_dae(tmp_path / "cube.dae", image="half.png"), 100)
    assert "it is drawn without its image: the image 'half.png' cannot be read" in mesh.remarks[0]


@pytest.mark.parametrize("colors", [[(200, 120, 60, 255)], [(200, 120, 60, 255), (90, 160, 230, 255)]])
def test_colours_of_a_binary_gltf_are_linear_light(tmp_path: Path, colors: list[tuple[int, ...]]) -> None:
    """One colour is its material's; several are those of its vertices."""
    pytest.importorskip("trimesh")
    surface = primitive("box", (1.0, 1.0, 1.0), (0, 0, 0, 255))
    surface = replace(surface, colors=np.resize(np.array(colors, np.uint8), surface.colors.shape))
    (tmp_path / "box.glb").write_bytes(binary_gltf([surface]))
    found = file_mesh(tmp_path / "box.glb", 100).colors.astype(int)
    seen = {min(range(len(colors)), key=lambda k: np.abs(one - colors[k]).max()) for one in found}
    assert seen == set(range(len(colors)))
    assert all(min(np.abs(one - color).max() for color in colors) <= 2 for one in found)


def test_gltf_in_one_file_or_several_and_ply(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.Trimesh(CORNERS, FACES, process=False)
    box.visual.vertex_colors = (1, 2, 3, 255)
    # Numbers of glTF are amounts of light: 1, 2 and 3 of 255 look as bright as 13, 22 and 28 in sRGB.
    for name, content in box.export(file_type="gltf").items():
        (tmp_path / name).write_bytes(content)
    box.export(tmp_path / "cube.glb")
    box.export(tmp_path / "cube.ply")
    light = (13, 22, 28, 255)
    for name, color in (("cube.glb", light), ("model.gltf", light), ("cube.ply", (1, 2, 3, 255))):
        mesh = file_mesh(tmp_path / name, 100)
        assert bounds(mesh) == [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
        assert (mesh.colors == color).all(), name
