"""Settings of contacts: what they take, what they refuse, and how a step of them behaves at its edges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.contact_model import Compliant, Rigid
from tests.closed_form.scenes import G, H, Thing, contact, world

BALL = world(Thing("sphere", (0.1,), contact()), ground=contact())
CART = kt.zoo.load("cart_pole")
RESTING = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0])


def test_a_setting_holds_its_numbers_and_the_time_step() -> None:
    soft = kt.contact.soft_constraints(BALL, setting="compliant", stiffness=2e4, dissipation=0.01)
    assert soft.setting == Compliant(H, 2e4, 0.01)
    assert soft.is_elliptic
    assert "stiffness=20000.0" in str(soft)
    rigid = kt.contact.soft_constraints(BALL, 0.004, setting="rigid", restitution=0.3, accurate=True)
    assert rigid.setting == Rigid(0.004, 0.3, True)
    assert kt.contact.soft_constraints(BALL).setting is None
    assert hash(rigid) != hash(soft)


def test_one_coefficient_of_friction_for_all_contacts() -> None:
    (touch,) = kt.contact.soft_constraints(BALL, friction=0.8).touches
    assert touch.friction[:2] == (0.8, 0.8)
    (smooth,) = kt.contact.soft_constraints(BALL, friction=0.0).touches
    assert 0.0 < smooth.friction[0] < 1e-4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"setting": "rigit"}, "there is no contact setting 'rigit': .*rigid"),
        ({"setting": 3}, "setting must be one of 'mujoco', 'compliant', 'rigid', not 3"),
        ({"stiffness": 1e4}, "stiffness= belongs to the setting 'compliant', not to 'mujoco'"),
        ({"setting": "rigid", "dissipation": 0.1}, "dissipation= belongs to the setting 'compliant', not to 'rigid'"),
        ({"setting": "compliant", "restitution": 1.0}, "restitution= belongs to the setting 'rigid'"),
        ({"setting": "compliant", "stiffness": 0.0}, "stiffness must be a positive number of N/m, not 0.0"),
        ({"setting": "compliant", "stiffness": "1e4"}, "stiffness must be a positive number of N/m, not '1e4'"),
        ({"setting": "rigid", "restitution": 1.2}, "restitution must be a number from 0 to 1, not 1.2"),
        ({"setting": "rigid", "restitution": True}, "restitution must be a number from 0 to 1, not True"),
        ({"setting": "rigid", "accurate": 1}, "accurate must be True or False, not 1"),
        ({"setting": "rigid", "tolerance": float("nan")}, "tolerance must be a positive speed, not nan"),
        ({"friction": -0.1}, "friction must be a number from 0 on, not -0.1"),
    ],
)
def test_wrong_numbers_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=message):
        kt.contact.soft_constraints(BALL, **given)


def test_a_contact_that_is_no_setting_is_refused() -> None:
    with pytest.raises(kt.errors.OptionError, match=r'contact must be True, False, "partial", a setting \("mujoco", '):
        kt.contact_dynamics(BALL, RESTING, np.zeros(6), np.zeros(6), contact="soft")  # type: ignore[call-overload]


@pytest.mark.parametrize("setting", ["compliant", "rigid"])
def test_methods_with_stages_are_refused(setting: Any) -> None:
    with pytest.raises(kt.errors.OptionError, match="laws of a whole step, but 'rk4' divides it into stages"):
        kt.rollout(BALL, RESTING, np.zeros(6), np.zeros((1, 6)), H, contact=setting, integrator="rk4")


@pytest.mark.parametrize("setting", ["compliant", "rigid"])
def test_a_name_is_the_setting_with_its_usual_numbers(setting: Any) -> None:
    v = np.array([0.3, 0.0, -0.5, 0.0, 1.0, 0.0])
    named = kt.contact_dynamics(BALL, RESTING, v, np.zeros(6), contact=setting)
    whole = kt.contact_dynamics(
        BALL, RESTING, v, np.zeros(6), contact=kt.contact.soft_constraints(BALL, setting=setting)
    )
    np.testing.assert_array_equal(named.qdd, whole.qdd)


@pytest.mark.parametrize("setting", ["compliant", "rigid"])
def test_the_acceleration_is_that_of_a_step(setting: Any) -> None:
    v = np.array([0.3, 0.0, -0.5, 0.0, 1.0, 0.0])
    states = kt.rollout(BALL, RESTING, v, np.zeros((1, 6)), H, contact=setting)
    qdd = kt.contact_dynamics(BALL, RESTING, v, np.zeros(6), contact=setting).qdd
    np.testing.assert_allclose(states[0, 7:], v + H * qdd, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("setting", ["mujoco", "compliant", "rigid"])
def test_forces_at_points_are_those_that_accelerate(setting: Any) -> None:
    q, v = RESTING - [0.0, 0.0, 1e-5, 0.0, 0.0, 0.0, 0.0], np.array([1.0, 0.3, -0.1, 0.0, 0.0, 0.0])  # it slides
    qdd = kt.contact_dynamics(BALL, q, v, np.zeros(6), contact=setting).qdd
    force = kt.contact.contact_forces(BALL, q, v, qdd, contact=setting).forces.sum(axis=0)
    mass = kt.mass_matrix(BALL, q)[0, 0]
    np.testing.assert_allclose(force, mass * (qdd[:3] + np.array([0.0, 0.0, G])), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("setting", ["compliant", "rigid"])
def test_what_is_recorded_of_a_ball_at_rest_is_its_weight(setting: Any) -> None:
    recorded = ["contacts", "accelerations"]
    motion = kt.simulate(BALL, q=RESTING, duration=0.3, dt=2.0 * H, contact=setting, record=recorded)
    np.testing.assert_allclose(motion.recorded["contact.force"][-1, 0, 2], kt.mass_matrix(BALL, RESTING)[0, 0] * G)
    np.testing.assert_allclose(motion.qdd[-1], 0.0, atol=1e-6)


def test_forces_of_accurate_contacts_do_not_follow_from_accelerations() -> None:
    accurate = kt.contact.soft_constraints(BALL, setting="rigid", accurate=True)
    with pytest.raises(kt.errors.OptionError, match="contact_forces: accurate rigid contacts have no compliance"):
        kt.contact.contact_forces(BALL, RESTING, np.zeros(6), np.zeros(6), contact=accurate)
    with pytest.raises(
        kt.errors.OptionError, match=r"record=\[.contacts.\]: accurate rigid contacts have no compliance"
    ):
        kt.simulate(BALL, q=RESTING, duration=0.1, contact=accurate, record=["contacts"])


def test_forces_of_bounces_are_not_found_from_accelerations() -> None:
    bouncy = kt.contact.soft_constraints(BALL, setting="rigid", restitution=0.5)
    with pytest.raises(kt.errors.OptionError, match="contact_forces: bounces depend on their energy"):
        kt.contact.contact_forces(BALL, RESTING, np.zeros(6), np.zeros(6), contact=bouncy)


def test_soft_constraints_of_another_robot_are_refused() -> None:
    with pytest.raises(kt.errors.OptionError, match="contact= is of another robot: it names the body 'rail'"):
        kt.contact_dynamics(BALL, RESTING, np.zeros(6), np.zeros(6), contact=kt.contact.soft_constraints(CART))


@pytest.mark.parametrize("setting", ["compliant", "rigid"])
def test_a_sensor_of_touch_feels_the_weight(setting: Any, tmp_path: Path) -> None:
    (tmp_path / "ball.xml").write_text("""<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
      <body pos="0 0 0.1"><freejoint/><geom size="0.1" mass="1"/><site name="skin" size="0.2"/></body></worldbody>
      <sensor><touch name="felt" site="skin"/></sensor></mujoco>""")
    ball = kt.load(tmp_path / "ball.xml")
    motion = kt.simulate(ball, duration=0.3, contact=setting, record=["sensors"])
    np.testing.assert_allclose(motion.recorded["sensor.felt"][-1], G, rtol=1e-6)


@pytest.mark.parametrize("setting", ["compliant", "rigid"])
def test_limits_and_dry_friction_of_joints_are_near_rigid(setting: Any) -> None:
    beyond, ahead = [CART.upper[0] + 1e-3, 0.0], [CART.upper[0] - 1e-4, 0.0]
    states = kt.rollout(CART, beyond, [1.0, 0.0], np.zeros((200, 2)), H, contact=setting, passive=True)
    assert states[-1, 0] < CART.upper[0] + 1e-5
    assert states[0, 2] < 0.0  # it turns back at once, slowly
    states = kt.rollout(CART, ahead, [1.0, 0.0], np.zeros((1, 2)), H, contact=setting, passive=True)
    np.testing.assert_allclose(states[0, 0], CART.upper[0], atol=2e-6)  # it does not go past it


@pytest.mark.parametrize(("e", "accurate"), [(0.0, True), (0.5, False), (1.0, True)])
def test_joints_bounce_off_their_limits(e: float, accurate: bool) -> None:
    soft = kt.contact.soft_constraints(CART, H, setting="rigid", restitution=e, accurate=accurate)
    start, v = [CART.upper[0] - 0.5 * H, 0.0], [1.0, 0.0]
    states = kt.rollout(CART, start, v, np.zeros((3, 2)), H, contact=soft, passive=False)
    at = states[0, 2] if e else states[1, 2]
    np.testing.assert_allclose(at, -e, atol=3e-3)  # near-rigid: to a thousandth
    assert (states[:, 0] < CART.upper[0] + 1e-5).all()


@pytest.mark.parametrize("setting", ["compliant", "rigid"])
def test_edges_of_steps_and_samples(setting: Any) -> None:
    q = np.tile(RESTING, (3, 1))
    v = np.zeros((3, 6))
    q[1, 2] = 0.05
    v[2] = np.nan
    tau = np.zeros((3, 1, 6))
    still = kt.rollout(BALL, q[:2], v[:2], tau[:2], 0.0, contact=setting)
    np.testing.assert_array_equal(still[:, 0], np.hstack([q, v])[:2])  # a step of no time
    with np.errstate(invalid="ignore"):
        apart = kt.rollout(BALL, q, v, np.zeros((3, 400, 6)), H, contact=setting)
    assert np.isnan(apart[2]).any()
    assert np.isfinite(apart[:2]).all()
    assert apart[1, :, 9].max() < (3.0 if setting == "compliant" else 1.01)  # what was inside parts, not too fast
    long = kt.rollout(BALL, q[:1], v[:1], tau[:1], 1.0, contact=setting)
    assert np.isfinite(long).all()
    alone = kt.rollout(BALL, q[1], v[1], np.zeros((400, 6)), H, contact=setting)
    np.testing.assert_array_equal(alone, apart[1])


STATES = {
    "sticks": (0.0999, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    "slides": (0.0999, [0.8, 0.3, -0.1, 0.0, 1.0, 0.5]),
    "apart": (0.2, [0.8, 0.3, -0.1, 0.0, 1.0, 0.5]),
}


@pytest.mark.parametrize("setting", ["compliant", "rigid"])
@pytest.mark.parametrize("state", STATES)
def test_derivatives_are_those_of_differences(setting: Any, state: str) -> None:
    height, v = STATES[state]
    q, tau = RESTING.copy(), np.array([0.4, 0.2, -1.0, 0.0, 0.0, 0.1])
    q[2] = height

    def accelerations(v: Any, tau: Any) -> Any:
        return kt.contact_dynamics(BALL, q, v, tau, contact=setting).qdd

    for wrt, at in (("v", np.array(v)), ("tau", tau)):
        found = np.asarray(kt.jacobian(BALL, kt.contact_dynamics, (q, v, tau), wrt=wrt, contact=setting))[:6]
        step = 1e-6
        for k in range(6):
            d = step * np.eye(6)[k]
            both = [accelerations(x, tau) if wrt == "v" else accelerations(v, x) for x in (at + d, at - d)]
            np.testing.assert_allclose(found[:, k], (both[0] - both[1]) / (2 * step), rtol=1e-5, atol=1e-3 * G)
