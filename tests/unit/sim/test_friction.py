"""Friction: what it takes from the motion, and what it asks of the integrator."""

from __future__ import annotations

import numpy as np
import pytest

from kinetree import zoo
from kinetree.dynamics import crba
from kinetree.errors import StiffFrictionError
from kinetree.model import Model, ModelBuilder, Revolute
from kinetree.sim import simulate
from kinetree.sim.friction import COULOMB_SPEED, Friction
from kinetree.sim.stiffness import Stiffness
from kinetree.spatial import Inertia, Sym3, Transform, Vec3


def wheel(inertia: float = 0.5, damping: float = 0.0, friction: float = 0.0) -> Model:
    """A balanced wheel: nothing acts on it but friction and torques."""
    builder = ModelBuilder("wheel")
    builder.add_body("stand")
    builder.add_body("disc", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(inertia)))
    builder.add_joint(
        "axle", Revolute([0, 0, 1]), "stand", "disc", Transform.identity(), damping=[damping], friction=[friction]
    )
    return builder.build()


@pytest.mark.parametrize(("integrator", "tolerance"), [("rk4", 1e-10), ("euler", 2e-3)])
def test_viscous_damping_decays_exponentially(integrator: str, tolerance: float) -> None:
    motion = simulate(wheel(0.5, damping=0.4), v=[3.0], duration=2.0, integrator=integrator)
    np.testing.assert_allclose(motion.v[:, 0], 3.0 * np.exp(-0.8 * motion.time), rtol=tolerance)
    assert motion.dissipated[-1] == pytest.approx(0.25 * (9.0 - motion.v[-1, 0] ** 2), rel=2 * tolerance)


@pytest.mark.parametrize("integrator", ["rk4", "euler"])
def test_coulomb_friction_brakes_evenly_and_then_holds(integrator: str) -> None:
    motion = simulate(wheel(0.5, friction=0.2), v=[1.0], duration=4.0, integrator=integrator)
    sliding = motion.time < 2.0
    np.testing.assert_allclose(motion.v[sliding, 0], 1.0 - 0.4 * motion.time[sliding], atol=1e-3)
    assert np.abs(motion.v[motion.time > 3.0]).max() < 1e-6
    assert motion.dissipated[-1] == pytest.approx(0.25, rel=1e-3)


def test_a_joint_loaded_below_its_friction_creeps_slower_than_the_smoothing_speed() -> None:
    motion = simulate(wheel(0.5, friction=0.2), tau=[0.1], duration=3.0)
    assert motion.v[-1, 0] == pytest.approx(COULOMB_SPEED * np.arctanh(0.5), rel=1e-9)
    assert motion.work[-1] == pytest.approx(0.1 * motion.q[-1, 0], rel=1e-9)


@pytest.mark.parametrize("name", ["arm6", "arm7", "cart_pole"])
@pytest.mark.parametrize(("integrator", "tolerance"), [("rk4", 1e-5), ("euler", 2e-2)])
def test_friction_only_dissipates_and_the_balance_closes(name: str, integrator: str, tolerance: float) -> None:
    robot = zoo.load(name)
    motion = simulate(robot, q=robot.random(3), duration=1.0, integrator=integrator)
    assert (np.diff(motion.dissipated) >= 0.0).all()
    assert motion.dissipated[-1] > 1e-4
    assert motion.total[-1] < motion.total[0]
    assert np.abs(motion.balance_error).max() < tolerance * np.ptp(motion.potential)


def test_friction_can_be_left_out() -> None:
    motion = simulate(wheel(damping=0.4, friction=0.2), v=[1.0], duration=0.1, friction=False)
    np.testing.assert_array_equal(motion.v, 1.0)


def test_torque_is_its_coefficient_times_the_velocity() -> None:
    friction = Friction(np.array([0.3, 0.0, 0.1]), np.array([0.0, 0.2, 0.5]))
    for v in (np.zeros(3), np.array([1e-300, -1e-5, 2.0]), np.array([-3.0, 1e-2, -40.0])):
        np.testing.assert_allclose(friction.torque(v), -friction.coefficient(v) * v, rtol=1e-14)
    np.testing.assert_allclose(friction.coefficient(np.zeros(3)), friction.steepest, rtol=1e-15)


@pytest.mark.parametrize("name", ["arm7", "quadruped"])
def test_fastest_decay_is_the_largest_eigenvalue(name: str) -> None:
    robot = zoo.load(name)
    friction = Friction.of(robot)
    root = np.sqrt(friction.steepest)
    stiffness = Stiffness(robot, friction)
    for seed in range(5):
        q = robot.random(seed)
        rate, _ = stiffness.fastest_decay(q)
        largest = np.linalg.eigvalsh(root[:, None] * np.linalg.inv(crba(robot, q)) * root)[-1]
        assert rate == pytest.approx(largest, rel=0.25)


@pytest.mark.parametrize("stiff", [0, 1, 2])
def test_fastest_decay_names_its_joint(stiff: int) -> None:
    damping = [0.1, 0.1, 0.1]
    damping[stiff] = 5.0
    builder = ModelBuilder("wheels")
    builder.add_body("stand")
    for k in range(3):
        builder.add_body(f"disc{k}", Inertia.from_com(1.0, Vec3.zero(), Sym3.scalar(0.5)))
        builder.add_joint(f"axle{k}", Revolute([0, 0, 1]), "stand", f"disc{k}", damping=[damping[k]])
    robot = builder.build()
    rate, joint = Stiffness(robot, Friction.of(robot)).fastest_decay(robot.neutral())
    assert rate == pytest.approx(10.0, rel=1e-6)
    assert joint == stiff


def test_rk4_divides_its_steps_where_friction_is_stiff() -> None:
    rate = 2e4
    motion = simulate(wheel(1e-3, damping=1e-3 * rate), v=[1.0], duration=0.01, dt=1e-3)
    assert motion.substeps == 14
    assert np.abs(motion.v[-1, 0]) < 1e-6
    assert simulate(wheel(1e-3, damping=1e-3), v=[1.0], duration=0.01, dt=1e-3).substeps == 1


def test_rk4_refuses_friction_that_is_too_stiff_and_euler_takes_it() -> None:
    robot = wheel(1e-6, damping=3.0, friction=10.0)
    with pytest.raises(
        StiffFrictionError, match=r"the friction of 'axle' stops it within .* use the integrator 'euler'"
    ):
        simulate(robot, v=[1.0], duration=0.1)
    motion = simulate(robot, v=[1.0], duration=0.1, integrator="euler")
    assert (motion.v[1:, 0] >= 0.0).all()
    assert motion.v[5, 0] < 1e-6
