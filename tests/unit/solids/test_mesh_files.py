"""Mesh files that are damaged or hostile: only `ModelError`, which names the file and says what to do; and speed."""

from __future__ import annotations

import contextlib
import os
import struct
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from kinetree.errors import ModelError
from kinetree.solids.meshes import compile_mesh, files, inline_mesh, read_mesh
from tests.strategies import law

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
FACES = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
HUGE = 2**31 - 1


def stl(count: int, *corners: float) -> bytes:
    records = b"".join(struct.pack("<12fH", 0, 0, 0, *corners[k : k + 9], 0) for k in range(0, len(corners), 9))
    return bytes(80) + struct.pack("<i", count) + records


def msh(vertices: int, normals: int, textures: int, faces: int, rest: bytes = b"") -> bytes:
    return struct.pack("<4i", vertices, normals, textures, faces) + rest


POINTS = struct.pack("<12f", 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1)
TRIANGLE = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0)

BAD = {
    "empty.obj": (b"", "empty"),
    "blank.obj": (b" \n\n", "has 0 vertices"),
    "binary.obj": (stl(1, *TRIANGLE), "null bytes"),
    "no_faces_or_vertices.obj": (b"hello world\n", "has 0 vertices"),
    "three.obj": (TETRAHEDRON[:24].encode() + b"f 1 2 3\n", "has 3 vertices"),
    "zero.obj": (TETRAHEDRON.encode() + b"f 0 1 2\n", ":5: .*a face has the vertex 0"),
    "missing.obj": (TETRAHEDRON.encode() + b"f 1 2 3\nf 1 2 5\n", ":6: .*a face has a vertex that does not exist"),
    "before.obj": (TETRAHEDRON.encode() + b"f -1 -2 -5\n", ":5: .*a face has a vertex that does not exist"),
    "later.obj": (b"f 1 2 3 4\ng a\n" + TETRAHEDRON.encode(), ":1: .* comes after the face's object"),
    "enormous.obj": (TETRAHEDRON.encode() + b"f 1 2 99999999999999999999\n", ":5: .*whole numbers"),
    "real_index.obj": (TETRAHEDRON.encode() + b"f 1 2 3.5\n", ":5: .*whole numbers"),
    "nan.obj": (TETRAHEDRON.encode() + b"v nan 0 0\n", ":5: .*plain numbers"),
    "infinite.obj": (TETRAHEDRON.encode() + b"v 1e60 0 0\n", "vertex 4 .* finite"),
    "word.obj": (TETRAHEDRON.encode() + b"v a b c\n", ":5: .*plain numbers"),
    "vertex.obj": (TETRAHEDRON.encode() + b"v 1 v 2\n" + FACES.encode(), ":5: .*numbers are expected after 'v'"),
    "comma.obj": (TETRAHEDRON.encode() + b"v 1,5 0 0\n", ":5: .*plain numbers"),
    "half.obj": (TETRAHEDRON.encode() + b"v 1e 0 0\n", ":5: .*not a number"),
    "signs.obj": (TETRAHEDRON.encode() + b"v 1--2 0 0\n", ":5: .*not a number"),
    "short.obj": (TETRAHEDRON.encode() + b"v 1 2\n", "vertex 5 has fewer than three"),
    "continued.obj": (TETRAHEDRON.encode() + b"f 1 2 \\\n 3\n", ":5: .*whole numbers"),
    "lines_first.obj": (
        b"o a\n" + TETRAHEDRON.encode() + b"l 1 2\no b\n" + FACES.encode(),
        ":6: .*the first object .* lines",
    ),
    "text.stl": (b"solid cube\n facet normal 0 0 1\n" * 5, "text STL .* binary"),
    "short.stl": (b"1234", "ends inside its header"),
    "cut.stl": (stl(2, *TRIANGLE), "announces 2 triangles"),
    "long.stl": (stl(1, *TRIANGLE) + b"x", "announces 1 triangles"),
    "negative.stl": (stl(-1), "announces -1 triangles"),
    "many.stl": (stl(HUGE), "announces 2,147,483,647"),
    "none.stl": (stl(0), "0 triangles; MuJoCo reads 1 to"),
    "nan.stl": (stl(2, *TRIANGLE, float("nan"), *TRIANGLE[1:8], 1.0), "finite"),
    "far.stl": (stl(2, *TRIANGLE, 2e9, *TRIANGLE[1:8], 1.0), r"2\^30"),
    "flat.stl": (stl(1, *TRIANGLE), "has 3 vertices"),
    "short.msh": (b"1234", "shorter than an MSH file's header"),
    "cut.msh": (msh(4, 0, 0, 1, POINTS), "is it cut off"),
    "long.msh": (msh(4, 0, 0, 0, POINTS + b"x"), "is it cut off"),
    "negative.msh": (msh(-4, 0, 0, 0, POINTS), "cannot say -4"),
    "few_normals.msh": (msh(4, 3, 0, 0, POINTS + POINTS[:36]), "cannot say 4 vertices, 3 normals"),
    "million.msh": (msh(4, 0, 0, 1_000_001, POINTS + bytes(12 * 1_000_001)), "1,000,001 faces; the limit"),
    "million.obj": (b"v 1 2 3\n" * 1_000_001, "1,000,001 vertices; the limit"),
    "corners.obj": (TETRAHEDRON.encode() + b"f" + b" 1" * 4_000_001, "4,000,001 corners; the limit"),
    "lines.obj": (b"\n" * 5_000_001, "5,000,001 lines; the limit"),
    "numbers.obj": (TETRAHEDRON.encode() + b"v" + b" 1" * 1000 + b"\n", ":5: .*1,000 numbers"),
    "many.msh": (msh(HUGE, HUGE, HUGE, HUGE, POINTS), "by its header"),
    "missing.msh": (msh(4, 0, 0, 1, POINTS + struct.pack("<3i", 0, 1, 4)), "face 0 .* there are 4"),
    "below.msh": (msh(4, 0, 0, 1, POINTS + struct.pack("<3i", 0, 1, -1)), "face 0"),
    "nan.msh": (msh(4, 0, 0, 0, POINTS[:44] + struct.pack("<f", float("nan"))), "vertex 3 .* finite"),
    "mesh.dae": (b"<COLLADA/>", "STL, OBJ and MSH files, not from '.dae'"),
    "mesh": (b"x", "not from 'this one'"),
}


@pytest.mark.parametrize(("name", "content", "message"), [(k, *v) for k, v in BAD.items()], ids=BAD.keys())
def test_bad_files(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ModelError, match=message) as caught:
        read_mesh(path)
    assert str(caught.value).startswith(str(path))


def test_places_that_are_not_files(tmp_path: Path) -> None:
    (tmp_path / "folder.obj").mkdir()
    os.mkfifo(tmp_path / "pipe.obj")
    for name, message in (("folder", "folder"), ("pipe", "regular file"), ("nothing", "No such file")):
        with pytest.raises(ModelError, match=message):
            read_mesh(tmp_path / f"{name}.obj")


def test_a_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mesh.obj").write_text(TETRAHEDRON + FACES)
    monkeypatch.setattr(files, "MAX_BYTES", 50)
    with pytest.raises(ModelError, match="larger than"):
        read_mesh(tmp_path / "mesh.obj")


def test_the_content_type_overrides_the_name(tmp_path: Path) -> None:
    path = tmp_path / "mesh.stl"
    path.write_text(TETRAHEDRON + FACES)
    assert len(read_mesh(path, "model/obj").faces) == 4
    with pytest.raises(ModelError, match="content_type"):
        read_mesh(path, "model/gltf")
    (tmp_path / "MESH.OBJ").write_text(TETRAHEDRON + FACES)
    assert len(read_mesh(tmp_path / "MESH.OBJ").faces) == 4


def test_no_other_file_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Materials and textures that an OBJ file names are not looked at."""
    opened: list[object] = []
    original = files.read_regular
    monkeypatch.setattr(files, "read_regular", lambda path, most: opened.append(path) or original(path, most))
    monkeypatch.setattr("builtins.open", lambda *_: pytest.fail("opened a file"))
    monkeypatch.setattr(
        "kinetree.files.open", lambda path, _: os.fdopen(os.open(path, os.O_RDONLY), "rb"), raising=False
    )
    path = tmp_path / "mesh.obj"
    path.touch()
    descriptor = os.open(path, os.O_WRONLY)
    os.write(descriptor, f"mtllib /etc/passwd\nmtllib ../x.mtl\n{TETRAHEDRON}usemtl a\n{FACES}".encode())
    os.close(descriptor)
    assert len(read_mesh(path).faces) == 4
    assert opened == [path]


def test_corners_of_stl_files_become_vertices(tmp_path: Path) -> None:
    """In the order of the file; -0.0 and 0.0 are two places, as in MuJoCo."""
    path = tmp_path / "mesh.stl"
    path.write_bytes(stl(2, *TRIANGLE, 1.0, 0.0, 0.0, -0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    mesh = read_mesh(path)
    assert mesh.faces.tolist() == [[0, 1, 2], [1, 3, 4]]
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]]


INLINE = {
    "numbers that are not threes": ([0.0] * 13, [], "vertex holds 13 numbers"),
    "faces that are not threes": ([0.0] * 12, [0, 1], "face holds 2 numbers"),
    "a face of real numbers": ([0.0] * 12, [0, 1, 2.5], "whole numbers"),
    "a face that is not a number": ([0.0] * 12, [0, 1, float("nan")], "whole numbers"),
    "an infinite face": ([0.0] * 12, [0, 1, float("inf")], "whole numbers"),
    "a vertex beyond 32 bits": ([1e40] + [0.0] * 11, [], "finite"),
    "no vertices": ([], [], "has 0 vertices"),
}


@pytest.mark.parametrize(("vertex", "face", "message"), INLINE.values(), ids=INLINE.keys())
def test_bad_attributes(vertex: list[float], face: list[float], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        inline_mesh("mesh", vertex, face)


def test_numbers_that_overflow_are_refused() -> None:
    mesh = inline_mesh("mesh", [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3])
    for options in ({"scale": (1e200, 1e200, 1e200)}, {"refpos": (1e200, 0.0, 0.0)}, {"scale": (1e-200, 1.0, 1e308)}):
        with pytest.raises(ModelError):
            compile_mesh("mesh", mesh, **options)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="refquat"):
        compile_mesh("mesh", mesh, refquat=(0.0, 0.0, 0.0, 0.0))


@law(examples=150)
@given(
    format=st.sampled_from(["obj", "stl", "msh"]),
    data=st.binary(max_size=300)
    | st.lists(
        st.sampled_from(["v ", "f ", "g ", "o ", "l ", "1", " ", "/", "-2", "\n", "\r", "1e3", ".5", "#", "\t", "4"]),
        max_size=80,
    ).map(lambda parts: (TETRAHEDRON + "".join(parts)).encode()),
    head=st.booleans(),
)
def test_any_bytes(format: str, data: bytes, head: bool) -> None:
    """Whatever a file contains, it is a mesh or a `ModelError`."""
    if format == "stl" and head:
        data = bytes(80) + struct.pack("<i", len(data) // 50) + data[: len(data) // 50 * 50]
    if format == "msh" and head:
        data = msh(4, 0, 0, len(data) // 12, POINTS + data[: len(data) // 12 * 12])
    try:
        mesh = files._READERS["." + format]("mesh", data)
        compile_mesh("mesh", mesh, inertia="shell")
    except ModelError:
        pass


def test_hostile_files_take_little_time() -> None:
    """Long blanks, many short lines, many groups, polygons that are hard to cut: a second each at most."""
    read = files._READERS[".obj"]
    zigzag = "".join(f"v {k} {k % 2 * 1000 - k} 0\n" for k in range(3000))
    texts = {
        "blanks": " " * 3_000_000 + "v 1 2 3\n" + TETRAHEDRON + FACES,
        "lines": "\n" * 3_000_000 + TETRAHEDRON + FACES,
        "alternating": TETRAHEDRON + "v 1 2 3\nf 1 2 3\n" * 200_000,
        "groups": TETRAHEDRON + FACES + "g a\n" * 1_000_000,
        "a polygon": zigzag + "f " + " ".join(map(str, range(1, 3001))) + "\n",
        "all polygons": zigzag + "".join(f"f {' '.join(map(str, range(1, k)))}\n" for k in range(4, 400)),
    }
    for name, text in texts.items():
        start = time.perf_counter()
        with contextlib.suppress(ModelError):
            read(name, text.encode())
        assert time.perf_counter() - start < 5.0, name


def test_flat_shells_have_an_inertia() -> None:
    """A square, however it lies: rounding does not make its moments those of no body."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]) * rng.uniform(0.01, 10.0)
        mesh = inline_mesh("mesh", corners.reshape(-1).tolist(), [0, 1, 2, 0, 2, 3])
        half = Rotation.from_matrix(turn * np.linalg.det(turn)).as_quat()[[3, 0, 1, 2]]
        square = compile_mesh("mesh", mesh, inertia="shell", refquat=half)
        side = corners[1, 0]
        np.testing.assert_allclose(square.moments, side**2 / 12.0 * np.array([2.0, 1.0, 1.0]), rtol=1e-6)
        assert square.box.min() == 0.0
