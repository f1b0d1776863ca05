"""Rays that meet meshes, height fields and simple shapes, beside MuJoCo's `mj_ray` and its range finders."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree import collision
from kinetree.compiler.reference import on_numbers
from kinetree.spatial import Transform, Vec3
from tests.oracles.test_actuators import loaded

Array = NDArray[Any]

ACCURACY = 1e-11


def ring(around: int = 40, across: int = 24) -> tuple[Array, Array]:
    """The vertices and the triangles of a ring, which is far from its hull."""
    i, j = (x.ravel() for x in np.meshgrid(np.arange(around), np.arange(across), indexing="ij"))
    a, b = 2.0 * np.pi * i / around, 2.0 * np.pi * j / across
    out = 0.3 + 0.12 * np.cos(b)
    vertices = np.stack((out * np.cos(a), 1.3 * out * np.sin(a), 0.12 * np.sin(b)), axis=1)
    here, on, up = i * across + j, (i + 1) % around * across + j, i * across + (j + 1) % across
    both = (i + 1) % around * across + (j + 1) % across
    return vertices, np.concatenate((np.stack((here, on, both), axis=1), np.stack((here, both, up), axis=1)))


def numbers(x: Any) -> str:
    return " ".join(f"{float(y):.9g}" for y in np.ravel(x))


def scene_text(count: int = 40) -> str:
    vertices, faces = ring(count)
    elevations = np.random.default_rng(1).uniform(size=(7, 12))
    sites = "".join(
        f'<site name="s{k}" pos="0.05 {0.1 * k - 0.1:.2f} 0" euler="{50 * k + 10} {70 * k - 100} 0"/>' for k in range(4)
    )
    finders = "".join(f'<rangefinder site="s{k}" data="dist dir point"/>' for k in range(4))
    return f"""
<mujoco model="scene">
  <asset><hfield name="h" nrow="7" ncol="12" size="1.5 1 0.3 0.2" elevation="{numbers(elevations)}"/>
    <mesh name="ring" vertex="{numbers(vertices)}" face="{" ".join(map(str, faces.ravel()))}"/>
    <mesh name="turned" vertex="{numbers(vertices)}" face="{" ".join(map(str, faces.ravel()))}" refpos="0.1 0 0.2"
      refquat="0.3 0.5 -0.2 0.8" scale="0.5 -0.6 0.7"/>
    <mesh name="points" vertex="0 0 0 0.3 0 0 0 0.4 0 0 0 0.5 0.05 0.05 0.05"/></asset>
  <worldbody>
    <geom type="hfield" hfield="h" euler="5 3 10"/><geom type="plane" size="2 0 1" pos="0 0 -0.6"/>
    <body name="ring" pos="0 0 0.6"><freejoint/><geom type="mesh" mesh="ring" pos="0.1 0 0" euler="20 0 0"/></body>
    <body name="turned" pos="0.6 0 0.8"><freejoint/><geom type="mesh" mesh="turned"/></body>
    <body name="points" pos="-0.7 0 0.8"><freejoint/><geom type="mesh" mesh="points"/>
      <geom type="ellipsoid" size="0.1 0.2 0.1" pos="0 0.5 0"/></body>
    <body name="eye" pos="0 0 0.6"><freejoint/><geom size="0.02"/>{sites}</body>
  </worldbody>
  <sensor>{finders}</sensor>
</mujoco>"""


class Beside:
    """A scene in both."""

    def __init__(self, text: str) -> None:
        self.robot = loaded(text)
        self.m = mujoco.MjModel.from_xml_string(text)
        self.d = mujoco.MjData(self.m)
        self.layout = kt.interop.Layout(self.robot, "mujoco")

    def moved(self, rng: np.random.Generator) -> Array:
        """Go to a random state, and return its q."""
        mujoco.mj_resetData(self.m, self.d)
        mujoco.mj_integratePos(self.m, self.d.qpos, rng.normal(size=self.m.nv), 0.4)
        mujoco.mj_forward(self.m, self.d)
        return self.layout.q_from(self.d.qpos)

    def rays(self, rng: np.random.Generator, count: int) -> tuple[Array, Array, Array]:
        """Rays from around the scene and from inside it, and MuJoCo's distances."""
        origins = rng.uniform([-2.0, -1.5, -0.5], [2.0, 1.5, 1.5], size=(count, 3))
        directions = rng.uniform([-1.2, -0.8, -0.2], [1.2, 0.8, 1.0], size=(count, 3)) - origins
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        which = np.zeros(1, dtype=np.int32)
        theirs = [
            mujoco.mj_ray(self.m, self.d, p, v, None, 1, -1, which) for p, v in zip(origins, directions, strict=True)
        ]
        return origins, directions, np.where(np.array(theirs) < 0.0, np.inf, theirs)


@cache
def scene() -> Beside:
    return Beside(scene_text())


def test_range_finders_are_those_of_mujoco() -> None:
    beside, rng = scene(), np.random.default_rng(2)
    robot = beside.robot
    q, theirs = zip(*((beside.moved(rng), beside.d.sensordata.copy()) for _ in range(200)), strict=True)
    ours = kt.dynamics.sensors(robot, q, np.zeros(robot.nv))
    np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=ACCURACY)
    assert 0.3 < (ours[:, ::7] > 0.0).mean() < 1.0
    zeros = [0.0] * robot.nv
    for k in range(2):
        expected = on_numbers(kt.dynamics.sensors.definition, robot, [q[k].tolist(), zeros])  # type: ignore[attr-defined]
        np.testing.assert_allclose(ours[k], expected, rtol=0.0, atol=ACCURACY)


def test_rays_are_those_of_mujoco() -> None:
    beside, rng = scene(), np.random.default_rng(3)
    for _ in range(4):
        q = beside.moved(rng)
        origins, directions, theirs = beside.rays(rng, 500)
        ours = kt.contact.ray_distance(beside.robot, q, origins, 3.0 * directions)
        assert (np.isinf(ours) == np.isinf(theirs)).all()
        known = np.isfinite(theirs)
        assert 0.5 < known.mean() < 1.0
        np.testing.assert_allclose(ours[known], theirs[known], rtol=0.0, atol=ACCURACY)
        alone = [kt.contact.ray_distance(beside.robot, q, p, 3.0 * v) for p, v in zip(origins, directions, strict=True)]
        assert np.array_equal(ours[:7], alone[:7])


def test_rays_are_carried_by_a_frame_and_meet_the_bodies_that_are_named() -> None:
    beside = scene()
    robot, q = beside.robot, beside.moved(np.random.default_rng(4))
    X = kt.frame_placement(robot, q, "s1")
    seen = kt.contact.ray_distance(robot, q, [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], frame="s1")
    others = [name for name in robot.bodies if name != "eye"]
    assert seen == kt.contact.ray_distance(robot, q, X[:3, 3], X[:3, 2], bodies=others)
    inside = kt.contact.ray_distance(robot, q, [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], frame="eye", bodies=["eye"])
    np.testing.assert_allclose(inside, 0.02, rtol=0.0, atol=1e-15)
    assert np.isinf(kt.contact.ray_distance(robot, q, [0.0, 0.0, 9.0], [0.0, 0.0, 1.0], bodies=["world"]))
    assert np.isnan(kt.contact.ray_distance(robot, q, [np.nan, 0.0, 9.0], [0.0, 0.0, 1.0]))


def test_derivatives_of_distances_are_their_differences() -> None:
    beside, rng, step = scene(), np.random.default_rng(5), 1e-6
    robot = beside.robot
    q = np.array([beside.moved(rng) for _ in range(40)])
    origins, directions, _ = beside.rays(rng, 40)

    def distance(moved: Array, origin: Array = origins, direction: Array = directions) -> Array:
        return kt.contact.ray_distance(robot, moved, origin, direction)

    keep = np.isfinite(distance(q))
    given = q[keep], origins[keep], directions[keep]
    J = kt.jacobian(robot, kt.contact.ray_distance, given, wrt="q")
    _, along = kt.jvp(robot, kt.contact.ray_distance, given, {"origin": given[2], "direction": np.ones(3)})
    weights = rng.normal(size=len(given[0]))
    _, back = kt.vjp(robot, kt.contact.ray_distance, given, weights, wrt=["q"])
    np.testing.assert_allclose(back["q"], weights[:, None] * J, rtol=1e-12, atol=1e-12)
    errors = []
    for j in range(robot.nv):
        change = np.zeros(robot.nv)
        change[j] = step
        ends = [distance(kt.integrate(robot, given[0], sign * change), *given[1:]) for sign in (1.0, -1.0)]
        errors.append(np.abs((ends[0] - ends[1]) / (2.0 * step) - J[:, j]))
    ends = [distance(given[0], given[1] + s * given[2], given[2] + s * np.ones(3)) for s in (step, -step)]
    errors.append(np.abs((ends[0] - ends[1]) / (2.0 * step) - along))
    # Some rays are within a step of another triangle.
    assert np.abs(J).max() > 0.5
    assert np.quantile(errors, 0.99) < 1e-6


def test_rays_do_not_slip_between_triangles() -> None:
    """A grid has many corners and edges; the rays go there."""
    heights = tuple((0.2, 0.2, 0.2, 0.2, 0.2) for _ in range(4))
    field = collision.HeightField(heights, 2.0, 1.5, 0.5)
    vertices, faces = ring(12, 6)
    mesh = collision.Mesh(tuple(map(tuple, vertices.tolist())), tuple(map(tuple, faces.tolist())))
    X = Transform.identity()
    for x in np.linspace(-2.0, 2.0, 17):
        for y in np.linspace(-1.5, 1.5, 13):
            down = collision.ray_distance(field, X, Vec3(float(x), float(y), 1.0), Vec3(0.0, 0.0, -1.0))
            up = collision.ray_distance(field, X, Vec3(float(x), float(y), -1.0), Vec3(0.0, 0.0, 1.0))
            assert abs(float(down) - 0.8) < 1e-12
            assert abs(float(up) - 0.5) < 1e-12
    for vertex in vertices:
        tip = np.array([0.3, 0.39, 0.0]) * vertex / (np.hypot(vertex[0], vertex[1] / 1.3) + 1e-30) * (1.0, 1.0, 0.0)
        d = (vertex - tip) / np.linalg.norm(vertex - tip)
        found = collision.ray_distance(mesh, X, Vec3(*tip.tolist()), Vec3(*d.tolist()))
        assert abs(float(found) - np.linalg.norm(vertex - tip)) < 1e-9


def test_a_large_mesh_takes_the_operations_of_a_small_one() -> None:
    def size(count: int) -> int:
        program = kt.compile(loaded(scene_text(count)), kt.contact.ray_distance).__self__.program
        return len(str(program).splitlines())

    small, large = size(40), size(200)  # 1,920 and 9,600 triangles
    assert large < small + 150


def test_urdf_meshes_and_single_precision(tmp_path: Path) -> None:
    vertices, faces = ring(20, 12)
    lines = [*(f"v {numbers(x)}" for x in vertices), *(f"f {' '.join(str(k + 1) for k in x)}" for x in faces)]
    (tmp_path / "ring.obj").write_text("\n".join(lines))
    (tmp_path / "robot.urdf").write_text(
        '<robot name="r"><link name="base"><collision><origin xyz="1 0 0"/><geometry>'
        '<mesh filename="ring.obj" scale="2 2 2"/></geometry></collision></link></robot>'
    )
    robot = kt.load(tmp_path / "robot.urdf")
    assert kt.contact.ray_distance(robot, [], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]) == np.inf  # through the ring
    through = kt.contact.ray_distance(robot, [], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    np.testing.assert_allclose(through, 2.0 * 0.18, rtol=1e-6)
    single = kt.contact.ray_distance(robot, np.zeros(0, np.float32), *np.array([[1, 0, 0], [1, 0.1, 0.2]], np.float32))
    double = kt.contact.ray_distance(robot, [], [1, 0, 0], [1, 0.1, 0.2])
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, double, rtol=1e-5)


def test_sizes_of_shapes_may_be_given_with_a_call() -> None:
    robot = kt.zoo.load("ragdoll")
    q = robot.neutral()
    at = kt.frame_placement(robot, q, "head")[:3, 3] + [0.0, 0.0, 5.0]
    found = [
        kt.contact.ray_distance(robot, q, at, [0, 0, -1], bodies=["head"], parameters={"shape.head[1].size": [radius]})
        for radius in (0.1, 0.15)
    ]
    assert found[1] < found[0] < 5.0


def test_what_no_ray_can_meet_is_reported(tmp_path: Path) -> None:
    robot = scene().robot
    q = robot.neutral()
    with pytest.raises(kt.errors.OptionError, match=r"bodies must be a list of names of bodies, such as \['ring'\]"):
        kt.contact.ray_distance(robot, q, [0, 0, 0], [0, 0, 1], bodies="ring")
    with pytest.raises(kt.errors.NameNotFoundError, match="rings"):
        kt.contact.ray_distance(robot, q, [0, 0, 0], [0, 0, 1], bodies=["rings"])
    with pytest.raises(kt.errors.OptionError, match="'tool' has no collision shape"):
        kt.contact.ray_distance(kt.zoo.load("arm6"), np.zeros(6), [0, 0, 0], [0, 0, 1], bodies=["tool"])
    path = tmp_path / "gone.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (tmp_path / "gone.xml").write_text(
        '<mujoco><asset><mesh name="m" file="gone.obj"/></asset><worldbody><geom type="mesh" mesh="m"/><body>'
        '<freejoint/><geom size="0.1"/><site name="s"/></body></worldbody><sensor><rangefinder site="s"/></sensor>'
        "</mujoco>"
    )
    robot = kt.load(tmp_path / "gone.xml")
    path.unlink()
    with pytest.raises(
        kt.errors.OptionError, match=r"\(rangefinder\) may meet a shape that cannot be used: .* is gone"
    ):
        kt.dynamics.sensors(robot, robot.neutral(), np.zeros(6))
