"""Meshes against MuJoCo: what files are read as, and the mass and inertia in each mode."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.solids.meshes import builtin_mesh, compile_mesh, fitted, inline_mesh, read_mesh
from kinetree.solids.meshes.obj import read_obj
from kinetree.solids.meshes.principal import rotation
from kinetree.solids.primitives import primitive
from tests.oracles.mujoco_meshes import (
    DENSITY,
    INERTIAL,
    UNSEEN,
    Body,
    body,
    from_file,
    inline,
    load,
    mujocos,
    numbers,
    of_body,
    written,
)
from tests.strategies import law

Array = NDArray[np.float64]
Faces = NDArray[np.int64]
MODES = ("legacy", "exact", "convex", "shell")
TOLERANCE = 1e-9

BOX = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
BOX_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
     [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


def blocks(rng: np.random.Generator, count: int) -> tuple[Array, Faces]:
    """Several boxes, each with its own size, place and shear; they may overlap, and as a whole they are not convex."""
    shapes = [BOX * rng.uniform(0.2, 2.0, 3) @ rng.normal(size=(3, 3)) + rng.normal(size=3) for _ in range(count)]
    faces = [(BOX_FACES if _volume(v) > 0.0 else BOX_FACES[:, ::-1]) + 8 * k for k, v in enumerate(shapes)]
    return np.concatenate(shapes), np.concatenate(faces)


def _volume(v: Array) -> float:
    a, b, c = (v[BOX_FACES[:, k]] for k in range(3))
    return float((a * np.cross(b, c)).sum())


def stl(vertices: Array, faces: Faces) -> bytes:
    records = np.zeros(len(faces), np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")]))
    records["corners"] = vertices[faces]
    return bytes(80) + struct.pack("<i", len(faces)) + records.tobytes()


def msh(vertices: Array, faces: Faces, normals: bool = False, textures: bool = False) -> bytes:
    n = len(vertices)
    return (
        struct.pack("<4i", n, n * normals, n * textures, len(faces))
        + vertices.astype("<f4").tobytes() * (1 + normals)
        + bytes(8 * n * textures)
        + faces.astype("<i4").tobytes()
    )


def obj(vertices: Array, faces: Any) -> bytes:
    points = "".join(f"v {numbers(v)}\n" for v in vertices)
    return (points + "".join("f " + " ".join(str(k + 1) for k in f) + "\n" for f in faces)).encode()


WRITERS = {"stl": stl, "obj": obj, "msh": msh}


@pytest.mark.parametrize("mode", MODES)
@law(examples=10)
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(1, 3),
    size=st.sampled_from([1e-3, 1.0, 100.0]),
    holes=st.integers(0, 3),
    turned=st.integers(0, 2),
    scale=st.tuples(*[st.floats(0.1, 3.0) | st.floats(-3.0, -0.1)] * 3),
)
def test_random_meshes(
    mode: str, seed: int, count: int, size: float, holes: int, turned: int, scale: tuple[float, float, float]
) -> None:
    """Several boxes with holes and faces turned over, moved, turned and scaled: the same, or refused by both."""
    rng = np.random.default_rng(seed)
    vertices, faces = blocks(rng, count)
    faces = rng.permutation(faces)[holes:]
    faces[:turned] = faces[:turned, ::-1]
    options = {"inertia": mode, "scale": scale, "refpos": size * rng.normal(size=3), "refquat": rng.normal(size=4)}
    try:
        ours, theirs = inline(size * vertices, faces, **options)
    except ModelError:
        with pytest.raises(ValueError, match="mesh"):
            inline_only_mujoco(size * vertices, faces, options)
        return
    assert ours.differs_from(theirs) < TOLERANCE


def inline_only_mujoco(vertices: Array, faces: Faces, options: dict[str, Any]) -> None:
    flat = " ".join(map(str, faces.reshape(-1).tolist()))
    mujocos(f'vertex="{numbers(vertices.reshape(-1))}" face="{flat}" {written(options)}')


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format", WRITERS)
def test_files(format: str, mode: str, tmp_path: Path) -> None:
    """A mesh of a file, also with a mirroring scale."""
    vertices, faces = blocks(np.random.default_rng(1), 3)
    path = tmp_path / f"mesh.{format}"
    path.write_bytes(WRITERS[format](vertices, faces))
    for scale in ((1.0, 1.0, 1.0), (-0.001, 0.001, 0.001)):
        ours, theirs = from_file(path, inertia=mode, scale=scale)
        assert ours.differs_from(theirs) < TOLERANCE


@pytest.mark.parametrize("mode", MODES)
def test_points_alone_are_their_convex_hull(mode: str, tmp_path: Path) -> None:
    vertices = np.random.default_rng(2).normal(size=(40, 3))
    ours, theirs = inline(vertices, None, inertia=mode, scale=(1.0, -2.0, 3.0))
    assert ours.differs_from(theirs) < TOLERANCE
    path = tmp_path / "mesh.msh"
    path.write_bytes(msh(vertices, np.zeros((0, 3), np.int64), normals=True, textures=True))
    ours, theirs = from_file(path, inertia=mode)
    assert ours.differs_from(theirs) < TOLERANCE


def test_a_hull_of_few_vertices() -> None:
    vertices = np.random.default_rng(3).normal(size=(200, 3))
    for count in (4, 10, 50):
        ours, theirs = inline(vertices, None, inertia="convex", maxhullvert=count)
        assert ours.differs_from(theirs) < TOLERANCE


def test_the_frame_of_a_mesh() -> None:
    """Position, axes with their order and signs, and bounding box are MuJoCo's, to which geoms are fitted."""
    for seed in range(20):
        vertices, faces = blocks(np.random.default_rng(seed), 2)
        mesh = compile_mesh("mesh", inline_mesh("mesh", vertices.reshape(-1).tolist(), faces.reshape(-1).tolist()))
        text = " ".join(map(str, faces.reshape(-1).tolist()))
        model = load(f'vertex="{numbers(vertices.reshape(-1))}" face="{text}"')
        np.testing.assert_allclose(mesh.position, model.mesh_pos[0], atol=1e-12)
        np.testing.assert_allclose(mesh.quaternion, model.mesh_quat[0], atol=1e-9)
        np.testing.assert_allclose(
            model.geom_aabb[0], [*(0.5 * (mesh.low + mesh.high)), *(0.5 * (mesh.high - mesh.low))], atol=1e-6
        )


GROUPS = {
    "two groups": "g a\n{0}g b\n{1}",
    "two objects": "o a\n{0}o b\n{1}",
    "an object and a group": "o a\n{0}g b\n{1}",
    "a first group without faces": "g a\ng b\n{0}g c\n{1}",
    "a group without a name, which is not one": "{0}g\n{1}",
    "several materials": "mtllib x.mtl\nusemtl a\n{0}usemtl b\n{1}",
    "smooth faces": "s 1\n{0}s off\n{1}",
    "lines within": "{0}l 1 2\n{1}",
}


@pytest.mark.parametrize("form", GROUPS.values(), ids=GROUPS.keys())
def test_groups_and_objects_of_obj_files(form: str, tmp_path: Path) -> None:
    """Faces of the first object or group with faces count, all vertices do."""
    vertices, faces = blocks(np.random.default_rng(5), 2)
    text = obj(vertices, faces).decode().splitlines(keepends=True)
    path = tmp_path / "mesh.obj"
    path.write_text("".join(text[:16]) + form.format("".join(text[16:28]), "".join(text[28:])))
    ours, theirs = from_file(path, inertia="legacy")
    assert ours.differs_from(theirs) < TOLERANCE
    counted = len(load('file="mesh.obj"', {"mesh.obj": path.read_bytes()}).mesh_face)
    assert len(read_mesh(path).faces) == counted


SPELLINGS = {
    "indices of texture and normal": lambda a, b, c: f"f {a}/1/1 {b}/2/2 {c}/3/3",
    "indices of normals": lambda a, b, c: f"f {a}//1 {b}//2 {c}//3",
    "indices of textures": lambda a, b, c: f"f {a}/1 {b}/2 {c}/3",
    "negative indices": lambda a, b, c: f"f {a - 9} {b - 9} {c - 9}",
    "tabs and blanks": lambda a, b, c: f" \t f\t{a}  {b}\t {c} ",
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS.keys())
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_spellings_of_obj_faces(spelling: Any, newline: str, tmp_path: Path) -> None:
    faces = [spelling(*(f + 1)) for f in BOX_FACES]
    lines = ["# a box", "", *(f"v {numbers(v)} 1.0 0.5 0.5 # vertex, f" for v in BOX * [1, 2, 3])]
    lines += ["vt 0 0", "vt 1 0", "vt 1 1"] if "/1" in faces[0] and "//" not in faces[0] else []
    lines += ["vn 1 0 0", "vn 0 1 0", "vn 0 0 1"] if faces[0].count("/") > 3 else []
    lines += faces
    path = tmp_path / "mesh.obj"
    path.write_bytes(newline.join(lines).encode())
    ours, theirs = from_file(path, inertia="exact")
    assert ours.differs_from(theirs) < TOLERANCE
    assert ours.mass == pytest.approx(6.0)


@law(examples=30)
@given(
    seed=st.integers(0, 2**32),
    corners=st.lists(st.integers(3, 20), min_size=1, max_size=6),
    size=st.sampled_from([1e-4, 0.01, 1.0]),
    bent=st.sampled_from([0.0, 0.0, 0.3]),
)
def test_polygons_are_cut_as_mujoco_cuts_them(seed: int, corners: list[int], size: float, bent: float) -> None:
    """Flat and bent polygons, convex or star-shaped, far from the origin or around it: the same triangles, in order."""
    rng = np.random.default_rng(seed)
    points, faces = [], []
    for n in corners:
        angle = np.sort(rng.uniform(0.0, 2.0 * np.pi, n)) * rng.choice([-1.0, 1.0])
        radius = rng.choice([1.0, rng.uniform(0.2, 1.0)], n)
        flat = np.stack([radius * np.cos(angle), radius * np.sin(angle), bent * rng.normal(size=n)], axis=1)
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        faces.append(sum(map(len, points)) + np.arange(n))
        points.append(size * (flat @ turn + rng.choice([0.0, 3.0]) * rng.normal(size=3)))
    vertices = np.concatenate([*points, size * rng.normal(size=(4, 3))])
    data = obj(vertices, faces)
    try:
        theirs = load('file="m.obj" inertia="shell"', {"m.obj": data}, inertial=INERTIAL).mesh_face
    except ValueError as error:
        assume("area is too small" not in str(error))
        raise
    np.testing.assert_array_equal(read_obj("m.obj", data).faces, theirs)


REFUSED = {
    "an inward surface": ({"inertia": "exact"}, BOX, BOX_FACES[:, ::-1], "look inward"),
    "a face turned over": ({"inertia": "exact"}, BOX, np.vstack([BOX_FACES[1:], BOX_FACES[:1, ::-1]]), "turned over"),
    "no volume": ({"inertia": "legacy"}, BOX * [1, 1, 0], BOX_FACES, "too small"),
    "no volume left by the scale": ({"scale": (1.0, 0.0, 1.0)}, BOX, BOX_FACES, "too small"),
    "no surface": ({"inertia": "shell"}, BOX * [1, 0, 0], BOX_FACES, "too little"),
    "a hull of a plane": ({"inertia": "convex"}, BOX * [1, 1, 0], BOX_FACES, "in one plane"),
    "a hull of a line": ({"inertia": "convex"}, BOX * [1, 0, 0], None, "on one line"),
    "a hull of a point": ({"inertia": "convex"}, BOX * 0, None, "at one place"),
    "three vertices": ({}, BOX[:3], None, "at least 4"),
    "a vertex that is missing": ({}, BOX, BOX_FACES + 1, "there are 8"),
}


@pytest.mark.parametrize(("options", "vertices", "faces", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_both_refuse(options: dict[str, Any], vertices: Array, faces: Faces | None, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        inline(vertices, faces, **options)
    given_faces = np.zeros((0, 3), np.int64) if faces is None else faces
    with pytest.raises(ValueError, match=r"mesh|vert"):
        inline_only_mujoco(vertices, given_faces, options) if len(given_faces) else load(
            f'vertex="{numbers(vertices.reshape(-1))}" inertia="{options.get("inertia", "legacy")}"'
        )


def test_flat_meshes_that_collide_are_refused() -> None:
    vertices = BOX * [1, 1, 0]
    mesh = inline_mesh("mesh", vertices.reshape(-1).tolist(), BOX_FACES.reshape(-1).tolist())
    text = f'vertex="{numbers(vertices.reshape(-1))}" face="{" ".join(map(str, BOX_FACES.reshape(-1)))}"'
    with pytest.raises(ModelError, match="in one plane"):
        compile_mesh("mesh", mesh, inertia="shell", collides=True)
    with pytest.raises(ValueError, match="coplanar"):
        load(f'{text} inertia="shell"', geom="")
    compile_mesh("mesh", mesh, inertia="shell")
    assert isinstance(load(f'{text} inertia="shell"', geom=UNSEEN), mujoco.MjModel)


FITTED = ("sphere", "capsule", "cylinder", "ellipsoid", "box")


@pytest.mark.parametrize("fitaabb", [False, True])
@pytest.mark.parametrize("shape", FITTED)
def test_geoms_fitted_to_meshes(shape: str, fitaabb: bool) -> None:
    """A geom of another type that names a mesh: its sizes, its place and its inertia."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        vertices, faces = blocks(rng, 1 + seed % 2)
        mode, fitscale = MODES[seed % 4], float(rng.uniform(0.5, 2.0))
        stretched = vertices * [1.0, 1.0, 3.0]
        given_mesh = inline_mesh("mesh", stretched.reshape(-1).tolist(), faces.reshape(-1).tolist())
        mesh = compile_mesh("mesh", given_mesh, inertia=mode)  # type: ignore[arg-type]
        size, position = fitted("geom", mesh, shape, fitscale=fitscale, fitaabb=fitaabb)
        text = f'vertex="{numbers(stretched.reshape(-1))}" face="{" ".join(map(str, faces.reshape(-1)))}"'
        geom = f'type="{shape}" fitscale="{fitscale}" {UNSEEN}'
        compiler = f'fitaabb="{str(fitaabb).lower()}"'
        asset = f'{text} inertia="{mode}"'
        if size[: 2 if shape == "capsule" else 3].min() <= 0.0 and shape in ("capsule", "ellipsoid", "box"):
            with pytest.raises(ValueError, match="size"):
                load(asset, geom=geom, compiler=compiler)
            continue
        model = load(asset, geom=geom, compiler=compiler)
        np.testing.assert_allclose(model.geom_size[0], size, rtol=1e-9)
        np.testing.assert_allclose(model.geom_pos[0], position, atol=1e-9)
        np.testing.assert_allclose(model.geom_quat[0], mesh.quaternion, atol=1e-9)
        amount, moments = primitive("geom", shape, size)
        R = rotation(mesh.quaternion)
        ours = Body(amount, position, amount * R @ np.diag(moments) @ R.T)
        assert ours.differs_from(of_body(model)) < TOLERANCE


def test_a_plane_cannot_be_fitted() -> None:
    mesh = inline_mesh("mesh", BOX.reshape(-1).tolist(), BOX_FACES.reshape(-1).tolist())
    with pytest.raises(ModelError, match=r"geom: a geom of the type 'plane' cannot be fitted"):
        fitted("geom", compile_mesh("mesh", mesh), "plane")


@pytest.mark.parametrize("shell", [False, True])
@pytest.mark.parametrize("shape", FITTED)
@law(examples=10)
@given(size=st.tuples(*[st.floats(0.001, 3.0)] * 3))
def test_primitives(shape: str, shell: bool, size: tuple[float, float, float]) -> None:
    count = {"sphere": 1, "capsule": 2, "cylinder": 2}.get(shape, 3)
    geom = f'type="{shape}" size="{numbers(size[:count])}" shellinertia="{str(shell).lower()}"'
    model = load("", geom=geom)
    amount, moments = primitive("geom", shape, size, shell=shell)
    assert amount == pytest.approx(model.body_mass[1] / DENSITY, rel=TOLERANCE)
    np.testing.assert_allclose(moments, model.body_inertia[1] / model.body_mass[1], rtol=TOLERANCE)


BUILTINS = {
    "sphere": [(0,), (2,), (4,)],
    "hemisphere": [(0,), (1,), (10,)],
    "cone": [(3, 0), (5, 0.5), (8, 1)],
    "supersphere": [(3, 1, 1), (8, 0.5, 2), (16, 0, 1)],
    "supertorus": [(3, 0.5, 1, 1), (10, 0.3, 0.5, 2), (20, 1, 1, 1)],
    "wedge": [(4, 5, 30, 40, 0.3), (3, 3, 180, 90, 0), (3, 2, 10, 10, 1)],
    "plate": [(4, 5), (3, 3)],
}


@pytest.mark.parametrize(("kind", "params"), [(k, p) for k, sets in BUILTINS.items() for p in sets])
def test_builtin_meshes(kind: str, params: tuple[float, ...]) -> None:
    mesh, is_shell = builtin_mesh("mesh", kind, params)
    assert is_shell == (kind == "plate")
    for mode in MODES:
        ours = body(compile_mesh("mesh", mesh, inertia="shell" if is_shell else mode, scale=(1.0, 2.0, 3.0)))  # type: ignore[arg-type]
        text = f'builtin="{kind}" params="{numbers(params)}" inertia="{mode}" scale="1 2 3"'
        assert ours.differs_from(mujocos(text)) < TOLERANCE


BAD_BUILTINS = {
    "a count": ("sphere", (1, 2), "takes 1 parameters, subdivision; params has 2"),
    "a range": ("sphere", (5,), "subdivision .* is 5; it must be from 0 to 4"),
    "a small number": ("supertorus", (10, 0.0, 1, 1), "radius"),
    "a value that is not a number": ("cone", (3, float("nan")), "radius"),
    "an infinite exponent": ("supersphere", (3, float("inf"), 1), "e of"),
}


@pytest.mark.parametrize(("kind", "params", "message"), BAD_BUILTINS.values(), ids=BAD_BUILTINS.keys())
def test_bad_builtin_meshes(kind: str, params: tuple[float, ...], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        builtin_mesh("mesh", kind, params)
    with pytest.raises(ValueError, match=r"\w"):
        load(f'builtin="{kind}" params="{numbers(params)}"')


def test_builtin_meshes_that_are_not_made() -> None:
    with pytest.raises(ModelError, match="flexible body"):
        builtin_mesh("mesh", "grid", (2, 2, 2, 1, 1, 1))
    with pytest.raises(ModelError, match="did you mean 'sphere'"):
        builtin_mesh("mesh", "spher", (1,))
