"""How near a joint is to a singularity of its coordinates, and what dynamics make of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.expr import Scalar
from kinetree.joints import JointKind, JointMotion
from kinetree.joints.euler import ORDERS
from kinetree.spatial import Mat3, Motion, Subspace, Transform, Vec3
from tests.laws.reference import reference
from tests.unit.joints.flat_kinds import Array, with_joint

QUARTER = math.pi / 2.0
SINGULAR: list[tuple[JointKind, list[float], list[float]]] = [
    *(
        (kt.joints.Euler(order), [0.2, QUARTER if len(set(order)) == 3 else 0.0, 0.5], [0.0, 1.0, 0.0])
        for order in ("ZYX", "XYZ", "YXZ", "ZXZ", "XYX")
    ),
    (kt.joints.FreeRPY(), [0.1, 0.2, 0.3, 0.2, -QUARTER, 0.5], [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
    (kt.joints.Ellipsoid([0.5, 0.7, 0.9]), [0.2, QUARTER, 0.5], [0.0, 1.0, 0.0]),
    (kt.joints.ExponentialMap(), [0.6 * math.tau, 0.0, 0.8 * math.tau], [-0.6, 0.0, -0.8]),
]
EACH = pytest.mark.parametrize(
    ("kind", "place", "away"), SINGULAR, ids=[getattr(kind, "order", type(kind).__name__) for kind, _, _ in SINGULAR]
)


def configuration(place: Sequence[float], away: Sequence[float], distance: float) -> Array:
    return np.array([0.3, *(x + distance * d for x, d in zip(place, away, strict=True)), 0.4])


@EACH
def test_it_falls_with_the_distance_and_is_zero_at_the_singularity(
    kind: JointKind, place: list[float], away: list[float]
) -> None:
    robot = with_joint(kind)
    values = robot.conditioning(np.array([configuration(place, away, 10.0**-k) for k in range(1, 8)]))
    assert (values[:, [0, 2]] == 1.0).all()
    slopes = values[1:, 1] / 10.0 ** -np.arange(2.0, 8.0)
    np.testing.assert_allclose(slopes, slopes[-1], rtol=0.02)
    assert 0.05 < slopes[-1] < 1.0
    assert robot.conditioning(configuration(place, away, 0.0))[1] < 1e-15


@pytest.mark.parametrize("order", ORDERS)
def test_euler_angles_are_best_half_way_between_singularities(order: str) -> None:
    best = 0.0 if len(set(order)) == 3 else QUARTER
    robot = with_joint(kt.joints.Euler(order))
    np.testing.assert_allclose(robot.conditioning(np.array([0.0, 1.0, best, 2.0, 0.0])), 1.0)


def test_a_turn_of_two_pi_is_the_only_end_of_the_exponential_map() -> None:
    robot = with_joint(kt.joints.ExponentialMap())
    q = np.linspace(0.0, 1.99 * math.pi, 50)[:, None] * np.array([0.0, 0.48, -0.6, 0.64, 0.0])
    values = robot.conditioning(q)[:, 1]
    assert values[0] == 1.0
    assert (np.diff(values) < 0.0).all()
    t = np.linalg.norm(q[1:], axis=1)
    np.testing.assert_allclose(values[1:], np.sin(t / 2.0) / (t / 2.0), atol=1e-14)
    assert robot.conditioning(robot.rechart(q, q)[0])[:, 1].min() > 0.3


def test_joints_that_are_never_singular_say_one() -> None:
    robot = with_joint(
        kt.joints.Spherical(), kt.joints.FloatingBase(), kt.Prismatic([1, 0, 0]), kt.joints.Translation()
    )
    rng = np.random.default_rng(0)
    q = np.array([robot.random(rng) for _ in range(3)]).reshape(3, 1, robot.nq)
    values = robot.conditioning(q)
    assert values.shape == (3, 1, len(robot.joints))
    np.testing.assert_allclose(values, 1.0)


def test_a_joint_of_several_parts_is_as_singular_as_they_are() -> None:
    parts = kt.joints.Composite([kt.joints.Translation(), kt.joints.ExponentialMap()])
    robot = with_joint(parts)
    q = np.array([0.3, 0.1, 0.2, 50.0, 0.6 * 6.2, 0.0, 0.8 * 6.2, 0.4])
    alone = with_joint(kt.joints.ExponentialMap()).conditioning(q[[0, 4, 5, 6, 7]])
    np.testing.assert_allclose(robot.conditioning(q), alone, rtol=1e-9)


def test_followers_and_couplings_have_theirs() -> None:
    builder = kt.ModelBuilder("pair")
    for name in ("base", "a", "b", "c"):
        builder.add_body(name, kt.solids.sphere(0.1, mass=1.0))
    builder.add_joint("leader", kt.Revolute([0, 0, 1]), "base", "a", kt.lie.placement((0.1, 0, 0)))
    builder.add_joint("follower", kt.Revolute([0, 1, 0]), "a", "b", mimic=kt.model.Mimic("leader", 2.0))
    builder.add_joint("ball", kt.joints.Euler("ZYX"), "b", "c")
    builder.add_coupling("gimbal", ["ball"], [[1.0, 0.0], [0.0, 2.0], [0.0, 1.0]], coordinates=["u", "w"])
    robot = builder.build()
    assert robot.nq == 3
    np.testing.assert_allclose(robot.conditioning([0.1, 0.2, math.pi / 4.0]), [1.0, 1.0, 0.0], atol=1e-15)
    assert robot.near_singular([0.1, 0.2, math.pi / 4.0]) == ["ball"]


def test_near_singular_names_them() -> None:
    builder = kt.ModelBuilder("arm")
    for name in ("base", "a", "b", "c"):
        builder.add_body(name, kt.solids.sphere(0.1, mass=1.0))
    builder.add_joint("shoulder", kt.joints.Euler("ZXZ"), "base", "a")
    builder.add_joint("elbow", kt.Revolute([0, 1, 0]), "a", "b")
    builder.add_joint("wrist", kt.joints.Euler("XYZ"), "b", "c")
    robot = builder.build()
    neutral = robot.neutral()
    assert robot.near_singular(neutral) == ["shoulder"]
    neutral[1] = 0.1
    assert robot.near_singular(neutral) == []
    assert robot.near_singular(neutral, below=0.2) == ["shoulder"]
    neutral[5] = QUARTER
    assert robot.near_singular(neutral) == ["wrist"]
    with pytest.raises(
        kt.errors.ShapeError, match=r"near_singular takes one configuration of shape \(7,\), not \(2, 7\)"
    ):
        robot.near_singular(np.zeros((2, 7)))
    with pytest.raises(kt.errors.ShapeError):
        robot.conditioning(np.zeros(6))
    with pytest.raises(kt.errors.ConfigurationError):
        robot.conditioning(np.full(7, np.nan))


class Sliders(JointKind):
    """Two displacements, in millimetres, whose directions close up as the second grows."""

    nq = nv = 2

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        x, y = Vec3(1e-3, 0.0, 0.0), Vec3(q[1] * 2e-3, 1e-3, 0.0)
        S = Subspace((Motion(Vec3.zero(), x), Motion(Vec3.zero(), y)))
        r = Vec3(1e-3 * q[0] + 1e-3 * q[1] * q[1], 1e-3 * q[1], 0.0)
        c = Motion(Vec3.zero(), Vec3(2e-3 * v[1] * v[1], 0.0, 0.0))
        return JointMotion(Transform(Mat3.identity(), r), S, S @ v, c)


def test_users_kinds_have_theirs_in_any_unit_of_length() -> None:
    robot = with_joint(Sliders())
    values = robot.conditioning(np.array([[0.0, 1.0, y, 0.0] for y in (0.0, 1.0, 50.0)]))[:, 1]
    assert values[0] == 1.0
    assert values[0] > values[1] > values[2] > 0.0
    assert robot.near_singular([0.0, 1.0, 50.0, 0.0]) == ["joint0"]


# -- dynamics there


@EACH
def test_inverse_dynamics_never_minds(kind: JointKind, place: list[float], away: list[float]) -> None:
    robot = with_joint(kind)
    v, qdd = np.random.default_rng(0).normal(size=(2, robot.nv))
    at = reference(kt.rnea, robot, configuration(place, away, 0.0), v, qdd)
    near = reference(kt.rnea, robot, configuration(place, away, 1e-9), v, qdd)
    assert np.isfinite(at).all()
    np.testing.assert_allclose(near, at, atol=1e-6)


@EACH
def test_accelerations_grow_as_one_over_the_distance_and_stay_finite(
    kind: JointKind, place: list[float], away: list[float]
) -> None:
    """Free of joint forces the body's acceleration stays what it is; only the coordinates must hurry."""
    robot = with_joint(kind)
    v = np.random.default_rng(0).normal(size=robot.nv)
    scaled = []
    for k in range(3, 8):
        distance = 10.0**-k
        qdd = np.asarray(reference(kt.aba, robot, configuration(place, away, distance), v, np.zeros(robot.nv)))
        assert np.isfinite(qdd).all()
        scaled.append(np.abs(qdd).max() * distance)
    np.testing.assert_allclose(scaled[:3], scaled[0], rtol=0.05)
    assert scaled[0] > 0.1


@EACH
def test_forces_on_the_coordinates_give_one_over_its_square(
    kind: JointKind, place: list[float], away: list[float]
) -> None:
    robot = with_joint(kind)
    v, tau = np.random.default_rng(0).normal(size=(2, robot.nv))
    scaled = []
    for k in range(3, 8):
        qdd = np.asarray(reference(kt.aba, robot, configuration(place, away, 10.0**-k), v, tau))
        assert np.isfinite(qdd).all()
        scaled.append(np.abs(qdd).max() * 10.0 ** (-2 * k))
    np.testing.assert_allclose(scaled[:3], scaled[0], rtol=0.05)
    assert scaled[0] > 0.01


def test_a_robot_without_such_joints_is_not_touched_by_rechart() -> None:
    robot = kt.zoo.load("arm6")
    q, v = robot.random(0), np.arange(6.0)
    moved: Any = robot.rechart(q, v)
    assert (moved[0] == q).all()
    assert (moved[1] == v).all()
    assert moved[0] is not q
    with pytest.raises(kt.errors.ShapeError):
        robot.rechart(q, v[:5])
    with pytest.raises(
        kt.errors.ShapeError, match=r"rechart: the leading axes do not broadcast together: q \(2,\), v \(3,\)"
    ):
        robot.rechart(np.zeros((2, 6)), np.zeros((3, 6)))


def gimbal(kind: JointKind, armature: float = 0.0) -> kt.Model:
    builder = kt.ModelBuilder("gimbal")
    builder.add_body("world")
    builder.add_body("box", kt.solids.box(0.1, 0.2, 0.3, mass=1.0, placement=kt.lie.placement((0.1, 0.0, 0.2))))
    builder.add_joint("gimbal", kind, "world", "box", armature=(armature,) * kind.nv)
    return builder.build()


@EACH
def test_dynamics_at_a_singularity_is_an_error_that_names_the_joint_and_the_sample(
    kind: JointKind, place: list[float], away: list[float]
) -> None:
    robot = gimbal(kind)
    q, zero = np.array(place), np.zeros(kind.nv)
    tau = np.arange(1.0, kind.nv + 1.0)  # which asks for a motion that the joint does not have there
    near = q + 0.1 * np.array(away)
    said = r"aba: q has joint 'gimbal' \(.*\) at a singularity"
    for v in (zero, np.ones(kind.nv)):  # the one gives NaN, the other numbers without digits
        for call in (kt.aba, kt.compile(robot, kt.aba)):
            first = (robot,) if call is kt.aba else ()
            with pytest.raises(kt.errors.ConfigurationError, match=said):
                call(*first, q, v, tau)  # type: ignore[operator]
            with pytest.raises(kt.errors.ConfigurationError, match=said):
                call(*first, q, v, tau, out=np.empty(kind.nv))  # type: ignore[operator]
            for count in (3, 5000):
                batch = np.tile(near, (count, 1))
                batch[2] = q
                with pytest.raises(kt.errors.ConfigurationError, match=r"q\[2\] has joint 'gimbal'"):
                    call(*first, batch, v, tau)  # type: ignore[operator]
    with pytest.raises(kt.errors.ConfigurationError, match="mass_matrix_inverse: q has joint 'gimbal'"):
        kt.mass_matrix_inverse(robot, q)
    with pytest.raises(kt.errors.ConfigurationError, match="rollout: q has joint 'gimbal'"):
        kt.rollout(robot, q, zero, np.tile(tau, (3, 1)), 0.001)
    with pytest.raises((kt.errors.ConfigurationError, kt.errors.SimulationError), match="singularity"):
        kt.simulate(robot.with_actuation({"gimbal": True}), q=q, tau=tau, duration=0.01)
    assert np.isfinite(kt.rnea(robot, q, zero, zero)).all()


def test_what_is_regular_at_a_singularity_or_wrong_elsewhere_is_no_such_error() -> None:
    place, zero = np.array([0.3, QUARTER, 0.1]), np.zeros(3)
    with_rotors = gimbal(kt.joints.Euler("ZYX"), armature=0.1)
    assert np.isfinite(kt.aba(with_rotors, place, zero, np.ones(3))).all()
    robot = gimbal(kt.joints.Euler("ZYX"))
    aba = kt.compile(robot, kt.aba)
    assert np.isnan(aba(place - 0.5, zero, np.full(3, np.nan))).all()
    assert np.isnan(aba(np.full(3, np.nan), zero, zero)).all()
    q = np.array([place - 0.5, np.full(3, np.nan), place - 0.4])
    assert np.isfinite(aba(q, zero, zero)).all(axis=-1).tolist() == [True, False, True]
    assert abs(aba(place - 0.5, zero, np.full(3, 1e14))).max() > 1e12
    assert (
        aba(place - 0.5, zero, np.ones(3)).tobytes() == aba(np.tile(place - 0.5, (9, 1)), zero, np.ones(3))[4].tobytes()
    )


def test_only_robots_with_such_joints_are_looked_at() -> None:
    for robot in (
        kt.zoo.load("arm6"),
        kt.zoo.load("quadruped"),
        gimbal(kt.joints.Spherical()),
        gimbal(kt.joints.Placed(kt.Free(), np.eye(4))),
    ):
        assert not any(joint.kind.can_be_singular for joint in robot.joints.values())
    assert gimbal(kt.joints.Placed(kt.joints.FreeRPY(), np.eye(4))).joints["gimbal"].kind.can_be_singular
