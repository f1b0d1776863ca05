"""Forward and inverse dynamics and the mass matrix are three views of one equation: H q̈ + C = τ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree import algorithms
from kinetree.compiler.forms.regrouped import regrouped
from kinetree.spatial import Inertia
from tests.laws.reference import BOTH, close, coordinate_rates, directional, reference, tried_on_both
from tests.strategies import Blueprint, State, blueprints, inertias, law, moving_trees, numbers, states, wrenches

Call = Callable[..., Any]


def size_of(*terms: np.ndarray) -> float:
    """The largest entry among terms that are added up: rounding is relative to it."""
    return max(float(np.abs(term).max(initial=0.0)) for term in terms)


@tried_on_both(moving_trees())
def test_inverse_dynamics_undoes_forward_dynamics(call: Call, case: tuple[kt.Model, State]) -> None:
    model, s = case
    qdd = call(kt.aba, model, s.q, s.v, s.tau)
    H = call(kt.crba, model, s.q)
    close(call(kt.rnea, model, s.q, s.v, qdd), s.tau, scale=size_of(s.tau, np.abs(H) @ np.abs(qdd)))


@tried_on_both(moving_trees())
def test_forward_dynamics_undoes_inverse_dynamics(call: Call, case: tuple[kt.Model, State]) -> None:
    model, s = case
    tau = call(kt.rnea, model, s.q, s.v, s.qdd)
    H = call(kt.crba, model, s.q)
    # Rounding in tau comes back through H⁻¹.
    scale = size_of(s.qdd, np.abs(np.linalg.inv(H)) @ np.abs(tau))
    close(call(kt.aba, model, s.q, s.v, tau), s.qdd, scale=scale)


@tried_on_both(moving_trees())
def test_the_equation_of_motion_holds(call: Call, case: tuple[kt.Model, State]) -> None:
    """τ = H q̈ + C, and C at rest is gravity's share."""
    model, s = case
    H = call(kt.crba, model, s.q)
    C = call(kt.bias_forces, model, s.q, s.v)
    tau = call(kt.rnea, model, s.q, s.v, s.qdd)
    close(tau, H @ s.qdd + C, scale=size_of(np.abs(H) @ np.abs(s.qdd), C))
    close(call(kt.bias_forces, model, s.q, 0.0 * s.v), call(kt.gravity_forces, model, s.q))


@law()
@given(moving_trees())
def test_the_mass_matrix_is_the_slope_of_inverse_dynamics(case: tuple[kt.Model, State]) -> None:
    """H e_k = τ(q̈ + e_k) - τ(q̈), exactly, as τ is linear in q̈."""
    model, s = case
    H = reference(kt.crba, model, s.q)
    tau = reference(kt.rnea, model, s.q, s.v, s.qdd)
    columns = [reference(kt.rnea, model, s.q, s.v, s.qdd + e) - tau for e in np.eye(model.nv)]
    close(np.array(columns).T, H, scale=size_of(tau, H))


@tried_on_both(moving_trees())
def test_the_mass_matrix_is_symmetric_and_positive_definite(call: Call, case: tuple[kt.Model, State]) -> None:
    model, s = case
    H = call(kt.crba, model, s.q)
    np.testing.assert_array_equal(H, H.T)
    np.linalg.cholesky(H)  # raises unless it is positive definite
    for joint in model.joints.values():
        block = H[joint.v_slice, joint.v_slice]
        assert np.linalg.eigvalsh(block).min() >= max(joint.armature)


@tried_on_both(st.data(), floats=15, kernels=6)
def test_an_external_force_acts_through_the_jacobian(call: Call, data: st.DataObject) -> None:
    """τ(f) = τ - Jᵀ f and q̈(τ, f) = q̈(τ + Jᵀ f), forces on several frames adding up."""
    model, s = data.draw(moving_trees(max_joints=5))
    bodies = [name for name in model.bodies if name != "base"]
    f_ext = {name: data.draw(wrenches()) for name in ["tool", *bodies[:1]]}
    pushed = np.zeros(model.nv)
    for name, wrench in f_ext.items():
        pushed += call(kt.frame_jacobian, model, s.q, frame=name, expressed_in="local").T @ wrench
    free = call(kt.rnea, model, s.q, s.v, s.qdd)
    close(call(kt.rnea, model, s.q, s.v, s.qdd, f_ext=f_ext), free - pushed, scale=size_of(free, pushed))
    bias = call(kt.bias_forces, model, s.q, s.v)
    close(call(kt.bias_forces, model, s.q, s.v, f_ext=f_ext), bias - pushed, scale=size_of(bias, pushed))
    H = call(kt.crba, model, s.q)
    scale = size_of(np.abs(np.linalg.inv(H)) @ (np.abs(s.tau) + np.abs(pushed) + np.abs(bias)))
    close(call(kt.aba, model, s.q, s.v, s.tau, f_ext=f_ext), call(kt.aba, model, s.q, s.v, s.tau + pushed), scale=scale)


@BOTH
@pytest.mark.parametrize("floating", [False, True])
def test_rotors_that_spin_about_axes_of_their_own_are_the_same_in_all_three(call: Call, floating: bool) -> None:
    """H q̈ + C = τ, both ways; and where C turns the energy around, it adds none: v · C is half of v · Ḣ v."""
    builder = kt.ModelBuilder("geared arm", gravity=(0.0, 0.0, 0.0))
    builder.add_body("base", kt.solids.box(0.5, 0.4, 0.3, mass=3.0))
    parent = "base"
    for k, (kind, axis) in enumerate(
        (
            (kt.Revolute([0, 1, 0]), (1.0, 0.0, 0.0)),
            (kt.Prismatic([1, 0, 0]), (0.0, 0.6, 0.8)),
            (kt.joints.Helical([0, 0, 1], 0.1), (0.8, 0.0, -0.6)),
        ),
        1,
    ):
        builder.add_body(f"body{k}", kt.solids.box(0.2, 0.3, 0.1 * k, mass=1.0 / k))
        builder.add_joint(
            f"joint{k}", kind, parent, f"body{k}", kt.lie.placement([0.2, -0.1, 0.1], rpy=[0.3, 0.2 * k, -0.4]),
            rotor=kt.model.Rotor(0.02, 5.0 * k, axis),
        )  # fmt: skip
        parent = f"body{k}"
    robot = builder.build(floating_base=floating)
    rng = np.random.default_rng(2)
    for _ in range(3):
        q, (v, tau) = robot.random(rng), rng.normal(size=(2, robot.nv))
        qdd = call(kt.aba, robot, q, v, tau)
        H, C = call(kt.crba, robot, q), call(kt.bias_forces, robot, q, v)
        scale = size_of(np.abs(H) @ np.abs(qdd), C)
        close(H @ qdd + C, tau, scale=scale)
        close(call(kt.rnea, robot, q, v, qdd), tau, scale=scale)
        H_dot = directional(lambda x: reference(kt.crba, robot, x), (q, coordinate_rates(robot, q, v)))
        close(v @ C, 0.5 * v @ H_dot @ v, scale=scale)


@law()
@given(moving_trees())
def test_regrouping_inertias_changes_no_joint_force(case: tuple[kt.Model, State]) -> None:
    model, s = case
    q, v, qdd, tau = (model.tree.split(x.tolist(), n) for x, n in zip(s, ("nq", "nv", "nv", "nv"), strict=True))
    plain, base = model.tree, regrouped(model.tree)
    forces = flat(algorithms.rnea(plain, q, v, qdd))
    close(flat(algorithms.rnea(base, q, v, qdd)), forces)
    H = dense(model, algorithms.crba(plain, q))
    close(dense(model, algorithms.crba(base, q)), H)
    bias = np.abs(flat(algorithms.rnea(plain, q, v, [[0.0] * len(x) for x in v])))
    close(
        flat(algorithms.aba(base, q, v, tau)),
        flat(algorithms.aba(plain, q, v, tau)),
        scale=size_of(np.abs(np.linalg.inv(H)) @ (bias + np.abs(s.tau))),
    )


@law()
@given(moving_trees())
def test_regrouping_leaves_fewer_inertial_parameters(case: tuple[kt.Model, State]) -> None:
    model, _ = case
    for slot, kind in enumerate(model.tree.joint):
        left = regrouped(model.tree).I[slot]
        if isinstance(kind, kt.Revolute):
            assert left.mass == 0.0
        if isinstance(kind, kt.Prismatic):
            assert left.I.components() == (0.0,) * 6


@law()
@given(st.data())
def test_a_weld_is_a_hinge_that_does_not_move(data: st.DataObject) -> None:
    """Merged bodies against the same robot with a hinge at each weld, held at zero."""
    blueprint = data.draw(blueprints(fixed_bodies=True, max_joints=5))
    merged, hinged = blueprint.build(), hinges_for_welds(blueprint).build()
    s = data.draw(states(merged))
    embed_q, embed_v = embedding(merged, hinged)
    H = reference(kt.crba, merged, s.q)
    close(reference(kt.crba, hinged, embed_q(s.q))[np.ix_(*2 * [moving(merged, hinged)])], H)
    close(
        reference(kt.rnea, hinged, embed_q(s.q), embed_v(s.v), embed_v(s.qdd))[moving(merged, hinged)],
        reference(kt.rnea, merged, s.q, s.v, s.qdd),
    )
    for name in merged.frames:
        close(
            reference(kt.frame_placement, hinged, embed_q(s.q), frame=name),
            reference(kt.frame_placement, merged, s.q, frame=name),
        )
        close(
            reference(
                kt.kinematics.frame_velocity, hinged, embed_q(s.q), embed_v(s.v), frame=name, expressed_in="local"
            ),
            reference(kt.kinematics.frame_velocity, merged, s.q, s.v, frame=name, expressed_in="local"),
        )
    close(
        reference(kt.kinetic_energy, hinged, embed_q(s.q), embed_v(s.v)),
        reference(kt.kinetic_energy, merged, s.q, s.v),
    )
    close(
        reference(kt.potential_energy, hinged, embed_q(s.q)),
        reference(kt.potential_energy, merged, s.q),
        scale=10.0 * merged.mass,
    )
    close(hinged.mass, merged.mass)


@law()
@given(st.data())
def test_the_order_of_the_file_is_only_the_order_of_the_answers(data: st.DataObject) -> None:
    blueprint = data.draw(blueprints(max_joints=5))
    shuffled = Blueprint(
        dict(data.draw(st.permutations(list(blueprint.bodies.items())))),
        tuple(data.draw(st.permutations(blueprint.joints))),
        blueprint.frames,
        blueprint.gravity,
        blueprint.floating_base,
    )
    model, other = blueprint.build(), shuffled.build()
    s = data.draw(states(model))
    to_q, to_v = embedding(model, other)
    close(
        reference(kt.rnea, other, to_q(s.q), to_v(s.v), to_v(s.qdd)), to_v(reference(kt.rnea, model, s.q, s.v, s.qdd))
    )
    close(reference(kt.crba, other, to_q(s.q))[np.ix_(*2 * [moving(model, other)])], reference(kt.crba, model, s.q))


@law()
@given(inertias(), st.lists(numbers(3.0), min_size=6, max_size=6))
def test_a_massless_body_between_two_hinges_is_no_obstacle(end: Inertia, state: list[float]) -> None:
    """Two crossed hinges with nothing between them, as emulated universal joints are built: ABA needs no mass there."""
    builder = kt.ModelBuilder("universal joint")
    builder.add_body("base")
    builder.add_body("cross")
    builder.add_body("end", end)
    builder.add_joint("first", kt.Revolute([1, 0, 0]), "base", "cross")
    builder.add_joint("second", kt.Revolute([0, 1, 0]), "cross", "end")
    robot = builder.build()
    assert robot.singular_joints == ()
    q, v, tau = np.reshape(state, (3, 2))
    qdd = reference(kt.aba, robot, q, v, tau)
    H = reference(kt.crba, robot, q)
    close(reference(kt.rnea, robot, q, v, qdd), tau, scale=size_of(tau, np.abs(H) @ np.abs(qdd)))


def hinges_for_welds(blueprint: Blueprint) -> Blueprint:
    """The same robot with a revolute joint in place of each fixed one."""
    return blueprint.with_joints(
        lambda joint: (
            type(joint)(joint.name, kt.Revolute([1, 2, 2]), joint.parent, joint.child, joint.placement, (0.0,))
            if isinstance(joint.kind, kt.Fixed)
            else joint
        )
    )


def embedding(small: kt.Model, large: kt.Model) -> tuple[Call, Call]:
    """From q and v of one robot to those of another that has its joints and more; the others are at rest at zero."""

    def embed_q(q: np.ndarray) -> np.ndarray:
        out = large.neutral()
        for joint in small.joints.values():
            out[large.joints[joint.name].q_slice] = q[joint.q_slice]
        return out

    def embed_v(v: np.ndarray) -> np.ndarray:
        out = np.zeros(large.nv)
        out[moving(small, large)] = v
        return out

    return embed_q, embed_v


def moving(small: kt.Model, large: kt.Model) -> list[int]:
    """Where the degrees of freedom of one robot are among those of the other."""
    return [k for name in small.joints for k in range(*large.joints[name].v_slice.indices(large.nv))]


def flat(pieces: list[Any]) -> np.ndarray:
    return np.array([float(x) for piece in pieces for x in piece])


def dense(model: kt.Model, blocks: dict[tuple[int, int], list[list[float]]]) -> np.ndarray:
    H = np.zeros((model.nv, model.nv))
    joints = list(model.joints.values())
    for (i, j), block in blocks.items():
        a, b = joints[i - 1].v_slice, joints[j - 1].v_slice
        H[a, b] = block
        H[b, a] = np.transpose(block)
    return H
