"""Actuators and servos: bad controls, what is refused, batches, derivatives, programs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.extras import Actuator, BodySettings, Extras, Sensor, Tendon, TendonJoint, TendonSite

PUSH = (10.0, 0.0, 0.0, 0.0, 0.0, 0.0)
UNIT, NOTHING = (1.0, *(0.0,) * 9), (0.0,) * 10


def cart(*actuators: Actuator, **more: Any) -> kt.Model:
    builder = kt.ModelBuilder.of(kt.zoo.load("cart_pole"))
    builder.extras = Extras(actuators=actuators, **more)
    return builder.build()


SERVO = Actuator(
    "servo", "joint", "hinge", gain_parameters=(5.0, *NOTHING[1:]), bias="affine",
    bias_parameters=(0.0, -5.0, -0.5, *NOTHING[3:]), control_limited=True, control_range=(-1.0, 1.0),
)  # fmt: skip
FILTER = Actuator(
    "filter", "joint", "slider", gear=PUSH, dynamics="filter", dynamics_parameters=(0.1, *NOTHING[1:]),
    activation_size=1,
)  # fmt: skip
ROBOT = cart(SERVO, FILTER)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_control_stays_in_its_sample(bad: float) -> None:
    ctrl = np.full((5, 2), 0.25)
    good = kt.dynamics.actuator_forces(ROBOT, [0.1, 0.2], [0.3, 0.4], ctrl, [0.5])
    ctrl[2, 1] = bad
    ctrl[3, 0] = np.nan
    with np.errstate(invalid="ignore"):
        found = kt.dynamics.actuator_forces(ROBOT, [0.1, 0.2], [0.3, 0.4], ctrl, [0.5])
    for whole, expected in zip(found, good, strict=True):
        assert (whole[[0, 1, 4]] == expected[[0, 1, 4]]).all()
    assert not np.isfinite(found.act_rates[2, 0])
    assert np.isnan(found.forces[3, 0])
    assert (found.forces[2] == good.forces[2]).all()
    assert np.isfinite(found.forces[3, 1])


def test_activations_are_zero_by_default_and_batches_broadcast() -> None:
    q = np.zeros((3, 1, 2))
    found = kt.dynamics.actuator_forces(ROBOT, q, np.zeros(2), np.ones((4, 2)))
    assert [x.shape for x in found] == [(3, 4, 2), (3, 4, 2), (3, 4, 1)]
    assert (found.tau[..., 0] == 0.0).all()
    assert (found.tau[..., 1] == 5.0).all()
    np.testing.assert_allclose(found.act_rates, 10.0)


def test_a_robot_of_actuators_without_dynamics_has_no_rates() -> None:
    found = kt.dynamics.actuator_forces(cart(SERVO), [0.0, 0.0], [0.0, 0.0], [0.5])
    assert found.act_rates.shape == (0,)
    assert found.tau.tolist() == [0.0, 2.5]


def test_derivatives_are_those_of_the_formula_and_nothing_beyond_a_range() -> None:
    q, v, ctrl, act = np.array([0.1, 0.2]), np.array([0.3, 0.4]), np.array([0.5, 2.0]), np.array([0.7])
    J = kt.jacobian(ROBOT, kt.dynamics.actuator_forces, (q, v, ctrl, act), wrt=("q", "v", "ctrl", "act"))
    np.testing.assert_allclose(J["q"][:2], [[0.0, -5.0], [0.0, 0.0]])
    np.testing.assert_allclose(J["v"][:2], [[0.0, -0.5], [0.0, 0.0]])
    np.testing.assert_allclose(J["ctrl"], [[5.0, 0.0], [0.0, 0.0], [0.0, 0.0], [5.0, 0.0], [0.0, 10.0]])
    np.testing.assert_allclose(J["act"][:, 0], [0.0, 1.0, 10.0, 0.0, -10.0])
    beyond = kt.jacobian(ROBOT, kt.dynamics.actuator_forces, (q, v, np.array([3.0, 0.0]), act), wrt="ctrl")
    assert (beyond[:, 0] == 0.0).all()


@pytest.mark.parametrize(
    ("actuator", "feature"),
    [
        (Actuator("a", "joint", "hinge", dynamics="muscle", activation_size=1), "dynamics of the kind 'muscle'"),
        (Actuator("a", "joint", "hinge", gain="dcmotor"), "a gain of the kind 'dcmotor'"),
        (Actuator("a", "joint", "hinge", gain="pid"), "a gain of the kind 'pid'"),
        (Actuator("a", "joint", "hinge", bias="user"), "a bias of the kind 'user'"),
        (Actuator("a", "body", "pole"), "adhesion"),
        (Actuator("a", "joint", "hinge", samples=3, delay=0.1), "a delay"),
        (Actuator("a", "joint", "hinge", kind="plugin"), "a plugin"),
        (Actuator("a", "tendon", "rope"), "a spatial tendon, 'rope'"),
    ],
)
def test_what_is_not_computed_is_refused_by_name(actuator: Actuator, feature: str) -> None:
    rope = Tendon("rope", "spatial", (TendonSite("tip"),))
    robot = cart(SERVO, actuator, tendons=(rope,))
    with pytest.raises(
        kt.errors.OptionError, match=f"the actuator \"?'?a.* has {feature}.*give it a fixed or affine gain"
    ):
        kt.dynamics.actuator_forces(robot, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0])


def test_without_actuators_the_error_suggests_servos() -> None:
    with pytest.raises(
        kt.errors.OptionError, match=r"'cart_pole' has no actuators.*robot\.with_motors\(\) or robot\.with_servos"
    ):
        kt.dynamics.actuator_forces(kt.zoo.load("cart_pole"), [0.0, 0.0], [0.0, 0.0], [])


@pytest.mark.parametrize("timestep", [0.0, -1.0, np.nan, np.inf, "x", True])
def test_a_time_step_must_be_one(timestep: Any) -> None:
    with pytest.raises(kt.errors.OptionError, match="timestep must be a positive number of seconds"):
        kt.dynamics.actuator_forces(ROBOT, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], timestep=timestep)


def test_a_wrong_number_of_controls_is_reported() -> None:
    with pytest.raises(kt.errors.ShapeError, match="ctrl"):
        kt.dynamics.actuator_forces(ROBOT, [0.0, 0.0], [0.0, 0.0], [0.0])


def test_gravity_compensation_refuses_other_parts() -> None:
    with pytest.raises(kt.errors.OptionError, match="part must be 'all', 'passive' or 'actuators'"):
        kt.dynamics.gravity_compensation(ROBOT, [0.0, 0.0], part="some")  # type: ignore[arg-type]


def test_a_servo_is_its_formula_within_effort_limits() -> None:
    dog = kt.zoo.load("quadruped")
    rng = np.random.default_rng(0)
    q, target = dog.random(rng, size=4), dog.random(rng, size=4)
    v = rng.normal(size=(4, dog.nv))
    tau = kt.dynamics.servo(dog, 3.0, 0.2, limits=False, gravity=True)(q, v, target, np.ones(dog.nv))
    expected = 3.0 * kt.difference(dog, q, target) + 0.2 * (1.0 - v) + kt.gravity_forces(dog, q)
    np.testing.assert_allclose(tau, np.where(dog.actuated, expected, 0.0), atol=1e-12)
    strong = kt.dynamics.servo(dog, 1e6, 0.0)(q, v, target)
    assert (np.abs(strong) <= dog.effort_limit).all()


@pytest.mark.parametrize("gain", [-1.0, np.nan, np.inf])
def test_gains_of_a_servo_are_finite_and_not_negative(gain: float) -> None:
    with pytest.raises(kt.errors.OptionError, match="kp must be finite and not negative"):
        kt.dynamics.servo(kt.zoo.load("cart_pole"), gain, 1.0)
    with pytest.raises(kt.errors.ShapeError, match=r"kd has shape \(3,\)"):
        kt.dynamics.servo(kt.zoo.load("cart_pole"), 1.0, [1.0, 1.0, 1.0])
    with pytest.raises(kt.errors.OptionError, match="limits must be True or False"):
        kt.dynamics.servo(kt.zoo.load("cart_pole"), 1.0, 1.0, limits="yes")  # type: ignore[arg-type]


def test_a_servo_holds_a_target_in_rollouts() -> None:
    robot = kt.zoo.load("cart_pole")
    servo = kt.dynamics.servo(robot, [400.0, 0.0], [40.0, 0.0])
    found = kt.rollout(robot, np.zeros((3, 2)), np.zeros(2), servo, 1e-3, steps=1500, arguments={"target": [0.4, 0.0]})
    np.testing.assert_allclose(found.states[:, -1, 0], 0.4, atol=0.02)


def test_robots_that_differ_in_records_alone_have_kernels_of_their_own() -> None:
    """Kernels are kept on disk by what they depend on, of which records of a file are no part by themselves."""
    state = ([0.5, 0.2], [0.1, 0.3])
    cords = [Tendon("cord", "fixed", (TendonJoint("slider", 1.0),), stiffness=(k, 0.0, 0.0)) for k in (10.0, 20.0)]
    pulls = [kt.dynamics.tendon_forces(cart(SERVO, tendons=(cord,)), *state) for cord in cords]
    np.testing.assert_allclose(pulls, [[-5.0, 0.0], [-10.0, 0.0]])
    weights = [cart(SERVO, bodies=(BodySettings("pole", gravity_compensation=x),)) for x in (0.5, 1.0)]
    carried = [kt.dynamics.gravity_compensation(robot, state[0]) for robot in weights]
    np.testing.assert_allclose(2.0 * carried[0], carried[1])
    assert carried[1].any()
    forces = [
        kt.dynamics.actuator_forces(cart(replace(SERVO, control_range=(-x, x))), *state, [9.0]).forces
        for x in (1.0, 2.0)
    ]
    assert forces[1] - forces[0] == pytest.approx(5.0)
    kinds = [Sensor("s", kind, "joint", "hinge") for kind in ("jointpos", "jointvel")]
    assert [float(kt.dynamics.sensors(cart(SERVO, sensors=(one,)), *state)[0]) for one in kinds] == [0.2, 0.3]
