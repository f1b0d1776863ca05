"""Simulations refuse torques where there is no motor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt

pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")  # joints swing through their stops

DOG = kt.zoo.load("quadruped")
POLE = kt.zoo.load("cart_pole").with_actuation({"hinge": False})
OUTSIDE = "give 0 there, and forces from outside as f_ext, by frame name, kt.dynamics.WrenchOn or kt.dynamics.ForceOn"


def constant(robot: kt.Model, k: int, value: float) -> np.ndarray[Any, Any]:
    tau = np.zeros(robot.nv)
    tau[k] = value
    return tau


def test_a_constant_torque() -> None:
    with pytest.raises(kt.errors.ActuationError) as raised:
        kt.simulate(POLE, tau=[1.0, 0.25], duration=0.01)
    assert str(raised.value) == (
        f"tau[1] is 0.25, but 'hinge' of 'cart_pole' has no motor; {OUTSIDE}; or give it one: "
        "robot.with_actuation({'hinge': True})"
    )


def test_one_row_per_step() -> None:
    rows = np.zeros((10, DOG.nv))
    rows[:, 6:] = 1.0
    rows[7, 2] = 50.0
    with pytest.raises(kt.errors.ActuationError) as raised:
        kt.simulate(DOG, tau=rows, duration=0.01)
    assert str(raised.value) == (
        f"tau[7, 2] is 50, but 'root_joint.vz' of 'quadruped' has no motor, as the base floats; {OUTSIDE}"
    )


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_a_controller_is_checked_at_every_call(integrator: Any) -> None:
    def controller(t: float, _q: Any, _v: Any) -> Any:
        return constant(POLE, 1, 2.0 if t > 0.0045 else 0.0)

    with pytest.raises(
        kt.errors.ActuationError, match=r"returned 2 as entry 1 at t = 0.00(45|5)\d* s, but 'hinge' .* no motor"
    ):
        kt.simulate(POLE, tau=controller, duration=0.01, integrator=integrator)


def test_zeros_and_what_has_a_motor_are_fine() -> None:
    u = np.linspace(-1.0, 1.0, len(DOG.selection_matrix))
    tau = DOG.selection_matrix.T @ u
    settings: dict[str, Any] = {"q": DOG.neutral(), "duration": 0.005}
    held = kt.simulate(DOG, tau=tau, **settings)
    called = kt.simulate(DOG, tau=lambda _t, _q, _v: tau, **settings)
    np.testing.assert_allclose(called.q, held.q, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(held.tau[:, :6], 0.0)
    kt.simulate(DOG, **settings)
    kt.simulate(DOG, tau=-np.zeros(DOG.nv), **settings)


def test_a_free_joint_with_motors_takes_torques() -> None:
    builder = kt.ModelBuilder("thruster")
    builder.add_body("world")
    builder.add_body("ship", kt.solids.sphere(0.1, mass=2.0))
    builder.add_joint("jets", kt.Free(), "world", "ship", actuated=[True, True, True, False, False, False])
    ship = builder.build()
    motion = kt.simulate(ship, tau=[0.0, 0.0, 2.0 * 9.81, 0.0, 0.0, 0.0], duration=0.01)
    assert abs(motion.v).max() < 1e-12
    with pytest.raises(
        kt.errors.ActuationError, match=r"tau\[3\] is 1, but 'jets.wx' .*with_actuation\({'jets': True}\)"
    ):
        kt.simulate(ship, tau=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0], duration=0.01)
