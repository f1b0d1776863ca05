"""Warnings about motions that are computed as asked, but hardly meant."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from tests.unit.sim.test_commands import turning_link


def stops(lower: float, upper: float) -> kt.model.Limits:
    return kt.model.Limits((lower,), (upper,), velocity=(np.inf,), effort=(np.inf,))


def slider(lower: float = -1.0, upper: float = 2.0) -> kt.Model:
    """1 kg on a rail with stops, and a wheel without any."""
    builder = kt.ModelBuilder("slider")
    for name in ("rail", "cart", "wheel"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.1, mass=0.5))
    builder.add_joint("track", kt.Prismatic([1, 0, 0]), "rail", "cart", limits=stops(lower, upper))
    builder.add_joint("axle", kt.joints.Continuous([1, 0, 0]), "cart", "wheel")
    return builder.build()


def crank(lower: float = -1.0, upper: float = 1.0) -> kt.Model:
    builder = kt.ModelBuilder("crank")
    for name in ("ground", "arm"):
        builder.add_body(name, kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    builder.add_joint("pin", kt.Revolute([0, 0, 1]), "ground", "arm", limits=stops(lower, upper))
    return builder.build()


def said(robot: kt.Model, **settings: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kt.simulate(robot, **settings)
    assert all(warning.category is kt.errors.SimulationWarning for warning in caught)
    assert all(warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


def test_a_joint_through_its_stop_is_named_with_time_and_value() -> None:
    (sentence,) = said(slider(), v=[10.0, 50.0], duration=0.5, dt=0.01)
    assert sentence == (
        "'track' went through its stop at t = 0.21 s: 2.1 m, beyond its upper limit of 2 m, and as far as 5 m at "
        "t = 0.5 s; position limits are not enforced without contact=True (--contact)"
    )
    (sentence,) = said(slider(), v=[-10.0, 0.0], duration=0.5, dt=0.01)
    assert "-1.1 m, beyond its lower limit of -1 m, and as far as -5 m at t = 0.5 s" in sentence


def test_a_joint_that_is_pushed_through_a_soft_stop_is_named() -> None:
    """Contacts are springs of acceleration: 1 kg is held within millimetres, 10 g under the same force is not."""
    builder = kt.ModelBuilder("finger")
    builder.add_body("palm")
    builder.add_body("tip", kt.solids.box(0.01, 0.01, 0.01, mass=0.01))
    builder.add_joint("slide", kt.Prismatic([1, 0, 0]), "palm", "tip", limits=stops(0.0, 0.04))
    finger = builder.build()
    pushed: dict[str, Any] = {"q": [0.02], "duration": 0.3}
    (sentence,) = said(finger, tau=np.full((300, 1), -20.0), contact=True, **pushed)
    assert sentence.startswith("'slide' went through its stop at t = 0.")
    assert "m, beyond its lower limit of 0 m, and as far as -0." in sentence
    assert "; its limit is too soft for this force, or passed within a step: " in sentence
    assert said(finger, tau=np.full((300, 1), -0.2), contact=True, **pushed) == []
    assert said(finger, tau=np.full((300, 1), -20.0), contact="rigid", **pushed) == []


def test_an_infinite_energy_is_reported() -> None:
    (sentence,) = said(slider(), v=[0.0, 1e200], duration=0.003)
    assert sentence.startswith("the energy is infinite from t = 0 s on")


def test_what_stays_inside_or_turns_freely_is_not_mentioned() -> None:
    assert said(slider(), v=[3.0, 500.0], duration=0.5) == []
    assert said(kt.zoo.load("double_pendulum"), q=[1.0, 0.5], duration=0.5) == []


def test_only_what_leaves_further_counts_for_a_start_that_is_a_little_outside() -> None:
    assert said(slider(), q=[2.03, 0.0], v=[-1.0, 0.0], duration=0.1) == []
    (sentence,) = said(slider(), q=[2.03, 0.0], v=[2.0, 0.0], duration=0.1)
    assert "'track' went through its stop at t = 0.001 s: 2.032 m" in sentence


def test_many_joints_through_their_stops_are_counted() -> None:
    robot = kt.zoo.load("humanoid")
    found = said(robot, v=np.r_[np.zeros(6), np.full(robot.nv - 6, 50.0)], duration=0.1, passive=False)
    assert len(found) == 6
    assert found[-1].endswith("more joints went through their stops")


def test_a_start_in_degrees_is_recognised() -> None:
    (sentence,) = said(crank(), q=[90.0], duration=0.01)
    assert sentence == (
        "'pin' starts at 90 rad, far beyond its upper limit of 1 rad; angles are in radians: 90 degrees are 1.571 rad"
    )
    (sentence,) = said(crank(-6.28, 6.28), q=[-45.0], duration=0.01)
    assert "far beyond its lower limit of -6.28 rad; angles are in radians: -45 degrees are -0.7854 rad" in sentence
    (sentence,) = said(slider(), q=[20.0, 0.0], duration=0.01)
    assert sentence == "'track' starts at 20 m, far beyond its upper limit of 2 m"
    assert said(crank(0.1, 1.0), q=[0.0], duration=0.01) == []  # neutral, just outside


def test_a_base_that_falls_is_named_with_time_and_depth() -> None:
    robot = kt.ModelBuilder("stone")
    robot.add_body("world")
    robot.add_body("stone", kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    robot.add_joint(
        "free", kt.joints.FloatingBase(), "world", "stone", kt.lie.placement((0.0, 0.0, 0.0), rpy=(1.0, 0.5, 0.2))
    )
    stone = robot.build()
    (sentence,) = said(stone, duration=2.1, dt=0.01)
    assert sentence == (
        f"the base, on 'free', has fallen by {9.81 / 2 * 1.43**2:.4g} m at t = 1.43 s, and by "
        f"{9.81 / 2 * 2.1**2:.4g} m at t = 2.1 s: there is no ground; put it on one (robot.on_ground(), contact=True; "
        "in the terminal --on ground), hold its feet with constraints, or load it with a fixed base"
    )
    floating = kt.zoo.load("quadruped")  # a base that floats has no joint to a world
    for contact in (False, True):
        (sentence,) = said(floating, duration=1.5, dt=0.01, contact=contact)
        assert re.match(r"the base, on 'root_joint', has fallen by .*: there is no ground; put it on one", sentence)
    assert said(stone, duration=1.0) == []
    assert said(stone, duration=2.1, dt=0.01, parameters={"gravity": np.zeros(3)}, v=[9.0] * 6) == []
    sideways = {"gravity": np.array([0.0, 9.81, 0.0])}
    assert "fallen by 10.03 m" in said(stone, duration=2.1, dt=0.01, parameters=sideways)[0]


def test_the_first_motion_of_a_batch_is_named() -> None:
    (sentence,) = said(slider(), v=[[1.0, 0.0], [10.0, 0.0], [20.0, 0.0]], duration=0.5, dt=0.01)
    assert sentence.startswith("'track' of sample (1,) went through its stop at t = 0.21 s: 2.1 m")
    (sentence,) = said(crank(), q=[[0.1], [90.0]], duration=0.01)
    assert sentence.startswith("'pin' starts at 90 rad of sample (1,), far beyond")


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_a_controller_that_makes_energy_is_reported_with_time_and_sample(integrator: str) -> None:
    robot = turning_link(2.7e-6)

    def servo(_: float, q: Any, v: Any) -> Any:
        return np.clip(np.array([[1e-3], [0.1]]) * (40.0 * (0.3 - q) - v), -15.0, 15.0)

    found = said(robot, q=np.zeros((2, 1)), tau=servo, duration=0.1, integrator=integrator)
    (sentence,) = (x for x in found if "make energy" in x)
    assert re.match(
        r"\d+ of 200 steps make energy, from t = 0(\.00\d)? s of sample \(1,\) on: velocities turn", sentence
    )


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler", "symplectic_euler", "implicitfast", "discrete"])
def test_stiff_servos_make_no_energy(integrator: str) -> None:
    """A step of 1 ms has 37 of their time constants: steps are divided, or take servos at their end."""
    robot = turning_link(2.7e-6).with_servos(4.0, 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = kt.simulate(robot, ctrl=[0.3], duration=0.3, integrator=integrator)
    assert motion.q[-1] == pytest.approx(0.3, abs=1e-4)
    assert motion.kinetic.max() < 2e-4  # half a kp 0.3² is 0.18 J, which the damper takes
    assert (motion.substeps > 20) == (integrator not in ("implicitfast", "discrete"))


def test_servos_of_tendons_and_ball_joints_divide_steps_too() -> None:
    ball = kt.ModelBuilder("ball", gravity=(0.0, 0.0, 0.0))
    ball.add_body("base")
    ball.add_body("link", kt.model.Inertia.from_com(0.01, [0.0, 0.0, 0.0], np.eye(3) * 2.7e-6))
    ball.add_joint("turn", kt.joints.Spherical(), "base", "link")
    motion = kt.simulate(ball.build().with_servos(0.0, 0.1), ctrl=[0.3, 0.0, 0.1], duration=0.05, integrator="rk4")
    assert motion.substeps > 20
    np.testing.assert_allclose(motion.v[-1], [0.3, 0.0, 0.1], rtol=0, atol=1e-6)


def test_a_servo_that_no_division_resolves_is_refused_with_the_integrator_that_does() -> None:
    robot = turning_link(2.7e-6)
    with pytest.raises(
        kt.errors.StiffFrictionError, match=r"friction or servo of 'turn'.*use the integrator 'discrete'"
    ):
        kt.simulate(robot.with_servos(0.0, 100.0), ctrl=[0.3], duration=0.1, integrator="rk4")
    with pytest.raises(
        kt.errors.SimulationError, match=r"spring or servo of 'turn'.*'discrete' takes servos at the end"
    ):
        kt.simulate(robot.with_servos(1e6, 1e-9), ctrl=[0.3], duration=0.1, integrator="rk4")
