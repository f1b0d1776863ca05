"""Height fields: a slope is a plane, triangles are MuJoCo's, and there is nothing beside the field."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree import collision
from kinetree.spatial import Mat3, Transform, Vec3
from tests.unit.collision.test_pairs import SHAPES, placed, random_placement

TOUCHING = ["sphere", "capsule", "ellipsoid", "cylinder", "box", "hull"]


def tilted() -> tuple[collision.HeightField, Transform]:
    """A field with one slope, and the placement of the plane it is part of."""
    xs, ys = np.linspace(-2.0, 2.0, 6), np.linspace(-1.5, 1.5, 5)
    heights = 0.1 + 0.3 * xs[None, :] - 0.2 * ys[:, None]
    normal = np.array([-0.3, 0.2, 1.0]) / np.linalg.norm([-0.3, 0.2, 1.0])
    x = np.cross([0.0, 1.0, 0.0], normal)
    x /= np.linalg.norm(x)
    E = Mat3(*(Vec3(*map(float, axis)) for axis in (x, np.cross(normal, x), normal)))
    return collision.HeightField(tuple(map(tuple, heights.tolist())), 2.0, 1.5), Transform(E, Vec3(0.0, 0.0, 0.1))


@pytest.mark.parametrize("kind", TOUCHING)
def test_a_slope_is_a_plane(kind: str) -> None:
    field, X = tilted()
    rng, shape = np.random.default_rng(0), SHAPES[kind]
    X_field = placed(random_placement(rng))
    for _ in range(20):
        Y = placed(random_placement(rng)) @ X_field
        ground = collision.contacts(field, X_field, shape, Y)
        plane = collision.contacts(collision.Plane(), X @ X_field, shape, Y, collision.FAR)

        def sorted_points(points: tuple[collision.ContactPoint, ...]) -> list[tuple[float, ...]]:
            numbers = [(p.distance, *p.position.components()) for p in points]
            return sorted(np.round(np.array(numbers, dtype=float), 10).tolist())

        assert np.allclose(sorted_points(ground), sorted_points(plane), rtol=0.0, atol=2e-10)
        for point in ground:
            assert np.allclose(point.normal.components(), plane[0].normal.components(), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("kind", TOUCHING)
def test_beside_the_field_nothing_touches(kind: str) -> None:
    field, _ = tilted()
    beside = Transform(Mat3.identity(), Vec3(0.0, 2.0, -1.0))
    points = collision.contacts(field, Transform.identity(), SHAPES[kind], beside)
    assert [p.distance for p in points] == [collision.FAR] * len(points)
    assert np.isfinite([x for p in points for x in p.position.components()]).all()


def test_balls_on_hills_touch_as_in_mujoco() -> None:
    """One contact here, one per triangle there: the deepest of them."""
    import mujoco

    xs, ys = np.linspace(-1.5, 1.5, 17), np.linspace(-1.0, 1.0, 13)
    heights = 0.12 + 0.12 * np.sin(2.0 * xs + 0.3)[None, :] * np.cos(2.5 * ys)[:, None]
    heights -= heights.min()
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><asset><hfield name="h" nrow="13" ncol="17" size="1.5 1 {heights.max()} 1"/></asset><worldbody>'
        '<geom type="hfield" hfield="h"/><body><freejoint/><geom size="0.1"/></body></worldbody>'
        '<option ccd_tolerance="1e-12" ccd_iterations="200"/></mujoco>'
    )
    model.hfield_data[:] = (heights / heights.max()).ravel()
    heights = model.hfield_data.reshape(13, 17).astype(float) * heights.max()
    data = mujoco.MjData(model)
    field = collision.HeightField(tuple(map(tuple, heights.tolist())), 1.5, 1.0)
    rng, errors = np.random.default_rng(0), []
    for _ in range(100):
        place = np.array([rng.uniform(-1.2, 1.2), rng.uniform(-0.8, 0.8), 0.0])
        probe = Transform(Mat3.identity(), Vec3(*place))
        (below,) = collision.contacts(field, Transform.identity(), collision.Sphere(0.0), probe)
        place[2] = -float(below.distance) / float(below.normal.z) + rng.uniform(0.05, 0.1)  # type: ignore[arg-type]
        data.qpos[:3] = place
        mujoco.mj_forward(model, data)
        ball = Transform(Mat3.identity(), Vec3(*place))
        (point,) = collision.contacts(field, Transform.identity(), collision.Sphere(0.1), ball)
        if data.ncon:
            errors.append(abs(float(point.distance) - data.contact.dist.min()))  # type: ignore[arg-type]
    assert len(errors) > 40
    assert np.median(errors) < 1e-12
    assert max(errors) < 0.005  # where a second triangle is nearer than the one below


RADIUS, START = 0.1, (0.9, 0.07)


def in_a_bowl(count: int, path: Path) -> tuple[kt.Model, float]:
    """A ball in the bowl 0.2 r² of count x count heights, written to a file; and where it touches."""
    side = np.linspace(-1.5, 1.5, count)
    heights = 0.2 * (side[:, None] ** 2 + side[None, :] ** 2)
    numbers = " ".join(f"{z:.17g}" for z in (heights / heights.max()).ravel())
    path.write_text(
        f'<mujoco><asset><hfield name="h" nrow="{count}" ncol="{count}" size="1.5 1.5 {heights.max():.17g} 1" '
        f'elevation="{numbers}"/></asset><worldbody><geom type="hfield" hfield="h" friction="1 0 0"/>'
        f'<body><freejoint/><geom size="{RADIUS}" mass="1" friction="1 0 0"/></body></worldbody>'
        '<option timestep="0.001"/></mujoco>'
    )
    field = collision.HeightField(tuple(map(tuple, heights.tolist())), 1.5, 1.5)
    low, high = 0.1, 0.5
    for _ in range(50):
        z = 0.5 * (low + high)
        ball = Transform(Mat3.identity(), Vec3(*START, z))
        (point,) = collision.contacts(field, Transform.identity(), collision.Sphere(RADIUS), ball)
        low, high = (z, high) if float(point.distance) < 0.0 else (low, z)  # type: ignore[arg-type]
    return kt.load(path), high


def turning_points(x: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[float]:
    moves = np.sign(np.diff(x))
    return [abs(float(x[k + 1])) for k in np.flatnonzero(moves[1:] * moves[:-1] < 0.0)]


@pytest.mark.deep
def test_a_ball_in_a_bowl_loses_less_the_finer_the_triangles_are(tmp_path: Path) -> None:
    """It bumps at every edge between triangles, where its speed is turned by the angle θ between them and it loses some
    sin² θ of its energy: half as much in all where there are twice as many. MuJoCo's losses do not become smaller."""
    import mujoco

    lost, swings, theirs = [], [], []
    for count in (11, 21, 41):
        robot, z = in_a_bowl(count, tmp_path / "bowl.xml")
        q = robot.neutral()
        q[:3] = *START, z
        contact = kt.contact.soft_constraints(robot, setting="rigid", accurate=True)
        motion = kt.simulate(robot, q=q, v=np.zeros(6), duration=6.0, contact=contact)
        energy = motion.kinetic + motion.potential
        range_ = energy[0] - motion.potential.min()
        assert energy.max() - energy[0] < 1e-4 * range_
        lost.append((energy[0] - energy[-1]) / range_)
        swings.append(turning_points(motion.q[:, 0])[2] / START[0])
        model = mujoco.MjModel.from_xml_path(str(tmp_path / "bowl.xml"))
        data = mujoco.MjData(model)
        data.qpos[:3] = *START, z
        x = []
        for _ in range(6000):
            mujoco.mj_step(model, data)
            x.append(data.qpos[0])
        theirs.append(turning_points(np.array(x))[2] / START[0])
    np.testing.assert_allclose(swings, [0.945, 0.973, 0.984], rtol=0, atol=2e-3)
    np.testing.assert_allclose(np.array(lost[1:]) / lost[:-1], 0.5, rtol=0, atol=0.05)
    assert max(theirs) < 0.9


def test_a_ball_that_starts_in_the_triangles_gains_at_most_the_energy_that_lifts_it_out(tmp_path: Path) -> None:
    robot, z = in_a_bowl(21, tmp_path / "bowl.xml")
    q = robot.neutral()
    q[:3] = *START, z - 1e-3
    contact = kt.contact.soft_constraints(robot, setting="rigid", accurate=True)
    motion = kt.simulate(robot, q=q, v=np.zeros(6), duration=0.1, contact=contact)
    energy = motion.kinetic + motion.potential
    assert 0.7 < (energy.max() - energy[0]) / (9.81 * 1e-3) < 1.0
