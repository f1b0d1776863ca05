"""The wrenches that joints transmit keep every body in balance, and do what joint forces do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from tests.kernels import compiled_late
from tests.laws.reference import close, coordinate_rates, directional, reference
from tests.laws.test_hybrid import on_a_base
from tests.laws.test_sharing import cases as sharing_cases
from tests.robots import every_joint
from tests.strategies import State, law, moving_trees, wrenches

Array = NDArray[Any]


def rows(robot: kt.Model, s: State, expressed_in: str = "world", **options: Any) -> Array:
    return reference(kt.dynamics.joint_wrenches, robot, s.q, s.v, s.qdd, expressed_in=expressed_in, **options)


def size_of(robot: kt.Model, s: State, found: Array) -> float:
    """The size of what cancels: forces on levers as long as the robot."""
    placements = reference(kt.forward_kinematics, robot, s.q)
    reach = 1.0 + float(np.abs(placements[:, :3, 3]).max())
    twists = reference(kt.kinematics.body_velocities, robot, s.q, s.v, expressed_in="local")
    return (1.0 + float(np.abs(found).max(initial=0.0)) + robot.mass * (1.0 + float(np.abs(twists).max())) ** 2) * reach


def momentum(robot: kt.Model, slot: int, q: Array, v: Array) -> Array:
    """That of what moves as one body in a slot, with the spin of the geared rotors on it, about the world's origin."""
    total = np.zeros(6, dtype=v.dtype)
    for body in robot.bodies.values():
        if body.slot != slot:
            continue
        T = reference(kt.frame_placement, robot, q, frame=body.name)
        twist = reference(kt.kinematics.frame_velocity, robot, q, v, frame=body.name, expressed_in="local")
        I = body.inertia
        h, tensor = np.array(I.h.components()), np.array(I.I.full.components()).reshape(3, 3)
        f = T[:3, :3] @ (I.mass * twist[:3] + np.cross(twist[3:], h))
        n = T[:3, :3] @ (tensor @ twist[3:] + np.cross(h, twist[:3]))
        total += np.concatenate([f, n + np.cross(T[:3, 3], f)])
    for joint in robot.joints.values():
        if joint.rotor is not None and robot.bodies[joint.parent].slot == slot:
            R = reference(kt.frame_placement, robot, q, frame=joint.parent)[:3, :3]
            axis = (
                np.array(joint.placement.E.T.components()).reshape(3, 3) @ joint.rotor.axis_on(joint.kind).components()
            )
            total[3:] += R @ axis * (joint.rotor.inertia * joint.rotor.ratio * rate_of(robot, joint, v))
    return total


def rate_of(robot: kt.Model, joint: Any, v: Array) -> Any:
    """The rate of a joint of one degree of freedom, which may follow others."""
    shared = robot.tree.coordinates
    k = robot.tree.v_starts[joint.slot]
    return v[k] if shared is None else sum(v[c] * x for c, x in shared.v_rows[k])


def check_balance(robot: kt.Model, s: State, f_ext: dict[str, Array]) -> None:
    """Of every body that a joint moves, and of nothing else."""
    found = rows(robot, s, f_ext=f_ext)
    scale = size_of(robot, s, found)
    carriers = {joint.slot: robot.tree.parent[joint.slot] for joint in robot.joints.values()}
    rates = coordinate_rates(robot, s.q, s.v)
    for slot in carriers:
        net = directional(lambda q, v, slot=slot: momentum(robot, slot, q, v), (s.q, rates), (s.v, s.qdd))
        acting = found[slot - 1] - sum((found[k - 1] for k, p in carriers.items() if p == slot), np.zeros(6))
        for name, wrench in f_ext.items():
            if robot.frames[name].slot == slot:
                acting = acting + in_the_world(reference(kt.frame_placement, robot, s.q, frame=name), wrench)
        for body in robot.bodies.values():
            if body.slot == slot and body.inertia.mass:
                T = reference(kt.frame_placement, robot, s.q, frame=body.name)
                weight = body.inertia.mass * np.array(robot.gravity)
                center = T[:3, :3] @ np.array(body.inertia.h.components()) / body.inertia.mass + T[:3, 3]
                acting = acting + np.concatenate([weight, np.cross(center, weight)])
        close(acting, net, scale, tolerance=1e-12)


def in_the_world(T: Array, wrench: Array) -> Array:
    f, n = T[:3, :3] @ wrench[:3], T[:3, :3] @ wrench[3:]
    return np.concatenate([f, n + np.cross(T[:3, 3], f)])


@law(12)
@given(data=st.data())
def test_every_body_is_in_balance(data: st.DataObject) -> None:
    """Its momentum, by a complex step, changes by what its joint transmits, less what it hands on, and the rest."""
    robot, s = data.draw(moving_trees(max_joints=5))
    names = data.draw(st.lists(st.sampled_from(list(robot.frames)), max_size=2, unique=True))
    check_balance(robot, s, {name: data.draw(wrenches()) for name in names})


@law(6)
@given(case=sharing_cases())
def test_so_are_bodies_whose_joints_share_coordinates(case: tuple[Any, State]) -> None:
    check_balance(case[0].robot, case[1], {})


@pytest.mark.parametrize("shared", [False, True], ids=["free", "following"])
def test_the_couple_of_a_geared_rotor_acts_on_its_carrier_alone(shared: bool) -> None:
    robot = on_a_base(kt.Free(), shared)
    rng = np.random.default_rng(1)
    v, qdd, tau = rng.normal(size=(3, robot.nv))
    check_balance(robot, State(robot.random(rng), v, qdd, tau), {"lower": rng.normal(size=6)})


def test_joints_of_every_kind_keep_balance() -> None:
    robot = every_joint()
    rng = np.random.default_rng(2)
    v, qdd, tau = rng.normal(size=(3, robot.nv))
    check_balance(robot, State(robot.random(rng), v, qdd, tau), {})


@law(15)
@given(case=moving_trees())
def test_along_the_joint_it_is_the_joint_force(case: tuple[kt.Model, State]) -> None:
    """Less what the rotor takes."""
    robot, s = case
    found, tau = rows(robot, s), reference(kt.rnea, robot, s.q, s.v, s.qdd)
    scale = size_of(robot, s, found)
    for row, joint in zip(found, robot.joints.values(), strict=True):
        J = reference(kt.frame_jacobian, robot, s.q, frame=joint.child, expressed_in="world")[:, joint.v_slice]
        own = tau[joint.v_slice] - np.array(joint.armature) * s.qdd[joint.v_slice]
        close(J.T @ row, own, scale)


@law(10)
@given(case=moving_trees())
def test_in_all_coordinates_it_is_one_wrench(case: tuple[kt.Model, State]) -> None:
    robot, s = case
    local, aligned, world = (rows(robot, s, name) for name in ("local", "local_world_aligned", "world"))
    scale = size_of(robot, s, world)
    for k, joint in enumerate(robot.joints.values()):
        T = reference(kt.frame_placement, robot, s.q, frame=joint.child)
        R = T[:3, :3]
        close(aligned[k], np.concatenate([R @ local[k][:3], R @ local[k][3:]]), scale)
        close(world[k], in_the_world(T, local[k]), scale)


@law(10)
@given(data=st.data())
def test_at_the_root_they_sum_to_the_wrench_on_a_fixed_base(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(floating=False))
    first = [i for i, p in robot.tree.outward if p == 0]
    # Else the base is what a free joint carries.
    assume(robot.tree.I[0].mass > 0.0 or len(first) != 1 or robot.tree.joint[first[0]].nv < 6)
    f_ext = {"tool": data.draw(wrenches()), "base": data.draw(wrenches())}
    qdd = reference(kt.aba, robot, s.q, s.v, s.tau, f_ext=f_ext)
    found = rows(robot, s._replace(qdd=qdd), f_ext=f_ext)
    total = found[np.array(first) - 1].sum(axis=0)
    for name, wrench in f_ext.items():
        if robot.frames[name].slot == 0:
            total -= in_the_world(reference(kt.frame_placement, robot, s.q, frame=name), wrench)
    base = robot.tree.I[0]
    weight, h = base.mass * np.array(robot.gravity), np.array(base.h.components())
    total -= np.concatenate([weight, np.cross(h, robot.gravity)])
    expected = reference(kt.dynamics.base_wrench, robot, s.q, s.v, s.tau, f_ext=f_ext, expressed_in="world")
    close(total, expected, size_of(robot, s._replace(qdd=qdd), found), tolerance=1e-10)


def test_contact_forces_carry_a_robot_that_stands() -> None:
    """With them, nothing is missing at the floating base; each foot's share passes through its leg."""
    robot = kt.zoo.load("quadruped")
    rng = np.random.default_rng(0)
    q, v, tau = robot.neutral(), np.zeros(robot.nv), np.r_[np.zeros(6), rng.normal(size=robot.nv - 6)]
    feet = [name for name in robot.frames if name.endswith("foot")]
    motion = reference(
        kt.constraints.constrained_dynamics,
        robot,
        q,
        v,
        tau,
        constraints=[kt.constraints.Contact(foot) for foot in feet],
    )
    qdd, forces = motion[: robot.nv], motion[robot.nv :].reshape(4, 3)
    turns = [kt.frame_placement(robot, q, foot)[:3, :3] for foot in feet]
    f_ext = {foot: np.r_[R.T @ f, np.zeros(3)] for foot, R, f in zip(feet, turns, forces, strict=True)}
    found = rows(robot, State(q, v, qdd, tau), f_ext=f_ext)
    close(found[0], np.zeros(6), scale=1e3)
    assert np.abs(found[1:]).max() > 1.0


def test_derivatives_and_loops_know_forces_too() -> None:
    """By a complex step of the algorithm, on frames that include the root and two of one body."""
    robot = kt.zoo.load("quadruped")
    rng = np.random.default_rng(6)
    q, (v, qdd, dv) = robot.random(rng), rng.normal(size=(3, robot.nv))
    f_ext = {name: rng.normal(size=6) for name in (robot.root, "front_left_foot", "front_left_shank")}
    options: dict[str, Any] = {"expressed_in": "world"}
    looped = compiled_late(robot, kt.dynamics.joint_wrenches, f_ext=list(f_ext), unroll=False, **options)
    expected = reference(kt.dynamics.joint_wrenches, robot, q, v, qdd, f_ext=f_ext, **options)
    close(looped(q, v, qdd, *f_ext.values()), expected, scale=100.0)
    J = kt.jacobian(robot, kt.dynamics.joint_wrenches, (q, v, qdd), wrt="v", f_ext=f_ext, **options)

    def along_v(v: Array) -> Array:
        return reference(kt.dynamics.joint_wrenches, robot, q, v, qdd, **options)

    close(J @ dv, directional(along_v, (v, dv)), scale=100.0)


def test_passive_forces_are_part_of_it_whoever_exerts_them() -> None:
    robot = every_joint()
    rng = np.random.default_rng(3)
    q, (v, tau) = robot.random(rng), rng.normal(size=(2, robot.nv))
    qdd = reference(kt.aba, robot, q, v, tau, passive=True)
    by_drives = tau + reference(kt.dynamics.passive_forces, robot, q, v, passive=True)
    assert "passive" not in kt.dynamics.joint_wrenches.definition.options
    expected = rows(robot, State(q, v, reference(kt.aba, robot, q, v, by_drives), tau))
    close(rows(robot, State(q, v, qdd, tau)), expected, scale=1e3)
