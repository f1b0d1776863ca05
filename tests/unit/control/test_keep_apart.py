"""Shapes that are kept apart: distances, their derivatives, and the motions of all three solvers on random robots."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import (
    Momentum,
    Pose,
    Position,
    Posture,
    WholeBody,
    differential_inverse_kinematics,
    inverse_kinematics,
    inverse_kinematics_program,
    keep_apart,
)

LENGTHS = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
MARGIN = 0.02
SOME = pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.deep)])


@cache  # robots keep the functions that are compiled for them
def random_scene(seed: int) -> tuple[kt.Model, keep_apart]:
    """A chain of four joints with shapes of any kind, and two obstacles among which its last two links move."""
    rng = np.random.default_rng(seed)
    builder = kt.ModelBuilder("chain")
    builder.add_body("base")
    before = "base"
    for k in range(4):
        kind = rng.choice([*LENGTHS])
        size = tuple(rng.uniform(0.04, 0.12, LENGTHS[kind]))
        shape = kt.model.Geometry("collision", kind, size, kt.lie.placement((0.0, 0.0, 0.1)))
        builder.add_body(f"link{k}", kt.solids.cylinder(0.03, 0.2, density=500.0), geometry=[shape])
        axis = [[0, 1, 0], [1, 0, 0]][k % 2]
        at = kt.lie.placement((0.0, 0.0, 0.2 if k else 0.0), rotation=kt.lie.rotation_exp(0.3 * rng.normal(size=3)))
        limits = kt.model.Limits(lower=(-2.0,), upper=(2.0,), velocity=(5.0,), effort=(60.0,))
        builder.add_joint(f"joint{k}", kt.Revolute(axis), before, f"link{k}", at, limits=limits)
        before = f"link{k}"
    robot = builder.build()
    for name, kind in zip(("first", "second"), rng.choice([*LENGTHS], 2), strict=True):
        away = rng.normal(size=3)
        at = kt.lie.placement(0.55 * away / np.linalg.norm(away), rotation=kt.lie.rotation_exp(rng.normal(size=3)))
        robot = robot.with_obstacle(kind, tuple(rng.uniform(0.05, 0.2, LENGTHS[kind])), at, name=name)
    return robot, keep_apart([("link2", "first"), ("link3", "second")], MARGIN)


def distances(robot: kt.Model, q: Any, apart: keep_apart) -> Any:
    return np.stack([kt.contact.distance(robot, q, a, b) for a, b in apart.pairs], axis=-1)


def free(robot: kt.Model, apart: keep_apart, count: int) -> Any:
    """Configurations in which nothing is nearer than the margin."""
    q = robot.random(0, size=200 * count)
    return q[(distances(robot, q, apart) > MARGIN + 0.005).all(axis=-1)][:count]


@pytest.mark.parametrize("seed", range(2))
def test_rows_are_the_derivatives_of_distances(seed: int) -> None:
    robot, apart = random_scene(seed)
    for q in robot.random(1, size=5):
        x, J = apart.excess(robot, q)
        ahead, behind = (
            np.stack([distances(robot, robot.integrate(q, s * 1e-6 * e), apart) for e in np.eye(robot.nv)], axis=1)
            for s in (1.0, -1.0)
        )
        exact = distances(robot, q, apart)
        near = x + MARGIN == pytest.approx(exact, abs=1e-9)
        assert near or (x + MARGIN <= exact + 1e-12).all()  # balls where shapes are far from each other
        same = np.isclose(x + MARGIN, exact, rtol=0.0, atol=1e-12)
        same &= abs(exact) > 5e-3  # the nearer round shapes touch, the fewer digits their normals have
        np.testing.assert_allclose(J[same], ((ahead - behind) / 2e-6)[same], rtol=0, atol=2e-4)
        missing = np.maximum(MARGIN - exact, 0.0)
        np.testing.assert_allclose(apart.error(robot, q, []), missing, rtol=0, atol=1e-12)
        slopes = apart.error_jacobian(robot, q, [])
        np.testing.assert_allclose(slopes, np.where(missing[:, None] > 0.0, -J, 0.0), rtol=0, atol=1e-12)


def test_balls_stand_for_shapes_that_are_far_away() -> None:
    apart, q = keep_apart([("hand[0]", "post")], 0.0), np.zeros(7)
    robot = kt.zoo.load("arm7").with_obstacle("cylinder", (0.1, 0.2), kt.lie.placement((5.0, 0.0, 0.0)), name="post")
    (x,), (row,) = apart.excess(robot, q)
    exact = kt.contact.distance(robot, q, "hand[0]", "post")
    assert exact - 0.4 < x < exact - 0.01
    step = 1e-6 * np.eye(7)
    (ahead,) = np.array([apart.excess(robot, q + d)[0] for d in step]).T
    np.testing.assert_allclose(row, (ahead - x) / 1e-6, rtol=0, atol=1e-5)


def test_accelerations_are_those_of_the_nearest_points() -> None:
    robot = kt.zoo.load("ragdoll")
    pair = ("left_forearm", "right_hand")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        q, v = robot.random(rng), rng.normal(size=robot.nv)
        _, J, (rate,), (least,) = keep_apart([pair]).excess(robot, q, v)
        ends = kt.contact.closest_points(robot, q, *pair)
        n = (ends[1] - ends[0]) / kt.contact.distance(robot, q, *pair)
        velocity, acceleration, turning = [], [], []
        for body, p in zip(pair, ends, strict=True):
            T = kt.frame_placement(robot, q, body)
            local = T[:3, :3].T @ (p - T[:3, 3])
            options: Any = {"expressed_in": "world"}
            velocity.append(kt.kinematics.point_velocity(robot, q, v, local, body, **options))
            rest = np.zeros(robot.nv)
            acceleration.append(kt.kinematics.point_acceleration(robot, q, v, rest, local, body, **options))
            turning.append(kt.kinematics.frame_velocity(robot, q, v, body, **options)[3:])
        relative = velocity[1] - velocity[0]
        assert rate == pytest.approx(n @ relative, abs=1e-10) == (J @ v)[0]
        ways = [0.0, *(np.cross(w, n) @ relative for w in turning)]
        assert least == pytest.approx(min(0.0, n @ (acceleration[1] - acceleration[0]) + min(ways)), abs=1e-9)


@SOME
def test_configurations_keep_the_margin(seed: int) -> None:
    (robot, narrow), margin = random_scene(seed), 0.2
    apart = keep_apart(narrow.pairs, margin)
    goals = kt.frame_placement(robot, robot.random(0, size=40), "link3")[:, :3, 3]  # some are too near
    alone = inverse_kinematics(robot, Position("link3"), goals, starts=5)
    both = inverse_kinematics(robot, [Position("link3"), apart], [goals], starts=5)
    assert 0.2 < both.reached.mean() < 1.0
    missing = np.maximum(margin - distances(robot, both.q, apart), 0.0)
    assert missing[both.reached].max() <= 1.1e-6
    np.testing.assert_allclose(both.errors[1], missing, rtol=0, atol=1e-9)
    assert (distances(robot, alone.q, apart) < margin - 0.01).any()


@SOME
def test_velocities_keep_the_margin(seed: int) -> None:
    """Targets are in the obstacles, so that without the task the links would go there."""
    robot, apart = random_scene(seed)
    q, dt, most = free(robot, apart, 20), 0.01, np.full(4, 1.5)
    goal = robot.bodies[robot.root].geometry[-1].placement.r.components()
    nearest, ways, hand = np.inf, [q, q], Position("link3")
    for _ in range(150):
        steps = [
            differential_inverse_kinematics(robot, tasks, goals, x, dt, gain=0.2, velocity_limit=most)
            for tasks, goals, x in zip((hand, [hand, apart]), (goal, [goal]), ways, strict=True)
        ]
        assert steps[1].solved.all()
        assert (abs(steps[1].v) <= most + 1e-9).all()
        ways = [robot.integrate(x, dt * step.v) for x, step in zip(ways, steps, strict=True)]
        nearest = min(nearest, distances(robot, ways[1], apart).min())
    assert nearest > MARGIN - 2.5e-3
    assert distances(robot, ways[0], apart).min() < 0.0


def test_shapes_that_overlap_part() -> None:
    robot, apart = random_scene(1)
    q = robot.random(0, size=4000)
    q = q[distances(robot, q, apart).min(axis=-1) < -0.01][:50]
    for _ in range(60):  # some overlap with both obstacles, so that not every distance can grow by what it should
        step = differential_inverse_kinematics(robot, apart, None, q, 0.01)
        assert step.solved.all()
        assert (step.left[0] >= 0.0).all()
        q = robot.integrate(q, 0.01 * step.v)
    assert (distances(robot, q, apart) > MARGIN - 1e-3).all()


@cache
def wall() -> tuple[kt.Model, keep_apart]:
    arm = kt.zoo.load("arm7").with_obstacle("cylinder", (0.05, 1.0), kt.lie.placement((0.35, 0.15, 0.4)), name="post")
    return arm, keep_apart([("forearm_a", "post"), ("hand", "post")], MARGIN)


REST = np.array([-0.5, 0.9, 0.0, 1.2, 0.0, 0.6, 0.0])


def test_torques_keep_the_margin() -> None:
    """The arm sweeps across a post; without the task it would go through it."""
    robot, apart = wall()
    goal = REST + np.array([1.7, 0, 0, 0, 0, 0, 0])
    tasks = {"posture": Posture()}
    controllers = [WholeBody(robot, tasks, {}), WholeBody(robot, {**tasks, "apart": apart}, {})]
    least, states = [], []
    for controller in controllers:
        q, v, nearest = REST, np.zeros(7), np.inf
        for _ in range(500):
            step = controller.step(q, v, {"posture": goal})
            assert not step.joint_limits_given_up
            v = v + 0.004 * step.qdd
            q = robot.integrate(q, 0.004 * v)
            nearest = min(nearest, apart.excess(robot, q)[0].min())
            states.append((nearest, q, v))
        least.append(nearest)
    assert least[0] < -MARGIN
    assert least[1] > -2e-3
    q, v = next((q, v) for x, q, v in states if x < 0.02)
    on = controllers[1].step(q, v)
    rows, lower, _ = (bound[-apart.size(robot) :] for bound in controllers[1].inequalities)
    x, J, rate, bias = apart.excess(robot, q, v)
    np.testing.assert_allclose(rows, J, rtol=0, atol=1e-12)
    np.testing.assert_allclose(lower, -100.0 * x - 20.0 * rate - bias, rtol=0, atol=1e-9)
    off = controllers[1].step(q, v, active={"apart": False})
    assert (on.qdd != off.qdd).any()
    np.testing.assert_allclose(off.qdd, controllers[0].step(q, v).qdd, rtol=0, atol=1e-9)


def test_a_sample_is_the_same_alone_and_in_any_batch() -> None:
    robot, apart = wall()
    q = robot.random(0, size=40)
    goals = kt.frame_placement(robot, q, "tool")
    tasks = [Pose("tool"), apart]
    found = inverse_kinematics(robot, tasks, [goals], threads=2)
    step = differential_inverse_kinematics(robot, tasks, [goals], q, 0.01, gain=0.2, threads=2)
    controller = WholeBody(robot, {"posture": Posture(), "apart": apart}, {})
    torques = controller.step(q, np.ones(7), {"posture": REST}, threads=2)
    for k in (0, 7, 39):
        assert (inverse_kinematics(robot, tasks, [goals[k]]).q == found.q[k]).all()
        alone = differential_inverse_kinematics(robot, tasks, [goals[k]], q[k], 0.01, gain=0.2)
        assert (alone.v == step.v[k]).all()
        assert (controller.step(q[k], np.ones(7), {"posture": REST}).tau == torques.tau[k]).all()


def test_solutions_have_derivatives() -> None:
    robot, apart = wall()
    program = inverse_kinematics_program(robot, [Position("tool"), apart])
    assert list(program.arguments)[:3] == ["q0", "target", "lower"]
    goal = kt.frame_placement(robot, REST, "tool")[:3, 3]
    numbers = (robot.lower, robot.upper, np.ones(3 + apart.size(robot)), 1e-10, 5.0, 500.0, np.zeros(7))
    found = program(REST, goal, *numbers)
    assert found.reached
    slope = kt.jacobian(program, (REST, goal, *numbers), wrt="target").q
    J = kt.frame_jacobian(robot, found.q, "tool", expressed_in="local_world_aligned", part="linear")
    np.testing.assert_allclose(J @ slope, np.eye(3), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: keep_apart("ab"), "keep_apart: pairs must be a list of pairs of names of shapes or bodies, such as "),
        (lambda: keep_apart([]), "keep_apart: pairs must be a list of pairs of names"),
        (lambda: keep_apart([("a", "b", "c")]), "keep_apart: pairs must be a list of pairs of names"),
        (lambda: keep_apart([("a", 1)]), "keep_apart: pairs must be a list of pairs of names"),
        (lambda: keep_apart([("a", "b")], np.nan), "keep_apart: margin must be a finite number of metres, not nan"),
        (lambda: keep_apart([("a", "b")], gain=1.5), "gain must be a number above 0 and at most 1, not 1.5"),
        (lambda: keep_apart([("a", "b")], gain=0.0), "gain must be a number above 0 and at most 1, not 0.0"),
        (lambda: keep_apart([("hand", "pots")]).check(wall()[0]), "has no collision shape 'pots': "),
        (lambda: keep_apart([("tool", "post")]).check(wall()[0]), "the body 'tool' has no collision shape"),
        (lambda: keep_apart([("base", "post")]).check(wall()[0]), "'base' and 'base' do not move relative"),
        (lambda: keep_apart([("forearm_b", "post")], weight=[1, 2]).check(wall()[0]), "has 1 rows here, but 2 weights"),
        (lambda: inverse_kinematics(wall()[0], [Pose("tool"), wall()[1]], [np.eye(4), 0.1]), "each task that has a "),
        (lambda: kt.control.operational_space(wall()[0], {"apart": wall()[1]}), "keep_apart is an inequality, "),
    ],
)  # fmt: skip
def test_errors_say_what_to_do(make: Any, message: str) -> None:
    with pytest.raises(kt.KinetreeError) as caught:
        make()
    assert message in str(caught.value)


def test_it_is_a_record() -> None:
    apart = keep_apart([["a", "b"]], margin=0.1)
    assert repr(apart) == "keep_apart(pairs=(('a', 'b'),), margin=0.1)"
    assert hash(apart) == hash(keep_apart([("a", "b")], 0.1))
    assert Momentum().target_shape(wall()[0]) == apart.target_shape(wall()[0]) == (0,)
