"""External forces in any axes and at points: their virtual work, forces that are weights, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import kinetree as kt
from tests import functions
from tests.laws.reference import BOTH, close, coordinate_rates, directional, reference
from tests.laws.test_kinematics import size_of
from tests.laws.test_rolled import interpreted, program_of
from tests.robots import every_joint
from tests.strategies import State, law, moving_trees, numbers

Array = NDArray[np.float64]
Call = Callable[..., Any]
Key = kt.dynamics.WrenchOn | kt.dynamics.ForceOn

AXES = ("local", "world", "local_world_aligned")
IN_ALL_THREE = pytest.mark.parametrize("expressed_in", AXES)
KINDS = pytest.mark.parametrize("kind", [kt.dynamics.WrenchOn, kt.dynamics.ForceOn], ids=lambda kind: kind.__name__)
SIX = st.lists(numbers(5.0), min_size=6, max_size=6).map(np.array)


def wrench_of(key: Key, robot: kt.Model, q: Array, given: Array) -> Array:
    """[f; n] in the axes and about the point of `expressed_in`, from a wrench or a force at a point."""
    f, p = given[:3], given[3:]
    if isinstance(key, kt.dynamics.WrenchOn):
        return given
    if key.expressed_in == "local_world_aligned":
        p = reference(kt.frame_placement, robot, q, frame=key.frame)[:3, :3] @ p
    return np.concatenate([f, np.cross(p, f)])


# -- what they do


@KINDS
@IN_ALL_THREE
@law(8)
@given(moving_trees(), SIX)
def test_the_virtual_work_of_a_force_is_that_of_its_joint_forces(
    expressed_in: Any, kind: Any, case: tuple[kt.Model, State], given: Array
) -> None:
    robot, s = case
    key = kind("tool", expressed_in)
    J = reference(kt.frame_jacobian, robot, s.q, frame="tool", expressed_in=expressed_in)
    free = reference(kt.rnea, robot, s.q, s.v, s.qdd)
    pushed = reference(kt.rnea, robot, s.q, s.v, s.qdd, f_ext={key: given})
    close(free - pushed, J.T @ wrench_of(key, robot, s.q, given), scale=10.0 * size_of(s))


@BOTH
@law(3)
@given(moving_trees(), SIX)
def test_forces_in_all_axes_are_the_same_force_in_every_function(
    call: Call, case: tuple[kt.Model, State], given: Array
) -> None:
    """Turned by hand into the frame's own axes."""
    robot, s = case
    X = reference(kt.frame_placement, robot, s.q, frame="tool")
    R, r = X[:3, :3], X[:3, 3]
    for expressed_in in AXES[1:]:
        key = kt.dynamics.WrenchOn("tool", expressed_in)
        f, n = given[:3], given[3:]
        n = n - np.cross(r, f) if expressed_in == "world" else n
        local = np.concatenate([R.T @ f, R.T @ n])
        for function, arguments in (
            (kt.aba, (s.q, s.v, s.tau)),
            (kt.bias_forces, (s.q, s.v)),
            (kt.dynamics.mechanical_power, (s.q, s.v, s.tau)),
        ):
            expected = call(function, robot, *arguments, f_ext={"tool": local})
            scale = float(
                np.abs(call(function, robot, *arguments)).max(initial=1.0) + np.abs(expected).max(initial=1.0)
            )
            close(call(function, robot, *arguments, f_ext={key: given}), expected, 10.0 * scale)


TAKING = [
    name
    for name, function in functions.EVERY.items()
    if function.definition.takes_forces and not name.endswith("_derivatives")
]


@pytest.mark.parametrize("name", TAKING)
def test_every_function_with_forces_takes_them_in_the_worlds_axes(name: str) -> None:
    function, robot = functions.EVERY[name], kt.zoo.load("quadruped")
    rng = np.random.default_rng(7)
    arguments = [x[0] for x in functions.samples(robot, function, 1, rng)]
    options = functions.options_of(function, "hind_left_foot")
    w, place = rng.normal(size=6), kt.frame_placement(robot, arguments[0], "hind_left_foot")
    R, r = place[:3, :3], place[:3, 3]
    local = np.concatenate([R.T @ w[:3], R.T @ (w[3:] - np.cross(r, w[:3]))])
    expected = reference(function, robot, *arguments, f_ext={"hind_left_foot": local}, **options)
    found = reference(
        function, robot, *arguments, f_ext={kt.dynamics.WrenchOn("hind_left_foot", "world"): w}, **options
    )
    close(found, expected, scale=float(np.abs(expected).max()), tolerance=1e-10)


def weights(robot: kt.Model, g: Array) -> dict[Key, Array]:
    """Forces at the centres of mass that are what gravity does."""
    solids = {b.name: b.inertia for b in robot.bodies.values() if b.inertia.mass and b.slot}
    return {
        kt.dynamics.ForceOn(name, "local_world_aligned"): np.concatenate(
            [x.mass * g, np.array(x.h.components()) / x.mass]
        )
        for name, x in solids.items()
    }


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
@pytest.mark.parametrize("name", ["double_pendulum", "arm6", "quadruped"])
def test_weights_as_external_forces_move_a_robot_as_gravity_does(name: str, integrator: Any) -> None:
    """Over many steps, in which the bodies turn; each stage of a step turns the forces anew."""
    robot, g = kt.zoo.load(name), np.array([0.5, -2.0, -9.81])
    forces = weights(robot, g)
    rng = np.random.default_rng(5)
    q, v, tau = robot.random(rng), rng.normal(size=robot.nv), 0.1 * rng.normal(size=(20, robot.nv))
    falls = kt.rollout(robot, q, v, tau, 2e-3, integrator=integrator, parameters={"gravity": g})
    pushed = kt.rollout(robot, q, v, tau, 2e-3, forces, integrator=integrator, parameters={"gravity": [0.0, 0.0, 0.0]})
    np.testing.assert_allclose(pushed, falls, rtol=0, atol=1e-11 * np.abs(falls).max())


# -- derivatives


@KINDS
@pytest.mark.parametrize("expressed_in", AXES[1:])
@law(3)
@given(moving_trees(max_joints=3), SIX)
def test_derivatives_know_that_forces_turn_as_seen_from_the_body(
    expressed_in: Any, kind: Any, case: tuple[kt.Model, State], given: Array
) -> None:
    robot, s = case
    key = kind("tool", expressed_in)
    direction = (s.q, coordinate_rates(robot, s.q, s.v))
    expected = directional(lambda q: reference(kt.rnea, robot, q, s.v, s.qdd, f_ext={key: given}), direction)
    found = kt.dynamics.rnea_derivatives(robot, s.q, s.v, s.qdd, {key: given})
    close(found.by_q @ s.v, expected, scale=100.0 * size_of(s))
    _, along = kt.jvp(robot, kt.rnea, (s.q, s.v, s.qdd), {"q": s.v}, f_ext={key: given})
    close(along, expected, scale=100.0 * size_of(s))


def test_forward_dynamics_has_their_derivatives_too() -> None:
    robot = kt.zoo.load("quadruped")
    rng = np.random.default_rng(3)
    q, v, tau, w = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv), rng.normal(size=6)
    push = {kt.dynamics.WrenchOn("hind_left_foot", "world"): w}
    found = kt.dynamics.aba_derivatives(robot, q, v, tau, push)
    h = 1e-4
    for k, e in enumerate(h * np.eye(robot.nv)):
        at = [kt.aba(robot, robot.integrate(q, x * e), v, tau, push) for x in (-2, -1, 1, 2)]
        slope = (8.0 * (at[2] - at[1]) - (at[3] - at[0])) / (12.0 * h)
        np.testing.assert_allclose(found.by_q[:, k], slope, rtol=0, atol=1e-8 * np.abs(found.by_q).max())
    _, gradients = kt.vjp(robot, kt.aba, (q, v, tau), np.ones(robot.nv), f_ext=push)
    slope = kt.aba(robot, q, v, tau, dict.fromkeys(push, 2.0 * w)) - kt.aba(robot, q, v, tau, push)  # it is linear
    assert np.isclose(gradients["f_ext.WrenchOn('hind_left_foot', 'world')"] @ w, slope.sum())


# -- loops over bodies, and every kind of joint


def test_loops_over_bodies_know_them() -> None:
    """Of both kinds in all axes, several on one body, beside one in the axes of its frame."""
    robot = every_joint()
    rng = np.random.default_rng(1)
    q, (v, tau) = robot.random(rng), rng.normal(size=(2, robot.nv))
    names = list(robot.frames)
    frames = names[-1], names[len(names) // 2]
    keys = [
        kind(frame, axes)
        for axes in AXES
        for kind, frame in zip((kt.dynamics.WrenchOn, kt.dynamics.ForceOn), frames, strict=True)
    ]
    keys = [*keys, names[-1]]
    given = [*rng.normal(size=(len(keys), 6))]
    for function in (kt.rnea, kt.aba):
        expected = reference(function, robot, q, v, tau, f_ext=dict(zip(keys, given, strict=True)))
        program = program_of(function, robot, f_ext=keys, passive=False, limits=False)
        close(interpreted(program, [q, v, tau, *given]), expected, scale=float(np.abs(expected).max()))
