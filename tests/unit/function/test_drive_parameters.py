"""Parameters of drives and actuators: names, the rules of servos, division of steps, derivatives, other functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.compiler.forms.parameters import parameter_ports
from tests.unit.model.bodies import ball

Q, V = np.array([0.3, -0.2]), np.array([1.0, -0.5])


def pole(**drive: Any) -> kt.Model:
    """A cart with a pole, on which two servos act; with other numbers for the drive of its slider."""
    builder = kt.ModelBuilder("cart")
    builder.add_body("rail")
    for name in ("cart", "pole"):
        builder.add_body(name, ball(1.0, 0.3))
    builder.add_joint("slider", kt.Prismatic([1, 0, 0]), "rail", "cart", **drive)
    builder.add_joint("pole", kt.Revolute([0, 1, 0]), "cart", "pole", stiffness=[2.0])
    return builder.build()


def servos(kp: float, kd: float, **drive: Any) -> kt.Model:
    return pole(**drive).with_servos(kp, kd)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("actuator.slidr.kp", "there is no actuator 'slidr'; did you mean 'slider'"),
        ("actuator.slider.kv", "kv is called kd"),
        ("actuator.slider.force_range", "its force is not limited"),
        ("actuator.slider.gains", "has kp, kd, gain_parameters, bias_parameters, gear"),
        ("joint.slider.dampng", "a joint has placement, armature, damping, friction, stiffness, rest"),
        ("joint.slidr.friction", "there is no joint 'slidr'"),
    ],
)
def test_a_wrong_name_is_answered_with_what_to_write(name: str, words: str) -> None:
    with pytest.raises(kt.errors.NameNotFoundError, match=words):
        parameter_ports(servos(10.0, 1.0), [name])


def test_a_motor_is_no_servo() -> None:
    with pytest.raises(kt.errors.NameNotFoundError, match="it is no position servo"):
        parameter_ports(pole().with_motors(), ["actuator.slider.kp"])


def test_two_names_for_one_number_are_refused() -> None:
    with pytest.raises(kt.errors.OptionError, match=r"'actuator.pole.kd' and 'actuator.pole.bias_parameters' say"):
        parameter_ports(servos(10.0, 1.0), ["actuator.pole.kd", "actuator.pole.bias_parameters"])


def test_a_robot_without_numbers_of_its_own_takes_those_that_are_given() -> None:
    """Friction, spring and servo of a joint that has none; as forces, and as a row of contact dynamics."""
    plain, full = pole().with_motors(), servos(8.0, 0.5, damping=[0.3], friction=[0.2], stiffness=[4.0], rest=[0.1])
    given = {
        "joint.slider.damping": [0.3], "joint.slider.friction": [0.2], "joint.slider.stiffness": [4.0],
        "joint.slider.rest": [0.1],
    }  # fmt: skip
    servo = {
        f"actuator.{x}.{name}": numbers
        for x in ("slider", "pole")
        for name, numbers in {"gain_parameters": [8.0, 0, 0], "bias_parameters": [0, -8.0, -0.5]}.items()
    }
    np.testing.assert_allclose(
        kt.dynamics.passive_forces(plain, Q, V, parameters=given), kt.dynamics.passive_forces(full, Q, V)
    )
    energies = [
        kt.potential_energy(plain, Q, passive=True, parameters=given),
        kt.potential_energy(full, Q, passive=True),
    ]
    assert energies[0] == pytest.approx(energies[1])
    ctrl = np.array([0.4, -0.3])
    found = kt.dynamics.actuator_forces(plain, Q, V, ctrl, parameters=servo)
    np.testing.assert_allclose(found.forces, kt.dynamics.actuator_forces(full, Q, V, ctrl).forces)
    for contact in (False, True):
        moved = [
            kt.rollout(robot, Q, V, np.zeros((20, 2)), 0.01, ctrl=ctrl + np.zeros((20, 1)), passive=True,
                       contact=contact, integrator="discrete", parameters=parameters)
            for robot, parameters in ((plain, given | servo), (full, None))
        ]  # fmt: skip
        np.testing.assert_allclose(*moved, rtol=0, atol=1e-12)


def test_dry_friction_is_a_row_of_contact_dynamics() -> None:
    with_it = pole(friction=[5.0])
    tau, given = [3.0, 0.0], {"joint.slider.friction": np.array([[5.0], [0.0]])}
    found = kt.contact_dynamics(pole(), Q, V, tau, passive=True, parameters=given).qdd
    for qdd, robot in zip(found, (with_it, pole()), strict=True):
        np.testing.assert_allclose(qdd, kt.contact_dynamics(robot, Q, V, tau, passive=True).qdd, rtol=0, atol=1e-12)
    assert np.abs(found[0] - found[1]).max() > 1.0


@pytest.mark.parametrize("integrator", ["symplectic_euler", "semi_implicit_euler", "rk4", "implicitfast"])
def test_steps_are_divided_as_the_given_numbers_ask(integrator: str) -> None:
    """Each sample as the robot with these numbers, to the bit: stiff ones in parts, the others not."""
    plain, stiff = servos(10.0, 1.0), servos(9e3, 60.0, damping=[8.0], stiffness=[700.0])
    own = {"kp": 10.0, "kd": 1.0, "damping": 0.0, "stiffness": 0.0}
    given: dict[str, Any] = {
        f"actuator.{x}.{name}": [own[name], number]
        for x in ("slider", "pole")
        for name, number in {"kp": 9e3, "kd": 60.0}.items()
    }
    given |= {f"joint.slider.{name}": [[own[name]], [x]] for name, x in {"damping": 8.0, "stiffness": 700.0}.items()}
    options: dict[str, Any] = {"passive": True, "integrator": integrator, "ctrl": np.full((30, 2), 0.2)}
    tau = np.zeros((30, 2))
    found = kt.rollout(plain, Q, V, tau, 0.01, parameters=given, **options)
    for k, robot in enumerate((plain, stiff)):
        np.testing.assert_allclose(found[k], kt.rollout(robot, Q, V, tau, 0.01, **options), rtol=1e-12, atol=1e-12)
    one = {name: np.asarray(x)[1] for name, x in given.items()}
    motion = kt.simulate(plain, q=Q, v=V, ctrl=np.full(2, 0.2), duration=0.3, dt=0.01, passive=True,
                         integrator=integrator, parameters=one)  # fmt: skip
    np.testing.assert_array_equal(motion.q[1:], found[1, :, :2])


def test_actuators_without_commands_change_nothing() -> None:
    robot, tau = servos(10.0, 1.0), np.zeros((30, 2))
    expected = kt.rollout(robot, Q, V, tau, 0.01, passive=True, integrator="rk4")
    given = {"actuator.slider.kp": 1e6, "gravity": robot.parameter("gravity"), "joint.pole.rest": [0.0]}
    found = kt.rollout(robot, Q, V, tau, 0.01, passive=True, integrator="rk4", parameters=given)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


def test_derivatives_by_them_are_differences() -> None:
    robot = servos(20.0, 1.0)
    names = ["joint.slider.damping", "joint.slider.friction", "actuator.slider.kp", "actuator.pole.kd"]

    @kt.program(damping=1, friction=1, kp=(), kd=())
    def end(damping: Any, friction: Any, kp: Any, kd: Any) -> Any:
        given = dict(zip(names, (damping, friction, kp, kd), strict=True))
        return kt.rollout(
            robot, Q, V, np.zeros((4, 2)), 0.01, ctrl=np.full((4, 2), 0.2), passive=True, contact=True,
            integrator="implicitfast", parameters=given,
        )[-1]  # fmt: skip

    values = (np.array([0.3]), np.array([0.2]), np.array(21.0), np.array(0.8))
    weights = np.array([1.0, -2.0, 0.5, 3.0])
    _, gradient = kt.vjp(end, values, weights)
    for k, name in enumerate(("damping", "friction", "kp", "kd")):
        ends = [end(*(x + sign * (n == k) for n, x in enumerate(values))) for sign in (1e-5, -1e-5)]
        expected = weights @ (ends[0] - ends[1]) / 2e-5
        assert float(np.ravel(gradient[name])[0]) == pytest.approx(expected, rel=1e-5, abs=1e-9)
        assert abs(expected) > 1e-4
