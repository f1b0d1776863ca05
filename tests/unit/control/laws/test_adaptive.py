"""Adaptive tracking: a payload of unknown mass, in both metrics."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.control.laws.adaptive import natural_step
from kinetree.control.laws.tracking import Tracking
from kinetree.spatial.pseudo_inertia import pseudo_inertia, ten_parameters
from tests.unit.control.laws.test_tracking import ARM, balls, reference

Array = NDArray[np.float64]
START = np.array([0.5, 0.0, 0.0, 0.0, 0.001, 0.0, 0.001, 0.0, 0.0, 0.001])
GAINS = {"rate": np.full(6, 8.0), "gain": np.array([20.0, 20.0, 10.0, 1.0, 1.0, 0.3]), "dt": 1e-3}


@cache
def loaded() -> kt.Model:
    box = kt.solids.box(0.2, 0.1, 0.15, mass=2.0, placement=kt.lie.placement([0.03, 0.02, 0.08]))
    return ARM.attach_body("payload", box, "tool")


@pytest.mark.parametrize(
    ("metric", "adaptation"),
    [("euclidean", np.r_[30.0, np.full(3, 3.0), np.full(6, 0.3)]), ("natural", np.array([30.0]))],
    ids=["euclidean", "natural"],
)
def test_the_error_vanishes_and_the_mass_is_learned(metric: str, adaptation: Array) -> None:
    """The reference has six frequencies: it is persistently exciting."""
    robot, rows = loaded(), reference(1e-3, 16_000)
    law = kt.control.adaptive(robot, bodies=["payload"], metric=metric)
    motion = kt.rollout(
        robot, rows["target"][0], rows["target_velocity"][0], law, 1e-3, rows=rows,
        arguments={**GAINS, "adaptation": adaptation}, state={"estimate": START},
    )  # fmt: skip
    s, estimate = np.linalg.norm(motion.recorded["s"], axis=-1), motion.recorded["estimate"]
    assert s[-2000:].max() < 0.12 * s[:2000].max()
    true = kt.identification.inertial_parameters(robot)[-10:]
    assert abs(estimate[-1, 0] - true[0]) < 0.06
    assert np.abs(estimate[-1, 1:4] - true[1:4]).max() < 0.02
    if metric == "natural":
        P = np.array([pseudo_inertia(ten) for ten in estimate[::100]])
        assert np.linalg.eigvalsh(P).min() > 0.0


@pytest.mark.parametrize("robot", [loaded(), balls()], ids=["arm6", "balls"])
def test_the_energy_of_error_and_estimate_falls_by_s_K_s(robot: kt.Model) -> None:
    """V = ½ sᵀ M s + ½ (π̂ − π)ᵀ Γ⁻¹ (π̂ − π), with the true robot's acceleration."""
    rng, n, name = np.random.default_rng(3), robot.nv, list(robot.bodies)[-1]
    q, (v, v_d, a_d) = robot.random(rng), rng.normal(size=(3, n))
    q_d, rate, gain = robot.integrate(q, 0.3 * rng.normal(size=n)), np.full(n, 3.0), np.linspace(1.0, 2.0, n)
    true, speed, dt = kt.identification.inertial_parameters(robot)[-10:], np.linspace(0.1, 1.0, 10), 1e-3
    found = kt.control.adaptive(robot, bodies=[name])(q, v, q_d, rate, gain, speed, dt, START, v_d, a_d)
    reference = kt.program(
        Tracking(robot).reference, q=robot, v=n, target=robot, target_velocity=n, target_qdd=n, rate=n
    )
    w, a = reference(q, v, q_d, v_d, a_d, rate)
    s, s_rate = w - v, a - kt.aba(robot, q, v, found["tau"])
    assert np.allclose(found["s"], s, rtol=0, atol=1e-12)
    C = kt.dynamics.coriolis_matrix(robot, q, v)  # ½ sᵀ Ṁ s = sᵀ C s
    estimate_rate = (found["estimate"] - START) / dt
    V_rate = s @ (kt.crba(robot, q) @ s_rate + C @ s) + (START - true) @ (estimate_rate / speed)
    assert abs(V_rate + s @ (gain * s)) < 1e-9 * abs(s @ (gain * s))


def test_bodies_that_are_not_learned_and_rotors_are_the_robot_s_own() -> None:
    """With the robot's own parameters as estimate it is the passivity-based law."""
    robot, rng = loaded(), np.random.default_rng(4)
    q, v, q_d, v_d, a_d = robot.random(rng), *rng.normal(size=(4, 6))
    given = {"q": q, "v": v, "target": q_d, "rate": np.full(6, 3.0), "gain": np.full(6, 2.0)}
    given |= {"target_velocity": v_d, "target_acceleration": a_d}
    found = kt.control.adaptive(robot, bodies=["payload"])(**given, adaptation=np.ones(10), dt=1e-3)
    assert np.allclose(found["tau"], kt.control.passivity_based(robot)(**given), rtol=0, atol=1e-10)


def test_ten_parameters_are_a_positive_definite_matrix_and_stay_one() -> None:
    ten, rng = kt.identification.inertial_parameters(loaded())[-10:], np.random.default_rng(5)
    assert np.allclose(ten_parameters(pseudo_inertia(ten)), ten, rtol=0, atol=1e-15)
    for size in (1e-3, 1.0, 1e3):
        after = natural_step(ten, rng.normal(size=10), size)
        assert np.linalg.eigvalsh(pseudo_inertia(after)).min() > 0.0
    gradient, other, h = rng.normal(size=10), rng.normal(size=10), 1e-6
    rate = (natural_step(ten, gradient, h) - natural_step(ten, gradient, -h)) / (2 * h)
    inverse = np.linalg.inv(pseudo_inertia(ten))
    product = np.trace(inverse @ pseudo_inertia(rate) @ inverse @ pseudo_inertia(other))  # in the metric of P
    assert abs(product - gradient @ other) < 1e-6 * np.linalg.norm(gradient)


def test_an_estimate_that_would_not_be_finite_stays() -> None:
    q, v, fives = ARM.random(0), np.full(6, 0.3), np.full(6, 5.0)
    done = kt.control.adaptive(ARM, bodies=["hand"])(q, v, ARM.neutral(), fives, fives, np.full(10, 1e308), 1e10, START)
    assert done["estimate"].tolist() == START.tolist()
    assert done["tau"].tolist() == [0.0] * 6
