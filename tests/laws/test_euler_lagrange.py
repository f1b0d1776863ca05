"""The tutorial's equations of motion, from Jacobians alone, and the recursive algorithms are one and the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.compiler.specialization import Specialization
from kinetree.expr import interpret
from kinetree.model import Rotor
from kinetree.spatial import Inertia, Sym3, Transform, Vec3
from tests.robots import every_joint
from tests.strategies import State, law, moving_trees, wrenches

from .reference import close, coordinate_rates, directional, reference
from .test_sharing import Case
from .test_sharing import cases as sharing_cases

Array = NDArray[Any]


def magnitude(robot: kt.Model, s: State) -> float:
    """The size of what is added up in solving for accelerations."""
    H = reference(kt.crba, robot, s.q)
    forces = np.abs(reference(kt.bias_forces, robot, s.q, s.v)) + np.abs(s.tau)
    return float((np.abs(np.linalg.inv(H)) @ (forces + 0.1 * np.abs(H).sum(axis=1))).max(initial=0.0))


@law(30)
@given(data=st.data())
def test_the_dense_solution_is_the_articulated_body_algorithms(data: st.DataObject) -> None:
    robot, s = data.draw(moving_trees(max_joints=5))
    f_ext = {"tool": data.draw(wrenches())}
    pushed = reference(kt.frame_jacobian, robot, s.q, frame="tool", expressed_in="local").T @ f_ext["tool"]
    expected = reference(kt.aba, robot, s.q, s.v, s.tau, f_ext=f_ext)
    scale = magnitude(robot, s._replace(tau=np.abs(s.tau) + np.abs(pushed)))
    close(reference(kt.dynamics.euler_lagrange, robot, s.q, s.v, s.tau, f_ext=f_ext), expected, scale, tolerance=1e-10)


@law(30)
@given(case=moving_trees(max_joints=5))
def test_its_matrices_are_the_mass_matrix_and_one_that_gives_the_coriolis_force(case: tuple[kt.Model, State]) -> None:
    robot, s = case
    M, C = reference(kt.dynamics.euler_lagrange_matrices, robot, s.q, s.v)
    close(M, reference(kt.crba, robot, s.q))
    close(C @ s.v, reference(kt.dynamics.coriolis_forces, robot, s.q, s.v), scale=float(np.abs(C).max(initial=0.0)))
    _is_skew_up_to_half_the_rate(robot, s.q, s.v, C)


def _is_skew_up_to_half_the_rate(robot: kt.Model, q: Array, v: Array, C: Array) -> None:
    M_dot = directional(lambda x: reference(kt.crba, robot, x), (q, coordinate_rates(robot, q, v)))
    N = M_dot - 2.0 * C
    close(N, -N.T, scale=float(np.abs(C).max(initial=0.0)))


def test_rotors_armatures_followers_and_couplings_are_in_both_matrices() -> None:
    robot = every_joint()
    rng = np.random.default_rng(4)
    for _ in range(3):
        q, (v, tau) = robot.random(rng), rng.normal(size=(2, robot.nv))
        M, C = reference(kt.dynamics.euler_lagrange_matrices, robot, q, v)
        close(M, reference(kt.crba, robot, q))
        close(C @ v, reference(kt.dynamics.coriolis_forces, robot, q, v), scale=float(np.abs(C).max()))
        _is_skew_up_to_half_the_rate(robot, q, v, C)
        for passive in (False, True):
            expected = reference(kt.aba, robot, q, v, tau, passive=passive)
            close(reference(kt.dynamics.euler_lagrange, robot, q, v, tau, passive=passive), expected, scale=1e3)


@law(20)
@given(case=sharing_cases())
def test_shared_coordinates_are_projected(case: tuple[Case, State]) -> None:
    c, s = case
    M, C = reference(kt.dynamics.euler_lagrange_matrices, c.robot, s.q, s.v)
    M_all, C_all = reference(kt.dynamics.euler_lagrange_matrices, c.free, c.G_q @ s.q + c.b, c.G @ s.v)
    close(M, c.G.T @ M_all @ c.G, scale=float(np.abs(M_all).max(initial=0.0)))
    close(C, c.G.T @ C_all @ c.G, scale=float(np.abs(C_all).max(initial=0.0)))


def composite(robot: kt.Model, q: Array, v: Array, *, unroll: bool) -> Array:
    """M and C as robots have them that are too large for sums over links."""
    large = kt.dynamics.euler_lagrange_matrices.definition.strategy.when_large  # type: ignore[attr-defined]
    program = Specialization(large, robot, {}, (), (), unroll).program()
    (numbers,) = interpret(program, q.tolist(), v.tolist())
    return np.reshape(numbers, (2, robot.nv, robot.nv))


@law(20)
@given(case=moving_trees(max_joints=5))
def test_composite_bodies_give_the_very_same_matrices(case: tuple[kt.Model, State]) -> None:
    robot, s = case
    expected = reference(kt.dynamics.euler_lagrange_matrices, robot, s.q, s.v)
    close(composite(robot, s.q, s.v, unroll=True), expected, scale=float(np.abs(expected).max(initial=0.0)))


def geared() -> kt.Model:
    """Four joints with geared rotors, the last of which follows the first."""
    builder = kt.ModelBuilder("geared")
    builder.add_body("base")
    for k, axis in enumerate(([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])):
        solid = kt.solids.box(0.1, 0.2, 0.3, mass=1.0 + k, placement=kt.lie.placement([0.1, 0.05, 0.2]))
        builder.add_body(f"link{k}", solid)
        mimic = kt.model.Mimic("joint0", -1.5, 0.2) if k == 3 else None
        parent, place = f"link{k - 1}" if k else "base", kt.lie.placement([0.1, 0.2, 0.3])
        rotor = Rotor(0.01, 20.0)
        builder.add_joint(f"joint{k}", kt.Revolute(axis), parent, f"link{k}", place, mimic=mimic, rotor=rotor)
    return builder.build()


@pytest.mark.parametrize("unroll", [True, False])
def test_they_do_so_with_rotors_and_shared_coordinates_in_loops_too(unroll: bool) -> None:
    robot, rng = geared(), np.random.default_rng(14)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    expected = reference(kt.dynamics.euler_lagrange_matrices, robot, q, v)
    assert np.abs(expected[1] - reference(kt.dynamics.coriolis_matrix, robot, q, v)).max() > 1e-3  # C is not unique
    close(composite(robot, q, v, unroll=unroll), expected, scale=float(np.abs(expected).max()))


def test_compiled_it_is_the_same_and_both_matrices_are_views_of_one_array() -> None:
    robot = kt.zoo.load("arm6")
    rng = np.random.default_rng(1)
    q = np.array([robot.random(rng) for _ in range(5)])
    v, tau = rng.normal(size=(2, 5, robot.nv))
    f_ext = {"tool": rng.normal(size=(5, 6))}
    expected = kt.aba(robot, q, v, tau, f_ext=f_ext, limits=True)
    close(kt.dynamics.euler_lagrange(robot, q, v, tau, f_ext=f_ext, limits=True), expected)
    out = np.empty((5, 2, robot.nv, robot.nv))
    found = kt.dynamics.euler_lagrange_matrices(robot, q, v, out=out)
    assert found.M.base is found.C.base is out
    close(found.M, kt.crba(robot, q))
    close(np.einsum("nij,nj->ni", found.C, v), kt.dynamics.coriolis_forces(robot, q, v))


def wheel() -> kt.Model:
    builder = kt.ModelBuilder("wheel", gravity=(0.0, 0.0, 0.0))
    builder.add_body("base")
    builder.add_body("arm", kt.solids.box(0.5, 0.1, 0.1, mass=2.0, placement=kt.lie.placement([0.25, 0, 0])))
    builder.add_body("disc", Inertia(0.0, Vec3.zero(), Sym3(0.1, 0.2, 0.3, 0.0, 0.0, 0.0)))
    builder.add_joint("swing", kt.Revolute([0, 0, 1]), "base", "arm")
    builder.add_joint("spin", kt.Revolute([0, 1, 0]), "arm", "disc", kt.lie.placement([0.5, 0, 0]))
    with pytest.warns(kt.errors.ModelWarning, match="inertia but no mass"):
        return builder.build()


def test_a_body_without_mass_counts_with_its_inertia_only() -> None:
    robot, q, v, tau = wheel(), np.array([0.3, 0.4]), np.array([1.0, 2.0]), np.array([0.5, 0.6])
    close(reference(kt.dynamics.euler_lagrange, robot, q, v, tau), reference(kt.aba, robot, q, v, tau))
    expected = reference(kt.dynamics.euler_lagrange_matrices, robot, q, v)
    for unroll in (True, False):
        close(composite(robot, q, v, unroll=unroll), expected)


# -- the tutorial's joints and calls


def local_jacobian(kind: Any, q: list[float]) -> tuple[Array, Array]:
    """R_k and Ĵ_ω of a ball joint: the angular velocity per rate, in the parent's axes."""
    motion = kind.calc(q, [0.0, 0.0, 0.0])
    R = matrix(motion.X_J)
    return R, R @ np.array([s.angular.components() for s in motion.S.columns]).T


def matrix(X: Transform) -> Array:
    return np.array(X.E.T.components(), dtype=float).reshape(3, 3)


def skew(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def about(axis: int, angle: float) -> Array:
    e = np.eye(3)[axis]
    return np.eye(3) + np.sin(angle) * skew(e) + (1.0 - np.cos(angle)) * skew(e) @ skew(e)


def test_euler_angles_turn_as_equation_52_says() -> None:
    q = [0.4, -0.7, 1.1]
    R, J = local_jacobian(kt.joints.Euler("XYZ"), q)
    Rx, Ry, Rz = (about(axis, angle) for axis, angle in enumerate(q))
    close(R, Rx @ Ry @ Rz)
    close(J, np.stack([[1, 0, 0], Rx @ [0, 1, 0], Rx @ Ry @ [0, 0, 1]], axis=1))


@pytest.mark.parametrize("length", [1e-9, 1e-4, 0.5, 2.5])
def test_the_exponential_map_turns_as_equations_53_to_56_say(length: float) -> None:
    q = length * np.array([2.0, -1.0, 2.0]) / 3.0
    R, J = local_jacobian(kt.joints.ExponentialMap(), q.tolist())
    x, xx = skew(q), skew(q) @ skew(q)
    if length < 1e-3:  # eqs. 55 and 56
        close(R, np.eye(3) + x + xx / 2.0)
        close(J, np.eye(3) + x / 2.0 + xx / 6.0)
        return
    close(R, np.eye(3) + np.sin(length) / length * x + (1.0 - np.cos(length)) / length**2 * xx)
    close(J, np.eye(3) + (1.0 - np.cos(length)) / length**2 * x + (length - np.sin(length)) / length**3 * xx)


def test_every_call_that_the_tutorial_lists_has_its_counterpart() -> None:
    """Mass matrix, Coriolis and gravity forces, forward and inverse dynamics, and J, J_v and J_ω of each link."""
    robot = kt.zoo.load("arm6")
    rng = np.random.default_rng(9)
    q, (v, tau) = robot.random(rng), rng.normal(size=(2, robot.nv))
    qdd = kt.forward_dynamics(robot, q, v, tau)
    coriolis, gravity = kt.dynamics.coriolis_forces(robot, q, v), kt.gravity_forces(robot, q)
    close(kt.mass_matrix(robot, q) @ qdd + coriolis + gravity, tau, scale=10.0)
    close(kt.inverse_dynamics(robot, q, v, qdd), tau, scale=10.0)
    M = np.zeros((robot.nv, robot.nv))
    for body in robot.bodies.values():
        m, h, I = body.inertia.mass, np.array(body.inertia.h.components()), body.inertia.I.full.components()
        J, J_v, J_w = (
            kt.frame_jacobian(robot, q, body.name, expressed_in="local", part=part)
            for part in ("full", "linear", "angular")
        )
        close(J, np.concatenate([J_v, J_w]))
        M += m * J_v.T @ J_v + J_w.T @ np.reshape(I, (3, 3)) @ J_w
        M += J_w.T @ skew(h) @ J_v - J_v.T @ skew(h) @ J_w
    close(kt.mass_matrix(robot, q), M + np.diag([x for row in robot.tree.armature for x in row]))
