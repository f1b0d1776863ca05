"""Euler angles in all twelve orders, and roll, pitch, yaw on a free joint: the motion of turns one after the other."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree import algorithms
from kinetree.compiler.forms.regrouped import regrouped
from kinetree.joints import JointKind
from kinetree.joints.euler import ORDERS
from tests.kernels import compiled_late
from tests.laws.reference import reference
from tests.strategies import law, numbers, roundings
from tests.unit.joints.flat_kinds import Array, check_motion, homogeneous, with_joint

ROUNDING = roundings(9 + 12)
"""An entry is a sum of products of three sines and cosines: 2 roundings each, two products and the sum here; instead of
these, two products of matrices, 3 each, where the turns are multiplied."""

AXES = {"X": [1.0, 0.0, 0.0], "Y": [0.0, 1.0, 0.0], "Z": [0.0, 0.0, 1.0]}
EVERY_ORDER = pytest.mark.parametrize("order", ORDERS)
SIGNS = st.sampled_from([1.0, -1.0])
euler_kinds = st.builds(
    lambda order, signs, inverse: kt.joints.Euler(order, signs=signs, inverse=inverse),
    st.sampled_from(ORDERS),
    st.tuples(SIGNS, SIGNS, SIGNS),
    st.booleans(),
)
free_kinds = st.lists(SIGNS, min_size=6, max_size=6).map(lambda signs: kt.joints.FreeRPY(signs=signs))
angles = st.tuples(*[numbers(7.0)] * 3).map(np.array)
rates = st.tuples(*[numbers(3.0)] * 6).map(np.array)


def turn(letter: str, angle: float) -> Array:
    """A turn about a coordinate axis, as a textbook has it, (4, 4)."""
    k = "XYZ".index(letter)
    R = np.eye(4)
    y, z = (k + 1) % 3, (k + 2) % 3
    R[y, y] = R[z, z] = math.cos(angle)
    R[z, y] = math.sin(angle)
    R[y, z] = -math.sin(angle)
    return R


def test_there_are_twelve_orders() -> None:
    assert len(ORDERS) == len(set(ORDERS)) == 12
    assert {"ZYX", "XYZ", "ZXZ", "YXZ", "ZXY", "XYX"} < set(ORDERS)


@given(order=st.sampled_from(ORDERS), q=angles)
@law(60)
def test_the_rotation_is_the_product_of_the_turns_in_order(order: str, q: Array) -> None:
    product = reduce(np.matmul, [turn(letter, x) for letter, x in zip(order, q, strict=True)])
    np.testing.assert_allclose(homogeneous(kt.joints.Euler(order), q), product, atol=ROUNDING)


@given(kind=euler_kinds, q=angles, v=rates)
@law(60)
def test_rates_and_accelerations_are_those_of_the_placement(kind: JointKind, q: Array, v: Array) -> None:
    check_motion(kind, q.tolist(), v[:3].tolist())


@given(kind=free_kinds, position=angles, q=angles, v=rates)
@law(40)
def test_those_of_the_free_joint_too(kind: JointKind, position: Array, q: Array, v: Array) -> None:
    check_motion(kind, [*position.tolist(), *q.tolist()], v.tolist())


@given(position=angles, q=angles)
@law(20)
def test_roll_pitch_and_yaw_are_urdfs(position: Array, q: Array) -> None:
    roll, pitch, yaw = q
    T = turn("Z", yaw) @ turn("Y", pitch) @ turn("X", roll)
    T[:3, 3] = position
    np.testing.assert_allclose(homogeneous(kt.joints.FreeRPY(), [*position, *q]), T, atol=ROUNDING)
    placed = kt.lie.placement(position.tolist(), rpy=q.tolist()).homogeneous()
    np.testing.assert_allclose(homogeneous(kt.joints.FreeRPY(), [*position, *q]).ravel(), placed, atol=1e-14)


# -- robots


@EVERY_ORDER
def test_it_moves_as_three_revolute_joints_with_massless_bodies_between(order: str) -> None:
    joint, turns = with_joint(kt.joints.Euler(order)).tree, with_joint(*revolutes(order)).tree
    rng = np.random.default_rng(ORDERS.index(order))
    q, v, x = rng.normal(size=(3, 5)).tolist()
    q[2] = rng.uniform(0.5, 1.1)  # apart from all singularities
    for function in (algorithms.rnea, algorithms.aba):
        a, b = (
            np.concatenate(function(tree, *(tree.split(y, "nv") for y in (q, v, x)))).astype(float)
            for tree in (joint, turns)
        )
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)
    a, b = (np.array(algorithms.crba(tree, tree.split(q, "nq")).flat()) for tree in (joint, turns))
    np.testing.assert_allclose(a, b, atol=1e-13)


def test_compiled_functions_say_the_same() -> None:
    joint, turns = with_joint(kt.joints.Euler("YXY")), with_joint(*revolutes("YXY"))
    rng = np.random.default_rng(0)
    q, v, x = rng.normal(size=(3, 4, 5))
    q[:, 2] = rng.uniform(0.5, 1.1, 4)
    for function in (kt.rnea, kt.aba):
        np.testing.assert_allclose(function(joint, q, v, x), function(turns, q, v, x), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(kt.kinetic_energy(joint, q, v), kt.kinetic_energy(turns, q, v), rtol=1e-12)
    a, b = (
        kt.kinematics.frame_acceleration(robot, q, v, x, "tip", expressed_in="world", kind="spatial")
        for robot in (joint, turns)
    )
    np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)


def revolutes(order: str) -> list[JointKind]:
    return [kt.Revolute(AXES[letter]) for letter in order]


@EVERY_ORDER
@pytest.mark.parametrize("armature", [0.0, 0.3])
def test_the_mass_moves_to_the_parent_unseen(order: str, armature: float) -> None:
    robot = with_joint(kt.joints.Euler(order), armature=armature)
    tree, fewer = robot.tree, regrouped(robot.tree)
    assert fewer.I[2].mass == 0.0
    rng = np.random.default_rng(0)
    q, v, x = (tree.split(list(rng.uniform(0.3, 1.2, 5)), "nv") for _ in range(3))
    for function in (algorithms.rnea, algorithms.aba):
        a, b = (np.concatenate(function(t, q, v, x)) for t in (tree, fewer))
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(algorithms.crba(tree, q).flat(), algorithms.crba(fewer, q).flat(), atol=1e-12)


def test_loops_over_bodies_move_it_alike() -> None:
    builder = kt.ModelBuilder("chain")
    builder.add_body("b0")
    kinds: list[JointKind] = [kt.joints.FreeRPY(), *[kt.joints.Euler("ZYX"), kt.joints.Ellipsoid([0.3, 0.4, 0.5])] * 2]
    for k, kind in enumerate(kinds):
        builder.add_body(
            f"b{k + 1}", kt.solids.box(0.1, 0.2, 0.3, mass=1.0, placement=kt.lie.placement((0.1, 0.2, 0.3)))
        )
        builder.add_joint(f"j{k}", kind, f"b{k}", f"b{k + 1}", kt.lie.placement((0.0, 0.1, 0.3), rpy=(0.1, 0.2, 0.3)))
    robot = builder.build()
    q, v, x = np.random.default_rng(0).uniform(0.3, 1.2, size=(3, robot.nv))
    for function in (kt.rnea, kt.aba):
        expected = reference(function, robot, q, v, x)
        looped = compiled_late(robot, function, unroll=False)(q, v, x)
        np.testing.assert_allclose(looped, expected, rtol=1e-9, atol=1e-10 * abs(expected).max())


# -- relatives


@given(kind=euler_kinds, q=angles)
@law(30)
def test_reversed_and_mirrored_kinds_give_inverse_and_mirror_image(kind: JointKind, q: Array) -> None:
    T = homogeneous(kind, q)
    back = kind.reversed()
    assert back is not None
    np.testing.assert_allclose(homogeneous(back, q) @ T, np.eye(4), atol=1e-14)
    assert back.reversed() == kind
    check_mirrored(kind, q)
    assert kind.scaled(3.0) == kind


@given(kind=free_kinds, position=angles, q=angles)
@law(20)
def test_a_free_joint_has_a_mirror_image_and_scales_by_its_coordinates(
    kind: JointKind, position: Array, q: Array
) -> None:
    check_mirrored(kind, np.array([*position, *q]))
    scaled = kind.scaled(2.0)
    assert scaled is not None
    big = homogeneous(scaled, [*(2.0 * position), *q])
    small = homogeneous(kind, [*position, *q])
    np.testing.assert_allclose(big[:3, 3], 2.0 * small[:3, 3])
    np.testing.assert_allclose(big[:3, :3], small[:3, :3])
    back = kind.reversed()
    assert back is not None
    np.testing.assert_allclose(homogeneous(back, [*position, *q]) @ small, np.eye(4), atol=1e-13)


def check_mirrored(kind: JointKind, q: Array) -> None:
    for normal in range(3):
        M = np.diag([-1.0 if k == normal else 1.0 for k in range(3)] + [1.0])
        image = kind.mirrored(normal)
        assert image is not None
        np.testing.assert_allclose(homogeneous(image, q), M @ homogeneous(kind, q) @ M, atol=1e-14)
        assert image.mirrored(normal) == kind


# -- what people see


@pytest.mark.parametrize("order", ["zyx", "ZZX", "ZY", "ZYXZ", "RPY", "", None, 321])
def test_other_orders_are_refused_with_the_list(order: Any) -> None:
    with pytest.raises(kt.errors.ModelError) as refused:
        kt.joints.Euler(order)
    message = str(refused.value)
    assert repr(order) in message
    assert all(known in message for known in ORDERS)


def test_it_says_what_it_is() -> None:
    kind = kt.joints.Euler("ZYX")
    assert kind.q_names == kind.v_names == ("rz", "ry", "rx")
    assert kt.joints.Euler("ZXZ").q_names == ("rz1", "rx", "rz2")
    assert kind.q_units == ("rad",) * 3
    assert kind.description == "Euler angles ZYX"
    assert kind == kt.joints.Euler("ZYX") != kt.joints.Euler("XYZ")
    assert hash(kind) == hash(kt.joints.Euler("ZYX"))
    assert kind.neutral() == (0.0, 0.0, 0.0)
    assert repr(kind) == "Euler('ZYX')"
    assert (
        repr(kt.joints.Euler("ZYX", signs=[1, -1, 1], inverse=True))
        == "Euler('ZYX', signs=(1.0, -1.0, 1.0), inverse=True)"
    )
    free = kt.joints.FreeRPY()
    assert free.q_names == ("x", "y", "z", "roll", "pitch", "yaw")
    assert free.q_units == ("m",) * 3 + ("rad",) * 3
    assert free.description == "free, by roll, pitch and yaw"
    assert repr(free) == "FreeRPY()"
    with pytest.raises(kt.errors.ModelError, match=r"FreeRPY: signs must be 6 numbers, each 1 or -1, not \[1, 1\]"):
        kt.joints.FreeRPY(signs=[1, 1])
