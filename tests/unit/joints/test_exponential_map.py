"""The exponential map: exact near zero, smooth across the switch from series to closed forms, and never at its end."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree import algorithms
from kinetree.compiler.forms.regrouped import regrouped
from kinetree.expr import Port, forward_derivative, interpret, trace
from kinetree.joints import JointKind
from kinetree.spatial import Inertia, Vec3
from kinetree.spatial.rotation_vector import RECHART_ABOVE, RotationVector
from tests.strategies import law, numbers, positive, roundings
from tests.unit.joints.flat_kinds import Array, check_motion, homogeneous, six, with_joint

KIND = kt.joints.ExponentialMap()
DIRECTION = np.array([0.48, -0.6, 0.64])
LENGTHS = [0.0, 1e-200, 1e-30, 1e-18, 1e-9, 1e-5, 1e-3, 0.1, 0.7, 1.0, 1.999999, 2.0, 2.000001, 3.0, 4.7, 6.2, 50.0]
AT_ZERO = [1.0, 1 / 2, 1 / 6, -1 / 12, -1 / 60]
rotation_vectors = st.tuples(positive(0.0, 6.0), st.tuples(*[numbers(1.0)] * 3)).map(
    lambda drawn: np.array(drawn[1]) * (drawn[0] / max(float(np.linalg.norm(drawn[1])), 1e-3))
)
rates = st.tuples(*[numbers(3.0)] * 3).map(np.array)


def test_the_functions_of_the_length_are_exact_to_rounding() -> None:
    for t in LENGTHS:
        found = RotationVector.of(Vec3(*(t * DIRECTION).tolist()))[1:]
        with mpmath.workdps(60):
            # The length that the rounded vector has.
            x = mpmath.sqrt(sum(mpmath.mpf(c) ** 2 for c in (t * DIRECTION).tolist()))
            exact = functions_of(x) if x > 1e-12 else AT_ZERO
            for name, a, b, at_zero in zip(("S", "A", "B", "dA", "dB"), found, exact, AT_ZERO, strict=True):
                assert abs(a - b) <= 1.2e-15 * abs(at_zero), f"{name} at {t}: {a} for {mpmath.nstr(b, 20)}"


def functions_of(t: Any) -> list[Any]:
    s, c = mpmath.sin(t), mpmath.cos(t)
    S, A, B = s / t, (1 - c) / t**2, (t - s) / t**3
    return [S, A, B, (S - 2 * A) / t**2, (A - 3 * B) / t**2]


def test_nothing_jumps_where_the_series_hand_over() -> None:
    below, above = (Vec3(x, 0.0, 0.0) for x in (math.nextafter(2.0, 0.0), 2.0))
    v = Vec3(0.3, -1.2, 0.7)
    before, after = RotationVector.of(below), RotationVector.of(above)
    assert before.B != after.B or before.dB != after.dB, "the two sides are no different branches"
    for a, b in (
        (before[1:], after[1:]),
        (before.rotation().components(), after.rotation().components()),
        (before.jacobian().components(), after.jacobian().components()),
        (before.bias(v).components(), after.bias(v).components()),
    ):
        np.testing.assert_allclose(a, b, atol=2e-15, rtol=0)


def test_zero_is_exact() -> None:
    X, S, v_J, c_J = KIND.calc([0.0] * 3, [1.0, 2.0, 3.0])
    assert X.E.components() == (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    assert [six(column).tolist() for column in S.columns] == np.eye(6)[:3].tolist()
    assert six(v_J).tolist() == [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]
    assert not six(c_J).any()


@given(q=rotation_vectors, v=rates, signs=st.tuples(*[st.sampled_from([1.0, -1.0])] * 3))
@law(60)
def test_rates_and_accelerations_are_those_of_the_placement(q: Array, v: Array, signs: tuple[float, ...]) -> None:
    check_motion(kt.joints.ExponentialMap(signs=signs), q.tolist(), v.tolist())


@given(q=rotation_vectors)
@law(30)
def test_the_rotation_is_the_matrix_exponential(q: Array) -> None:
    with mpmath.workdps(40):
        x, y, z = map(mpmath.mpf, q.tolist())
        exact = mpmath.expm(mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]]), method="taylor")
        exact = np.array(exact.tolist(), dtype=float)
    # The rotation is 1 + a [q] + b [q]²: a and b are off by 11 roundings of their values at zero (1.2e-15, as above).
    angle = float(np.linalg.norm(q))
    atol = roundings(11) * (1.0 + angle + angle * angle / 2.0)
    np.testing.assert_allclose(homogeneous(KIND, q)[:3, :3], exact, atol=atol)


@given(q=rotation_vectors, w=rates)
@law(30)
def test_rates_of_an_angular_velocity_are_the_inverse_of_the_jacobian(q: Array, w: Array) -> None:
    map = RotationVector.of(Vec3(*q.tolist()))
    J = np.array(map.jacobian().components()).reshape(3, 3)
    size = np.linalg.cond(J)
    np.testing.assert_allclose(J @ map.rates(Vec3(*w.tolist())).components(), w, atol=1e-14 * size * size)


@pytest.mark.parametrize("point", [[0.0, 0.0, 0.0], [1e-20, 0.0, 0.0], [1.0, 2.0, -0.5], [2.0, 0.0, 0.0]])
def test_programs_of_it_have_derivatives_everywhere(point: list[float]) -> None:
    def one_sample(q: Any, v: Any) -> list[Any]:
        motion = KIND.calc(q, v)
        parts = (motion.X_J.E.components(), *(p.angular.components() for p in (motion.v_J, motion.c_J)))
        return [[x for part in parts for x in part]]

    program = trace(one_sample, [Port("q", (3,)), Port("v", (3,))], [Port("x", (15,))], "calc")
    rates = [0.7, -1.1, 0.4]
    derivative = forward_derivative(program, [0])
    for k in range(3):
        _, column = interpret(derivative, point, rates, [float(j == k) for j in range(3)])
        q: list[Any] = [np.array([x + (1e-30j if j == k else 0j)]) for j, x in enumerate(point)]
        motion = KIND.calc(q, [np.array([r]) for r in rates])
        parts = (motion.X_J.E.components(), *(p.angular.components() for p in (motion.v_J, motion.c_J)))
        expected = [x.imag.item() / 1e-30 for part in parts for x in part]
        np.testing.assert_allclose(column, expected, atol=1e-14)


# -- going round


@given(q=rotation_vectors, turns=st.sampled_from([1.0, 1.3, 2.9]), v=rates)
@law(60)
def test_rechart_keeps_rotation_and_angular_velocity(q: Array, turns: float, v: Array) -> None:
    q = turns * q
    length = float(np.linalg.norm(q))
    if abs(math.sin(length / 2.0)) < 1e-2 and length > 1.0:
        return  # too near to the end of the coordinates for any inverse
    moved, rates = (np.array(x) for x in KIND.rechart(q.tolist(), v.tolist()))
    if length <= RECHART_ABOVE:
        assert moved.tolist() == q.tolist()
        assert rates.tolist() == v.tolist()
        return
    assert np.linalg.norm(moved) <= math.pi + 1e-14
    np.testing.assert_allclose(homogeneous(KIND, moved), homogeneous(KIND, q), atol=1e-13)
    before, after = (six(KIND.calc(list(x), list(y)).v_J) for x, y in ((q, v), (moved, rates)))
    np.testing.assert_allclose(after, before, atol=1e-12)


def test_a_robot_recharts_arrays_whose_axes_broadcast() -> None:
    robot = with_joint(KIND)
    q = np.array([0.3, 3.0, -3.0, 3.0, 9.0])
    v = np.arange(10.0).reshape(2, 5)
    q_out, v_out = robot.rechart(q, v)
    assert q_out.shape == v_out.shape == (2, 5)
    assert (q_out[:, [0, 4]] == q[[0, 4]]).all()
    assert (v_out[:, [0, 4]] == v[:, [0, 4]]).all()
    np.testing.assert_allclose(np.linalg.norm(q_out[:, 1:4], axis=1), 2.0 * math.pi - 3.0 * math.sqrt(3.0))
    for k in range(2):
        before, after = (
            kt.kinematics.body_velocities(robot, *state, expressed_in="world")
            for state in ((q, v[k]), (q_out[k], v_out[k]))
        )
        np.testing.assert_allclose(after, before, atol=1e-13)


@pytest.mark.parametrize(
    "kind",
    [
        KIND,
        kt.joints.Placed(KIND, kt.lie.placement([0.1, -0.2, 0.3], rpy=[0.4, 0.5, 0.6])),
        kt.joints.Composite(
            [kt.Revolute([1, 0, 0]), (KIND, kt.lie.placement([0.0, 0.1, 0.2])), kt.Prismatic([0, 1, 0])]
        ),
    ],
    ids=lambda kind: type(kind).__name__,
)
def test_joints_that_hold_it_go_round_with_it_after_however_many_turns(kind: JointKind) -> None:
    assert kind.recharts
    robot = with_joint(kind)
    start = next(k for k, name in enumerate(robot.q_names) if name.endswith("rx"))
    rng = np.random.default_rng(4)
    q, v = rng.normal(size=(2, robot.nv))
    q[start : start + 3] = [20.0, -11.0, 7.0]  # almost four turns
    q_out, v_out = robot.rechart(q, v)
    assert np.linalg.norm(q_out[start : start + 3]) <= math.pi
    others = [k for k in range(robot.nq) if not start <= k < start + 3]
    assert (q_out[others] == q[others]).all()
    assert (v_out[others] == v[others]).all()
    for function, arguments, options in (
        (kt.forward_kinematics, ((q,), (q_out,)), {}),
        (kt.kinematics.body_velocities, ((q, v), (q_out, v_out)), {"expressed_in": "world"}),
    ):
        before, after = (function(robot, *state, **options) for state in arguments)
        np.testing.assert_allclose(after, before, atol=1e-12)


def tumbling_box() -> kt.Model:
    builder = kt.ModelBuilder("box")
    builder.add_body("base")
    builder.add_body("body", kt.solids.box(0.1, 0.2, 0.3, mass=1.0))
    builder.add_joint("joint", KIND, "base", "body")
    return builder.build()


@pytest.mark.parametrize("unroll", [True, False])
def test_a_tumbling_body_never_meets_the_end(unroll: bool) -> None:
    robot = tumbling_box()
    v = np.array([1.0, -3.0, 2.0])
    step = kt.compile(robot, kt.rollout, steps=2000, integrator="rk4", unroll=unroll)
    states = step(np.zeros(3), v, np.zeros((2000, 3)), 0.005)
    q, rates = states[:, :3], states[:, 3:]
    lengths = np.linalg.norm(q, axis=1)
    assert lengths.max() <= RECHART_ABOVE
    jumps = np.flatnonzero(np.linalg.norm(np.diff(q, axis=0), axis=1) > 1.0)
    assert len(jumps) >= 3
    energy = kt.kinetic_energy(robot, q, rates)
    np.testing.assert_allclose(energy, kt.kinetic_energy(robot, np.zeros(3), v), rtol=1e-6)
    R = kt.frame_placement(robot, q, "body")[:, :3, :3]
    assert np.abs(np.diff(R, axis=0)).max() < 0.05, "the rotation jumped with its coordinates"


def test_simulations_go_round_too() -> None:
    motion = kt.simulate(tumbling_box(), v=[1.0, -6.0, 2.0], duration=1.5, dt=0.005)
    assert np.linalg.norm(motion.q, axis=1).max() <= RECHART_ABOVE
    assert np.abs(np.diff(motion.q, axis=0)).max() > 1.0
    assert abs(motion.balance_error).max() < 1e-6 * abs(motion.kinetic).max()


def test_a_coupling_refuses_joints_whose_coordinates_change_over() -> None:
    builder = kt.ModelBuilder("robot")
    for name in ("base", "a", "b"):
        builder.add_body(name, kt.solids.sphere(0.1, mass=1.0))
    builder.add_joint("j1", KIND, "base", "a")
    builder.add_joint("j2", kt.Revolute([0, 0, 1]), "a", "b")
    builder.add_coupling("pair", ["j1", "j2"], [[1.0], [0.0], [0.0], [1.0]], coordinates=["z"])
    with pytest.raises(kt.errors.ModelError, match=r"couples 'j1' .exponential map., whose coordinates change over"):
        builder.build()


# -- relatives and robots


@given(q=rotation_vectors)
@law(20)
def test_reversed_and_mirrored_kinds_give_inverse_and_mirror_image(q: Array) -> None:
    T = homogeneous(KIND, q)
    np.testing.assert_allclose(homogeneous(KIND.reversed(), q) @ T, np.eye(4), atol=1e-14)
    for normal in range(3):
        M = np.diag([-1.0 if k == normal else 1.0 for k in range(3)] + [1.0])
        np.testing.assert_allclose(homogeneous(KIND.mirrored(normal), q), M @ T @ M, atol=1e-14)
        assert KIND.mirrored(normal).mirrored(normal) == KIND
    assert KIND.reversed().reversed() == KIND
    assert KIND.scaled(2.0) == KIND


def test_the_mass_moves_to_the_parent_unseen() -> None:
    robot = with_joint(KIND)
    rng = np.random.default_rng(0)
    tree, fewer = robot.tree, regrouped(robot.tree)
    assert fewer.I[2].mass == 0.0
    assert isinstance(fewer.I[2], Inertia)
    q, v, x = (tree.split(list(rng.normal(size=5)), "nv") for _ in range(3))
    for function in (algorithms.rnea, algorithms.aba):
        a, b = (np.concatenate(function(t, q, v, x)) for t in (tree, fewer))
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(algorithms.crba(tree, q).flat(), algorithms.crba(fewer, q).flat(), atol=1e-12)


def test_dynamics_are_those_of_the_spherical_joint_at_the_same_motion() -> None:
    mine, theirs = with_joint(KIND), with_joint(kt.joints.Spherical())
    rng = np.random.default_rng(1)
    q, v, qdd = rng.normal(size=(3, 5))
    _, S, v_J, c_J = KIND.calc(list(q[1:4]), list(v[1:4]))
    J = np.array([six(column)[:3] for column in S.columns]).T
    half = np.linalg.norm(q[1:4]) / 2.0
    quaternion = [*(q[1:4] * (math.sin(half) / (2.0 * half))), math.cos(half)]
    q2 = np.array([q[0], *quaternion, q[4]])
    v2 = np.array([v[0], *six(v_J)[:3], v[4]])
    qdd2 = np.array([qdd[0], *(J @ qdd[1:4] + six(c_J)[:3]), qdd[4]])
    tau = kt.rnea(theirs, q2, v2, qdd2)
    tau[1:4] = J.T @ tau[1:4]
    np.testing.assert_allclose(kt.rnea(mine, q, v, qdd), tau, atol=1e-11)
    np.testing.assert_allclose(kt.aba(mine, q, v, tau), qdd, atol=1e-10)


def test_random_orientations_are_shortest_rotation_vectors() -> None:
    rng = np.random.default_rng(0)
    infinite = [math.inf] * 3
    drawn = np.array([KIND.random(rng, [-math.inf] * 3, infinite) for _ in range(300)])
    assert np.linalg.norm(drawn, axis=1).max() <= math.pi
    assert np.linalg.norm(drawn, axis=1).max() > 3.0
    low, high = np.array([0.1, -0.2, 0.0]), np.array([0.2, 0.3, 0.5])
    within = np.array([KIND.random(rng, low, high) for _ in range(50)])
    assert ((within >= low) & (within <= high)).all()


def test_it_says_what_it_is() -> None:
    assert (KIND.q_names, KIND.v_names, KIND.q_units) == (("rx", "ry", "rz"),) * 2 + (("rad",) * 3,)
    assert KIND.description == "exponential map"
    assert repr(KIND) == "ExponentialMap()"
    assert repr(KIND.mirrored(0)) == "ExponentialMap(signs=(1.0, -1.0, -1.0))"
    with pytest.raises(kt.errors.ModelError, match=r"signs must be 3 numbers, each 1 or -1, not \[2, 1, 1\]"):
        kt.joints.ExponentialMap(signs=[2, 1, 1])
