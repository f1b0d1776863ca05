"""Order of the integrators, and conservation: by halving steps."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from kinetree import zoo
from kinetree.model import Model
from kinetree.sim import Trajectory, simulate
from tests.closed_form.machines import hanging_body

pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")  # joints swing through their stops


def moving_state(robot: Model) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every joint turning, a floating base tumbling."""
    rng = np.random.default_rng(5)
    return robot.random(rng), rng.uniform(-1.5, 1.5, robot.nv)


def run(robot: Model, dt: float, integrator: str, *, passive: bool = False, duration: float = 0.32) -> Trajectory:
    q, v = moving_state(robot)

    def tau(t: float, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
        force = np.zeros(robot.nv)
        force[-1] = 0.3 * np.cos(3.0 * t) - 0.02 * v[-1] + 0.1 * np.sin(q[-1])
        return force

    return simulate(
        robot, q=q, v=v, tau=tau, duration=duration, dt=dt, control_dt="stages", integrator=integrator, passive=passive
    )


def end_difference(robot: Model, a: Trajectory, b: Trajectory) -> float:
    return float(np.linalg.norm(np.append(robot.difference(a.q[-1], b.q[-1]), a.v[-1] - b.v[-1])))


@pytest.mark.parametrize(("integrator", "order", "dt"), [("rk4", 4, 8e-3), ("semi_implicit_euler", 1, 1e-3)])
@pytest.mark.parametrize("name", ["double_pendulum", "quadruped"])
def test_halving_the_step_shrinks_the_error_by_the_order(name: str, integrator: str, order: int, dt: float) -> None:
    robot = zoo.load(name)
    coarse, middle, fine = (run(robot, dt / k, integrator) for k in (1, 2, 4))
    observed = np.log2(end_difference(robot, coarse, middle) / end_difference(robot, middle, fine))
    assert observed == pytest.approx(order, abs=0.35)


def test_rk4_is_of_order_four_where_displacements_do_not_commute() -> None:
    """The classical formula, in which stages are displacements from the start, is only of order three there."""
    robot = hanging_body()
    coarse, middle, fine = (
        simulate(robot, v=[6.0, 10.0, 4.0], duration=0.32, dt=0.32 / steps) for steps in (128, 256, 512)
    )
    ratio = end_difference(robot, coarse, middle) / end_difference(robot, middle, fine)
    assert ratio == pytest.approx(16.0, rel=0.03)


@pytest.mark.parametrize(("integrator", "order", "dt"), [("rk4", 4, 4e-3), ("semi_implicit_euler", 1, 1e-3)])
@pytest.mark.parametrize("name", ["double_pendulum", "humanoid"])
def test_energy_balance_closes_to_the_order(name: str, integrator: str, order: int, dt: float) -> None:
    """With torques at work and, on the humanoid, with damping."""
    robot = zoo.load(name)
    errors = [abs(run(robot, dt / k, integrator, passive=True).balance_error[-1]) for k in (1, 2)]
    observed = np.log2(errors[0] / errors[1])
    assert order - 0.4 < observed < order + 1.0


@pytest.mark.parametrize("name", ["double_pendulum", "quadruped"])
def test_rk4_conserves_energy(name: str) -> None:
    robot = zoo.load(name)
    q, v = moving_state(robot)
    motion = simulate(robot, q=q, v=v, duration=0.5, passive=False)
    scale = float(np.ptp(motion.kinetic))
    assert scale > 1.0
    assert np.abs(motion.total - motion.total[0]).max() < 2e-7 * scale
    assert not motion.work.any()
    assert not motion.dissipated.any()


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_quaternions_keep_their_length(integrator: str) -> None:
    motion = run(zoo.load("quadruped"), 2e-3, integrator)
    np.testing.assert_allclose(np.linalg.norm(motion.q[:, 3:7], axis=1), 1.0, atol=1e-14)


def test_a_free_fall_is_the_parabola() -> None:
    robot = zoo.load("quadruped")
    motion = simulate(robot, duration=0.3, dt=1e-2)
    expected = robot.neutral()
    expected[2] = -0.5 * 9.81 * 0.3**2
    np.testing.assert_allclose(motion.q[-1], expected, atol=1e-12)


def test_velocity_agrees_with_the_change_of_configuration() -> None:
    """v is in the base's own axes; the central difference of q must be it to second order."""
    robot = zoo.load("quadruped")
    motion = run(robot, 1e-3, "rk4")
    mean = robot.difference(motion.q[:-2], motion.q[2:]) / 2e-3
    np.testing.assert_allclose(mean, motion.v[1:-1], atol=2e-3)
