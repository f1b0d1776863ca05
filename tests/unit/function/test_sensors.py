"""Sensors: which are chosen, what is missing, what is refused, batches and derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.extras import Actuator, Extras, Sensor

ANGLE = Sensor("angle", "jointpos", "joint", "hinge")
TIP = Sensor("tip", "framepos", "xbody", "pole")
FELT = Sensor("", "framelinacc", "xbody", "pole")
PUSH = Actuator("push", "joint", "slider")
FORCE = Sensor("force", "actuatorfrc", "actuator", "push")


def cart(*sensors: Sensor) -> kt.Model:
    builder = kt.ModelBuilder.of(kt.zoo.load("cart_pole"))
    builder.extras = Extras(sensors=sensors, actuators=(PUSH,))
    return builder.build()


ROBOT = cart(ANGLE, TIP, FELT, FORCE)
AT_REST = ([0.5, 0.25], [0.0, 0.0])


def test_places_are_in_the_order_of_the_file_or_of_the_names() -> None:
    assert kt.dynamics.sensor_places(ROBOT) == {
        "angle": slice(0, 1), "tip": slice(1, 4), "framelinacc[2]": slice(4, 7), "force": slice(7, 8)
    }  # fmt: skip
    assert kt.dynamics.sensor_places(ROBOT, ["tip", "angle"]) == {"tip": slice(0, 3), "angle": slice(3, 4)}
    found = kt.dynamics.sensors(ROBOT, *AT_REST, names=["tip", "angle"])
    np.testing.assert_allclose(found, [*kt.frame_placement(ROBOT, AT_REST[0], "pole")[:3, 3], 0.25])


def test_a_body_at_rest_feels_gravity_upward() -> None:
    found = kt.dynamics.sensors(ROBOT, *AT_REST, [0.0, 0.0], [3.0])
    np.testing.assert_allclose(found[4:], [0.0, 0.0, 9.81, 3.0], atol=1e-12)


def test_samples_do_not_depend_on_each_other() -> None:
    ctrl = np.array([[1.0], [np.nan], [3.0]])
    with np.errstate(invalid="ignore"):
        found = kt.dynamics.sensors(ROBOT, *AT_REST, [0.0, 0.0], ctrl)
    assert np.isnan(found[1, 7])
    assert np.isfinite(np.delete(found, 1, axis=0)).all()
    assert np.isfinite(found[1, :7]).all()


def test_the_derivative_of_a_place_is_its_jacobian() -> None:
    robot = cart(ANGLE, TIP)
    J = kt.jacobian(robot, kt.dynamics.sensors, AT_REST, wrt="q")
    np.testing.assert_allclose(J[0], [0.0, 1.0])
    expected = kt.frame_jacobian(robot, AT_REST[0], "pole", expressed_in="local_world_aligned")
    linear = J[1:]
    assert any(np.allclose(linear, half, atol=1e-12) for half in (expected[:3], expected[3:]))


def test_sensors_of_limits_need_contact_and_accelerations() -> None:
    limit = [Sensor(f"{what}", f"jointlimit{what}", "joint", "slider") for what in ("pos", "vel", "frc")]
    robot = cart(*limit)
    beyond, v = [robot.upper[0] + 0.001, 0.25], [0.5, 0.0]
    with pytest.raises(
        kt.errors.OptionError, match=r"the sensor 'pos' \(jointlimitpos\) measures contacts or limits: give"
    ):
        kt.dynamics.sensors(robot, beyond, v, [0.0, 0.0])
    with pytest.raises(
        kt.errors.OptionError, match=r"'frc' \(jointlimitfrc\) needs qdd.*kt\.contact_dynamics\(…\)\.qdd has it"
    ):
        kt.dynamics.sensors(robot, beyond, v, contact=True)
    motion = kt.contact_dynamics(robot, beyond, v, [0.0, 0.0], passive=False)
    found = kt.dynamics.sensors(robot, beyond, v, motion.qdd, contact=True)
    np.testing.assert_allclose(found, [-0.001, -0.5, -motion.forces[0]], rtol=1e-12)
    assert kt.dynamics.sensors(robot, AT_REST[0], v, [0.0, 0.0], contact=True).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"the sensor number 2 \(framelinacc\) needs qdd"),
        ({"qdd": [0.0, 0.0]}, r"the sensor 'force' \(actuatorfrc\) needs ctrl"),
    ],
)
def test_missing_arguments_are_reported(given: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=message):
        kt.dynamics.sensors(ROBOT, *AT_REST, **given)


def test_clocks_measure_the_given_time() -> None:
    robot = cart(ANGLE, Sensor("t", "clock", cutoff=2.0))
    found = kt.dynamics.sensors(robot, np.zeros((3, 2)), np.zeros(2), time=[0.5, 1.0, 2.5])
    assert found[:, 1].tolist() == [0.5, 1.0, 2.0]
    assert kt.dynamics.sensors(robot, *AT_REST, names=["angle"]).shape == (1,)
    with pytest.raises(kt.errors.OptionError, match=r"'t' \(clock\) needs time, which is not given"):
        kt.dynamics.sensors(robot, *AT_REST)
    motion = kt.simulate(robot, duration=0.01, dt=0.005, record=["sensors"])
    assert motion.recorded["sensor.t"][:, 0].tolist() == motion.time.tolist()


@pytest.mark.parametrize(
    ("sensor", "reason"),
    [
        (Sensor("a", "user", size=2), "is computed by the user's own program"),
        (Sensor("a", "plugin"), "is computed by a plugin"),
        (Sensor("a", "tactile", "geom", "x"), "is made of the places of a mesh"),
        (Sensor("a", "camprojection", "site", "tip"), "is where a camera sees a site"),
        (Sensor("a", "touch", "site", "x"), "is about the inside of a site without a simple shape"),
        (Sensor("a", "jointpos", "joint", "hinge", samples=2, delay=0.1), "has a delay"),
        (Sensor("a", "framequat", "body", "pole"), "measures by the principal axes"),
        (Sensor("a", "framepos", "xbody", "pole", "body", "cart"), "measures by the principal axes"),
    ],
)
def test_what_is_not_computed_is_refused_by_name(sensor: Sensor, reason: str) -> None:
    with pytest.raises(
        kt.errors.OptionError, match=rf"the sensor 'a' .* {reason}.*choose others by names=, among 'angle'"
    ):
        kt.dynamics.sensors(cart(ANGLE, sensor), *AT_REST)


def test_wrong_names_are_reported() -> None:
    with pytest.raises(kt.errors.NameNotFoundError, match=r"has no sensor 'tipp'.*'tip'"):
        kt.dynamics.sensors(ROBOT, *AT_REST, names=["tipp"])
    with pytest.raises(kt.errors.OptionError, match=r"must be a list of names of sensors, such as \['tip'\]"):
        kt.dynamics.sensors(ROBOT, *AT_REST, names="tip")
    with pytest.raises(kt.errors.OptionError, match="names is empty"):
        kt.dynamics.sensors(ROBOT, *AT_REST, names=[])
    with pytest.raises(kt.errors.OptionError, match="'cart_pole' has no sensors"):
        kt.dynamics.sensors(kt.zoo.load("cart_pole"), *AT_REST)


def test_motions_with_contacts_record_sensors_of_limits() -> None:
    robot = cart(Sensor("end", "jointlimitfrc", "joint", "slider"))
    beyond = [robot.upper[0] + 0.001, 0.0]
    motion = kt.simulate(robot, q=beyond, duration=0.01, contact=True, record=["sensors"])
    assert motion.recorded["sensor.end"][0] > 0.0
