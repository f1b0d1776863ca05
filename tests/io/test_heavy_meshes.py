"""Mesh files made to keep a reader busy, or to make it unpack: they are drawn or refused, in bounded time."""

from __future__ import annotations

import time
import zipfile
from pathlib import Path

import pytest

from kinetree.appearance.mesh_files import file_mesh
from kinetree.errors import ModelError

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n"
SOURCE = (
    '<source id="p"><float_array>0 0 0 1 0 0 0 1 0</float_array>{}</source><vertices id="v"><input '
    'semantic="POSITION" source="#p"/></vertices><triangles><input semantic="VERTEX" source="#v" offset="{}"/>'
    "<p>{}</p></triangles>"
)


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinetree.appearance.mesh_files.user_cache", lambda: None)


def seconds(path: Path) -> float:
    start = time.process_time()
    assert len(file_mesh(path, 10_000).faces) > 0
    return time.process_time() - start


def dae(folder: Path, nodes: str, *, accessor: str = "", offset: str = "0", corners: str = "0 1 2") -> Path:
    path = folder / "part.dae"
    path.write_text(
        f'<COLLADA><library_geometries><geometry id="g"><mesh>{SOURCE.format(accessor, offset, corners)}</mesh>'
        f'</geometry></library_geometries><library_visual_scenes><visual_scene id="s">{nodes}</visual_scene>'
        "</library_visual_scenes></COLLADA>"
    )
    return path


def test_a_material_library_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "part.mtl").write_text("newmtl m\nKd 1 0 0\n" + "Kd 0.5 0.5 0.5\n" * 30_000)
    path = tmp_path / "part.obj"
    path.write_text("mtllib part.mtl\n" + TRIANGLE)
    once = seconds(path)
    path.write_text("mtllib part.mtl\n" * 20 + TRIANGLE)
    assert seconds(path) < 5.0 * once


def test_material_libraries_have_a_limit(tmp_path: Path) -> None:
    for k in range(2):
        (tmp_path / f"{k}.mtl").write_text("# of no use\n" * 800_000)
    (tmp_path / "part.obj").write_text("mtllib 0.mtl\nmtllib 1.mtl\n" + TRIANGLE)
    with pytest.raises(ModelError, match="its material libraries have more than 16 MiB"):
        file_mesh(tmp_path / "part.obj", 1000)


def test_many_materials_are_drawn_with_their_colours(tmp_path: Path) -> None:
    count = 2000
    (tmp_path / "part.mtl").write_text("".join(f"newmtl m{k}\nKd {k % 2} 0 0\n" for k in range(count)))
    lines = ["mtllib part.mtl"]
    for k in range(count):
        lines += [f"v {2 * k} 0 0", f"v {2 * k + 1} 0 0", f"v {2 * k} 1 0", f"usemtl m{k}"]
        lines += [f"f {3 * k + 1} {3 * k + 2} {3 * k + 3}"]
    path = tmp_path / "part.obj"
    path.write_text("\n".join(lines))
    mesh = file_mesh(path, 10_000)
    assert len(mesh.faces) == count
    red = mesh.colors[mesh.faces[:, 0], 0] > 128
    assert (red == (mesh.vertices[mesh.faces[:, 0], 0] // 2 % 2 == 1)).all()
    assert not mesh.is_bare.any()


def test_many_materials_are_read_together(tmp_path: Path) -> None:
    """One by one they take ten times as long as one material, not three."""
    count = 10_000
    (tmp_path / "part.mtl").write_text("".join(f"newmtl m{k}\nKd {k % 2} 0 0\n" for k in range(count)))
    took = []
    for stride in (1, count):
        lines = ["mtllib part.mtl"]
        for k in range(count):
            lines += [f"v {2 * k} 0 0", f"v {2 * k + 1} 0 0", f"v {2 * k} 1 0", f"usemtl m{k // stride}"]
            lines += [f"f {3 * k + 1} {3 * k + 2} {3 * k + 3}"]
        (tmp_path / "part.obj").write_text("\n".join(lines))
        took.append(min(seconds(tmp_path / "part.obj") for _ in range(3)))
    assert took[0] < 6.0 * took[1], took


def test_many_images_are_refused(tmp_path: Path) -> None:
    (tmp_path / "part.mtl").write_text("".join(f"newmtl m{k}\nmap_Kd {k}.png\n" for k in range(300)))
    lines = ["mtllib part.mtl", "v 0 0 0", "v 1 0 0", "v 0 1 0", "vt 0 0"]
    lines += [f"usemtl m{k}\nf 1/1 2/1 3/1" for k in range(300)]
    (tmp_path / "part.obj").write_text("\n".join(lines))
    with pytest.raises(ModelError, match="300 parts with 300 different images and colours; at most 256 are drawn"):
        file_mesh(tmp_path / "part.obj", 1000)


def test_many_instances_are_drawn(tmp_path: Path) -> None:
    few, many = (
        "".join(f'<node><translate>{2 * k} 0 0</translate><instance_geometry url="#g"/></node>' for k in range(count))
        for count in (200, 4000)
    )
    short = seconds(dae(tmp_path, few))
    assert len(file_mesh(dae(tmp_path, many), 10_000).faces) == 4000
    assert seconds(dae(tmp_path, many)) < 10.0 * short


def test_instances_of_large_geometries_have_a_limit(tmp_path: Path) -> None:
    path = dae(tmp_path, '<node><instance_geometry url="#g"/></node>' * 4000, corners="0 1 2 " * 5000)
    with pytest.raises(ModelError, match="its scene shows more than 50,000,000 corners; simplify it"):
        file_mesh(path, 1000)


@pytest.mark.parametrize("stride", ["0", "-3", "x", "1e3", "99999999999"])
def test_an_invalid_stride_is_reported(stride: str, tmp_path: Path) -> None:
    accessor = f'<technique_common><accessor source="#p" stride="{stride}"/></technique_common>'
    with pytest.raises(ModelError, match=r'<accessor stride=".*"> must be a whole number from 1 to 1,000'):
        file_mesh(dae(tmp_path, '<node><instance_geometry url="#g"/></node>', accessor=accessor), 1000)


def test_an_invalid_offset_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r'<input offset="-1"> must be a whole number from 0'):
        file_mesh(dae(tmp_path, '<node><instance_geometry url="#g"/></node>', offset="-1"), 1000)


@pytest.mark.parametrize("encoding", ["utf-99", "utf-7", "hex", "x" * 100])
def test_an_unknown_encoding_is_reported(encoding: str, tmp_path: Path) -> None:
    path = dae(tmp_path, '<node><instance_geometry url="#g"/></node>')
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?>{path.read_text()}')
    with pytest.raises(ModelError, match="the file is not XML"):
        file_mesh(path, 1000)


def test_an_archive_that_unpacks_to_very_much_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    with zipfile.ZipFile(tmp_path / "part.3mf", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("3D/3dmodel.model", '<vertex x="0" y="0" z="0"/>' * 1_000_000)
    with pytest.raises(ModelError, match="the file unpacks to 26 MiB, more than 30 times its own size"):
        file_mesh(tmp_path / "part.3mf", 1000)
