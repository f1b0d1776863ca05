"""Inertias of solids: closed forms, integrals, MuJoCo's own, and what is refused."""

from __future__ import annotations

import itertools
import math
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.errors import DTypeError, MissingPackageError, ModelError, OptionError, ShapeError
from kinetree.spatial import Inertia
from tests.strategies import inertias, law, positive, transforms

Array = NDArray[np.float64]

CUBE = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
CUBE_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
     [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)  # fmt: skip
"""Of the cube from (0, 0, 0) to (1, 1, 1), seen from outside."""

SHAPES = {
    "box": lambda **amount: kt.solids.box(0.3, 0.5, 0.7, **amount),
    "sphere": lambda **amount: kt.solids.sphere(0.4, **amount),
    "cylinder": lambda **amount: kt.solids.cylinder(0.2, 0.9, **amount),
    "capsule": lambda **amount: kt.solids.capsule(0.2, 0.9, **amount),
    "ellipsoid": lambda **amount: kt.solids.ellipsoid(0.2, 0.3, 0.5, **amount),
    "mesh": lambda **amount: kt.solids.mesh(CUBE * [0.3, 0.5, 0.7], CUBE_FACES, **amount),
}


def ten(inertia: Inertia) -> Array:
    return np.array([inertia.mass, *inertia.h.components(), *inertia.I.components()], dtype=np.float64)


def assert_same(a: Inertia, b: Inertia, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(ten(a), ten(b), rtol=tolerance, atol=tolerance * float(np.abs(ten(b)).max()))


def profile(radius: Any, low: float, high: float) -> tuple[float, float, float]:
    """Volume, ∫ z² and ∫ x² of the solid of revolution about z, by Gauss's rule of 60 points."""
    x, w = np.polynomial.legendre.leggauss(60)
    z, w = 0.5 * (low + high) + 0.5 * (high - low) * x, 0.5 * (high - low) * w
    r = radius(z)
    return float(w @ (np.pi * r**2)), float(w @ (np.pi * r**2 * z**2)), float(w @ (np.pi * r**4 / 4.0))


def revolution(pieces: list[tuple[Any, float, float]]) -> Array:
    """Mass and moments of density one, as `ten` has them."""
    V, zz, xx = np.sum([profile(*piece) for piece in pieces], axis=0)
    return np.array([V, 0, 0, 0, xx + zz, xx + zz, 2 * xx, 0, 0, 0])


def test_a_box_has_the_moments_of_its_edges() -> None:
    box = kt.solids.box(2.0, 3.0, 6.0, mass=12.0)
    np.testing.assert_allclose(ten(box), [12, 0, 0, 0, 45, 40, 13, 0, 0, 0], rtol=1e-15)
    assert_same(kt.solids.box(2.0, 3.0, 6.0, density=0.5), kt.solids.box(2.0, 3.0, 6.0, mass=18.0))


@pytest.mark.parametrize(("radius", "length"), [(0.3, 0.8), (1.0, 0.05), (0.01, 2.0)])
def test_round_solids_have_the_moments_that_integration_finds(radius: float, length: float) -> None:
    rod = (lambda z: np.full_like(z, radius), -length / 2, length / 2)

    def cap(z: Array) -> Array:
        return np.sqrt(radius**2 - (np.abs(z) - length / 2) ** 2)

    caps = [(cap, length / 2, length / 2 + radius), (cap, -length / 2 - radius, -length / 2)]
    ball = (lambda z: np.sqrt(radius**2 - z**2), -radius, radius)
    egg = (lambda z: radius * np.sqrt(1.0 - (z / length) ** 2), -length, length)
    for solid, pieces in (
        (kt.solids.cylinder(radius, length, density=1.0), [rod]),
        (kt.solids.capsule(radius, length, density=1.0), [rod, *caps]),
        (kt.solids.sphere(radius, density=1.0), [ball]),
        (kt.solids.ellipsoid(radius, radius, length, density=1.0), [egg]),
    ):
        expected = revolution(pieces)
        np.testing.assert_allclose(ten(solid), expected, rtol=1e-12, atol=1e-15 * expected.max())


def test_an_ellipsoid_has_an_axis_of_its_own_in_each_direction() -> None:
    a, b, c = 0.2, 0.3, 0.5
    egg = kt.solids.ellipsoid(a, b, c, mass=5.0)
    np.testing.assert_allclose(ten(egg)[4:7], [b * b + c * c, a * a + c * c, a * a + b * b], rtol=1e-15)


@pytest.mark.parametrize("shape", SHAPES)
def test_mass_and_density_are_two_ways_to_say_one_thing(shape: str) -> None:
    by_density = SHAPES[shape](density=1000.0)
    assert_same(SHAPES[shape](mass=by_density.mass), by_density)


@pytest.mark.parametrize("shape", SHAPES)
@given(placement=transforms())
@law(10)
def test_a_solid_placed_elsewhere_obeys_the_parallel_axes(shape: str, placement: kt.Transform) -> None:
    there, here = SHAPES[shape](mass=2.0, placement=placement), SHAPES[shape](mass=2.0)
    R = np.array(placement.E.components(), dtype=np.float64).reshape(3, 3).T
    r = np.array(placement.r.components(), dtype=np.float64)
    c = np.array(here.h.components()) / 2.0
    central = np.array(here.I.full.components()).reshape(3, 3) - 2.0 * (c @ c * np.eye(3) - np.outer(c, c))
    com = R @ c + r
    I = R @ central @ R.T + 2.0 * (com @ com * np.eye(3) - np.outer(com, com))
    expected = [2.0, *(2.0 * com), I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    np.testing.assert_allclose(ten(there), expected, atol=1e-13 * (1.0 + float(r @ r)))


# -- meshes


@given(st.tuples(*[positive(0.1, 3.0)] * 3), transforms())
@law(15)
def test_a_mesh_of_a_box_is_the_box(edges: tuple[float, float, float], placement: kt.Transform) -> None:
    centred = (CUBE - 0.5) * edges
    mesh = kt.solids.mesh(centred, CUBE_FACES, density=700.0, placement=placement)
    assert_same(mesh, kt.solids.box(*edges, density=700.0, placement=placement))


def test_a_tetrahedron_has_the_moments_of_the_simplex() -> None:
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    mesh = kt.solids.mesh(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], density=1.0)
    # ∫ x = 1/24, ∫ x² = 2/5! = 1/60, ∫ x y = 1/5! = 1/120.
    np.testing.assert_allclose(ten(mesh), [1 / 6, *[1 / 24] * 3, *[1 / 30] * 3, *[-1 / 120] * 3], rtol=1e-14)


def test_an_octahedron_has_its_closed_form() -> None:
    points = np.vstack([np.eye(3), -np.eye(3)])
    faces = []
    for x, y, z in itertools.product((0, 3), (1, 4), (2, 5)):
        outward = np.linalg.det(points[[x, y, z]]) > 0
        faces.append([x, y, z] if outward else [x, z, y])
    mesh = kt.solids.mesh(points, faces, density=1.0)
    # Volume 4/3; ∫ x² = 8 * 2/5! = 2/15.
    np.testing.assert_allclose(ten(mesh), [4 / 3, 0, 0, 0, *[4 / 15] * 3, 0, 0, 0], rtol=1e-14, atol=1e-16)


def test_a_far_mesh_keeps_its_digits() -> None:
    near = kt.solids.mesh(CUBE, CUBE_FACES, density=1.0)
    far = kt.solids.mesh(CUBE + 4096.0, CUBE_FACES, density=1.0)
    moved = kt.lie.placement((4096.0, 4096.0, 4096.0)).back(near)
    np.testing.assert_allclose(ten(far), ten(moved), rtol=1e-15)
    # Far off and at no whole numbers the coordinates themselves are rounded to 1e-12, their cubes to 1e-5.
    assert kt.solids.mesh(CUBE + 4096.1, CUBE_FACES, density=1.0).mass == pytest.approx(1.0, rel=1e-11)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
def test_whether_a_mesh_encloses_a_volume_is_judged_by_its_size(size: float) -> None:
    assert kt.solids.mesh(CUBE * size, CUBE_FACES, density=1.0).mass == pytest.approx(size**3, rel=1e-12)
    with pytest.raises(ModelError, match="encloses no volume"):
        kt.solids.mesh(CUBE * [size, size, 1e-13 * size], CUBE_FACES, density=1.0)


def test_vertices_at_one_place_are_one() -> None:
    soup = CUBE[CUBE_FACES].reshape(-1, 3)  # three corners of its own for each triangle, as STL has them
    soup[soup == 0.0] *= np.where(np.arange(np.sum(soup == 0.0)) % 2, 1.0, -1.0)  # some of them minus zero
    mesh = kt.solids.mesh(soup, np.arange(len(soup)).reshape(-1, 3), density=1.0)
    assert_same(mesh, kt.solids.mesh(CUBE, CUBE_FACES, density=1.0))


def test_two_solids_that_share_an_edge_make_one_closed_mesh() -> None:
    both = np.vstack([CUBE, CUBE + np.array([1.0, 1.0, 0.0])])
    mesh = kt.solids.mesh(both, np.vstack([CUBE_FACES, CUBE_FACES + 8]), density=1.0)
    cube = kt.solids.mesh(CUBE, CUBE_FACES, density=1.0)
    assert_same(mesh, cube + kt.lie.placement((1, 1, 0)).back(cube))


@pytest.mark.parametrize(
    ("vertices", "faces", "error", "message"),
    [
        (CUBE, CUBE_FACES[1:], ModelError, r"edge between .* belongs to face \d+ alone: .* hole \(2 more"),
        (CUBE, np.vstack([CUBE_FACES[:1, ::-1], CUBE_FACES[1:]]), ModelError, "one of them is turned over"),
        (CUBE, CUBE_FACES[:, ::-1], ModelError, "look inward .*reverse the order"),
        (CUBE * [1, 1, 0], CUBE_FACES, ModelError, "face 0, .* has two corners at one place"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]], ModelError, "encloses no volume"),
        (CUBE, [[0, 1, 8]], ModelError, r"face 0 is \[0, 1, 8\], but there are 8 vertices"),
        (CUBE, [[0, 1, -1]], ModelError, r"face 0 is \[0, 1, -1\]"),
        (CUBE, CUBE_FACES.astype(float), DTypeError, "whole numbers"),
        (CUBE, [[0, 1, 2, 3]], ShapeError, r"\(m, 3\), triangles, not \(1, 4\)"),
        (CUBE, [[0, 1, 2], [0, 1]], DTypeError, "mesh: faces must be an array"),
        (CUBE[:, :2], CUBE_FACES, ShapeError, r"vertices must have the shape \(n, 3\), not \(8, 2\)"),
        (CUBE * np.nan, CUBE_FACES, OptionError, "vertex 0 is .*finite"),
        (CUBE.astype(str), CUBE_FACES, DTypeError, "real numbers"),
    ],
)  # fmt: skip
def test_a_mesh_that_is_no_solid_is_refused(vertices: Any, faces: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        kt.solids.mesh(vertices, faces, density=1.0)


def write_stl(path: Path, corners: Array) -> None:
    lines = ["solid cube"]
    for triangle in corners:
        lines += ["facet normal 0 0 0", "outer loop", *(f"vertex {x} {y} {z}" for x, y, z in triangle)]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid cube", ""]))


def test_a_mesh_file_is_read_in_its_own_unit(tmp_path: Path) -> None:
    write_stl(tmp_path / "cube.stl", 1000.0 * CUBE[CUBE_FACES])
    mesh = kt.solids.mesh_file(tmp_path / "cube.stl", scale=0.001, density=2.0)
    assert_same(mesh, kt.solids.mesh(CUBE, CUBE_FACES, density=2.0))
    obj = [*(f"v {x} {y} {z}" for x, y, z in CUBE), *("f {} {} {}".format(*(face + 1)) for face in CUBE_FACES)]
    (tmp_path / "cube.obj").write_text("\n".join([*obj, ""]))
    assert_same(kt.solids.mesh_file(str(tmp_path / "cube.obj"), density=2.0), mesh)


def test_a_mesh_file_that_holds_no_solid_is_refused_by_its_name(tmp_path: Path) -> None:
    write_stl(tmp_path / "open.stl", CUBE[CUBE_FACES[1:]])
    with pytest.raises(ModelError, match=r"open\.stl: mesh: the edge .* has a hole"):
        kt.solids.mesh_file(tmp_path / "open.stl", mass=1.0)
    with pytest.raises(ModelError, match=r"none\.stl: there is no such file"):
        kt.solids.mesh_file(tmp_path / "none.stl", mass=1.0)
    (tmp_path / "bad.stl").write_bytes(b"\x00\x01")
    with pytest.raises(ModelError, match=r"bad\.stl: it holds no triangles"):
        kt.solids.mesh_file(tmp_path / "bad.stl", mass=1.0)
    (tmp_path / "robot.xyz1").write_text("hello")
    with pytest.raises(ModelError, match=r"robot\.xyz1: trimesh cannot read it"):
        kt.solids.mesh_file(tmp_path / "robot.xyz1", mass=1.0)
    with pytest.raises(OptionError, match="scale must be positive"):
        kt.solids.mesh_file(tmp_path / "open.stl", scale=0.0, mass=1.0)


def test_a_mesh_file_asks_for_trimesh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'kinetree\[mesh\]'"):
        kt.solids.mesh_file(tmp_path / "any.stl", mass=1.0)


# -- inertias that are known


@given(inertias(), transforms())
@law(25)
def test_a_known_inertia_may_be_about_any_point_and_in_any_axes(body: Inertia, frame: kt.Transform) -> None:
    """Given in another frame, as a data sheet would: about that frame's origin, and in its axes."""
    com = np.array(body.h.components(), dtype=np.float64) / float(body.mass)
    R, r = np.array(frame.E.components()).reshape(3, 3).T, frame.r.components()
    there = np.array(frame.inverse.back(body).I.full.components()).reshape(3, 3)
    again = kt.solids.inertia(float(body.mass), com.tolist(), there, about=r, axes=R)
    np.testing.assert_allclose(ten(again), ten(body), rtol=1e-10, atol=1e-12 * (1.0 + float(frame.r.dot(frame.r))) * 10)
    central = kt.solids.inertia(float(body.mass), com.tolist(), body.I.components(), about=(0, 0, 0))
    assert_same(central, body)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_a_known_inertia_is_judged_by_its_size(size: float) -> None:
    """The last digit of a data sheet is forgiven, and what is wrong by a hundredth is not: of a watch and of a ship."""

    def build(xx: float, xy: float = 0.0) -> Inertia:
        return kt.solids.inertia(size, (0, 0, 0), size * np.array([[xx, xy, 0], [0, 1, 0], [0, 0, 1]]))

    assert build(-1e-7, 1e-10).mass == size
    with pytest.raises(OptionError, match="none can be negative"):
        build(-0.01)
    with pytest.raises(OptionError, match="matrix is not symmetric"):
        build(1.0, 0.01)


def test_a_matrix_may_be_six_numbers() -> None:
    full = [[2.0, 0.1, 0.2], [0.1, 3.0, 0.3], [0.2, 0.3, 4.0]]
    assert kt.solids.inertia(1.0, (1, 2, 3), full) == kt.solids.inertia(1.0, (1, 2, 3), [2, 3, 4, 0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((0.0, (0, 0, 0), np.eye(3)), {}, OptionError, "mass must be positive"),
        ((1.0, (0, 0), np.eye(3)), {}, ShapeError, "com must be 3 numbers, not 2"),
        ((1.0, (0, 0, math.inf), np.eye(3)), {}, OptionError, "com must be finite"),
        ((1.0, (0, 0, 0), np.eye(2)), {}, ShapeError, r"\(2, 2\)"),
        ((1.0, (0, 0, 0), [[1.0, 0.0], [1.0]]), {}, DTypeError, "matrix must be an array"),
        ((1.0, (0, 0, 0), [1, 2, 3, math.nan, 0, 0]), {}, OptionError, "matrix must be finite"),
        ((1.0, (0, 0, 0), ["a"] * 6), {}, DTypeError, "matrix must be an array of real numbers"),
        ((1.0, (0, 0, 0), [[1, 0.5, 0], [0.4, 1, 0], [0, 0, 1]]), {}, OptionError, "xy is 0.5, its yx 0.4"),
        ((1.0, (0, 0, 2), np.eye(3)), {"about": (0, 0, 0)}, OptionError, "check the point it is about"),
        ((1.0, (0, 0, 0), [1, 1, 1, 2, 0, 0]), {}, OptionError, "signs and order"),
        ((1.0, (0, 0, 0), np.eye(3)), {"about": "origin"}, OptionError, 'about must be "com" or a point'),
        ((1.0, (0, 0, 0), np.eye(3)), {"axes": np.diag([1, 1, -1])}, OptionError, "must be a rotation"),
        ((1.0, (0, 0, 0), np.eye(3)), {"axes": [1, 2, 3]}, ShapeError, r"axes must have the shape \(3, 3\)"),
    ],
)
def test_a_known_inertia_that_cannot_be_is_refused(
    arguments: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        kt.solids.inertia(*arguments, **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kt.solids.sphere(1.0), "sphere: give either its mass .* not neither"),
        (lambda: kt.solids.sphere(1.0, mass=1.0, density=1.0), "not both"),
        (lambda: kt.solids.sphere(-1.0, mass=1.0), "sphere: its radius must be positive and finite, not -1"),
        (lambda: kt.solids.box(1.0, 0.0, 1.0, mass=1.0), "box: its length along y must be positive"),
        (lambda: kt.solids.cylinder(1.0, math.inf, mass=1.0), "cylinder: its length must be positive and finite"),
        (lambda: kt.solids.capsule(1.0, 1.0, mass=0.0), "capsule: its mass must be positive"),
        (lambda: kt.solids.ellipsoid(1.0, 1.0, "c", density=1.0), "ellipsoid: its half axis c must be a number"),  # type: ignore[arg-type]
        (lambda: kt.solids.sphere(1.0, mass=1.0, placement=(1, 0, 0)), "must be a Transform"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_a_solid_that_cannot_be_is_refused(call: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        call()


# -- placements


def test_a_placement_by_angles_is_that_by_quaternion() -> None:
    half = 0.35
    by_angle = kt.lie.placement((1, 2, 3), rpy=(0, 2 * half, 0))
    by_quaternion = kt.lie.placement((1, 2, 3), quaternion=(0, 3 * math.sin(half), 0, 3 * math.cos(half)))
    np.testing.assert_allclose(by_angle.homogeneous(), by_quaternion.homogeneous(), atol=1e-15)
    assert kt.lie.placement() == kt.Transform.identity()
    for length in (1e-200, 1e200):
        assert kt.lie.placement(quaternion=(0, 0, length, 0)) == kt.lie.placement(quaternion=(0, 0, 1, 0))


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (((0, 0),), {}, ShapeError, "position must be 3 numbers, not 2"),
        ((1.0,), {}, ShapeError, "position must be 3 numbers, not 1.0"),
        (((0, 0, math.nan),), {}, OptionError, "position must be finite"),
        ((), {"rpy": (0, 0, 0), "quaternion": (0, 0, 0, 1)}, OptionError, "not both"),
        ((), {"quaternion": (0, 0, 0, 0)}, OptionError, "not an orientation"),
    ],
)
def test_a_placement_that_is_none_is_refused(
    arguments: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        kt.lie.placement(*arguments, **options)


# -- MuJoCo


GEOMS = {
    "box": ('type="box" size="0.1 0.2 0.35"', lambda **at: kt.solids.box(0.2, 0.4, 0.7, **at)),
    "sphere": ('type="sphere" size="0.3"', lambda **at: kt.solids.sphere(0.3, **at)),
    "cylinder": ('type="cylinder" size="0.1 0.4"', lambda **at: kt.solids.cylinder(0.1, 0.8, **at)),
    "capsule": ('type="capsule" size="0.1 0.4"', lambda **at: kt.solids.capsule(0.1, 0.8, **at)),
    "ellipsoid": ('type="ellipsoid" size="0.1 0.2 0.5"', lambda **at: kt.solids.ellipsoid(0.1, 0.2, 0.5, **at)),
    "mesh": ('type="mesh" mesh="wedge"', lambda **at: kt.solids.mesh(WEDGE, CUBE_FACES, **at)),
}
WEDGE = CUBE * [0.25, 0.5, 0.75] + np.outer(CUBE[:, 2], [0.125, 0.0625, 0.0])  # exact in MuJoCo's float32, too


@pytest.mark.parametrize("names", [[name] for name in GEOMS] + [["box", "capsule", "ellipsoid"]], ids="+".join)
def test_mujoco_finds_the_same_mass_centre_and_inertia(names: list[str]) -> None:
    q = np.array([0.5, -0.1, 0.7, 0.4])
    q /= np.linalg.norm(q)
    geoms, solids = "", Inertia.zero()
    for k, name in enumerate(names):
        text, solid = GEOMS[name]
        x = (0.3 + k, -0.2, 0.5 * k)
        geoms += f'<geom {text} density="{900 + k}" pos="{x[0]} {x[1]} {x[2]}" quat="{q[3]} {q[0]} {q[1]} {q[2]}"/>'
        solids = solids + solid(density=900.0 + k, placement=kt.lie.placement(x, quaternion=q.tolist()))
    vertices, faces = (" ".join(map(str, array.ravel().tolist())) for array in (WEDGE, CUBE_FACES))
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><asset><mesh name="wedge" inertia="exact" vertex="{vertices}" face="{faces}"/></asset>'
        f'<worldbody><body name="b"><freejoint/>{geoms}</body></worldbody></mujoco>'
    )
    w, x, y, z = model.body_iquat[1]
    com = kt.lie.placement(model.body_ipos[1], quaternion=(x, y, z, w))
    R = np.array(com.E.components()).reshape(3, 3).T
    theirs = kt.solids.inertia(float(model.body_mass[1]), model.body_ipos[1], R @ np.diag(model.body_inertia[1]) @ R.T)
    assert_same(theirs, solids, 1e-9)


def test_an_inertia_is_made_of_plain_arrays() -> None:
    I = np.array([[0.3, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.4]])
    found = kt.model.Inertia.from_com(2.0, np.array([0.1, 0.2, 0.3]), I)
    np.testing.assert_allclose(found.center_of_mass, [0.1, 0.2, 0.3], rtol=1e-15)
    np.testing.assert_allclose(found.about_center_of_mass, I, atol=1e-15)
    assert found == kt.model.Inertia.from_com(2.0, [0.1, 0.2, 0.3], I.tolist())
    with pytest.raises(kt.errors.OptionError, match="inertia must be symmetric"):
        kt.model.Inertia.from_com(2.0, [0, 0, 0], np.arange(9.0).reshape(3, 3))
    with pytest.raises(kt.errors.ShapeError, match=r"com must have the shape \(3,\), not \(2,\)"):
        kt.model.Inertia.from_com(2.0, [0, 0], I)
    with pytest.raises(kt.errors.DTypeError, match="inertia"):
        kt.model.Inertia.from_com(2.0, [0, 0, 0], "heavy")
