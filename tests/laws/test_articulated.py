"""Articulated-body inertias and bias forces are what their definition says: how a body answers to a wrench."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from tests.laws.reference import close, directional, reference
from tests.laws.test_hybrid import magnitude, on_a_base
from tests.strategies import Blueprint, State, blueprints, law, moving_trees, numbers, states, wrenches

Array = NDArray[Any]
LOCAL = {"expressed_in": "local"}


def inertias(robot: kt.Model, q: Array, expressed_in: str = "local") -> dict[str, Array]:
    found = reference(kt.dynamics.articulated_inertias, robot, q, expressed_in=expressed_in)
    return dict(zip(robot.bodies, found, strict=True))


def biases(robot: kt.Model, s: State, expressed_in: str = "local", **options: Any) -> dict[str, Array]:
    found = reference(kt.dynamics.articulated_bias_forces, robot, s.q, s.v, s.tau, expressed_in=expressed_in, **options)
    return dict(zip(robot.bodies, found, strict=True))


def joints(robot: kt.Model, s: State, **options: Any) -> tuple[Array, Array, Array]:
    """Uᵀ, D and u."""
    found = reference(kt.dynamics.articulated_joints, robot, s.q, s.v, s.tau, **options)
    return found[:, :6], found[:, 7:], found[:, 6]


def cut_off(plan: Blueprint, name: str) -> Blueprint:
    """What a body carries, with that body as a floating base: its own joint is removed."""
    kept = [name]
    while more := [j.child for j in plan.joints if j.parent in kept and j.child not in kept]:
        kept += more
    inner = tuple(joint for joint in plan.joints if joint.parent in kept)
    return replace(plan, bodies={body: plan.bodies[body] for body in kept}, joints=inner, frames={}, floating_base=True)


@law(20)
@given(data=st.data())
def test_a_body_cut_off_from_its_joint_answers_with_its_articulated_inertia(data: st.DataObject) -> None:
    """By the forward dynamics of another robot, in which the body floats."""
    plan = data.draw(blueprints(max_joints=5))
    robot = plan.build()
    s = data.draw(states(robot))
    joint = data.draw(st.sampled_from(list(robot.joints.values())))
    part = cut_off(plan, joint.child).build()
    q, v = part.neutral(), np.zeros(part.nv)
    for name in list(part.joints)[1:]:
        q[part.joints[name].q_slice] = s.q[robot.joints[name].q_slice]
    push = data.draw(wrenches())
    at_rest, pushed = (reference(kt.aba, part, q, v, v, f_ext=f_ext)[:6] for f_ext in ({}, {joint.child: push}))
    IA = inertias(robot, s.q)[joint.child]
    close(IA, IA.T, scale=float(np.abs(IA).max()))
    H = reference(kt.crba, part, q)
    scale = float(np.abs(np.linalg.inv(H)).max() * np.abs(H).max() * max(1.0, np.abs(push).max()))
    close(IA @ (pushed - at_rest), push, scale=scale)


@law(15)
@given(data=st.data())
def test_the_wrench_through_a_joint_is_that_of_the_articulated_body(data: st.DataObject) -> None:
    """f = Iᴬ a + pᴬ for every body, with the accelerations of forward dynamics."""
    robot, s = data.draw(moving_trees())
    f_ext = {"tool": data.draw(wrenches())}
    qdd = reference(kt.aba, robot, s.q, s.v, s.tau, f_ext=f_ext)
    IA, pA = inertias(robot, s.q), biases(robot, s, f_ext=f_ext)
    a = reference(kt.kinematics.body_accelerations, robot, s.q, s.v, qdd, kind="spatial", **LOCAL)
    a = dict(zip(robot.bodies, a, strict=True))
    wrenches_found = reference(kt.dynamics.joint_wrenches, robot, s.q, s.v, qdd, f_ext=f_ext, **LOCAL)
    size = max(float(np.abs(IA[joint.child]).max()) for joint in robot.joints.values())
    scale = magnitude(robot, s._replace(qdd=np.abs(qdd))) + size * max(float(np.abs(x).max()) for x in a.values())
    for joint, f in zip(robot.joints.values(), wrenches_found, strict=True):
        close(IA[joint.child] @ a[joint.child] + pA[joint.child], f, scale)


@law(15)
@given(data=st.data())
def test_at_the_base_it_is_the_wrench_on_the_base(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees())
    a_base = np.array([data.draw(numbers(5.0)) for _ in range(6)])
    f_ext = {"tool": data.draw(wrenches()), "base": data.draw(wrenches())}
    first = [i for i, p in robot.tree.outward if p == 0]
    # Else the base is what a free joint carries.
    is_fixed = robot.tree.I[0].mass > 0.0 or len(first) != 1 or robot.tree.joint[first[0]].nv < 6
    assume(is_fixed or robot.floating_base)
    IA, pA = inertias(robot, s.q)["base"], biases(robot, s, f_ext=f_ext)["base"]
    expected = reference(kt.dynamics.base_wrench, robot, s.q, s.v, s.tau, a_base, f_ext=f_ext)
    close(IA @ a_base + pA, expected, scale=magnitude(robot, s) + float(np.abs(IA).max()) * 10.0)


@law(10)
@given(case=moving_trees(floating=True))
def test_of_a_floating_base_it_is_the_inertia_felt_there(case: tuple[kt.Model, State]) -> None:
    robot, s = case
    IA = inertias(robot, s.q)["base"]
    inverse = reference(kt.mass_matrix_inverse, robot, s.q)[:6, :6]
    condition = np.linalg.cond(reference(kt.crba, robot, s.q))
    close(IA @ inverse, np.eye(6), scale=float(condition))
    felt = reference(
        kt.constraints.operational_space_inertia,
        robot,
        s.q,
        constraints=kt.constraints.Contact("base", "fixed", axes="local"),
    )
    close(felt, IA, scale=float(condition * np.abs(IA).max()))


@law(10)
@given(case=moving_trees())
def test_in_all_coordinates_and_on_fixed_bodies_it_is_one_inertia(case: tuple[kt.Model, State]) -> None:
    """The wrench of a motion is the same, wherever it is asked for."""
    robot, s = case
    a = np.array([0.3, -0.2, 0.5, 1.0, 0.7, -0.4])
    found = {
        name: (inertias(robot, s.q, name), biases(robot, s, name)) for name in ("local", "local_world_aligned", "world")
    }
    for body in robot.bodies.values():
        T = reference(kt.frame_placement, robot, s.q, frame=body.name)
        aligned = np.kron(np.eye(2), T[:3, :3])
        x, y, z = T[:3, 3]
        shift = np.eye(6)
        shift[3:, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]  # forces from the frame's origin to the world's
        for name, D in (("local_world_aligned", aligned), ("world", shift @ aligned)):
            IA, pA = (found["local"][k][body.name] for k in (0, 1))
            there = D @ IA @ D.T
            close(found[name][0][body.name] @ a, there @ a, scale=float(np.abs(there).max()) * 10.0)
            close(found[name][1][body.name], D @ pA, scale=float(np.abs(D @ pA).max()) + magnitude(robot, s))
    one = robot.frames[robot.joints[next(iter(robot.joints))].child]
    for body in robot.bodies.values():
        if body.slot == one.slot:
            close(
                found["world"][0][body.name],
                found["world"][0][one.body],
                scale=float(np.abs(found["world"][0][one.body]).max()),
            )


def check_accelerations(robot: kt.Model, s: State, **options: Any) -> None:
    """q̈ = D⁻¹ (u - Uᵀ a'), by the accelerations that forward dynamics gives the carrying bodies."""
    U, D, u = joints(robot, s, **options)
    qdd = reference(kt.aba, robot, s.q, s.v, s.tau, **options)
    scale = magnitude(robot, s._replace(qdd=np.abs(qdd))) + float(np.abs(u).max())
    for joint in robot.joints.values():
        part = joint.v_slice
        held = qdd.copy()
        held[part] = 0.0
        a = reference(
            kt.kinematics.frame_acceleration, robot, s.q, s.v, held, frame=joint.child, kind="spatial", **LOCAL
        )
        block = D[part, part]
        close(block @ qdd[part], u[part] - U[part] @ a, scale + float(np.abs(U).max() * np.abs(a).max()))
        outside = D[part].copy()
        outside[:, part] = 0.0
        assert not outside.any()


@law(15)
@given(data=st.data())
def test_u_and_d_give_the_accelerations_of_forward_dynamics(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees())
    check_accelerations(robot, s, f_ext={"tool": data.draw(wrenches())})


@law(10)
@given(case=moving_trees())
def test_u_and_d_are_those_of_the_articulated_body(case: tuple[kt.Model, State]) -> None:
    robot, s = case
    (U, D, u), IA, pA = joints(robot, s), inertias(robot, s.q), biases(robot, s)
    for joint in robot.joints.values():
        part, I, p = joint.v_slice, IA[joint.child], pA[joint.child]
        S = reference(kt.frame_jacobian, robot, s.q, frame=joint.child, **LOCAL)[:, part]
        scale = float(np.abs(I).max() * (1.0 + np.abs(S).max()) ** 2)
        close(U[part], S.T @ I, scale)
        close(D[part, part], S.T @ I @ S + np.diag(joint.armature), scale)
        close(u[part], s.tau[part] - S.T @ p, scale + magnitude(robot, s))


def test_geared_rotors_friction_and_springs_are_part_of_them() -> None:
    robot = on_a_base(kt.Free())
    rng = np.random.default_rng(4)
    v, qdd, tau = rng.normal(size=(3, robot.nv))
    s = State(robot.random(rng), v, qdd, tau)
    check_accelerations(robot, s)
    qdd = reference(kt.aba, robot, s.q, s.v, s.tau)
    IA, pA = inertias(robot, s.q), biases(robot, s)
    found = reference(kt.dynamics.joint_wrenches, robot, s.q, s.v, qdd, **LOCAL)
    for joint, f in zip(robot.joints.values(), found, strict=True):
        a = reference(
            kt.kinematics.frame_acceleration, robot, s.q, s.v, qdd, frame=joint.child, kind="spatial", **LOCAL
        )
        close(IA[joint.child] @ a + pA[joint.child], f, scale=1e3)
    arm = kt.zoo.load("arm6")
    q, (v, tau) = arm.random(rng), 100.0 * rng.normal(size=(2, arm.nv))
    acting = reference(kt.dynamics.limited_forces, arm, tau, v) + reference(
        kt.dynamics.passive_forces, arm, q, v, passive=True
    )
    expected = biases(arm, State(q, v, v, acting))
    found_biases = biases(arm, State(q, v, v, tau), passive=True, limits=True)
    for name, p in found_biases.items():
        close(p, expected[name])


FUNCTIONS = [kt.dynamics.articulated_inertias, kt.dynamics.articulated_bias_forces, kt.dynamics.articulated_joints]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_where_joints_share_coordinates_there_is_none(function: Any) -> None:
    robot = on_a_base(kt.Free(), shared=True)
    arrays = [robot.neutral(), *np.zeros((2, robot.nv))][: len(function.definition.inputs)]
    options = {name: "local" for name in function.definition.options if name == "expressed_in"}
    with pytest.raises(
        kt.errors.ModelError, match=rf"{function.__name__}: joints of 'walker' share coordinates \(elbow\)"
    ):
        function(robot, *arrays, **options)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_joint_that_moves_nothing_with_inertia_is_named(function: Any) -> None:
    builder = kt.ModelBuilder("light")
    builder.add_body("base")
    builder.add_body("nothing")
    builder.add_joint("loose", kt.Revolute([0, 0, 1]), "base", "nothing")
    arrays = np.zeros((len(function.definition.inputs), 1))
    options = {name: "local" for name in function.definition.options if name == "expressed_in"}
    with pytest.raises(kt.errors.SingularModelError, match="joint 'loose' of 'light' moves nothing"):
        function(builder.build(), *arrays, **options)


def test_derivatives_are_those_of_the_definition() -> None:
    robot = kt.zoo.load("arm6")
    rng = np.random.default_rng(7)
    q, (v, tau, dq) = robot.random(rng), rng.normal(size=(3, robot.nv))
    J = kt.jacobian(robot, kt.dynamics.articulated_inertias, (q,), wrt="q", **LOCAL)
    rates = directional(lambda q: reference(kt.dynamics.articulated_inertias, robot, q, **LOCAL), (q, dq))
    close(J @ dq, rates, scale=float(np.abs(rates).max()))
    J = kt.jacobian(robot, kt.dynamics.articulated_bias_forces, (q, v, tau), wrt="q", **LOCAL)
    rates = directional(lambda q: reference(kt.dynamics.articulated_bias_forces, robot, q, v, tau, **LOCAL), (q, dq))
    close(J @ dq, rates, scale=float(np.abs(rates).max()))


def test_parts_are_views_of_one_array_and_batches_broadcast() -> None:
    robot = kt.zoo.load("quadruped")
    rng = np.random.default_rng(5)
    q = np.array([robot.random(rng) for _ in range(3)])
    v, tau = rng.normal(size=(2, robot.nv))
    out = np.empty((3, robot.nv, 7 + robot.nv))
    U, D, u = kt.dynamics.articulated_joints(robot, q, v, tau, out=out)
    assert [part.shape for part in (U, D, u)] == [(3, 18, 6), (3, 18, 18), (3, 18)]
    assert all(np.shares_memory(part, out) for part in (U, D, u))
    close(out[1], reference(kt.dynamics.articulated_joints, robot, q[1], v, tau), scale=100.0)
    single = kt.dynamics.articulated_inertias(robot, q.astype(np.float32), expressed_in="world")
    assert single.dtype == np.float32
    assert single.shape == (3, len(robot.bodies), 6, 6)
