"""The inverse of the mass matrix, its factors and what they solve are views of one matrix."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from numpy.typing import NDArray

import kinetree as kt
from kinetree import algorithms
from kinetree.tree.elimination import elimination
from kinetree.tree.recorded import OneSystemTree
from tests.laws.reference import BOTH, close, compiled, reference
from tests.laws.test_centroidal import with_rotors
from tests.laws.test_rolled import interpreted, program_of
from tests.robots import every_joint, group_of_joints
from tests.strategies import State, law, moving_trees, roundings
from tests.unit.model.bodies import ball, point, shift

Array = NDArray[np.float64]
Call = Callable[..., Any]
FUNCTIONS = [kt.mass_matrix_inverse, kt.dynamics.mass_matrix_factors, kt.dynamics.mass_matrix_solve]


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


def factors(model: kt.Model, q: Array, call: Call = reference) -> tuple[Array, Array]:
    """L and D, from an array or from the public function's tuple."""
    found = call(kt.dynamics.mass_matrix_factors, model, q)
    return (found[:-1], found[-1]) if call is reference else (found.L, found.D)


def size_of(*terms: Array) -> float:
    return max(float(np.abs(term).max(initial=0.0)) for term in terms)


# -- laws


@law()
@given(moving_trees())
@example(case_of_all_joints())
def test_the_inverse_times_the_mass_matrix_is_one(case: tuple[kt.Model, State]) -> None:
    model, s = case
    H, inverse = reference(kt.crba, model, s.q), reference(kt.mass_matrix_inverse, model, s.q)
    close(inverse @ H, np.eye(model.nv), scale=size_of(np.abs(inverse) @ np.abs(H)))
    np.testing.assert_array_equal(inverse, inverse.T)


@law()
@given(moving_trees())
@example(case_of_all_joints())
def test_the_factors_multiply_to_the_mass_matrix(case: tuple[kt.Model, State]) -> None:
    model, s = case
    H, (L, D) = reference(kt.crba, model, s.q), factors(model, s.q)
    assert (D > 0.0).all()
    np.testing.assert_array_equal(np.diag(L), np.ones(model.nv))
    np.testing.assert_array_equal(np.triu(L, 1), np.zeros_like(L))
    close(L.T @ np.diag(D) @ L, H, scale=size_of(np.abs(L.T) @ np.diag(D) @ np.abs(L)))


def bound_of_solutions(model: kt.Model, q: NDArray[Any], force: NDArray[Any]) -> tuple[float, float]:
    """Scale and tolerance of H⁻¹ force: relative errors of H count |H⁻¹| |H| |H⁻¹| |force| times."""
    H, inverse = np.abs(reference(kt.crba, model, q)), np.abs(reference(kt.mass_matrix_inverse, model, q))
    return size_of(inverse @ H @ inverse @ np.abs(force)), roundings(100 * model.nv)


@law()
@given(moving_trees())
@example(case_of_all_joints())
def test_solving_is_multiplying_by_the_inverse(case: tuple[kt.Model, State]) -> None:
    model, s = case
    inverse = reference(kt.mass_matrix_inverse, model, s.q)
    scale, tolerance = bound_of_solutions(model, s.q, s.tau)
    close(reference(kt.dynamics.mass_matrix_solve, model, s.q, s.tau), inverse @ s.tau, scale, tolerance)


@law()
@given(moving_trees())
def test_forward_dynamics_is_the_inverse_times_what_is_left_of_the_forces(case: tuple[kt.Model, State]) -> None:
    model, s = case
    force = s.tau - reference(kt.bias_forces, model, s.q, s.v)
    qdd = reference(kt.dynamics.mass_matrix_solve, model, s.q, force)
    scale, tolerance = bound_of_solutions(model, s.q, force)
    close(reference(kt.aba, model, s.q, s.v, s.tau), qdd, scale, tolerance)


@law()
@given(moving_trees())
def test_factors_are_zero_where_no_body_hangs_on_the_other(case: tuple[kt.Model, State]) -> None:
    """Where parents come before their children in v, L[k, i] = 0 unless joint i carries joint k."""
    model, s = case
    tree = model.tree
    if any(tree.parent[i] > i for i, _ in tree.outward):
        return
    L, _ = factors(model, s.q)
    starts = tree.v_starts
    for k, _ in tree.outward:
        above = tree.supports(k)
        for i in range(1, tree.size):
            block = L[starts[k] : starts[k + 1], starts[i] : starts[i + 1]]
            assert i in above or not block.any()


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@law(5)
@given(case=moving_trees())
@example(case=case_of("sharing joints"))
@example(case=case_of("free bodies"))
@example(case=case_of("turns of bodies"))
@example(case=case_of("planes and turns"))
def test_loops_over_degrees_of_freedom_are_the_textbook_loop(function: Call, case: tuple[kt.Model, State]) -> None:
    model, s = case
    arrays = [s.q, s.tau] if function is kt.dynamics.mass_matrix_solve else [s.q]
    expected = reference(function, model, *arrays)
    H, inverse = reference(kt.crba, model, s.q), reference(kt.mass_matrix_inverse, model, s.q)
    scale = size_of(inverse, np.abs(inverse) @ np.abs(H)) * max(1.0, size_of(s.tau))
    close(interpreted(program_of(function, model), arrays), expected, scale=scale)


# -- particular robots


@BOTH
def test_a_single_body(call: Call) -> None:
    builder = kt.ModelBuilder("pendulum")
    builder.add_body("base")
    builder.add_body("bob", point(2.0, (0.0, 0.0, -0.5)))
    builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "bob", armature=[0.25])
    robot = builder.build()
    close(call(kt.mass_matrix_inverse, robot, [0.3]), [[1.0 / 0.75]])
    L, D = factors(robot, np.array([0.3]), call)
    close(L, [[1.0]])
    close(D, [0.75])
    close(call(kt.dynamics.mass_matrix_solve, robot, [0.3], [1.5]), [2.0])


def test_legs_do_not_meet_in_the_factors_but_do_in_the_inverse() -> None:
    robot = kt.zoo.load("quadruped")
    q = robot.random(3)
    L, _ = factors(robot, q, compiled)
    inverse = kt.mass_matrix_inverse(robot, q)
    legs = np.arange(6, robot.nv).reshape(4, 3)
    for a in legs:
        for b in legs:
            if a[0] != b[0]:
                assert not L[np.ix_(a, b)].any()
                assert inverse[np.ix_(a, b)].any()


def test_factors_follow_the_order_of_v_even_where_children_come_first() -> None:
    """A file may name a joint before the one that carries it; L stays lower triangular."""
    builder = kt.ModelBuilder("backwards")
    for name in ("base", "upper", "lower", "hand", "fin"):
        builder.add_body(name, ball(1.5, com=(0.1, 0.2, 0.3)))
    builder.add_joint("wrist", kt.Revolute([1, 0, 0]), "lower", "hand", shift(z=0.4))
    builder.add_joint("tail", kt.Revolute([1, 0, 0]), "upper", "fin", shift(x=0.4))
    builder.add_joint("elbow", kt.Revolute([0, 1, 0]), "upper", "lower", shift(z=0.5))
    builder.add_joint("shoulder", kt.joints.Spherical(), "base", "upper")
    robot = builder.build()
    assert elimination(robot.tree).order[1:4] == (3, 4, 5)  # the shoulder's degrees of freedom
    assert elimination(robot.tree, as_numbered=True).order[1:] == tuple(range(6))
    q = robot.random(5)
    H, (L, D) = kt.crba(robot, q), factors(robot, q, compiled)
    np.testing.assert_array_equal(np.triu(L, 1), np.zeros_like(L))
    close(L.T @ np.diag(D) @ L, H)
    close(kt.mass_matrix_inverse(robot, q) @ H, np.eye(6), scale=10.0)
    for function in FUNCTIONS:
        arrays = [q, np.arange(6.0)] if function is kt.dynamics.mass_matrix_solve else [q]
        looped = interpreted(program_of(function, robot), arrays)
        close(looped, reference(function, robot, *arrays), scale=100.0)


def test_a_long_chain_is_solved_in_loops() -> None:
    """Of more degrees of freedom than are written out."""
    builder = kt.ModelBuilder("chain")
    builder.add_body("link 0")
    for k in range(1, 161):
        builder.add_body(f"link {k}", ball(0.5, com=(0.0, 0.0, 0.05)))
        parent = k - 1 if k % 40 != 1 else 0  # four of them, side by side
        axis = [1, 0, 0] if k % 2 else [0, 1, 0]
        builder.add_joint(f"joint {k}", kt.Revolute(axis), f"link {parent}", f"link {k}", shift(z=0.1), armature=[0.01])
    robot = builder.build()
    q, force = robot.random(1), np.random.default_rng(2).normal(size=robot.nv)
    H = kt.crba(robot, q)
    inverse = kt.mass_matrix_inverse(robot, q)
    expected = np.linalg.inv(H)
    close(inverse, expected, scale=size_of(expected), tolerance=1e-9)
    close(kt.dynamics.mass_matrix_solve(robot, q, force), expected @ force, scale=size_of(expected), tolerance=1e-9)
    L, D = kt.dynamics.mass_matrix_factors(robot, q)
    close(L.T @ np.diag(D) @ L, H, scale=size_of(H))
    assert not L[40:, :40].any()


# -- by bodies, and by the mass matrix


def by_the_mass_matrix(model: kt.Model, q: Array) -> Array:
    tree = OneSystemTree.of(model.tree)
    return np.array(algorithms.mass_matrix_inverse(tree, tree.split(q.tolist(), "nq")).flat()).reshape(model.nv, -1)


@law(30)
@given(case=moving_trees())
def test_the_inverse_by_bodies_is_that_of_the_mass_matrix(case: tuple[kt.Model, State]) -> None:
    model, s = case
    expected = by_the_mass_matrix(model, s.q)
    H = reference(kt.crba, model, s.q)
    scale = float(np.linalg.cond(H) * np.abs(expected).max())
    close(reference(kt.mass_matrix_inverse, model, s.q), expected, scale, tolerance=1e-13)


def test_geared_rotors_are_felt_by_bodies_too() -> None:
    model = with_rotors()
    q = model.random(np.random.default_rng(5))
    inverse = reference(kt.mass_matrix_inverse, model, q)
    close(inverse, by_the_mass_matrix(model, q), tolerance=1e-12)
    close(inverse @ reference(kt.crba, model, q), np.eye(model.nv), tolerance=1e-12)
