"""Stiffness and damping measured on simulated robots are those of the design."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.control.laws.cartesian_impedance import PoseSpring
from kinetree.control.laws.damping_design import damping_by_ratio
from kinetree.control.laws.task_blocks import LEAST_FREEDOM, TaskBlocks
from tests.kernels import interpreted

Array = NDArray[np.float64]
ARM = kt.zoo.load("arm7")
Q = np.array([0.1, 0.5, -0.2, -1.2, 0.3, 0.8, 0.0])
TARGET = kt.frame_placement(ARM, Q, "tool")
K = np.array([400.0, 500.0, 600.0, 40.0, 50.0, 60.0])
POSTURE = {"posture": Q, "posture_stiffness": np.full(7, 2.0), "posture_damping": np.full(7, 2.0)}


@cache
def in_the_world() -> kt.programs.Program:
    return kt.control.cartesian_impedance(ARM, "tool")


def step_response(Lambda: Array, D: Array, K: Array, f: Array, t: Array) -> Array:
    """x(t) of Λ ẍ + D ẋ + K x = f from rest, by the modes of the linear system."""
    n, W = len(f), np.linalg.inv(Lambda)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-W @ K, -W @ D]])
    end = np.r_[np.linalg.solve(K, f), np.zeros(n)]
    values, vectors = np.linalg.eig(A)
    parts = vectors * np.linalg.solve(vectors, -end.astype(complex))
    moved: Array = (end + (np.exp(np.multiply.outer(t, values)) @ parts.T).real)[:, :n]
    return moved


def test_pulled_by_a_force_the_hand_yields_by_force_over_stiffness_and_in_the_time_of_its_damping() -> None:
    """A step of force: the way there is that of Λ ẍ + D ẋ + K x = f with a damping ratio of 0.7."""
    f, dt = np.array([2.0, -1.5, 1.0, 0.0, 0.0, 0.0]), 2.5e-4
    arguments = {"target": TARGET, "stiffness": K, "damping_ratio": 0.7, **POSTURE}
    states, _ = kt.rollout(
        ARM, Q, np.zeros(7), in_the_world(), dt, {kt.dynamics.WrenchOn("tool", "local_world_aligned"): f}, steps=8000,
        arguments=arguments,
    )  # fmt: skip
    moved = kt.frame_placement(ARM, states[::40, :7], "tool") - TARGET
    assert np.abs(moved[-1, :3, 3] / (f / K)[:3] - 1).max() < 0.001
    assert np.abs(moved[-1, :3, :3]).max() < 1e-5

    J = kt.frame_jacobian(ARM, Q, "tool", expressed_in="local_world_aligned")
    W = J @ np.linalg.solve(kt.crba(ARM, Q), J.T)
    times = dt * (1 + np.arange(0, 8000, 40))
    expected = step_response(np.linalg.inv(W), damping_by_ratio(W, K, 0.7), np.diag(K), f, times)[:, :3]
    assert np.abs((moved[:, :3, 3] - expected) / (f / K)[:3]).max() < 0.01


def test_every_mode_has_the_damping_ratio() -> None:
    rng = np.random.default_rng(0)
    for n, spread in ((6, 1.0), (7, 3.0)):
        A = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-spread / 2, spread / 2, n)
        W, k = np.linalg.inv(A @ A.T + 1e-2 * np.eye(n)), 10.0 ** rng.uniform(1, 3, n)
        D = damping_by_ratio(W, k, 0.6)
        system = np.block([[np.zeros((n, n)), np.eye(n)], [-W * k, -W @ D]])
        values = np.linalg.eigvals(system)
        assert np.allclose(-values.real / np.abs(values), 0.6, rtol=1e-6)
    free = damping_by_ratio(W, np.where(np.arange(7) < 3, 0.0, k), 0.6)
    assert np.all(free[:3] == 0.0)
    assert np.linalg.eigvalsh(free[3:, 3:]).min() > 0.0
    assert np.all(damping_by_ratio(W, np.zeros(7), 1.0) == 0.0)


def test_joints_are_springs_with_a_damping_ratio() -> None:
    arm, q = kt.zoo.load("arm6"), np.array([0.0, 0.4, -0.8, 0.1, 0.5, 0.0])
    k, e0, dt = np.array([20.0, 60.0, 30.0, 2.0, 2.0, 0.2]), np.full(6, 0.001), 1e-4
    arguments = {"target": q, "stiffness": k, "damping_ratio": 0.5}
    law = kt.control.joint_impedance(arm)
    states, _ = kt.rollout(arm, q + e0, np.zeros(6), law, dt, steps=5000, arguments=arguments)
    M = kt.crba(arm, q)
    D = damping_by_ratio(np.linalg.inv(M), k, 0.5)
    fallen = step_response(M, D, np.diag(k), k * e0, dt * (1 + np.arange(5000)))
    assert np.abs(states[:, :6] - q - (e0 - fallen)).max() < 0.01 * e0.max()


@pytest.mark.parametrize("axes", ["world", "target", "local", "forearm_a"])
def test_the_spring_is_the_gradient_of_its_potential(axes: str) -> None:
    """Also far from the target, and with limits: forces are what virtual work says."""
    rng = np.random.default_rng(1)
    spring, q, aim = PoseSpring(ARM, "tool", axes), ARM.random(rng), kt.frame_placement(ARM, ARM.random(rng), "tool")
    e, E, h = spring.stretch(q, aim), spring.slope(q, aim), 1e-6
    ways = [
        (spring.stretch(ARM.integrate(q, h * unit), aim) - spring.stretch(ARM.integrate(q, -h * unit), aim)) / (2 * h)
        for unit in np.eye(7)
    ]
    assert np.abs(np.array(ways).T - E).max() < 1e-8
    assert abs(np.linalg.norm(e[:3]) - np.linalg.norm(aim[:3, 3] - kt.frame_placement(ARM, q, "tool")[:3, 3])) < 1e-12


def test_a_limit_is_that_of_each_component_of_the_spring() -> None:
    law, far = in_the_world(), TARGET.copy()
    far[:3, 3] += [0.5, -0.01, 0.0]
    limit = np.array([30.0, 30.0, 30.0, 3.0, 3.0, 3.0])
    tau = law(Q, np.zeros(7), far, K, force_limit=limit) - kt.gravity_forces(ARM, Q)
    J = kt.frame_jacobian(ARM, Q, "tool", expressed_in="local_world_aligned")
    assert np.allclose(tau, J.T @ [30.0, -5.0, 0.0, 0.0, 0.0, 0.0], rtol=0, atol=1e-12)


def test_the_posture_does_not_move_the_hand() -> None:
    v = np.random.default_rng(2).normal(size=7)
    strong = {"posture": Q + 0.5, "posture_stiffness": np.full(7, 100.0), "posture_damping": np.full(7, 20.0)}
    qdd = [kt.aba(ARM, Q, v, in_the_world()(Q, v, TARGET, K, **more)) for more in ({}, strong)]
    J = kt.frame_jacobian(ARM, Q, "tool", expressed_in="local_world_aligned")
    assert np.abs(qdd[1] - qdd[0]).max() > 1.0
    assert np.abs(J @ (qdd[1] - qdd[0])).max() < 1e-9


def test_energy_falls_by_what_the_dampers_take() -> None:
    """V = ½ vᵀ M v + U(e) without a spring of the posture: V̇ = −ėᵀ D ė − (N v)ᵀ D₀ N v < 0."""
    rng = np.random.default_rng(3)
    q, v, aim = ARM.random(rng), rng.normal(size=7), kt.frame_placement(ARM, ARM.random(rng), "tool")
    law = kt.control.cartesian_impedance(ARM, "tool", axes="local", damping="given")
    spring = PoseSpring(ARM, "tool", "local")
    E = spring.slope(q, aim)
    free = TaskBlocks(ARM, q, [E], LEAST_FREEDOM).free(v)
    assert np.linalg.norm(free) > 0.1
    for d, d0 in ((np.linspace(5.0, 10.0, 6), np.zeros(7)), (np.zeros(6), np.linspace(1.0, 3.0, 7))):
        tau = law(q, v, aim, K, d, posture_damping=d0)
        power = v @ (tau - kt.gravity_forces(ARM, q)) + (E @ v) @ (K * spring.stretch(q, aim))
        assert abs(power + (E @ v) @ (d * (E @ v)) + free @ (d0 * free)) < 1e-9


@pytest.mark.parametrize("axes", ["target", "forearm_a"])
def test_the_spring_knows_how_its_target_moves(axes: str) -> None:
    """ė of a robot at rest, by differences along the target's screw; far from the target."""
    rng, h = np.random.default_rng(4), 1e-6
    spring, q, aim = PoseSpring(ARM, "tool", axes), ARM.random(rng), kt.frame_placement(ARM, ARM.random(rng), "tool")
    twist = rng.normal(size=6)

    def moved(t: float) -> Array:
        there = aim.copy()
        there[:3, :3] = kt.lie.rotation_exp(t * twist[3:]) @ aim[:3, :3]
        there[:3, 3] += t * twist[:3]
        return there

    rate = (spring.stretch(q, moved(h)) - spring.stretch(q, moved(-h))) / (2 * h)
    assert np.abs(rate - spring.drift(q, aim, twist)).max() < 1e-8


def test_a_moving_target_is_followed_without_the_damper_holding_it_back() -> None:
    twist: Any = [0.1, -0.2, 0.05, 0.3, 0.1, -0.2]
    J = kt.frame_jacobian(ARM, Q, "tool", expressed_in="local_world_aligned")
    v = np.linalg.pinv(J) @ twist
    tau = in_the_world()(Q, v, TARGET, K, target_velocity=twist)
    assert np.allclose(tau, kt.gravity_forces(ARM, Q), rtol=0, atol=1e-9)


def test_forces_are_finite_and_bounded_at_singular_configurations_and_half_a_turn_away() -> None:
    law, v, arm = in_the_world(), np.ones(7), np.zeros(7)  # stretched upright
    aim = kt.frame_placement(ARM, arm, "tool")
    aim[:3, 3] += [0.1, 0.1, -0.1]
    tau = np.array([law(arm + x, v, aim, K, **POSTURE) for x in (0.0, 1e-9, 1e-6, 1e-3, 1e-1)])
    assert np.abs(tau).max() < 500.0
    assert np.abs(tau[1] - tau[0]).max() < 1e-4
    opposite = kt.frame_placement(ARM, Q, "tool") @ kt.lie.placement([0, 0, 0], rpy=[np.pi, 0, 0]).matrix
    assert np.abs(law(Q, np.zeros(7), opposite, K)).max() < 500.0


def test_a_robot_whose_joints_are_locked_has_no_forces() -> None:
    locked = ARM.lock(list(ARM.joints))
    with interpreted():
        assert kt.control.joint_impedance(locked)([], [], [], []).shape == (0,)
