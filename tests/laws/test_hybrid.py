"""Hybrid dynamics, floating bases and the wrench on the base: each is the same motion, asked about in another way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from tests.kernels import compiled_late
from tests.robots import every_joint
from tests.strategies import State, blueprints, law, moving_trees, numbers, states, wrenches

from .reference import body_momentum, close, coordinate_rates, directional, reference
from .test_sharing import Case
from .test_sharing import cases as sharing_cases

Array = NDArray[Any]


def magnitude(robot: kt.Model, s: State) -> float:
    """The size of what is added up in solving for accelerations."""
    H = reference(kt.crba, robot, s.q)
    forces = np.abs(reference(kt.bias_forces, robot, s.q, s.v)) + np.abs(s.tau) + np.abs(H) @ np.abs(s.qdd)
    accelerations = np.abs(np.linalg.inv(H)) @ forces
    return float(max(accelerations.max(initial=0.0), (np.abs(H) @ accelerations).max(initial=0.0)))


@st.composite
def subsets(draw: st.DrawFn, robot: kt.Model) -> list[str]:
    """Names of some joints and couplings."""
    return [owner.name for owner in robot.owners if draw(st.booleans())]


def entries(robot: kt.Model, names: list[str]) -> Array:
    """Which degrees of freedom belong to the joints and couplings of these names."""
    held = np.zeros(robot.nv, dtype=bool)
    for owner in robot.owners:
        held[owner.v_slice] = owner.name in names
    return held


# -- hybrid dynamics


@law()
@given(case=moving_trees())
def test_with_nothing_prescribed_it_is_forward_dynamics(case: tuple[kt.Model, State]) -> None:
    robot, s = case
    qdd, tau = reference(kt.dynamics.hybrid_dynamics, robot, s.q, s.v, s.tau, s.qdd)
    close(qdd, reference(kt.aba, robot, s.q, s.v, s.tau), scale=magnitude(robot, s))
    np.testing.assert_array_equal(tau, s.tau)


@law()
@given(case=moving_trees())
def test_with_everything_prescribed_it_is_inverse_dynamics(case: tuple[kt.Model, State]) -> None:
    robot, s = case
    names = [owner.name for owner in robot.owners]
    qdd, tau = reference(kt.dynamics.hybrid_dynamics, robot, s.q, s.v, s.tau, s.qdd, prescribed=names)
    close(tau, reference(kt.rnea, robot, s.q, s.v, s.qdd), scale=magnitude(robot, s))
    np.testing.assert_array_equal(qdd, s.qdd)


@law(50)
@given(data=st.data())
def test_what_is_given_stands_and_what_is_found_belongs_to_it(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees())
    names = data.draw(subsets(robot))
    bodies = data.draw(st.lists(st.sampled_from(list(robot.frames)), max_size=2, unique=True))
    f_ext = {name: data.draw(wrenches()) for name in bodies}
    qdd, tau = reference(kt.dynamics.hybrid_dynamics, robot, s.q, s.v, s.tau, s.qdd, f_ext=f_ext, prescribed=names)
    held = entries(robot, names)
    np.testing.assert_array_equal(qdd[held], s.qdd[held])
    np.testing.assert_array_equal(tau[~held], s.tau[~held])
    scale = magnitude(robot, s._replace(qdd=np.abs(qdd) + np.abs(s.qdd)))
    close(reference(kt.rnea, robot, s.q, s.v, qdd, f_ext=f_ext), tau, scale)
    close(reference(kt.aba, robot, s.q, s.v, tau, f_ext=f_ext), qdd, scale * 10.0)


@law(8)
@given(data=st.data())
def test_the_compiled_function_gives_both_as_views_of_one_array(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(max_joints=4))
    names = data.draw(subsets(robot))
    expected = reference(kt.dynamics.hybrid_dynamics, robot, s.q, s.v, s.tau, s.qdd, prescribed=names)
    out = np.empty((2, robot.nv))
    found = kt.dynamics.hybrid_dynamics(robot, s.q, s.v, s.tau, s.qdd, names, out=out)
    close(np.stack([found.qdd, found.tau]), expected, scale=magnitude(robot, s))
    np.testing.assert_array_equal(out, np.stack(found))
    assert found.qdd.base is out or not robot.nv


@law(30)
@given(data=st.data())
def test_joints_that_share_coordinates_are_prescribed_together(data: st.DataObject) -> None:
    case, s = data.draw(sharing_cases())
    robot = case.robot
    names = data.draw(subsets(robot))
    qdd, tau = reference(kt.dynamics.hybrid_dynamics, robot, s.q, s.v, s.tau, s.qdd, prescribed=names)
    held = entries(robot, names)
    close(qdd[held], s.qdd[held])
    close(tau[~held], s.tau[~held])
    scale = magnitude(robot, s._replace(qdd=np.abs(qdd) + np.abs(s.qdd))) + _all_joints(case, s, qdd)
    close(reference(kt.rnea, robot, s.q, s.v, qdd), tau, scale)


def _all_joints(case: Case, s: State, qdd: Array) -> float:
    """The size of the forces of all joints, of which those of the shared coordinates are sums."""
    forces = reference(kt.rnea, case.free, case.G_q @ s.q + case.b, case.G @ s.v, case.G @ qdd)
    return float(np.abs(forces).max(initial=0.0))


@pytest.mark.parametrize("names", [["revolute"], ["wrist", "euler", "free"], ["revolute", "wrist"]], ids=" and ".join)
def test_friction_springs_rotors_and_followers_are_part_of_it(names: list[str]) -> None:
    robot = every_joint()
    rng = np.random.default_rng(3)
    q, (v, tau, qdd) = robot.random(rng), rng.normal(size=(3, robot.nv))
    found = reference(kt.dynamics.hybrid_dynamics, robot, q, v, tau, qdd, prescribed=names, passive=True)
    held = entries(robot, names)
    close(found[0][held], qdd[held])
    close(found[1][~held], tau[~held])
    close(reference(kt.rnea, robot, q, v, found[0], passive=True), found[1], scale=1e3)
    close(reference(kt.aba, robot, q, v, found[1], passive=True), found[0], scale=1e3)


@pytest.mark.parametrize(
    "names", [["elbow"], ["base", "hip"], ["base", "elbow"], ["base", "shoulder"]], ids=" and ".join
)
def test_a_geared_rotor_pushes_on_its_carrier_whether_its_joint_is_prescribed_or_not(names: list[str]) -> None:
    robot = on_a_base(kt.Free())
    rng = np.random.default_rng(7)
    q, (v, tau, qdd) = robot.random(rng), rng.normal(size=(3, robot.nv))
    found, forces = reference(kt.dynamics.hybrid_dynamics, robot, q, v, tau, qdd, prescribed=names)
    close(reference(kt.rnea, robot, q, v, found), forces, scale=100.0)
    close(reference(kt.aba, robot, q, v, forces), found, scale=100.0)


# -- floating bases


@law()
@given(data=st.data())
def test_a_floating_base_feels_no_force_while_its_joints_have_given_accelerations(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(floating=True))
    f_ext = {"tool": data.draw(wrenches())}
    qdd, tau = reference(kt.dynamics.floating_inverse_dynamics, robot, s.q, s.v, s.qdd, f_ext=f_ext)
    np.testing.assert_array_equal(tau[:6], np.zeros(6))
    np.testing.assert_array_equal(qdd[6:], s.qdd[6:])
    scale = magnitude(robot, s._replace(qdd=np.abs(qdd)))
    close(reference(kt.rnea, robot, s.q, s.v, qdd, f_ext=f_ext), tau, scale)
    names = [name for name in robot.joints if name != "root_joint"]
    hybrid = reference(kt.dynamics.hybrid_dynamics, robot, s.q, s.v, 0.0 * s.tau, s.qdd, f_ext=f_ext, prescribed=names)
    close(np.stack([qdd, tau]), hybrid, scale)


@pytest.mark.parametrize("kind", [kt.joints.FloatingBase(), kt.joints.FreeRPY()], ids=["FloatingBase", "FreeRPY"])
def test_any_joint_of_six_degrees_of_freedom_makes_a_base_float(kind: Any) -> None:
    robot = on_a_base(kind)
    rng = np.random.default_rng(5)
    q, (v, tau, qdd) = robot.random(rng), rng.normal(size=(3, robot.nv))
    qdd, forces = reference(kt.dynamics.floating_inverse_dynamics, robot, q, v, qdd)
    close(forces[:6], np.zeros(6))
    close(reference(kt.rnea, robot, q, v, qdd), forces, scale=10.0)
    tau[:6] = 0.0
    a = reference(
        kt.kinematics.frame_acceleration,
        robot,
        q,
        v,
        reference(kt.aba, robot, q, v, tau),
        frame="trunk",
        expressed_in="local",
        kind="spatial",
    )
    close(reference(kt.dynamics.base_wrench, robot, q, v, tau, a), np.zeros(6), scale=100.0)


def on_a_base(kind: Any, shared: bool = False) -> kt.Model:
    """A trunk that moves against the world, with an arm of two joints (or of two that move as one) and a leg."""
    builder = kt.ModelBuilder("walker")
    builder.add_body("world")
    for k, name in enumerate(["trunk", "upper", "lower", "leg"]):
        builder.add_body(
            name, kt.solids.box(0.3, 0.2 + 0.1 * k, 0.1, mass=4.0 - k, placement=kt.lie.placement([0.1, 0, 0]))
        )
    builder.add_joint("base", kind, "world", "trunk", kt.lie.placement([0.3, 0.0, 1.0], rpy=[0.1, 0.2, 0.3]))
    builder.add_joint("shoulder", kt.Revolute([0, 1, 0]), "trunk", "upper", kt.lie.placement([0.2, 0, 0]))
    mimic = kt.model.Mimic("shoulder", -1.5, 0.2) if shared else None
    rotor = kt.model.Rotor(0.002, 20.0, (0.6, 0.0, 0.8))
    builder.add_joint(
        "elbow", kt.Revolute([1, 0, 0]), "upper", "lower", kt.lie.placement([0, 0.3, 0]), mimic=mimic, rotor=rotor
    )
    builder.add_joint("hip", kt.joints.Spherical(), "trunk", "leg", kt.lie.placement([-0.2, 0, 0], rpy=[0.5, 0, 0]))
    return builder.build()


# -- the wrench on the base


@law()
@given(data=st.data())
def test_nothing_pushes_a_free_base_that_accelerates_as_forward_dynamics_says(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(floating=True))
    f_ext = {"tool": data.draw(wrenches()), "base": data.draw(wrenches())}
    free = np.concatenate([np.zeros(6), s.tau[6:]])
    qdd = reference(kt.aba, robot, s.q, s.v, free, f_ext=f_ext)
    wrench = reference(kt.dynamics.base_wrench, robot, s.q, s.v, s.tau, qdd[:6], f_ext=f_ext)
    close(wrench, np.zeros(6), scale=magnitude(robot, s._replace(qdd=np.abs(qdd))))


@law()
@given(data=st.data())
def test_the_wrench_on_a_floating_base_is_what_a_motor_there_would_give(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(floating=True))
    a_base = np.array([data.draw(numbers(5.0)) for _ in range(6)])
    wanted = np.concatenate([a_base, s.qdd[6:]])
    qdd, tau = reference(kt.dynamics.hybrid_dynamics, robot, s.q, s.v, s.tau, wanted, prescribed=["root_joint"])
    wrench = reference(kt.dynamics.base_wrench, robot, s.q, s.v, s.tau, a_base)
    close(wrench, tau[:6], scale=magnitude(robot, s._replace(qdd=np.abs(qdd))))


@law()
@given(data=st.data())
def test_a_fixed_base_is_a_floating_one_that_is_held(data: st.DataObject) -> None:
    """At any acceleration of the foundation; at the neutral configuration of the base's joint, and at rest."""
    plan = data.draw(blueprints(floating=True))
    floating, fixed = plan.build(), replace(plan, floating_base=False).build()
    s = data.draw(states(floating))
    q = np.concatenate([floating.neutral()[:7], s.q[7:]])
    v = np.concatenate([np.zeros(6), s.v[6:]])
    a_base = np.array([data.draw(numbers(5.0)) for _ in range(6)])
    f_ext = {"tool": data.draw(wrenches())}
    held = reference(kt.dynamics.base_wrench, floating, q, v, s.tau, a_base, f_ext=f_ext)
    still = reference(kt.dynamics.base_wrench, fixed, q[7:], v[6:], s.tau[6:], a_base, f_ext=f_ext)
    close(still, held, scale=magnitude(floating, s))


@law()
@given(case=moving_trees(floating=False))
def test_what_a_foundation_exerts_and_gravity_change_the_momentum(case: tuple[kt.Model, State]) -> None:
    """ḣ = f₀ + Σ m g, about the world's origin; the momentum is that of the bodies, by a complex step."""
    robot, s = case
    first = [i for i, p in robot.tree.outward if p == 0]
    # Else the base is what a free joint carries.
    assume(robot.tree.I[0].mass > 0.0 or len(first) != 1 or robot.tree.joint[first[0]].nv < 6)
    qdd = reference(kt.aba, robot, s.q, s.v, s.tau)
    rates = coordinate_rates(robot, s.q, s.v)
    h_dot = directional(lambda q, v: body_momentum(robot, q, v), (s.q, rates), (s.v, qdd))
    weight = robot.mass * np.array(robot.gravity)
    center = reference(kt.center_of_mass, robot, s.q) if robot.mass else np.zeros(3)
    # Geared rotors apart, which these robots have not, all that turns is in the bodies.
    expected = h_dot - np.concatenate([weight, np.cross(center, weight)])
    wrench = reference(kt.dynamics.base_wrench, robot, s.q, s.v, s.tau, np.zeros(6), expressed_in="world")
    H = reference(kt.crba, robot, s.q)
    close(wrench, expected, scale=magnitude(robot, s) + 10.0 * float(np.abs(H).max() * np.abs(qdd).max()))


@law(10)
@given(case=moving_trees(floating=True, max_joints=3))
def test_the_wrench_is_the_same_in_all_coordinates(case: tuple[kt.Model, State]) -> None:
    robot, s = case
    local, aligned, world = (
        reference(kt.dynamics.base_wrench, robot, s.q, s.v, s.tau, s.qdd[:6], expressed_in=name)
        for name in ("local", "local_world_aligned", "world")
    )
    T = reference(kt.frame_placement, robot, s.q, frame="base")
    R, p = T[:3, :3], T[:3, 3]
    close(aligned, np.concatenate([R @ local[:3], R @ local[3:]]), scale=float(np.abs(local).max()))
    moved = np.concatenate([aligned[:3], aligned[3:] + np.cross(p, aligned[:3])])
    close(world, moved, scale=float(np.abs(local).max()))


@pytest.mark.parametrize("shared", [False, True], ids=["free", "following"])
@pytest.mark.parametrize(
    "kind", [kt.Free(), kt.joints.FreeRPY(), kt.Revolute([0, 1, 0])], ids=["Free", "FreeRPY", "Revolute"]
)
def test_followers_and_geared_rotors_reach_the_base(kind: Any, shared: bool) -> None:
    """Against the momentum of bodies and of the rotor: I ratio q̇ along its axis, which turns with the upper arm. A
    force on the base itself is felt there in full."""
    robot = on_a_base(kind, shared)
    rng = np.random.default_rng(6)
    q, (v, tau) = robot.random(rng), rng.normal(size=(2, robot.nv))
    floats = kind.nv == 6
    a_base = rng.normal(size=6) if floats else np.zeros(6)
    if floats:
        unknown = np.concatenate([base_rates(robot, q, v, a_base), np.zeros(robot.nv - 6)])
        qdd, _ = reference(kt.dynamics.hybrid_dynamics, robot, q, v, tau, unknown, prescribed=["base"])
    else:
        qdd = reference(kt.aba, robot, q, v, tau)

    def momentum(q: Array, v: Array) -> Array:
        R = reference(kt.frame_placement, robot, q, frame="upper")[:3, :3]
        rate = -1.5 * v[robot.joints["shoulder"].v_slice][0] if shared else v[robot.joints["elbow"].v_slice][0]
        spin = 0.002 * 20.0 * rate * R @ [0.6, 0.0, 0.8]
        return body_momentum(robot, q, v) + np.concatenate([np.zeros(3), spin])

    h_dot = directional(momentum, (q, coordinate_rates(robot, q, v)), (v, qdd))
    weight = robot.mass * np.array(robot.gravity)
    moment = np.cross(reference(kt.center_of_mass, robot, q), weight)
    wrench = reference(kt.dynamics.base_wrench, robot, q, v, tau, a_base, expressed_in="world")
    close(wrench, h_dot - np.concatenate([weight, moment]), scale=100.0)
    force = rng.normal(size=6)
    pushed, free = (
        reference(kt.dynamics.base_wrench, robot, q, v, tau, a_base, f_ext=f_ext)
        for f_ext in ({"trunk" if floats else "world": force}, {})
    )
    close(pushed, free - force, scale=100.0)


def base_rates(robot: kt.Model, q: Array, v: Array, a_base: Array) -> Array:
    """The q̈ of the base's joint that gives its body this acceleration."""
    local = {"frame": "trunk", "expressed_in": "local"}
    bias = reference(kt.kinematics.frame_acceleration, robot, q, v, np.zeros(robot.nv), kind="spatial", **local)
    J = reference(kt.frame_jacobian, robot, q, **local)[:, :6]
    return np.linalg.solve(J, a_base - bias)


def test_the_wrench_knows_friction_and_limits() -> None:
    robot = every_joint()
    rng = np.random.default_rng(8)
    q, (v, tau) = robot.random(rng), 3.0 * rng.normal(size=(2, robot.nv))
    still = np.zeros(6)
    friction = reference(kt.dynamics.passive_forces, robot, q, v, passive=True)
    pushed = reference(kt.dynamics.base_wrench, robot, q, v, tau + friction, still)
    wrench = reference(kt.dynamics.base_wrench, robot, q, v, tau, still, passive=True)
    close(wrench, pushed, scale=float(np.abs(pushed).max()), tolerance=1e-10)
    arm = kt.zoo.load("arm6")
    q, (v, tau) = arm.random(rng), 1e3 * rng.normal(size=(2, arm.nv))
    limited = kt.dynamics.base_wrench(arm, q, v, kt.dynamics.limited_forces(arm, tau, v))
    close(kt.dynamics.base_wrench(arm, q, v, tau, limits=True), limited, scale=float(np.abs(limited).max()))
    assert np.abs(kt.dynamics.base_wrench(arm, q, v, tau) - limited).max() > 1.0


# -- the Coriolis force as a call of its own


@law()
@given(case=moving_trees())
def test_the_bias_is_gravitys_share_and_the_velocitys(case: tuple[kt.Model, State]) -> None:
    robot, s = case
    gravity = reference(kt.gravity_forces, robot, s.q)
    bias = reference(kt.bias_forces, robot, s.q, s.v)
    coriolis = reference(kt.dynamics.coriolis_forces, robot, s.q, s.v)
    close(coriolis + gravity, bias, scale=float(np.abs(gravity).max(initial=0.0)))
    close(reference(kt.dynamics.coriolis_forces, robot, s.q, 3.0 * s.v), 9.0 * coriolis)


@pytest.mark.parametrize("unroll", [True, False], ids=["written out", "with loops"])
def test_the_coriolis_force_does_not_know_gravity(unroll: bool) -> None:
    robot = every_joint()
    rng = np.random.default_rng(2)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    f = compiled_late(robot, kt.dynamics.coriolis_forces, unroll=unroll, parameters=["gravity"])
    expected = kt.bias_forces(robot, q, v) - kt.gravity_forces(robot, q)
    for gravity in ([0.0, 0.0, -9.81], [1.0, 2.0, 3.0]):
        close(f(q, v, np.array(gravity)), expected, scale=100.0)


# -- the Russian page on articulated-body inertia, line by line


def test_a_ragdoll_by_the_steps_of_the_articulated_body_inertia_page() -> None:
    """Velocities and bias, articulated inertia, the root's reaction, accelerations and torques: 6 by 6 matrices."""
    robot = kt.zoo.load("ragdoll")
    rng = np.random.default_rng(11)
    q = robot.integrate(robot.neutral(), rng.uniform(-0.7, 0.7, robot.nv))
    v_all, tau, qdd = rng.normal(size=(3, robot.nv))
    page = Page(robot, q, v_all)

    # Step 1: v, c and p, the root's velocity given.
    twists = reference(kt.kinematics.body_velocities, robot, q, v_all, expressed_in="local")
    for k, body in enumerate(robot.bodies.values()):
        X = page.matrix(body.placement)
        close(twists[k], (X @ page.v[body.slot])[[3, 4, 5, 0, 1, 2]])

    # Steps 2 and 3: f₀ = Iᴬ a₀ + pᴬ at the root, for any acceleration of it.
    IA, pA = page.articulated(tau)
    a_root = rng.normal(size=6)
    f_0 = (IA[1] @ a_root[[3, 4, 5, 0, 1, 2]] + pA[1])[[3, 4, 5, 0, 1, 2]]
    close(reference(kt.dynamics.base_wrench, robot, q, v_all, tau, a_root), f_0, scale=float(np.abs(f_0).max()))

    # Step 4, the root without torque: accelerations, …
    a_free = np.linalg.solve(IA[1], -pA[1])
    accelerations = page.accelerations(tau, a_free)
    unactuated = np.concatenate([np.zeros(6), tau[6:]])
    expected = reference(kt.aba, robot, q, v_all, unactuated)
    close(accelerations, expected, scale=float(np.abs(expected).max()))

    # … and torques from them, τ = Sᵀ(I a + p) with all that hangs on the joint in I a + p.
    close(page.torques(accelerations), unactuated, scale=100.0)

    # The accelerations of joints prescribed in place of torques: consistent torques, none at the root.
    found = kt.dynamics.floating_inverse_dynamics(robot, q, v_all, qdd)
    np.testing.assert_array_equal(found.qdd[6:], qdd[6:])
    close(page.torques(found.qdd), found.tau, scale=100.0)
    np.testing.assert_array_equal(found.tau[:6], np.zeros(6))


class Page:
    """The page's recursions, angular parts first, on a robot's joints and inertias."""

    def __init__(self, robot: kt.Model, q: Array, qd: Array) -> None:
        self.tree = tree = robot.tree
        self.qd = tree.split(qd.tolist(), "nv")
        q_of = tree.split(q.tolist(), "nq")
        g = np.concatenate([np.zeros(3), robot.gravity])
        self.X, self.S, self.v = {}, {}, {0: np.zeros(6)}
        self.c, self.p, self.I = {}, {}, {}
        X_0 = {0: np.eye(6)}
        for i, parent in tree.outward:
            motion = tree.joint[i].calc(q_of[i], self.qd[i])
            self.X[i] = self.matrix(motion.X_J) @ self.matrix(tree.X_T[i])
            X_0[i] = self.X[i] @ X_0[parent]
            columns = [(*s.angular.components(), *s.linear.components()) for s in motion.S.columns]
            self.S[i] = np.array(columns).T.reshape(6, -1)
            v_J = self.S[i] @ np.array(self.qd[i])
            self.v[i] = self.X[i] @ self.v[parent] + v_J
            self.c[i] = self.cross(self.v[i]) @ v_J  # these joints' S is constant
            self.I[i] = self.inertia(tree.I[i])
            self.p[i] = -self.cross(self.v[i]).T @ (self.I[i] @ self.v[i]) - self.I[i] @ X_0[i] @ g

    def articulated(self, tau: Array) -> tuple[dict[int, Array], dict[int, Array]]:
        """From the leaves to the root; Iᴬ and pᴬ of each link with all that hangs on it."""
        IA, pA = dict(self.I), dict(self.p)
        self.U, self.d, self.u = {}, {}, {}
        tau_of = self.tree.split(tau.tolist(), "forces")
        for i, parent in self.tree.inward:
            if parent == 0:
                continue
            self.U[i] = IA[i] @ self.S[i]
            self.d[i] = self.S[i].T @ self.U[i]
            self.u[i] = np.array(tau_of[i]) - self.S[i].T @ pA[i]
            Ia = IA[i] - self.U[i] @ np.linalg.solve(self.d[i], self.U[i].T)
            pa = pA[i] + Ia @ self.c[i] + self.U[i] @ np.linalg.solve(self.d[i], self.u[i])
            IA[parent] = IA[parent] + self.X[i].T @ Ia @ self.X[i]
            pA[parent] = pA[parent] + self.X[i].T @ pa
        return IA, pA

    def accelerations(self, tau: Array, a_root: Array) -> Array:
        """Of all joints, the root's first, by Iᴬ and pᴬ."""
        IA, pA = self.articulated(tau)
        assert IA.keys() == pA.keys()
        tree = self.tree
        a, qdd = {1: a_root}, {1: np.linalg.solve(self.S[1], a_root - self.c[1])}
        for i, parent in tree.outward:
            if parent == 0:
                continue
            a_p = self.X[i] @ a[parent] + self.c[i]
            qdd[i] = np.linalg.solve(self.d[i], self.u[i] - self.U[i].T @ a_p)
            a[i] = a_p + self.S[i] @ qdd[i]
        return np.concatenate([qdd[i] for i in range(1, tree.size)])

    def torques(self, qdd: Array) -> Array:
        """Of all joints: I a + p of each link and of those that hang on it."""
        tree = self.tree
        rates = tree.split(qdd.tolist(), "nv")
        a, f, tau = {0: np.zeros(6)}, {0: np.zeros(6)}, {}
        for i, parent in tree.outward:
            a[i] = self.X[i] @ a[parent] + self.S[i] @ np.array(rates[i]) + self.c[i]
            f[i] = self.I[i] @ a[i] + self.p[i]
        for i, parent in tree.inward:
            tau[i] = self.S[i].T @ f[i]
            f[parent] = f[parent] + self.X[i].T @ f[i]
        return np.concatenate([tau[i] for i in range(1, tree.size)])

    @staticmethod
    def matrix(X: kt.Transform) -> Array:
        """[E 0; -E r× E]."""
        E = np.array(X.E.components()).reshape(3, 3)
        M = np.zeros((6, 6))
        M[:3, :3] = M[3:, 3:] = E
        M[3:, :3] = -E @ skew(np.array(X.r.components()))
        return M

    @staticmethod
    def inertia(I: kt.model.Inertia) -> Array:
        """[Ī h×; -h× m]."""
        h = skew(np.array(I.h.components()))
        return np.block([[np.array(I.I.full.components()).reshape(3, 3), h], [-h, I.mass * np.eye(3)]])

    @staticmethod
    def cross(v: Array) -> Array:
        """v ×; v ×* is its transpose with the other sign."""
        w, u = skew(v[:3]), skew(v[3:])
        return np.block([[w, np.zeros((3, 3))], [u, w]])


def skew(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
