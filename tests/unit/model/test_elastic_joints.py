"""Joints with a spring between motor and link: the equations of Spong (1987), closed forms, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt

ARM = kt.zoo.load("arm6")
K, D, B = 900.0, 1.5, 0.4


def pendulum() -> kt.Model:
    builder = kt.ModelBuilder("pendulum", gravity=(0.0, 0.0, 0.0))
    builder.add_body("base")
    builder.add_body("rod", kt.solids.cylinder(0.02, 0.5, mass=1.0))
    builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "rod", damping=[0.1])
    return builder.build()


def test_coordinates_are_those_of_before_and_then_the_deflection() -> None:
    robot = ARM.with_elastic_joint("elbow_pitch", K, D, B)
    assert robot.q_names == [*ARM.q_names, "elbow_pitch_spring"]
    assert robot.actuated.tolist() == [True] * 6 + [False]
    assert np.array_equal(robot.effort_limit[:6], ARM.effort_limit)
    assert robot.joints["elbow_pitch"].armature == (B,)
    assert robot.joints["elbow_pitch_spring"].stiffness == (K,)
    assert robot.joints["elbow_pitch_spring"].damping == (D,)
    assert robot.notes[0].startswith("joint 'elbow_pitch' is elastic")


def test_the_equations_are_those_of_two_masses_and_a_spring() -> None:
    """M q̈ + h = K (θ − q) + D (θ̇ − q̇) at the link, and B θ̈ = τ − K (θ − q) − D (θ̇ − q̇) at the motor."""
    robot = ARM.with_elastic_joint("elbow_pitch", K, D, B)
    rng = np.random.default_rng(0)
    theta, deflection = rng.uniform(-1, 1, 6), 0.03
    rates, rate = rng.normal(size=6), 0.2
    tau = rng.normal(size=6)
    q, v = np.append(theta, deflection), np.append(rates, rate)
    passive = ["spring", "damping"]
    qdd = kt.aba(robot, q, v, np.append(tau, 0.0), passive=passive)
    friction = kt.dynamics.passive_forces(robot, q, v, passive=passive)
    k = ARM.q_names.index("elbow_pitch")
    link, moving, accelerating = theta.copy(), rates.copy(), qdd[:6].copy()
    link[k], moving[k], accelerating[k] = theta[k] + deflection, rates[k] + rate, qdd[k] + qdd[6]
    through = kt.rnea(ARM, link, moving, accelerating)
    spring = -K * deflection - D * rate
    others = np.arange(6) != k
    np.testing.assert_allclose(through[others], (tau + friction[:6])[others], rtol=0, atol=1e-10)
    assert through[k] == pytest.approx(spring, abs=1e-10)
    assert B * qdd[k] == pytest.approx(tau[k] + friction[k] - spring, abs=1e-10)


def test_a_link_and_a_rotor_swing_against_each_other() -> None:
    robot = pendulum().with_elastic_joint("hinge", 100.0, 0.0, 0.01)
    J = float(kt.crba(pendulum(), [0.0])[0, 0])
    omega = math.sqrt(100.0 * (1.0 / J + 1.0 / 0.01))
    motion = kt.simulate(robot, q=[0.0, 0.1], duration=0.5, dt=2e-4, passive=["spring"])
    np.testing.assert_allclose(motion.q[:, 1], 0.1 * np.cos(omega * motion.time), rtol=0, atol=1e-6)
    loss = 0.5 * 100.0 * 0.1**2 * (omega * 2e-4) ** 6 / 72.0 * 2500  # RK4 loses (ω h)⁶ / 72 of the energy per step
    assert np.abs(motion.balance_error).max() == pytest.approx(loss, rel=0.1)


def test_a_load_bends_it_by_torque_over_stiffness() -> None:
    robot = ARM.with_elastic_joint("shoulder_pitch", 5000.0, 20.0, 0.5)
    q = np.append(ARM.neutral() + 0.3, 0.0)
    for _ in range(30):
        q[6] = -kt.gravity_forces(robot, q)[6] / 5000.0
    hold = np.append(kt.gravity_forces(robot, q)[:6], 0.0)
    assert abs(q[6]) > 1e-3
    assert np.abs(kt.aba(robot, q, np.zeros(7), hold, passive=True)).max() < 1e-9


def test_several_joints_in_turn(tmp_path: Path) -> None:
    robot = ARM.with_elastic_joint("elbow_pitch", K, D, B).with_elastic_joint("wrist_pitch", K, D, B)
    assert robot.q_names == [*ARM.q_names, "elbow_pitch_spring", "wrist_pitch_spring"]
    assert kt.load(kt.save(robot, tmp_path / "robot.json")) == robot


@pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")  # a humanoid has many pairs of shapes
def test_neighbours_do_not_begin_to_touch() -> None:
    robot = kt.zoo.load("humanoid")

    def pairs(some: kt.Model) -> set[frozenset[str]]:
        return {frozenset((touch.first.name, touch.second.name)) for touch in kt.contact.soft_constraints(some).touches}

    assert pairs(robot.with_elastic_joint("left_elbow", K, D, B)) == pairs(robot)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (("elbow", K, D, B), kt.errors.NameNotFoundError, "elbow_pitch"),
        (("elbow_pitch", 0.0, D, B), kt.errors.OptionError, "stiffness must be a positive number"),
        (("elbow_pitch", K, -1.0, B), kt.errors.OptionError, "damping must be"),
        (("elbow_pitch", K, D, 0.0), kt.errors.OptionError, "rotor_inertia must be a positive number"),
        (("elbow_pitch", K, D, math.nan), kt.errors.OptionError, "rotor_inertia must be a positive number"),
        ((3, K, D, B), kt.errors.NameNotFoundError, "no moving joint 3"),
    ],
)
def test_what_cannot_be_elastic_is_refused(given: tuple[Any, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ARM.with_elastic_joint(*given)


def test_joints_that_cannot_be_elastic_are_refused() -> None:
    with pytest.raises(kt.errors.ModelError, match="one degree of freedom"):
        kt.zoo.load("humanoid").with_elastic_joint("root_joint", K, D, B)
    elastic = ARM.with_elastic_joint("elbow_pitch", K, D, B)
    with pytest.raises(kt.errors.ModelError, match="has a spring of its own"):
        elastic.with_elastic_joint("elbow_pitch_spring", K, D, B)
