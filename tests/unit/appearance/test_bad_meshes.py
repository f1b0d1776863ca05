"""Meshes that cannot be read, or not whole: what is said of each, in one sentence, and that the rest is drawn."""

from __future__ import annotations

import contextlib
import random
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.appearance import assembly, looks_of, mesh_files
from kinetree.appearance.mesh_files import file_mesh
from kinetree.errors import KinetreeError, ModelError
from tests.unit.appearance.files import CORNERS, FACES, write_dae, write_obj, write_png, write_stl, write_stl_text

TRIANGLE = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"


def msh(faces: np.ndarray = FACES) -> bytes:
    sizes = struct.pack("<4i", len(CORNERS), 0, 0, len(faces))
    return sizes + CORNERS.astype("<f4").tobytes() + faces.astype("<i4").tobytes()


def write_msh(path: Path) -> Path:
    path.write_bytes(msh())
    return path


def stl(corners: np.ndarray) -> bytes:
    facets = np.zeros(len(FACES), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    facets["corners"] = corners[FACES]
    return bytes(80) + struct.pack("<I", len(FACES)) + facets.tobytes()


BROKEN = {
    "empty.stl": (b"", "the file is empty; put the mesh there"),
    "empty.dae": (b"", "the file is empty; put the mesh there"),
    "short.stl": (b"x" * 50, "it ends inside its header"),
    "cut.stl": (bytes(80) + b"\xff\x00\x00\x00" + bytes(100), "announces 255 triangles"),
    "nan.stl": (stl(CORNERS * np.nan), "a coordinate of a vertex is not a finite number; export the mesh again"),
    "text.stl": (b"solid a\nvertex 1 2 x\nvertex 1 2 3\nvertex 1 2 3", "something else between the numbers"),
    "half.stl": (b"solid a\nvertex 1 2 3\nvertex 1 2 3", "2 corners do not make triangles; is the file cut off?"),
    "more.stl": (b"solid a\n" + b"vertex 1 2 3\n" * 4, "4 corners do not make triangles; is the file cut off?"),
    "cut.dae": (b"<COLLADA><asset>", "not XML"),
    "other.dae": (b"<svg/>", "first element is <svg>"),
    "bomb.dae": (b'<!DOCTYPE a [<!ENTITY b "c">]><COLLADA/>', "defines entities"),
    "none.dae": (b"<COLLADA/>", "no triangles"),
    "wrong.obj": (TRIANGLE + b"f 1 2 9\n", ":4: 'f 1 2 9': a face names a vertex that does not exist"),
    "zero.obj": (TRIANGLE + b"f 0 1 2\n", "vertices are numbered from 1"),
    "large.obj": (TRIANGLE + b"f 1/1 2/1 99999999999999999999/1\n", ":4: .*corners are written as whole numbers"),
    "words.obj": (TRIANGLE + b"f a b c\n", ":4: .*corners are written as whole numbers"),
    "odd.obj": (TRIANGLE + b"f 1/1 2/1 nan/1 1/\n", ":4: .*corners are written as whole numbers"),
    "texel.obj": (TRIANGLE + b"vt 0 0\nf 1/1 2/1 3/a\n", ":5: .*corners are written as whole numbers"),
    "none.obj": (b"# nothing\n", "no vertices"),
    "faceless.obj": (TRIANGLE, "the file contains no triangles; export it again as a surface"),
    "nan.obj": (b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", ":1: 'v nan 0 0': plain numbers"),
    "cut.msh": (msh()[:-5], "MSH file"),
    "wrong.msh": (msh(FACES + 4), "face 2 of the mesh has the vertices"),
    "nan.msh": (msh().replace(struct.pack("<f", 1.0), struct.pack("<f", np.nan)), "coordinates are finite numbers"),
    "cut.glb": (b"glTF", "trimesh cannot read it"),
    "cube.blend": (b"BLENDER", "convert this one"),
}
DAE = {
    "index": ("<p>0 0", "<p>8 0", "a face names a vertex that does not exist; export the mesh again"),
    "negative": ("<p>0 0", "<p>-1 0", "a face names a vertex that does not exist; export the mesh again"),
    "coordinate": (">0 0 0 0 ", ">0 nan 0 0 ", "a coordinate of a vertex is not a finite number"),
    "word": (">0 0 0 0 ", ">0 one 0 0 ", "something else between the numbers of the mesh"),
    "source": ('source="#p"/></vertices>', 'source="#q"/></vertices>', "the numbers '#q' are not in the file"),
    "stride": ('stride="3"', 'stride="x"', "must be a whole number from 1 to 1,000; export it again"),
    "pose": ("<translate>200 0 0<", "<translate>200 0<", "<translate> has 2 numbers, not 3; export it again"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_said(name: str, tmp_path: Path) -> None:
    content, message = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=message) as found:
        file_mesh(tmp_path / name, 100)
    assert "\n" not in str(found.value)
    assert name in str(found.value)


@pytest.mark.parametrize("name", DAE)
def test_a_collada_file_with_a_mistake_is_said(name: str, tmp_path: Path) -> None:
    old, new, message = DAE[name]
    path = write_dae(tmp_path / "cube.dae")
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ModelError, match=message):
        file_mesh(path, 100)


def test_a_file_that_is_gone_or_is_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"gone\.stl cannot be read: No such file"):
        file_mesh(tmp_path / "gone.stl", 100)
    (tmp_path / "folder.stl").mkdir()
    with pytest.raises(ModelError, match=r"folder\.stl cannot be read"):
        file_mesh(tmp_path / "folder.stl", 100)


def test_a_file_that_is_too_large_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mesh_files, "_MOST_IN_STL", 100)
    with pytest.raises(
        ModelError,
        match=r"cube\.stl cannot be read: the file is larger than .* MiB, the limit for such a file; simplify it",
    ):
        file_mesh(write_stl(tmp_path / "cube.stl"), 100)


def test_fewer_triangles_of_a_huge_mesh_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "_HUGE", 1000)
    x, y = np.meshgrid(np.arange(31.0), np.arange(31.0), indexing="ij")
    corners = np.stack([x, y, np.sin(x)], axis=-1).reshape(-1, 3)
    k = np.add.outer(31 * np.arange(30), np.arange(30)).reshape(-1)
    faces = np.concatenate([np.stack([k, k + 31, k + 32], axis=1), np.stack([k, k + 32, k + 1], axis=1)])
    mesh = file_mesh(write_stl(tmp_path / "wave.stl", corners, faces), 200)
    assert len(mesh.faces) <= 250
    assert mesh.remarks == (
        f"the mesh has 1,800 triangles; it is drawn with {len(mesh.faces):,}: simplify it to be drawn as it is",
    )


def test_places_in_images_that_are_none_are_said(tmp_path: Path) -> None:
    write_png(tmp_path / "half.png")
    path = write_obj(tmp_path / "cube.obj", image="half.png")
    path.write_text(path.read_text().replace("vt 1 1", "vt nan 1"))
    mesh = file_mesh(path, 100)
    assert len(mesh.faces) == 12
    assert mesh.remarks == (
        "its places in images are not all finite numbers; it is drawn without images: export it again",
    )


WRITERS: dict[str, Callable[[Path], Path]] = {
    "a.stl": write_stl,
    "b.stl": write_stl_text,
    "c.obj": write_obj,
    "d.dae": write_dae,
    "e.msh": write_msh,
}


@pytest.mark.parametrize("name", WRITERS)
def test_damaged_files_are_read_or_said(name: str, tmp_path: Path) -> None:
    whole = WRITERS[name](tmp_path / name).read_bytes()
    rng = random.Random(name)
    for _ in range(60):
        data = bytearray(whole)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)) :]
        for _ in range(rng.randrange(3)):
            data[rng.randrange(len(data))] = rng.choice(b"0 9-.n<\x00\xff") if data else 0
        (tmp_path / name).write_bytes(data)
        with contextlib.suppress(KinetreeError):
            file_mesh(tmp_path / name, 100)


def test_a_robot_of_bad_meshes_is_drawn_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "robot").mkdir()
    write_stl(tmp_path / "outside.stl")
    for name, (content, _) in BROKEN.items():
        (tmp_path / "robot" / name).write_bytes(content)
    write_stl(tmp_path / "robot" / "whole.stl")
    names = [*BROKEN, "gone.stl", "../outside.stl", "http://example.org/a.stl", "whole.stl"]
    shapes = "".join(f'<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in names)
    path = tmp_path / "robot" / "r.urdf"
    path.write_text(f'<robot name="r"><link name="a">{shapes}</link></robot>')
    looks = looks_of(kt.load(path))
    assert [part.name for part in looks.parts] == [f"a[{len(names) - 1}]"]
    reasons = {names[k]: one.reason for k, one in enumerate(looks.unseen)}
    assert list(reasons) == names[:-1]
    assert reasons["gone.stl"].endswith("when the robot was loaded; put the file there")
    assert reasons["../outside.stl"].endswith(f"or give package_roots=['{tmp_path}'] when the robot is loaded")
    assert all("\n" not in reason for reason in reasons.values())


SDF = """<sdf version="1.7"><model name="cart"><link name="box"><inertial><mass>1</mass>{inertia}</inertial>
<visual name="body"><pose>0 0 0.5 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry>
<material><diffuse>1 0 0 0.5</diffuse></material></visual>
<visual name="cube"><geometry><mesh><uri>cube.stl</uri><scale>2 2 2</scale></mesh></geometry></visual>
<visual name="gone"><geometry><mesh><uri>model://other/gone.stl</uri></mesh></geometry></visual></link>
<link name="wheel"><pose>0 0 -1 0 0 0</pose><inertial><mass>1</mass>{inertia}</inertial>
<collision name="rim"><geometry><sphere><radius>0.5</radius></sphere></geometry></collision></link>
<joint name="axle" type="revolute"><parent>box</parent><child>wheel</child><axis><xyz>0 1 0</xyz></axis></joint>
</model></sdf>""".replace("{inertia}", "<inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia>")


def test_an_sdf_robot_is_drawn(tmp_path: Path) -> None:
    write_stl(tmp_path / "cube.stl")
    (tmp_path / "cart.sdf").write_text(SDF)
    looks = looks_of(kt.load(tmp_path / "cart.sdf"))
    parts = {part.name: part for part in looks.parts}
    assert list(parts) == ["body", "cube"]
    assert (parts["body"].surface.colors == (255, 0, 0, 128)).all()
    assert parts["body"].placement[:3, 3].tolist() == [0.0, 0.0, 0.5]
    assert np.ptp(parts["cube"].surface.vertices, axis=0).tolist() == [2.0, 2.0, 2.0]
    (unseen,) = looks.unseen
    assert unseen.part == "gone"
    assert "the folder that holds the package 'other': package_roots=" in unseen.reason
    (rim,) = looks_of(kt.load(tmp_path / "cart.sdf"), ["collision"]).parts
    assert rim.body == "wheel"
