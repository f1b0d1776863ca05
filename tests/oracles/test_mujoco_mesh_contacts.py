"""Meshes and height fields of MJCF files beside MuJoCo: their shapes, and the contacts of what stands on faces."""

from __future__ import annotations

import itertools
import struct
import zlib
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree import collision
from kinetree.contact_model import InverseWeights, TouchingShape, soft_constraints
from kinetree.spatial import Mat3, Transform, Vec3
from tests.laws.reference import reference
from tests.oracles.test_mujoco_contact_dynamics import on_floats

Array = NDArray[np.float64]

# -- shapes of files

ASSETS = """
<mujoco><compiler angle="radian"/><asset>
  <mesh name="inline" vertex="{points}" refpos="0.1 0 0.2" refquat="1 0.2 0 0.1" scale="1 2 0.5"/>
  <mesh name="limited" vertex="{points}" maxhullvert="9" inertia="convex"/>
  <mesh name="turned" file="part.stl" scale="-1 1 1"/>
  <mesh name="built" builtin="cone" params="12 0.4"/>
  <hfield name="written" nrow="3" ncol="4" elevation="0 1 2 3 1 5 2 2 7 0 1 1" size="1 2 0.5 0.1"/>
  <hfield name="binary" file="hills.bin" size="1 1 0.3 0.1"/>
  <hfield name="image" file="hills.png" size="2 1 0.7 0.1"/>
  <hfield name="flat" nrow="2" ncol="2" size="1 1 1 1"/>
</asset><worldbody>{shapes}
  <body name="ball" pos="0 0 5"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""
MESHES = ("inline", "limited", "turned", "built")
FIELDS = ("written", "binary", "image", "flat")


def png(pixels: NDArray[np.uint8]) -> bytes:
    """An image with all five filters, one after another; pixels (rows, columns, channels)."""
    lines, before = b"", np.zeros(pixels[0].size, int)
    channels = pixels.shape[2]
    for k, row in enumerate(pixels.reshape(len(pixels), -1).astype(int)):
        left = np.concatenate([np.zeros(channels, int), row[:-channels]])
        corner = np.concatenate([np.zeros(channels, int), before[:-channels]])
        estimate = left + before - corner
        three = np.abs(np.stack([left, before, corner]) - estimate)
        paeth = np.choose(three.argmin(axis=0), [left, before, corner])
        predicted = (0, left, before, (left + before) // 2, paeth)[k % 5]
        lines += bytes([k % 5]) + ((row - predicted) % 256).astype(np.uint8).tobytes()
        before = row

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("assets")
    points = " ".join(map(str, rng.normal(size=90)))
    triangles = rng.normal(size=(30, 3, 3)).astype("<f4")
    part = b"".join(b"\0" * 12 + one.tobytes() + b"\0\0" for one in triangles)
    (folder / "part.stl").write_bytes(b"\0" * 80 + struct.pack("<I", 30) + part)
    hills = rng.normal(size=(5, 7)).astype("<f4")
    (folder / "hills.bin").write_bytes(struct.pack("<ii", 5, 7) + hills.tobytes())
    (folder / "hills.png").write_bytes(png(rng.integers(0, 256, (11, 6, 3)).astype(np.uint8)))
    shapes = "".join(
        f'<geom name="{name}" type="{kind}" {asset}="{name}" pos="{k} 0 0" euler="0 0.3 0.{k}"/>'
        for k, (name, kind, asset) in enumerate(
            [(name, "mesh", "mesh") for name in MESHES] + [(name, "hfield", "hfield") for name in FIELDS]
        )
    )
    path = folder / "robot.xml"
    path.write_text(ASSETS.format(points=points, shapes=shapes))
    return path


def fixed_shapes(robot: kt.Model) -> dict[str, TouchingShape]:
    found = soft_constraints(robot)
    assert not found.unsupported
    return {side.name: side for touch in found.touches for side in (touch.first, touch.second)}


def test_meshes_have_the_corners_of_mujoco(file: Path) -> None:
    robot, model = kt.load(file), mujoco.MjModel.from_xml_path(str(file))
    shapes, weights = fixed_shapes(robot), InverseWeights(robot)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for name in MESHES:
        geom = model.geom(name)
        mesh = model.mesh(int(geom.dataid[0]))
        graph = model.mesh_graph[mesh.graphadr[0] :]
        on_hull = graph[2 + graph[0] : 2 + 2 * graph[0]] + mesh.vertadr[0]
        R = data.geom_xmat[geom.id].reshape(3, 3)
        expected = data.geom_xpos[geom.id] + model.mesh_vert[np.sort(on_hull)].astype(float) @ R.T
        side = shapes[name]
        assert isinstance(side.shape, collision.Hull)
        X = side.placement @ weights.placement_of(side.body or "")
        found = np.array([(X.r + X.E.T @ Vec3(*p)).components() for p in side.shape.vertices], dtype=float)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13, err_msg=name)


def test_height_fields_have_the_heights_of_mujoco(file: Path) -> None:
    robot, model = kt.load(file), mujoco.MjModel.from_xml_path(str(file))
    shapes = fixed_shapes(robot)
    for name in FIELDS:
        field, shape = model.hfield(name), shapes[name].shape
        assert isinstance(shape, collision.HeightField)
        x, y, top, _ = field.size
        assert (shape.half_x, shape.half_y) == (x, y)
        expected = np.asarray(field.data, dtype=float).reshape(int(field.nrow[0]), int(field.ncol[0])) * top
        np.testing.assert_array_equal(np.array(shape.heights), expected, err_msg=name)
    X = shapes["flat"].placement
    above = [float(x) for x in (X.r + X.E.T @ Vec3(0.3, -0.2, 0.7)).components()]
    q = robot.neutral()
    q[:3] = above
    points = reference(kt.contact.closest_points, robot, q, a="flat", b="ball").reshape(2, 3)
    np.testing.assert_allclose(np.linalg.norm(points[1] - points[0]), 0.6, rtol=1e-12)
    assert reference(kt.contact.distance, robot, q, a="flat", b="ball") == pytest.approx(0.6)


# -- points of faces


def cube(x: float, y: float, z: float) -> str:
    return " ".join(f"{a} {b} {c}" for a, b, c in itertools.product((-x, x), (-y, y), (-z, z)))


TWO = f"""
<mujoco><option ccd_tolerance="1e-12" ccd_iterations="200"/><asset>
  <mesh name="crate" vertex="{cube(0.1, 0.15, 0.05)}"/><mesh name="block" vertex="{cube(0.3, 0.25, 0.1)}"/>
  <mesh name="wedge" vertex="-0.2 -0.1 0 0.2 -0.1 0 0 0.25 0 0 0 0.2"/></asset>
<worldbody><body><freejoint/><geom {{a}}/></body><body><freejoint/><geom {{b}}/></body></worldbody></mujoco>"""
GEOMS = {
    "box": 'type="box" size="0.3 0.25 0.1"',
    "cylinder": 'type="cylinder" size="0.1 0.05"',
    "capsule": 'type="capsule" size="0.05 0.1"',
    "crate": 'type="mesh" mesh="crate"',
    "block": 'type="mesh" mesh="block"',
    "wedge": 'type="mesh" mesh="wedge"',
}
PRIMITIVES: dict[str, collision.Shape] = {
    "box": collision.Box(0.3, 0.25, 0.1),
    "cylinder": collision.Cylinder(0.1, 0.05),
    "capsule": collision.Capsule(0.05, 0.1),
}


def contacts_of_both(a: str, b: str, at: tuple[float, ...], turn: tuple[float, ...]) -> tuple[Array, Array]:
    """(n, 7): distance, place and normal of each contact, sorted; ours and MuJoCo's, of a placed above b."""
    model = mujoco.MjModel.from_xml_string(TWO.format(a=GEOMS[a], b=GEOMS[b]))
    data = mujoco.MjData(model)
    data.qpos[:3] = at
    mujoco.mju_euler2Quat(data.qpos[3:7], turn, "xyz")
    mujoco.mj_forward(model, data)
    shapes, places = [], []
    for k, name in enumerate((a, b)):
        if (shape := PRIMITIVES.get(name)) is None:
            mesh = model.mesh(name)
            vertices = model.mesh_vert[mesh.vertadr[0] :][: mesh.vertnum[0]].astype(float)
            shape = collision.Hull(tuple((x, y, z) for x, y, z in vertices.tolist()))
        shapes.append(shape)
        axes = data.geom_xmat[k].reshape(3, 3).T.tolist()
        places.append(Transform(Mat3(*(Vec3(*row) for row in axes)), Vec3(*data.geom_xpos[k].tolist())))
    sign = [1.0 if c.geom[0] == 0 else -1.0 for c in data.contact]
    theirs = [(c.dist, *c.pos, *(s * c.frame[:3])) for c, s in zip(data.contact, sign, strict=True)]
    points = collision.contacts(shapes[0], places[0], shapes[1], places[1], 0.0)
    mine = [(p.distance, *p.position.components(), *p.normal.components()) for p in points if float(p.distance) <= 0.0]
    return in_order(mine), in_order(theirs)


def in_order(rows: Any) -> Array:
    table = np.array(rows, dtype=float)
    return np.array(sorted(table.tolist(), key=lambda row: np.round(row[1:4], 6).tolist()))


# What they have in common has no more than four corners, of which MuJoCo takes all; of more it takes others.
STANDING = [
    ("crate", "box", (0.05, 0.02, 0.149), (0.0, 0.0, 0.0)),
    ("crate", "box", (0.28, 0.02, 0.149), (0.0, 0.0, 0.4)),
    ("crate", "box", (0.0, 0.0, 0.249), (np.pi / 2, 0.0, 0.7)),
    ("crate", "block", (0.1, -0.05, 0.149), (0.0, 0.0, 1.1)),
    ("block", "crate", (0.02, -0.02, 0.149), (0.0, 0.0, 0.3)),
    ("wedge", "block", (0.05, 0.02, 0.099), (0.0, 0.0, 0.5)),
    ("wedge", "box", (0.05, 0.02, 0.099), (0.0, 0.0, 2.5)),
    ("cylinder", "box", (0.1, 0.02, 0.199), (np.pi / 2, 0.0, 0.3)),
    ("cylinder", "block", (0.1, 0.02, 0.199), (np.pi / 2, 0.0, 0.6)),
    ("capsule", "block", (0.1, 0.02, 0.149), (np.pi / 2, 0.0, 0.2)),
]


@pytest.mark.parametrize(("a", "b", "at", "turn"), STANDING, ids=lambda x: x if isinstance(x, str) else "")
def test_what_stands_on_a_face_touches_where_it_does_in_mujoco(
    a: str, b: str, at: tuple[float, ...], turn: tuple[float, ...]
) -> None:
    mine, theirs = contacts_of_both(a, b, at, turn)
    assert len(theirs) >= 2
    # Faces whose corners are rounded to 32 bits are not quite parallel; round shapes are found by iterations.
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=2e-7 if a in ("cylinder", "capsule") else 1e-8)


STACK = f"""
<mujoco model="stack"><option timestep="0.002" {{option}}/><asset>
  <mesh name="crate" vertex="{cube(0.1, 0.15, 0.05)}"/><mesh name="wedge" file="wedge.obj"/></asset>
<worldbody><geom {{ground}} friction="0.6"/>
  <body name="low" pos="0 0 0.049"><freejoint/><geom type="mesh" mesh="crate" mass="2"/></body>
  <body name="high" pos="0.02 0.01 0.098"><freejoint/><geom type="mesh" mesh="wedge" mass="0.5"/></body>
</worldbody></mujoco>"""
WEDGE = "v -0.1 -0.05 0\nv 0.1 -0.05 0\nv 0 0.12 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


@pytest.mark.parametrize(
    ("option", "ground"),
    [
        ("", 'type="box" size="0.5 0.5 0.1" pos="0 0 -0.1"'),
        ('cone="elliptic" impratio="3"', 'type="box" size="0.5 0.5 0.1" pos="0 0 -0.1"'),
        ("", 'type="plane" size="1 1 1"'),
    ],
)
def test_accelerations_of_meshes_on_meshes(option: str, ground: str, tmp_path: Path) -> None:
    """What stands level touches in the same points, so q̈ is the same."""
    (tmp_path / "wedge.obj").write_text(WEDGE)
    path = tmp_path / "scene.xml"
    path.write_text(STACK.format(option=option, ground=ground))
    robot, model = kt.load(path), mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    model.opt.tolerance, model.opt.iterations, model.opt.ls_iterations = 0.0, 200, 100
    model.opt.ccd_tolerance, model.opt.ccd_iterations = 1e-12, 200
    layout = kt.interop.Layout(robot, "mujoco")
    rng = np.random.default_rng(4)
    for turn in ((0.0, 0.0), (0.3, -0.4), (1.0, 0.2)):
        for k, angle in enumerate(turn):
            data.qpos[7 * k + 3 : 7 * k + 7] = np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)
        data.qvel[:] = 0.1 * rng.normal(size=12)
        data.qfrc_applied[:] = rng.normal(size=12)
        mujoco.mj_forward(model, data)
        assert data.ncon >= 7
        q, v = layout.q_from(data.qpos), layout.v_from(data.qpos, data.qvel)
        wanted = layout.qdd_from(data.qpos, data.qvel, data.qacc)
        found, error = on_floats(robot, q, v, layout.tau_from(data.qpos, data.qfrc_applied))
        assert error < 1e-9
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8 * np.abs(wanted).max())
