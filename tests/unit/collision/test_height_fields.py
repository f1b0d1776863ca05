"""Height fields: a slope is a plane, triangles are MuJoCo's, and there is nothing beside the field."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree import collision
from kinetree.compiler.reference import on_numbers
from kinetree.contact_model import spec
from kinetree.functions.contact_dynamics import CONTACT_DYNAMICS
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


@pytest.mark.parametrize("is_smooth", [False, True])
@pytest.mark.parametrize("kind", TOUCHING)
def test_a_slope_is_a_plane(kind: str, is_smooth: bool) -> None:
    field, X = tilted()
    field = replace(field, is_smooth=is_smooth)
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


def hills() -> collision.HeightField:
    """Smooth ground in cells of 0.2 m."""
    xs, ys = np.linspace(-1.0, 1.0, 11), np.linspace(-0.8, 0.8, 9)
    heights = 0.1 * np.sin(4.0 * xs + 0.3)[None, :] * np.cos(3.5 * ys)[:, None]
    return collision.HeightField(tuple(map(tuple, heights.tolist())), 1.0, 0.8, 0.2, is_smooth=True)


def below(field: collision.HeightField, x: float, y: float) -> tuple[float, np.ndarray[Any, Any]]:
    """The height of the ground there and its normal."""
    probe = Transform(Mat3.identity(), Vec3(x, y, 0.0))
    (point,) = collision.contacts(field, Transform.identity(), collision.Sphere(0.0), probe)
    normal = np.array(point.normal.components(), dtype=float)
    return -float(point.distance) / normal[2], normal  # type: ignore[arg-type]


def test_smooth_ground_goes_through_the_heights_with_one_normal_at_each_edge() -> None:
    field, rng = hills(), np.random.default_rng(0)
    xs, ys = np.linspace(-1.0, 1.0, 11), np.linspace(-0.8, 0.8, 9)
    for _ in range(50):
        i, j, x, y = rng.integers(1, 8), rng.integers(1, 10), rng.uniform(-0.9, 0.9), rng.uniform(-0.7, 0.7)
        assert abs(below(field, xs[j], ys[i])[0] - field.heights[i][j]) < 1e-15
        for at, step in (((xs[j], y), (1e-9, 0.0)), ((x, ys[i]), (0.0, 1e-9))):
            one, other = (below(field, at[0] + s * step[0], at[1] + s * step[1])[1] for s in (1.0, -1.0))
            assert np.abs(one - other).max() < 1e-7
        # The normal is that of the surface.
        (a, n), h = below(field, x, y), 1e-6
        slopes = [(below(field, x + h * s, y + h * t)[0] - below(field, x - h * s, y - h * t)[0]) / (2 * h)
                  for s, t in ((1, 0), (0, 1))]  # fmt: skip
        np.testing.assert_allclose(-n[:2] / n[2], slopes, rtol=0.0, atol=1e-8)
        assert abs(a - 0.1 * np.sin(4.0 * x + 0.3) * np.cos(3.5 * y)) < 0.01


def test_smooth_ground_is_straight_up_to_its_edges() -> None:
    field = replace(tilted()[0], is_smooth=True)
    for x in (-2.0, -1.9, 0.3, 1.9, 2.0):
        for y in (-1.5, -1.45, 0.2, 1.45, 1.5):
            height, normal = below(field, x, y)
            assert abs(height - (0.1 + 0.3 * x - 0.2 * y)) < 1e-12
            np.testing.assert_allclose(normal / normal[2], [-0.3, 0.2, 1.0], rtol=0.0, atol=1e-12)


def test_balls_on_smooth_ground_are_as_deep_as_their_centres_are_near_to_it() -> None:
    from scipy.optimize import minimize

    field, rng, ball = hills(), np.random.default_rng(1), collision.Sphere(0.05)
    for _ in range(6):
        x, y = rng.uniform(-0.8, 0.8), rng.uniform(-0.6, 0.6)
        height, normal = below(field, x, y)
        center = np.array([x, y, height]) + rng.uniform(0.045, 0.052) * normal
        placed_ball = Transform(Mat3.identity(), Vec3(*center.tolist()))
        (point,) = collision.contacts(field, Transform.identity(), ball, placed_ball)
        near = minimize(
            lambda p, c: (p[0] - c[0]) ** 2 + (p[1] - c[1]) ** 2 + (below(field, *p)[0] - c[2]) ** 2,
            [x, y], args=(center,), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-18},
        )  # fmt: skip
        assert abs(float(point.distance) - (np.sqrt(near.fun) - 0.05)) < 1e-6  # type: ignore[arg-type]


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


def test_a_ball_on_smooth_ground_loses_nothing(tmp_path: Path) -> None:
    """A bowl of second degree is met exactly, whatever the grid."""
    robot, _ = in_a_bowl(11, tmp_path / "bowl.xml")
    robot = robot.with_smooth_terrain()
    start = np.array([*START, 0.2 * (START[0] ** 2 + START[1] ** 2)])
    up = np.array([-0.4 * START[0], -0.4 * START[1], 1.0])
    q = robot.neutral()
    q[:3] = start + RADIUS * up / np.linalg.norm(up)
    assert abs(kt.contact.distance(robot, q, "world", "body1")) < 1e-6
    contact = kt.contact.soft_constraints(robot, setting="rigid", accurate=True)
    motion = kt.simulate(robot, q=q, v=np.zeros(6), duration=3.0, contact=contact)
    energy = motion.kinetic + motion.potential
    assert np.ptp(energy) < 2e-3 * np.ptp(motion.potential)
    assert turning_points(motion.q[:, 0])[0] / q[0] > 0.9999


def test_contacts_with_smooth_ground_are_in_loops_too(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = kt.zoo.load("cart_pole").on_terrain(seed=2, size=(4.0, 3.0), spacing=0.3)
    for k in range(12):
        at = kt.lie.placement((0.3 * (k % 4) - 0.5, 0.35 * (k // 4) - 0.4, 0.1))
        robot = robot.with_free_body("sphere", 0.08, at, mass=0.2, name=f"ball{k}")
    robot = robot.with_smooth_terrain()
    contact, rng = kt.contact.soft_constraints(robot), np.random.default_rng(3)
    assert contact.are_looped
    q = robot.neutral() + 0.01 * rng.normal(size=(3, robot.nq))
    v, tau = 0.1 * rng.normal(size=(3, robot.nv)), np.zeros(robot.nv)
    found = kt.contact_dynamics(robot, q, v, tau)
    monkeypatch.setattr(spec, "MANY_POINTS", 10**9)
    numbers = [x.tolist() for x in (q[0], v[0], tau)]
    written = np.array(on_numbers(CONTACT_DYNAMICS, robot, numbers, contact=True))[: robot.nv]
    np.testing.assert_allclose(found.qdd[0], written, rtol=0.0, atol=1e-9 * np.abs(written).max())
    assert np.abs(found.forces).max() > 0.1


def test_a_change_of_the_ground_is_kept_and_files_without_a_place_for_it_say_so(tmp_path: Path) -> None:
    robot = kt.zoo.load("quadruped").on_terrain(seed=1).with_smooth_terrain()
    kt.save(robot, tmp_path / "dog.json")
    assert kt.load(tmp_path / "dog.json") == robot
    assert kt.contact.soft_constraints(robot).touches[0].first.shape.is_smooth  # type: ignore[union-attr]
    with pytest.raises(kt.errors.ModelError, match="shape 0 of body 'world' is smooth, and made of triangles in MJCF"):
        kt.save(robot, tmp_path / "dog.xml")
    with pytest.raises(kt.errors.ModelError, match=r"'arm6' has no height field; robot\.on_terrain"):
        kt.zoo.load("arm6").with_smooth_terrain()


def test_derivatives_of_depths_in_smooth_ground_are_their_differences() -> None:
    robot = kt.zoo.load("quadruped").on_terrain(seed=1, steepness=0.4).with_smooth_terrain()
    rng, h = np.random.default_rng(0), 1e-6
    q = robot.random(rng, 20)
    q[:, :2], q[:, 2] = rng.uniform(-2.0, 2.0, (20, 2)), 0.3
    foot = next(name for name in robot.bodies if name.endswith("shank"))
    depth = partial(kt.contact.distance, robot, a="terrain", b=f"{foot}[0]")
    J = kt.jacobian(robot, kt.contact.distance, (q,), wrt="q", a="terrain", b=f"{foot}[0]")
    for j in range(robot.nv):
        d = h * np.eye(robot.nv)[j]
        difference = (depth(kt.integrate(robot, q, d)) - depth(kt.integrate(robot, q, -d))) / (2.0 * h)
        errors = np.abs(J[:, j] - difference)
        assert np.sort(errors)[-2] < 1e-6  # another end may be the lower one


def test_a_ball_that_starts_in_the_triangles_gains_at_most_the_energy_that_lifts_it_out(tmp_path: Path) -> None:
    robot, z = in_a_bowl(21, tmp_path / "bowl.xml")
    q = robot.neutral()
    q[:3] = *START, z - 1e-3
    contact = kt.contact.soft_constraints(robot, setting="rigid", accurate=True)
    motion = kt.simulate(robot, q=q, v=np.zeros(6), duration=0.1, contact=contact)
    energy = motion.kinetic + motion.potential
    assert 0.7 < (energy.max() - energy[0]) / (9.81 * 1e-3) < 1.0
