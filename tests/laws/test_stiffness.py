"""How fast friction brakes and springs swing: rounds of power iteration, beside NumPy's and beside the eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from kinetree.compiler.calls import compile_function
from kinetree.functions.stiffness import (
    Fastest,
    Search,
    fastest_anywhere,
    spring_stiffness,
    steepest_friction,
    stiffest,
)
from tests.laws.test_drives import driven_trees
from tests.robots import GROUPS, group_of_joints
from tests.strategies import State, law

Array = NDArray[np.float64]


def rates_of_joints(robot: kt.Model) -> Array:
    shared = robot.tree.coordinates
    return np.eye(robot.nv) if shared is None else shared.matrix()


def rounds(robot: kt.Model, q: Array, u: Array, seeds: Array, passive: list[str]) -> Array:
    """The same in NumPy, with the mass matrix."""
    root = np.sqrt(steepest_friction(robot, passive) + spring_stiffness(robot, passive))
    G, M = rates_of_joints(robot), kt.crba(robot, q)
    rows = []
    for seed in seeds:
        x = root * (G @ u) + (root > 0.0) * (G @ seed)
        length = np.linalg.norm(x)
        response = np.linalg.solve(M, G.T @ (root * x)) / length if length > 0.0 else np.zeros(robot.nv)
        value = np.linalg.norm(root * (G @ response))
        u = response / value if value > 0.0 else np.zeros(robot.nv)
        rows.append([*u, value])
    return np.array(rows)


@pytest.mark.parametrize("unroll", [True, False])
@law(5)
@given(driven_trees(max_joints=4), st.sampled_from([["damping"], ["friction", "damping"], ["spring"]]))
def test_a_round_is_power_iteration(unroll: bool, moving: tuple[kt.Model, State], passive: list[str]) -> None:
    robot, state = moving
    weights = np.tile([float(name in passive) for name in ("damping", "friction", "spring")], (4, 1))
    rng, seeds = np.random.default_rng(0), np.zeros((4, robot.nv))
    u, seeds[[0, 2]] = rng.normal(size=robot.nv), rng.normal(size=(2, robot.nv))
    q = np.repeat(state.q[None], 4, axis=0)
    f = compile_function(robot, stiffest, unroll=unroll)
    found = f(u, np.zeros(1), q, seeds, weights)
    expected = rounds(robot, state.q, u, seeds, passive)
    scale = np.linalg.cond(kt.crba(robot, state.q)) * 1e-14 + 1e-12
    np.testing.assert_allclose(found, expected, rtol=0, atol=scale * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("group", GROUPS)
def test_the_search_ends_at_the_largest_eigenvalue(group: str) -> None:
    """Joints of every kind, a follower and a coupling; gravity and parameters that do not matter change nothing."""
    robot = group_of_joints(group)
    root = np.sqrt(steepest_friction(robot, ["damping", "friction"]))
    given = {"gravity": np.array([1.0, 2.0, 3.0])}
    search = Fastest(Search.of(robot, ["damping", "friction"], [*given]), given)
    for q in (robot.random(1), robot.random(2)):
        found = search.along(np.repeat(q[None], 40, axis=0))[-1]
        half = root[:, None] * rates_of_joints(robot)
        largest = np.linalg.eigvalsh(half @ np.linalg.inv(kt.crba(robot, q)) @ half.T)[-1]
        assert found == pytest.approx(largest, rel=0.02)
        assert found <= largest * (1.0 + 1e-9)


def turning_tree(rng: np.random.Generator) -> kt.Model:
    """Joints that turn, in axes and at places of any kind, with rotors on some; one follows another."""
    builder = kt.ModelBuilder("turning")
    builder.add_body("0", kt.solids.sphere(1.0, mass=1.0))
    for k in range(1, 6):
        sides = rng.uniform(0.05, 1.0, size=3)
        placement = kt.lie.placement(rng.normal(size=3))
        builder.add_body(f"{k}", kt.solids.box(*sides, mass=rng.uniform(0.1, 5.0), placement=placement))
        is_ball = k not in (1, 5) and rng.random() < 0.3
        kind: kt.joints.JointKind = kt.joints.Spherical() if is_ball else kt.Revolute(rng.normal(size=3))
        more: dict[str, Any] = {"mimic": kt.model.Mimic("1", multiplier=-0.7)} if k == 5 else {}
        more["armature"] = rng.uniform(0.0, 0.5, kind.nv) * (rng.random() < 0.3)
        parent = f"{rng.integers(0, k)}"
        damping = rng.uniform(0.0, 1.0, kind.nv) * (rng.random() < 0.7)
        builder.add_joint(f"{k}", kind, parent, f"{k}", kt.lie.placement(rng.normal(size=3)), damping=damping, **more)
    return builder.build()


def test_no_configuration_is_faster_than_the_bound() -> None:
    rng, ratios = np.random.default_rng(6), []
    for _ in range(30):
        robot = turning_tree(rng)
        slopes, G = steepest_friction(robot, ["damping"]), rates_of_joints(robot)
        bound = fastest_anywhere(robot, slopes)
        for q in robot.random(rng, size=5):
            found = np.linalg.eigvals(np.linalg.solve(kt.crba(robot, q), G.T @ np.diag(slopes) @ G)).real.max()
            ratios.append(found / bound if bound else 0.0)
    assert 0.3 < max(ratios) <= 1.0
    slider = kt.zoo.load("cart_pole")
    assert fastest_anywhere(slider, steepest_friction(slider, ["damping"])) == np.inf
    assert fastest_anywhere(slider, np.zeros(2)) == 0.0


def test_nothing_is_found_where_there_is_nothing_stiff() -> None:
    robot = kt.zoo.load("double_pendulum")
    rest = np.zeros(2)
    found = stiffest(robot, rest, np.zeros(1), robot.neutral()[None], np.ones((1, 2)), np.zeros((1, 3)))
    np.testing.assert_array_equal(found, np.zeros((1, 3)))


def test_friction_that_feeds_energy_in_is_not_stiff() -> None:
    """Parts with negative damping cannot be built; a weight below zero is as much."""
    robot = kt.zoo.load("arm6")
    seed = np.ones((1, 6))
    found = stiffest(robot, np.zeros(6), np.zeros(1), robot.neutral()[None], seed, np.array([[-1.0, 0.0, 0.0]]))
    np.testing.assert_array_equal(found, np.zeros((1, 7)))


@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_search_can_begin_again_after_any_look(shape: tuple[int, ...]) -> None:
    """As if the configurations after that one had not been looked at."""
    robot = kt.zoo.load("arm7")
    path = np.random.default_rng(0).uniform(-1.0, 1.0, (*shape, 4, 7))
    straight, twice = (Fastest(Search.of(robot, ["damping", "friction"])) for _ in range(2))
    for search in (straight, twice):
        search.along(path[..., :1, :])
    expected = straight.along(path[..., 1:, :])
    twice.along(np.concatenate([path[..., 1:2, :], -path[..., 2:, :]], axis=-2))
    twice.begin_after(0)
    np.testing.assert_array_equal(twice.along(path[..., 2:, :]), expected[..., 1:])
