"""The Coriolis matrix: its product with v, its skew-symmetry with Ḣ, and the Christoffel symbols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.spatial import CoriolisInertia, Force, Inertia, Motion, Transform, Vec3
from tests.laws.reference import BOTH, close, coordinate_rates, directional, reference
from tests.laws.test_rolled import interpreted, program_of
from tests.robots import every_joint, group_of_joints
from tests.strategies import (
    JointPlan,
    State,
    blueprints,
    inertias,
    law,
    motions,
    moving_trees,
    states,
    transforms,
)
from tests.unit.model.bodies import point

Array = NDArray[np.float64]
Call = Callable[..., Any]


@cache
def robot_of_all_joints() -> kt.Model:
    return every_joint()


def case_of_all_joints() -> tuple[kt.Model, State]:
    """Joints of every kind, which share coordinates and have geared rotors."""
    return moving(robot_of_all_joints())


def case_of(group: str) -> tuple[kt.Model, State]:
    """A part of these joints."""
    return moving(group_of_joints(group))


def moving(robot: kt.Model) -> tuple[kt.Model, State]:
    rng = np.random.default_rng(4)
    return robot, State(robot.random(rng), *rng.normal(size=(3, robot.nv)))


def size_of(*terms: Array) -> float:
    return max(float(np.abs(term).max(initial=0.0)) for term in terms)


def mass_matrix_rate(model: kt.Model, q: Array, v: Array) -> Array:
    return directional(lambda q: reference(kt.crba, model, q), (q, coordinate_rates(model, q, v)))


# -- of robots


@law()
@given(moving_trees())
@example(case_of_all_joints())
def test_its_product_with_v_is_the_coriolis_force(case: tuple[kt.Model, State]) -> None:
    model, s = case
    C = reference(kt.dynamics.coriolis_matrix, model, s.q, s.v)
    bias, gravity = reference(kt.bias_forces, model, s.q, s.v), reference(kt.gravity_forces, model, s.q)
    close(C @ s.v, bias - gravity, scale=size_of(np.abs(C) @ np.abs(s.v), bias, gravity))


@law()
@given(moving_trees())
@example(case_of_all_joints())
def test_the_rate_of_the_mass_matrix_less_twice_c_is_skew(case: tuple[kt.Model, State]) -> None:
    model, s = case
    C = reference(kt.dynamics.coriolis_matrix, model, s.q, s.v)
    rate = mass_matrix_rate(model, s.q, s.v)
    close(C + C.T, rate, scale=size_of(C, rate))


@law(15)
@given(moving_trees())
def test_the_equation_of_motion_holds(case: tuple[kt.Model, State]) -> None:
    """τ = H q̈ + C v + g."""
    model, s = case
    H, C = reference(kt.crba, model, s.q), reference(kt.dynamics.coriolis_matrix, model, s.q, s.v)
    g = reference(kt.gravity_forces, model, s.q)
    scale = size_of(np.abs(H) @ np.abs(s.qdd), np.abs(C) @ np.abs(s.v), g)
    close(reference(kt.rnea, model, s.q, s.v, s.qdd), H @ s.qdd + C @ s.v + g, scale=scale)


@law()
@given(moving_trees())
@example(case_of_all_joints())
def test_it_is_linear_in_v(case: tuple[kt.Model, State]) -> None:
    model, s = case
    whole = reference(kt.dynamics.coriolis_matrix, model, s.q, s.v + 2.0 * s.tau)
    first, second = (reference(kt.dynamics.coriolis_matrix, model, s.q, v) for v in (s.v, s.tau))
    close(whole, first + 2.0 * second, scale=size_of(first, 2.0 * second))


def christoffel(model: kt.Model, q: Array, v: Array) -> Array:
    """Σ_k ½ (∂H_ij/∂q_k + ∂H_ik/∂q_j - ∂H_jk/∂q_i) v_k, for q with v as its rate."""
    dH = np.array([directional(lambda q: reference(kt.crba, model, q), (q, unit)) for unit in np.eye(model.nv)])
    by_k = np.einsum("kij,k->ij", dH, v)
    by_j = np.einsum("jik,k->ij", dH, v)
    by_i = np.einsum("ijk,k->ij", dH, v)
    return 0.5 * (by_k + by_j - by_i)


def flat(joint: JointPlan) -> JointPlan:
    """A joint that has v as the rate of its coordinates."""
    if joint.kind.is_flat:
        return joint
    return replace(joint, kind=kt.joints.Euler("ZXY"), armature=(joint.armature[0],) * 3)


@law()
@given(st.data())
def test_it_is_that_of_the_christoffel_symbols(data: st.DataObject) -> None:
    model = data.draw(blueprints(floating=False, max_joints=5)).with_joints(flat).build()
    s = data.draw(states(model))
    expected = christoffel(model, s.q, s.v)
    close(reference(kt.dynamics.coriolis_matrix, model, s.q, s.v), expected, scale=size_of(expected), tolerance=1e-10)


def test_it_is_that_of_the_christoffel_symbols_with_geared_rotors() -> None:
    builder = kt.ModelBuilder("geared")
    builder.add_body("base")
    parents, axes = ("base", "b1", "b2", "b2"), ([0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 1])
    for k, (parent, axis) in enumerate(zip(parents, axes, strict=True), 1):
        builder.add_body(f"b{k}", kt.solids.box(0.1, 0.2, 0.3, mass=1.0, placement=kt.lie.placement([0.0, 0.1, 0.2])))
        builder.add_joint(
            f"j{k}", kt.Revolute(axis), parent, f"b{k}", kt.lie.placement([0.1, 0.2, 0.3], rpy=[0.1, 0.2, 0.3]),
            rotor=kt.model.Rotor(0.01, 20.0, (0.6, 0.0, 0.8)),
        )  # fmt: skip
    robot = builder.build()
    q, v = robot.random(1), np.array([1.0, -2.0, 3.0, 0.5])
    close(reference(kt.dynamics.coriolis_matrix, robot, q, v), christoffel(robot, q, v))


@law(6)
@given(moving_trees())
@example(case_of("sharing joints"))
@example(case_of("free bodies"))
@example(case_of("turns of bodies"))
@example(case_of("planes and turns"))
def test_loops_over_bodies_are_the_textbook_loop(case: tuple[kt.Model, State]) -> None:
    model, s = case
    expected = reference(kt.dynamics.coriolis_matrix, model, s.q, s.v)
    close(interpreted(program_of(kt.dynamics.coriolis_matrix, model), [s.q, s.v]), expected, scale=size_of(expected))


# -- closed form


@BOTH
def test_a_double_pendulum(call: Call) -> None:
    """Two point masses on rods: C = m₂ l₁ l₂ sin(q₂) [[-v₂, -v₁ - v₂], [v₁, 0]], Spong's example."""
    m1, m2, l1, l2 = 1.5, 0.8, 0.7, 0.4
    builder = kt.ModelBuilder("two rods")
    builder.add_body("base")
    for name, mass, length in (("first", m1, l1), ("second", m2, l2)):
        builder.add_body(name, point(mass, (length, 0.0, 0.0)))
    builder.add_joint("shoulder", kt.Revolute([0, 0, 1]), "base", "first")
    builder.add_joint("elbow", kt.Revolute([0, 0, 1]), "first", "second", kt.lie.placement([l1, 0.0, 0.0]))
    robot = builder.build()
    q, (v1, v2) = np.array([0.3, 1.1]), (0.9, -2.0)
    expected = m2 * l1 * l2 * np.sin(q[1]) * np.array([[-v2, -v1 - v2], [v1, 0.0]])
    close(call(kt.dynamics.coriolis_matrix, robot, q, np.array([v1, v2])), expected)


# -- of one body


def six(x: Motion | Force) -> Array:
    return np.array([*x.angular.components(), *x.linear.components()])


def matrix(f: Callable[[Motion], Motion | Force]) -> Array:
    """A linear map of motions, column by column."""
    return np.column_stack([six(f(Motion(Vec3(*e[:3]), Vec3(*e[3:])))) for e in np.eye(6).tolist()])


@law()
@given(inertias(), motions())
def test_a_body_s_matrix_is_the_one_of_its_definition(I: Inertia, v: Motion) -> None:
    crosses = matrix(v.cross)
    body, momentum = matrix(lambda m: I @ m), I @ v
    expected = 0.5 * (-crosses.T @ body - body @ crosses + matrix(lambda m: m.cross(momentum)))
    B = CoriolisInertia.of(I, v)
    close(matrix(lambda m: B @ m), expected, scale=100.0)
    close(matrix(B.transposed_times), expected.T, scale=100.0)


@law()
@given(inertias(), motions(), transforms())
def test_a_body_s_matrix_is_the_same_seen_from_elsewhere(I: Inertia, v: Motion, X: Transform) -> None:
    """Also by a transform that knows a turn about an axis."""
    B = CoriolisInertia.of(I, v)
    change = matrix(lambda m: X @ m)
    for form in (X, X.factored()):
        close(matrix(lambda m: form.back(B) @ m), change.T @ matrix(lambda m: B @ m) @ change, scale=1000.0)  # noqa: B023
