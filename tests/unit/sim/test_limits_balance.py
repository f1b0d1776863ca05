"""The energy balance closes when motors are limited: the work is that of the torques they give."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinetree as kt


def lever(velocity: float) -> kt.Model:
    builder = kt.ModelBuilder("lever")
    builder.add_body("base")
    builder.add_body("bar", kt.solids.box(0.1, 0.2, 0.5, mass=2.0, placement=kt.lie.placement([0.0, 0.0, 0.25])))
    limits = kt.model.Limits((-math.inf,), (math.inf,), (velocity,), (3.0,))
    builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "bar", limits=limits, damping=[0.05])
    return builder.build()


def run(robot: kt.Model, dt: float, integrator: str = "rk4") -> kt.Trajectory:
    def tau(t: float, _q: object, _v: object) -> list[float]:
        return [8.0 * math.sin(3.0 * t)]

    return kt.simulate(
        robot, q=[0.1], tau=tau, duration=1.0, dt=dt, limits=True, integrator=integrator, control_dt="stages"
    )


def worst(motion: kt.Trajectory) -> float:
    return float(np.abs(motion.balance_error).max())


def test_a_limit_of_effort_leaves_the_integrator_its_order() -> None:
    robot = lever(math.inf)
    errors = [worst(run(robot, dt)) for dt in (4e-3, 2e-3, 1e-3)]
    assert errors[2] < 1e-8
    assert errors[0] / errors[1] > 8.0
    assert errors[1] / errors[2] > 8.0
    motion = run(robot, 1e-3)
    assert np.abs(motion.tau).max() == 3.0
    power = (motion.tau * motion.v)[:, 0]
    assert motion.work[-1] == pytest.approx(np.trapezoid(power, motion.time), rel=2e-3)


@pytest.mark.parametrize(("integrator", "most"), [("rk4", 1e-4), ("semi_implicit_euler", 0.05)])
def test_at_a_limit_of_speed_the_error_vanishes_with_the_step(integrator: str, most: float) -> None:
    """There the torque jumps, so that no integrator is exact."""
    robot = lever(1.0)
    coarse, fine = (worst(run(robot, dt, integrator)) for dt in (2e-3, 2.5e-4))
    assert fine < coarse / 3.0
    assert coarse < most
