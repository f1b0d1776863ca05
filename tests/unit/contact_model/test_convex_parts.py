"""Meshes as several convex parts: a mug holds a ball, and all that says how the mesh touches is kept."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt

Array = NDArray[Any]

RADIUS, INSIDE, HEIGHT, FLOOR = 0.05, 0.042, 0.1, 0.008
BALL = 0.02


def mug(count: int = 16) -> tuple[Array, Array]:
    """The vertices and the triangles of a mug without a handle."""
    angles = 2.0 * np.pi * np.arange(count) / count
    rim = np.stack((np.cos(angles), np.sin(angles)), axis=1)
    rings = [(RADIUS, 0.0), (RADIUS, HEIGHT), (INSIDE, HEIGHT), (INSIDE, FLOOR)]
    vertices = np.array([[*(r * p), z] for r, z in rings for p in rim] + [[0.0, 0.0, 0.0], [0.0, 0.0, FLOOR]])
    faces = []
    for i, j in ((i, (i + 1) % count) for i in range(count)):
        for k in (0, count, 2 * count):
            faces += [[k + i, k + j, k + count + j], [k + i, k + count + j, k + count + i]]
        faces += [[4 * count, j, i], [4 * count + 1, 3 * count + i, 3 * count + j]]
    return vertices, np.array(faces)


def parts_of_the_mug(vertices: Array) -> list[tuple[Array, Array]]:
    """The floor of a mug, and its wall in pieces; its last vertex but one is the origin of `mug`."""
    origin, own, count = vertices[-2], mug()[0], 16
    found = [np.concatenate([own[:count] + np.array([0.0, 0.0, height]) for height in (0.0, FLOOR)])]
    for i, j in ((i, (i + 1) % count) for i in range(count)):
        found.append(own[[k * count + m for k in range(4) for m in (i, j)]])
    return [(origin + part, np.zeros((0, 3), int)) for part in found]


@pytest.fixture
def known_parts(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A package in the place of CoACD that knows the mug."""
    calls = SimpleNamespace(given=[])

    def run(mesh: Any, **options: Any) -> list[tuple[Array, Array]]:
        calls.given.append((mesh, options))
        return parts_of_the_mug(mesh[0])

    module = ModuleType("coacd")
    module.__dict__.update(Mesh=lambda *x: x, run_coacd=run, set_log_level=lambda _: None)
    monkeypatch.setitem(sys.modules, "coacd", module)
    return calls


def numbers(x: Any) -> str:
    return " ".join(f"{float(y):.9g}" for y in np.ravel(x))


def in_a_kitchen(folder: Path) -> kt.Model:
    """A mug on a table, and a ball that falls into it."""
    vertices, faces = mug()
    path = folder / "kitchen.xml"
    path.write_text(f"""
<mujoco><asset><mesh name="mug" vertex="{numbers(vertices)}" face="{" ".join(map(str, faces.ravel()))}"/></asset>
  <worldbody><geom name="table" type="plane" size="1 1 1"/>
    <body name="mug" pos="0 0 0"><freejoint/><geom name="mug" type="mesh" mesh="mug" mass="0.3" friction="0.7"/>
      <geom name="handle" type="capsule" fromto="0.06 0 0.03 0.06 0 0.07" size="0.005" mass="0.01"/></body>
    <body name="ball" pos="0.005 0 0.06"><freejoint/><geom name="ball" size="{BALL}" mass="0.05"/></body>
  </worldbody>
  <contact><pair geom1="ball" geom2="mug" name="drop" friction="0.3 0.3 0.01 0.001 0.001"/></contact></mujoco>""")
    return kt.load(path)


def above_the_mug(robot: kt.Model) -> Array:
    """The ball in the opening of the mug, not quite in the middle."""
    q = robot.neutral()
    q[7:10] = [0.005, 0.0, 0.06]
    return q


def rests_in_the_mug(robot: kt.Model) -> None:
    """The ball lies on the floor of the mug after a second."""
    motion = kt.simulate(robot, q=above_the_mug(robot), duration=1.0, dt=0.002, contact=True)
    ball, cup = (kt.frame_placement(robot, motion.q[-1], name)[:3, 3] for name in ("ball", "mug"))
    assert abs(ball[2] - cup[2] - FLOOR - BALL) < 2e-3
    assert np.hypot(*(ball - cup)[:2]) < INSIDE - BALL + 2e-3
    assert abs(cup[2]) < 2e-3


@pytest.mark.usefixtures("known_parts")
def test_a_ball_rests_in_a_mug_of_convex_parts(tmp_path: Path) -> None:
    whole = in_a_kitchen(tmp_path)
    q = above_the_mug(whole)
    assert kt.contact.distance(whole, q, "ball", "mug") < -0.01  # its hull is full
    robot = kt.contact.with_convex_parts(whole)
    assert kt.contact.distance(robot, q, "ball", "mug") > 0.01
    rests_in_the_mug(robot)


def test_parts_touch_as_the_mesh_did(known_parts: SimpleNamespace, tmp_path: Path) -> None:
    whole = in_a_kitchen(tmp_path)
    robot = kt.contact.with_convex_parts(whole, ["mug"], threshold=0.2, most=20, seed=3)
    ((mesh, options),) = known_parts.given
    assert len(mesh[0]) == len(mug()[0])
    assert (options["threshold"], options["max_convex_hull"], options["seed"]) == (0.2, 20, 3)
    shapes = robot.bodies["mug"].geometry
    assert [shape.name for shape in shapes[:4]] == ["mug", "handle", "mug_1", "mug_2"]
    assert len(shapes) == 18
    assert {shape.contact.friction[0] for shape in shapes if shape.name != "handle" and shape.contact} == {0.7}
    assert robot.bodies["mug"].inertia == whole.bodies["mug"].inertia
    pairs = robot.extras.contact_pairs
    assert [pair.name for pair in pairs] == ["drop", *[""] * 16]
    assert {(pair.shape1, pair.shape2, pair.friction[0]) for pair in pairs} == {
        ("ball", name.name, 0.3) for name in shapes if name.name != "handle"
    }
    touches = kt.contact.soft_constraints(robot).touches
    assert (
        len(touches) == 17 + 18 + 1 + 1
    )  # ball and parts; the table, parts and handle; ball and table, ball and handle
    assert robot.notes[0] == "meshes for collisions became convex parts: 1 became 17"


@pytest.mark.usefixtures("known_parts")
def test_parts_are_kept_in_files_and_are_those_of_mujoco(tmp_path: Path) -> None:
    robot = kt.contact.with_convex_parts(in_a_kitchen(tmp_path))
    kt.save(robot, tmp_path / "parts.json")
    assert kt.load(tmp_path / "parts.json") == robot
    kt.save(robot, tmp_path / "parts.xml")
    q = robot.neutral()
    q[2], q[7:10] = 0.01, [0.0, 0.0, 0.01 + FLOOR + BALL - 1e-4]  # the ball is touching the floor
    for model in (robot, kt.load(tmp_path / "parts.xml")):
        distances = [
            kt.contact.distance(model, q, "ball", shape.name)
            for shape in model.bodies["mug"].geometry
            if shape.name != "handle"
        ]
        np.testing.assert_allclose(min(distances), -1e-4, rtol=0.0, atol=1e-7)
        np.testing.assert_allclose(distances[1:], INSIDE * np.cos(np.pi / 16) - BALL, rtol=0.0, atol=1e-6)
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "parts.xml"))
    d = mujoco.MjData(m)
    d.qpos[:] = kt.interop.Layout(robot, "mujoco").q_to(q)
    mujoco.mj_forward(m, d)
    assert m.nmesh >= 17
    assert abs(d.contact.dist.min() + 1e-4) < 1e-7


def test_a_package_that_is_missing_and_wrong_options_are_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    robot = in_a_kitchen(tmp_path)
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(kt.errors.MissingPackageError, match=r"need coacd: pip install 'kinetree\[coacd\]'"):
        kt.contact.with_convex_parts(robot)
    for options, message in (
        ({"threshold": 0.0}, r"threshold must be a number from 0.01 to 1, not 0.0"),
        ({"most": 0}, r"most must be a whole number from 1 on, not 0"),
        ({"seed": -1}, r"seed must be a whole number from 0 on, not -1"),
        ({"bodies": "mug"}, r"bodies are names, such as \['mug'\]"),
        ({"bodies": ["ball"]}, r"'kitchen' has no meshes for collisions on these bodies"),
    ):
        with pytest.raises(kt.errors.OptionError, match=message):
            kt.contact.with_convex_parts(robot, **options)


@pytest.mark.deep
def test_coacd_makes_a_mug_that_holds_a_ball(tmp_path: Path) -> None:
    pytest.importorskip("coacd", reason="the package coacd divides meshes")
    robot = kt.contact.with_convex_parts(in_a_kitchen(tmp_path), threshold=0.1)
    assert len(robot.bodies["mug"].geometry) > 5
    rests_in_the_mug(robot)
