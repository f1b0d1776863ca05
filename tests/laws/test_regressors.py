"""Regressors times inertial parameters are what they say, for every kind of joint."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.spatial import Coefficients, ForceColumns, Inertia, Motion, Sym3, Transform, Vec3
from tests.kernels import compiled_late
from tests.laws.reference import body_momentum, close, reference
from tests.laws.test_rolled import interpreted, program_of
from tests.robots import every_joint
from tests.strategies import State, inertias, law, motions, moving_trees, states, transforms, trees

Array = NDArray[np.float64]

EVERY_JOINT = every_joint()


def ten(inertia: Inertia) -> Array:
    I = inertia.I
    return np.array([inertia.mass, *inertia.h.components(), I.xx, I.xy, I.yy, I.xz, I.yz, I.zz])


def without_rotors(model: kt.Model) -> kt.Model:
    """The bodies alone."""
    tree = model.tree
    still = tuple(tuple(0.0 for _ in piece) for piece in tree.armature)
    return replace(
        model, tree=replace(tree, armature=still, rotor=tuple(tuple(Vec3.zero() for _ in r) for r in tree.rotor))
    )


def without_geared_rotors(model: kt.Model) -> kt.Model:
    """With armatures, but without what ratios add."""
    tree = model.tree
    armature = (tree.armature[0], *(joint.armature for joint in model.joints.values()))
    return replace(
        model, tree=replace(tree, armature=armature, rotor=tuple(tuple(Vec3.zero() for _ in r) for r in tree.rotor))
    )


def some_state(model: kt.Model, seed: int = 0) -> State:
    rng = np.random.default_rng(seed)
    return State(model.random(rng), *rng.normal(size=(3, model.nv)))


# -- one body


@law(100)
@given(inertias(), motions(), motions())
def test_the_columns_times_the_ten_numbers_are_the_force(inertia: Inertia, v: Motion, a: Motion) -> None:
    for force, columns in (
        (inertia @ v, ForceColumns.momentum(v)),
        (inertia @ a + v.cross(inertia @ v), ForceColumns.net(v, a)),
    ):
        matrix = np.array([column.linear_first() for column in columns.columns()]).T
        close(matrix @ ten(inertia), force.linear_first(), scale=100.0)


@law(100)
@given(inertias(), motions(), motions(), motions())
def test_the_coefficients_along_a_motion_are_those_of_the_columns(
    inertia: Inertia, v: Motion, a: Motion, s: Motion
) -> None:
    for columns in (ForceColumns.momentum(v), ForceColumns.net(v, a)):
        own = columns.along(s).ten()
        close(own, [s.dot(column) for column in columns.columns()], scale=10.0)
        close(np.dot(own, ten(inertia)), s.dot(columns_times(columns, inertia)), scale=1000.0)


def columns_times(columns: ForceColumns, inertia: Inertia) -> Any:
    total, *rest = (f * float(x) for f, x in zip(columns.columns(), ten(inertia), strict=True))
    for f in rest:
        total = total + f
    return total


@law(100)
@given(inertias(), transforms(), st.lists(st.integers(-9, 9).map(float), min_size=10, max_size=10))
def test_a_body_that_is_fixed_to_another_has_the_coefficients_of_its_inertia_there(
    inertia: Inertia, X: Transform, numbers: list[float]
) -> None:
    coefficients = Coefficients.of_ten(numbers)
    assert list(coefficients.ten()) == numbers
    close(
        np.dot(coefficients.of(X).ten(), ten(inertia)),
        np.dot(coefficients.ten(), ten(X.back(inertia))),
        scale=1000.0,
    )


# -- robots


@law(50)
@given(moving_trees())
def test_joint_torque_regressor_times_parameters_is_inverse_dynamics_without_rotors(
    case: tuple[kt.Model, State],
) -> None:
    model, s = case
    tau = reference(kt.dynamics.joint_torque_regressor, model, s.q, s.v, s.qdd) @ kt.identification.inertial_parameters(
        model
    )
    close(tau, reference(kt.rnea, without_rotors(model), s.q, s.v, s.qdd), scale=100.0 * model.mass)


@law(25)
@given(moving_trees())
def test_with_drives_it_is_inverse_dynamics_with_armatures(case: tuple[kt.Model, State]) -> None:
    model, s = case
    Y = reference(kt.dynamics.joint_torque_regressor, model, s.q, s.v, s.qdd, drives=True)
    close(
        Y @ kt.identification.inertial_parameters(model, drives=True),
        reference(kt.rnea, model, s.q, s.v, s.qdd),
        scale=100.0 * model.mass,
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_followers_couplings_friction_and_armatures_of_every_joint(seed: int) -> None:
    s, model = some_state(EVERY_JOINT, seed), without_geared_rotors(EVERY_JOINT)
    Y = reference(kt.dynamics.joint_torque_regressor, EVERY_JOINT, s.q, s.v, s.qdd, drives=True)
    tau = reference(kt.rnea, model, s.q, s.v, s.qdd, passive=["damping", "friction"])
    close(Y @ kt.identification.inertial_parameters(EVERY_JOINT, drives=True), tau, scale=1000.0)
    plain = reference(kt.dynamics.joint_torque_regressor, EVERY_JOINT, s.q, s.v, s.qdd)
    assert plain.tolist() == Y[:, : 10 * len(EVERY_JOINT.bodies)].tolist()
    tau = reference(kt.rnea, without_rotors(EVERY_JOINT), s.q, s.v, s.qdd)
    close(plain @ kt.identification.inertial_parameters(EVERY_JOINT), tau, scale=1000.0)


def test_compiled_with_a_follower_a_coupling_and_drives() -> None:
    builder = kt.ModelBuilder("sharing")
    builder.add_body("base", kt.solids.box(0.1, 0.2, 0.3, mass=1.0))
    for k, parent in enumerate(["base", "a", "b", "b"]):
        name, mimic = "abcd"[k], kt.model.Mimic("joint a", -0.5, 0.1) if k == 3 else None
        builder.add_body(
            name, kt.solids.ellipsoid(0.3, 0.2, 0.1, mass=1.0, placement=kt.lie.placement([0.1, 0.2, 0.3]))
        )
        where = kt.lie.placement([0.2, 0.1, -0.1], rpy=[0.1 * k, 0.2, 0.3])
        builder.add_joint(f"joint {name}", kt.Revolute([0, 1, 0]), parent, name, where, mimic=mimic, armature=[0.1],
                          damping=[0.3], friction=[0.2])  # fmt: skip
    builder.add_coupling("wrist", ["joint b", "joint c"], [[1, 1], [1, -1]], coordinates=["pitch", "roll"])
    robot = builder.build()
    s = some_state(robot)
    Y = kt.dynamics.joint_torque_regressor(robot, s.q, s.v, s.qdd, drives=True)
    assert Y.shape == (3, 5 * 10 + 4 * 3)
    tau = kt.rnea(robot, s.q, s.v, s.qdd, passive=["damping", "friction"])
    close(Y @ kt.identification.inertial_parameters(robot, drives=True), tau, scale=10.0)
    some = kt.dynamics.joint_torque_regressor(robot, s.q, s.v, s.qdd, bodies=("d", "b"))
    close(some, np.hstack([Y[:, 40:50], Y[:, 20:30]]))


def test_the_columns_of_some_bodies_are_among_those_of_all() -> None:
    names, s = list(EVERY_JOINT.bodies), some_state(EVERY_JOINT)
    chosen = [names[7], names[0], names[-1], names[3]]
    Y = reference(kt.dynamics.joint_torque_regressor, EVERY_JOINT, s.q, s.v, s.qdd)
    some = reference(kt.dynamics.joint_torque_regressor, EVERY_JOINT, s.q, s.v, s.qdd, bodies=chosen)
    close(some, np.hstack([Y[:, 10 * k : 10 * k + 10] for k in map(names.index, chosen)]))
    assert not some[:, 10:20].any()  # the fixed base


@law(25)
@given(moving_trees())
def test_momentum_regressor_times_parameters_is_the_momentum_of_all_bodies(case: tuple[kt.Model, State]) -> None:
    model, s = case
    momentum = reference(kt.dynamics.momentum_regressor, model, s.q, s.v) @ kt.identification.inertial_parameters(model)
    close(momentum, body_momentum(model, s.q, s.v), scale=1000.0)


@law(25)
@given(moving_trees())
def test_energy_regressors_times_parameters_are_the_energies(case: tuple[kt.Model, State]) -> None:
    model, s = case
    pi = kt.identification.inertial_parameters(model)
    kinetic = reference(kt.dynamics.kinetic_energy_regressor, model, s.q, s.v) @ pi
    close(kinetic, reference(kt.kinetic_energy, without_rotors(model), s.q, s.v), scale=100.0)
    potential = reference(kt.dynamics.potential_energy_regressor, model, s.q) @ pi
    close(potential, reference(kt.potential_energy, model, s.q), scale=100.0 * model.mass)


@law(25)
@given(moving_trees(), st.data())
def test_the_wrenches_on_the_bodies_do_the_work_of_the_joints(
    case: tuple[kt.Model, State], data: st.DataObject
) -> None:
    """Virtual power: Σ Jᵀ W π over all moving bodies is τ, and a frame's numbers are those in the frame."""
    model, s = case
    tau = np.zeros(model.nv)
    for name, body in model.bodies.items():
        if body.slot:
            W = reference(kt.dynamics.body_wrench_regressor, model, s.q, s.v, s.qdd, frame=name)
            J = reference(kt.frame_jacobian, model, s.q, frame=name, expressed_in="local")
            tau += J.T @ W @ ten(body.inertia)
    close(tau, reference(kt.rnea, without_rotors(model), s.q, s.v, s.qdd), scale=1000.0 * model.mass)
    tool, inertia = model.frames["tool"], data.draw(inertias())
    on_body, on_tool = (
        reference(kt.dynamics.body_wrench_regressor, model, s.q, s.v, s.qdd, frame=name) for name in (tool.body, "tool")
    )
    X = tool.placement @ model.bodies[tool.body].placement.inverse
    there = on_body @ ten(X.back(inertia))
    T = np.array(X.homogeneous()).reshape(4, 4)
    here = on_tool @ ten(inertia)
    f, n = T[:3, :3] @ here[:3], T[:3, :3] @ here[3:]
    close(there, [*f, *(n + np.cross(T[:3, 3], f))], scale=1000.0)


def test_without_gravity_it_is_the_net_wrench() -> None:
    s = some_state(EVERY_JOINT)
    W = kt.dynamics.body_wrench_regressor(EVERY_JOINT, s.q, s.v, s.qdd, "tool", parameters={"gravity": [0.0, 0.0, 0.0]})
    v = kt.kinematics.frame_velocity(EVERY_JOINT, s.q, s.v, "tool", expressed_in="local")
    a = kt.kinematics.frame_acceleration(EVERY_JOINT, s.q, s.v, s.qdd, "tool", expressed_in="local", kind="classical")
    close(W[:, 0], [*a[:3], 0.0, 0.0, 0.0], scale=10.0)
    close(W[3:, 4], [a[3], v[3] * v[5], -v[3] * v[4]], scale=10.0)


@law(10)
@given(trees().flatmap(lambda model: st.tuples(st.just(model), states(model))))
def test_parameters_there_and_back(case: tuple[kt.Model, State]) -> None:
    model, s = case
    pi = kt.identification.inertial_parameters(model, drives=True)
    pi[: 10 * len(model.bodies)] *= 1.5
    other = kt.identification.with_inertial_parameters(model, pi, drives=True)
    assert kt.identification.inertial_parameters(other, drives=True).tolist() == pi.tolist()
    tau = reference(kt.dynamics.joint_torque_regressor, model, s.q, s.v, s.qdd, drives=True) @ pi
    close(tau, reference(kt.rnea, other, s.q, s.v, s.qdd), scale=100.0 * other.mass)


@pytest.mark.parametrize("function", ["kinetic_energy_regressor", "potential_energy_regressor"])
def test_energy_regressors_loop_over_the_bodies_of_large_robots(function: str) -> None:
    f, s = getattr(kt.dynamics, function), some_state(EVERY_JOINT)
    arguments = [s.q, s.v][: len(f.definition.inputs)]
    rolled = compiled_late(EVERY_JOINT, f, unroll=False)(*arguments)
    close(rolled, reference(f, EVERY_JOINT, *arguments), scale=100.0)


def test_the_wrench_regressor_loops_too() -> None:
    s = some_state(EVERY_JOINT)
    rolled = compiled_late(EVERY_JOINT, kt.dynamics.body_wrench_regressor, unroll=False, frame="tool")(s.q, s.v, s.qdd)
    close(
        rolled, reference(kt.dynamics.body_wrench_regressor, EVERY_JOINT, s.q, s.v, s.qdd, frame="tool"), scale=1000.0
    )


def test_joint_torque_regressors_loop_over_the_bodies_that_each_joint_carries() -> None:
    """Any bodies in any order, on any kinds of joint; followers and couplings have columns of drives."""
    s, names = some_state(EVERY_JOINT), list(EVERY_JOINT.bodies)
    options: dict[str, Any] = {"bodies": (names[7], names[0], names[-1], names[3], names[12]), "drives": True}
    program = program_of(kt.dynamics.joint_torque_regressor, EVERY_JOINT, **options)
    expected = reference(kt.dynamics.joint_torque_regressor, EVERY_JOINT, s.q, s.v, s.qdd, **options)
    close(interpreted(program, [s.q, s.v, s.qdd]), expected, scale=1000.0)


def test_columns_of_drives_in_loops_leave_out_a_floating_base() -> None:
    robot = kt.zoo.load("quadruped")
    s = some_state(robot)
    program = program_of(kt.dynamics.joint_torque_regressor, robot, bodies=["trunk"], drives=True)
    expected = reference(kt.dynamics.joint_torque_regressor, robot, s.q, s.v, s.qdd, bodies=["trunk"], drives=True)
    assert expected.shape == (robot.nv, 10 + 3 * (robot.nv - 6))
    close(interpreted(program, [s.q, s.v, s.qdd]), expected, scale=100.0)


def test_torque_regressors_in_loops_take_parameters() -> None:
    robot = kt.zoo.load("quadruped")
    s, names = some_state(robot), ["gravity", "joint.front_left_knee.placement"]
    values = [robot.parameter(name) * 1.1 for name in names]
    straight, rolled = (
        interpreted(
            program_of(kt.dynamics.joint_torque_regressor, robot, parameters=names, unroll=unroll),
            [s.q, s.v, s.qdd, *values],
        )
        for unroll in (True, False)
    )
    close(rolled, straight, scale=100.0)
    assert not np.allclose(straight, reference(kt.dynamics.joint_torque_regressor, robot, s.q, s.v, s.qdd))


def test_a_zero_column_is_a_constant_and_costs_nothing() -> None:
    """A body's inertia about axes across its only joint's, and all of a fixed base, never show."""
    robot = kt.zoo.load("double_pendulum")
    s = some_state(robot)
    Y = kt.dynamics.joint_torque_regressor(robot, s.q, s.v, s.qdd)
    rod = 10 * list(robot.bodies).index("upper_rod")
    assert not Y[:, :10].any()
    assert not Y[:, rod + 4].any()
    assert not Y[1, rod : rod + 10].any()
    assert Y[0, rod + 6] == s.qdd[0]
    I = Sym3(0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    assert ten(Inertia(0.0, Vec3.zero(), I))[6] == 1.0
