"""Spherical and floating-base joints, and the free one beside them: motion, coordinates and relatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree import algorithms
from kinetree.joints import JointKind
from kinetree.spatial import Inertia, Mat3, Motion, Sym3, Transform, Vec3
from tests.laws.reference import close
from tests.strategies import inertias, law, numbers, transforms
from tests.unit.model.bodies import ball, chain

Array = NDArray[Any]

KINDS: list[JointKind] = [kt.joints.Spherical(), kt.joints.FloatingBase(), kt.Free()]
EVERY_KIND = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
_STEP = 1e-30


def state_of(kind: JointKind, seed: int = 0) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(seed)
    infinite = [math.inf] * kind.nq
    return list(kind.random(rng, [-x for x in infinite], infinite)), rng.normal(size=kind.nv).tolist()


def array(kind: JointKind, q: Sequence[Any], v: Sequence[Any]) -> dict[str, Array]:
    """What `calc` gives, as arrays; motions are [ω; v]."""
    motion = kind.calc(q, v)
    return {
        "E": _numbers(motion.X_J.E.components()).reshape(3, 3),
        "r": _numbers(motion.X_J.r.components()),
        "S": np.stack([six(column) for column in motion.S.columns], axis=1),
        "v_J": six(motion.v_J),
        "c_J": six(motion.c_J),
    }


def six(motion: Motion) -> Array:
    return _numbers((*motion.angular.components(), *motion.linear.components()))


def _numbers(components: Sequence[Any]) -> Array:
    return np.array([x.item() if isinstance(x, np.ndarray) else x for x in components])


def moving(kind: JointKind, q: Sequence[float], v: Sequence[float]) -> list[Array]:
    """q + i h q̇: what a function of it has as its imaginary part is h times its derivative in time, exactly."""
    return [np.array([x + 1j * _STEP * r]) for x, r in zip(q, kind.rates(q, v), strict=True)]


def quaternion_matrix(q: Array) -> Array:
    """q p = Q(q) p, for quaternions x, y, z, w."""
    x, y, z, w = q
    return np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])


@EVERY_KIND
@pytest.mark.parametrize("seed", range(3))
def test_the_subspace_is_the_velocity_of_the_placement(kind: JointKind, seed: int) -> None:
    """And the bias acceleration is the derivative of S v."""
    q, v = state_of(kind, seed)
    motion, ahead = array(kind, q, v), array(kind, moving(kind, q, v), v)
    rates = {name: np.imag(x) / _STEP for name, x in ahead.items()}
    spin = -rates["E"] @ motion["E"].T
    velocity = np.array([spin[2, 1], spin[0, 2], spin[1, 0], *(motion["E"] @ rates["r"])])
    np.testing.assert_allclose(motion["v_J"], motion["S"] @ v, atol=1e-15)
    np.testing.assert_allclose(motion["v_J"], velocity, atol=1e-14)
    np.testing.assert_allclose(motion["c_J"], rates["v_J"], atol=1e-14)
    np.testing.assert_allclose(motion["c_J"], rates["S"] @ v, atol=1e-14)


@EVERY_KIND
def test_rates_are_the_direction_in_which_integrate_leaves(kind: JointKind) -> None:
    q, v = state_of(kind)
    ahead = kind.integrate(q, [np.array([1j * _STEP * x]) for x in v])
    np.testing.assert_allclose(np.imag(_numbers(ahead)) / _STEP, kind.rates(q, v), atol=1e-15)


@EVERY_KIND
def test_a_quaternion_changes_by_half_its_product_with_the_angular_velocity(kind: JointKind) -> None:
    """The angular velocity is in the moving body's axes: it stands on the right."""
    q, v = state_of(kind)
    rates = kind.rates(q, v)
    expected = quaternion_matrix(np.array(q[-4:])) @ [*v[-3:], 0.0] / 2.0
    np.testing.assert_allclose(rates[-4:], expected, atol=1e-15)
    assert np.abs(np.array(rates[-4:-1]) - v[-3:]).max() > 0.1  # and is no quaternion's derivative


@EVERY_KIND
@pytest.mark.parametrize("factor", [-1.0, 0.01, 7.0])
def test_the_length_and_the_sign_of_a_quaternion_do_not_matter(kind: JointKind, factor: float) -> None:
    q, v = state_of(kind)
    other = [*q[:-4], *(factor * x for x in q[-4:])]
    for name, x in array(kind, q, v).items():
        np.testing.assert_allclose(array(kind, other, v)[name], x, atol=1e-15, err_msg=name)
    moved = np.array(kind.integrate(other, v))
    assert np.linalg.norm(moved[-4:]) == pytest.approx(1.0, abs=1e-15)
    moved[-4:] *= np.sign(factor)
    np.testing.assert_allclose(moved, kind.integrate(q, v), atol=1e-15)
    target = state_of(kind, 1)[0]
    np.testing.assert_allclose(kind.difference(other, target), kind.difference(q, target), atol=1e-14)


@EVERY_KIND
@pytest.mark.parametrize("turn", [0.0, 1e-20, 1e-8, 0.3, 1.0, 3.14])
def test_difference_undoes_integrate(kind: JointKind, turn: float) -> None:
    q, v = state_of(kind)
    w = np.array(v[-3:])
    v[-3:] = (turn * w / np.linalg.norm(w)).tolist()
    np.testing.assert_allclose(kind.difference(q, kind.integrate(q, v)), v, rtol=1e-12, atol=2e-15)


def test_a_floating_base_moves_along_a_straight_line_and_a_free_joint_along_a_screw() -> None:
    """While both make half a turn about z; the velocity is in the fixed side's axes, or in the moving side's."""
    v = [1.0, 0.0, 0.0, 0.0, 0.0, math.pi]
    base, free = kt.joints.FloatingBase(), kt.Free()
    np.testing.assert_allclose(base.integrate(base.neutral(), v), [1, 0, 0, 0, 0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(free.integrate(free.neutral(), v), [0, 2 / math.pi, 0, 0, 0, 1, 0], atol=1e-15)


@EVERY_KIND
def test_a_million_steps_keep_a_quaternion_at_length_one(kind: JointKind) -> None:
    """And lead where one long turn leads."""
    robot = chain([(kind, ball())])
    step = kt.compile(robot, kt.integrate)
    v = np.zeros(kind.nv)
    v[-3:] = [1e-3, -2e-3, 3e-3]
    table = np.array([kind.neutral()] * 1001)
    rows = list(table)
    for _ in range(1000):
        for here, there in pairwise(rows):
            step(here, v, out=there)
        assert np.abs(np.linalg.norm(table[:, -4:], axis=1) - 1.0).max() <= 1e-15
        table[0] = table[-1]
    half = 0.5e6 * np.linalg.norm(v)
    end = np.array([*(math.sin(half) * v[-3:] / np.linalg.norm(v)), math.cos(half)])
    np.testing.assert_allclose(table[-1, -4:], end, atol=1e-9)


@EVERY_KIND
def test_random_configurations_are_orientations_of_all_kinds_and_positions_within_limits(kind: JointKind) -> None:
    rng = np.random.default_rng(0)
    lower, upper = [0.25] * kind.nq, [0.5] * kind.nq
    q = np.array([kind.random(rng, lower, upper) for _ in range(2000)])
    np.testing.assert_allclose(np.linalg.norm(q[:, -4:], axis=1), 1.0, atol=1e-15)
    # Uniform on the sphere in four dimensions: <x xᵀ> = 1/4, with errors of about 1 / sqrt(12 · 2000).
    np.testing.assert_allclose(q[:, -4:].T @ q[:, -4:] / len(q), np.eye(4) / 4.0, atol=0.03)
    position = q[:, :-4]
    assert ((position >= 0.25) & (position <= 0.5)).all()


@EVERY_KIND
def test_names_and_units_fit_the_coordinates(kind: JointKind) -> None:
    n = kind.nq - 4
    assert kind.q_names == (*("x", "y", "z")[:n], "qx", "qy", "qz", "qw")
    assert kind.v_names == (*("vx", "vy", "vz")[:n], "wx", "wy", "wz")
    assert kind.q_units == ("m",) * n + ("",) * 4
    assert kind.quaternions == (n,)
    assert not kind.is_flat
    together = kind.calc(kind.neutral(), [0.0] * kind.nv).X_J
    assert (together.E, together.r) == (Mat3.identity(), Vec3.zero())


# -- relatives


@EVERY_KIND
def test_the_inverse_placement_is_one_of_the_reversed_kind(kind: JointKind) -> None:
    q, v = state_of(kind)
    X = kind.calc(q, v).X_J
    x, y, z, w = q[-4:]
    back = [*X.inverse.r.components()] if kind.nq == 7 else []
    other = kind.reversed()
    assert other is not None
    found = array(other, [*back, -x, -y, -z, w], v)
    np.testing.assert_allclose(found["E"].ravel(), X.inverse.E.components(), atol=1e-15)
    np.testing.assert_allclose(found["r"], X.inverse.r.components(), atol=1e-15)


@EVERY_KIND
@pytest.mark.parametrize("normal", [0, 1, 2])
def test_the_mirrored_placement_is_one_of_the_mirrored_kind(kind: JointKind, normal: int) -> None:
    """A quaternion's vector stays along the normal and turns round across it, as axes of rotation do."""
    q, v = state_of(kind)
    M = np.diag([-1.0 if k == normal else 1.0 for k in range(3)])
    image = [*(M @ q[:-4] if kind.nq == 7 else ()), *(-M @ q[-4:-1]), q[-1]]
    other = kind.mirrored(normal)
    assert other is not None
    found, given_ = array(other, image, v), array(kind, q, v)
    np.testing.assert_allclose(found["E"], M @ given_["E"] @ M, atol=1e-15)
    np.testing.assert_allclose(found["r"], M @ given_["r"], atol=1e-15)


@EVERY_KIND
def test_a_scaled_kind_is_the_same_kind(kind: JointKind) -> None:
    """Its positions are coordinates, and they are longer by themselves."""
    assert kind.scaled(2.5) == kind == type(kind)()
    assert hash(kind) == hash(type(kind)())


@law()
@given(inertias(), transforms(), st.lists(numbers(2.0), min_size=4, max_size=4))
def test_the_mass_at_the_centre_of_a_ball_may_sit_on_either_side(
    inertia: Inertia, placement: Transform, x: list[float]
) -> None:
    """Joint forces and inertias are the same; the first moment and the rotational inertia must stay."""
    kind = kt.joints.Spherical()
    robot = chain([(kt.Revolute([1, 2, 3]), ball()), (kind, inertia)], offset=placement)
    unseen = kind.unseen(inertia)
    assert unseen == Inertia(inertia.mass, Vec3.zero(), Sym3.zero())
    base, lower, upper = robot.tree.I
    handed_on = replace(robot.tree, I=(base, lower + robot.tree.X_T[2].back(unseen), upper - unseen))
    q, v, qdd = (
        robot.tree.split(given_, space)
        for given_, space in (
            ([0.3, *kind.integrate(kind.neutral(), x[:3])], "nq"), (x, "nv"), ([1.0, -2.0, 0.5, 3.0], "nv")
        )
    )  # fmt: skip
    forces = [robot.tree.joined(algorithms.rnea(tree, q, v, qdd), "forces") for tree in (robot.tree, handed_on)]
    matrices = [algorithms.crba(tree, q).flat() for tree in (robot.tree, handed_on)]
    close(forces[1], forces[0], scale=100.0 * (1.0 + inertia.mass))
    close(matrices[1], matrices[0], scale=100.0 * (1.0 + inertia.mass))


def test_no_mass_of_a_floating_base_may_sit_elsewhere() -> None:
    for kind in (kt.joints.FloatingBase(), kt.Free()):
        assert kind.unseen(ball(com=(0.1, 0.2, 0.3))) == Inertia.zero()


def test_a_model_with_them_shows_their_coordinates() -> None:
    robot = chain([(kt.joints.FloatingBase(), ball()), (kt.joints.Spherical(), ball(com=(0.1, 0.0, 0.0)))])
    assert (robot.nq, robot.nv) == (11, 9)
    assert robot.q_names[7:] == ["j2.qx", "j2.qy", "j2.qz", "j2.qw"]
    assert robot.v_names[6:] == ["j2.wx", "j2.wy", "j2.wz"]
    assert robot.neutral().tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert dict(robot.quaternions) == {"j1": slice(3, 7), "j2": slice(7, 11)}
    q = robot.neutral()
    q[7:] = 0.0
    with pytest.raises(kt.errors.ConfigurationError, match="j2"):
        kt.aba(robot, q, np.zeros(9), np.zeros(9))


def test_the_derivative_of_positions_of_a_floating_base_is_its_velocity() -> None:
    """Unlike a free joint's, its `frame_velocity` in the world's axes begins with v as it is."""
    robot = chain([(kt.joints.FloatingBase(), ball())])
    q, v = state_of(kt.joints.FloatingBase())
    twist = kt.kinematics.frame_velocity(robot, q, v, "b1", expressed_in="local_world_aligned")
    np.testing.assert_allclose(twist[:3], v[:3], atol=1e-15)
    twist = kt.kinematics.frame_velocity(robot, q, v, "b1", expressed_in="local")
    np.testing.assert_allclose(twist[3:], v[3:], atol=1e-15)
    a = kt.kinematics.frame_acceleration(
        robot, q, v, np.zeros(6), "b1", expressed_in="local_world_aligned", kind="classical"
    )
    np.testing.assert_allclose(a[:3], 0.0, atol=1e-15)
