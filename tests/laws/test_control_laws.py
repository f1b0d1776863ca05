"""Laws of control on random robots: the forces of a reference velocity, passivity, errors that obey their equation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import kinetree as kt
from kinetree.control.laws.reference_forces import reference_forces, reference_regressor
from kinetree.control.laws.tracking import Tracking
from tests.kernels import interpreted
from tests.laws.reference import close, reference
from tests.robots import GROUPS, group_of_joints
from tests.strategies import State, law, moving_trees
from tests.unit.control.laws.test_tracking import balls


def size_of(*terms: np.ndarray) -> float:
    return max(float(np.abs(term).max(initial=0.0)) for term in terms)


@law(10)
@given(moving_trees(max_joints=4))
def test_forces_of_a_reference_velocity_have_the_coriolis_matrix_of_skew_symmetry(case: tuple[kt.Model, State]) -> None:
    """M a + C(q, v) w + g, with the C for which Ṁ − 2 C is skew: so a law with K s more is passive."""
    robot, (q, v, a, w) = case
    with interpreted():
        found = reference_forces(robot, q, v, w, a)
    M, C = reference(kt.crba, robot, q), reference(kt.dynamics.coriolis_matrix, robot, q, v)
    terms = M @ a, np.abs(C) @ np.abs(w), np.abs(C) @ np.abs(v), reference(kt.gravity_forces, robot, q)
    whole = M @ a + C @ w + terms[3]
    close(found, whole, scale=size_of(*terms, w * w), tolerance=1e-9)


@pytest.mark.parametrize("group", GROUPS)
def test_the_regressor_of_a_reference_velocity(group: str) -> None:
    """Its product with the parameters is what a change of the parameters changes: joints of every kind."""
    robot, rng = group_of_joints(group), np.random.default_rng(4)
    q, (v, w, a) = robot.random(rng), rng.normal(size=(3, robot.nv))
    more = kt.identification.inertial_parameters(robot)
    more[10:20] *= 1.5  # of the second body, all ten
    name = list(robot.bodies)[1]
    heavier = kt.identification.with_inertial_parameters(robot, more)
    with interpreted():
        Y = reference_regressor(robot, q, v, w, a, [name])
    change = [
        reference(kt.crba, each, q) @ a
        + reference(kt.dynamics.coriolis_matrix, each, q, v) @ w
        + reference(kt.gravity_forces, each, q)
        for each in (robot, heavier)
    ]
    close(Y @ (more[10:20] / 3), change[1] - change[0], scale=size_of(change[1]), tolerance=1e-10)


@pytest.mark.parametrize("robot", [balls(), kt.zoo.load("arm6")], ids=["balls", "arm6"])
def test_the_passivity_based_law_lets_s_decay(robot: kt.Model) -> None:
    """M ṡ + (C + K) s = 0, with ṡ by differences along the motion; then d/dt ½ sᵀ M s = −sᵀ K s, as Ṁ − 2 C is skew."""
    rng, n, h = np.random.default_rng(5), robot.nv, 1e-5
    q, (v, v_d, a_d) = robot.random(rng), rng.normal(size=(3, n))
    target, rate, gain = (
        robot.integrate(q, 0.3 * rng.normal(size=n)),
        np.linspace(1.0, 3.0, n),
        np.linspace(2.0, 4.0, n),
    )
    tracking = Tracking(robot)
    with interpreted():
        tau = kt.control.passivity_based(robot)(q, v, target, rate, gain, v_d, a_d)
        qdd = reference(kt.aba, robot, q, v, tau)
        s = [
            tracking.reference(
                robot.integrate(q, v * t + qdd * t**2 / 2), v, robot.integrate(target, v_d * t + a_d * t**2 / 2),
                v_d + a_d * t, a_d, rate,
            )[0] - (v + qdd * t)
            for t in (-h, 0.0, h)
        ]  # fmt: skip
    M, C = reference(kt.crba, robot, q), reference(kt.dynamics.coriolis_matrix, robot, q, v)
    assert np.abs(M @ (s[2] - s[0]) / (2 * h) + C @ s[1] + gain * s[1]).max() < 1e-7
