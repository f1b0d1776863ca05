"""Laws that follow a motion: measured on simulated robots, errors decay as designed."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

import kinetree as kt

Array = NDArray[np.float64]
ARM = kt.zoo.load("arm6")
MIDDLE, WIDTH = np.array([0.0, 0.4, -0.8, 0.1, 0.5, 0.0]), np.array([0.5, 0.4, 0.4, 0.6, 0.6, 0.8])
SPEED = np.array([1.3, 1.7, 2.3, 2.9, 3.7, 4.3])


def reference(dt: float, steps: int) -> dict[str, Array]:
    """Sine waves of six frequencies, one row per step."""
    t = dt * np.arange(steps)[:, None]
    wave = WIDTH * np.sin(SPEED * t)
    return {
        "target": MIDDLE + wave,
        "target_velocity": WIDTH * SPEED * np.cos(SPEED * t),
        "target_acceleration": -(SPEED**2) * wave,
    }


@cache
def balls() -> kt.Model:
    """A ball joint, and a planar joint on it: v is not the rate of q."""
    builder = kt.ModelBuilder("balls")
    builder.add_body("base")
    builder.add_body("arm", kt.solids.ellipsoid(0.3, 0.2, 0.1, mass=1.0))
    builder.add_body("hand", kt.solids.ellipsoid(0.2, 0.2, 0.3, mass=0.7))
    builder.add_joint("shoulder", kt.joints.Spherical(), "base", "arm")
    builder.add_joint("slide", kt.joints.Planar([0, 0, 1]), "arm", "hand", kt.lie.placement([0.3, 0.0, 0.1]))
    return builder.build()


def test_computed_torque_makes_the_error_of_each_joint_the_same_linear_system() -> None:
    beta, at_rest = 8.0, np.zeros(6)
    e0 = np.array([0.3, -0.2, 0.1, 0.2, -0.3, 0.4])
    motion = kt.simulate(
        ARM, q=MIDDLE - e0, v=at_rest, tau=kt.control.computed_torque(ARM), duration=0.5, control_dt="stages",
        passive=False, arguments={"target": MIDDLE, "stiffness": np.full(6, beta**2), "damping": np.full(6, 2 * beta)},
    )  # fmt: skip
    t = motion.time[:, None]
    assert np.abs(MIDDLE - motion.q - e0 * (1 + beta * t) * np.exp(-beta * t)).max() < 1e-8


def test_it_does_so_for_ball_joints_and_planes() -> None:
    """ë + D ė + K e = 0, by differences of e along the motion."""
    robot, rng = balls(), np.random.default_rng(0)
    n = robot.nv
    q = robot.random(rng)
    v, v_d, a_d = rng.normal(size=(3, n))
    target = robot.integrate(q, 0.4 * rng.normal(size=n))
    K, D = np.linspace(10.0, 30.0, n), np.linspace(4.0, 9.0, n)
    qdd = kt.aba(robot, q, v, kt.control.computed_torque(robot)(q, v, target, K, D, v_d, a_d))

    h = 1e-4
    before, e, after = (
        robot.difference(robot.integrate(q, v * t + qdd * t**2 / 2), robot.integrate(target, v_d * t + a_d * t**2 / 2))
        for t in (-h, 0.0, h)
    )
    assert np.abs((after - 2 * e + before) / h**2 + D * (after - before) / (2 * h) + K * e).max() < 1e-5


def test_the_passivity_based_law_lets_the_error_decay() -> None:
    rows, dt = reference(5e-4, 3000), 5e-4
    rates = {"rate": np.full(6, 8.0), "gain": np.array([10.0, 20.0, 10.0, 1.0, 1.0, 0.3])}
    states, _ = kt.rollout(
        ARM, MIDDLE - 0.3, np.zeros(6), kt.control.passivity_based(ARM), dt, rows=rows, arguments=rates
    )
    error = np.abs(rows["target"] - states[:, :6]).max(axis=1)
    assert error[0] > 0.25
    assert error[-100:].max() < 4e-3  # of a step of 0.5 ms, in which a joint moves by 1.5 mrad


def test_pd_with_gravity_comes_to_rest_at_its_target() -> None:
    law = kt.control.pd_with_gravity(ARM)
    gains = {"stiffness": np.array([40.0, 80.0, 40.0, 5.0, 5.0, 1.0]), "damping": np.array([8, 20, 8, 0.5, 0.5, 0.1])}
    states, _ = kt.rollout(
        ARM, ARM.neutral(), np.zeros(6), law, 1e-3, steps=4000, arguments={"target": MIDDLE, **gains}
    )
    assert np.abs(states[-1, :6] - MIDDLE).max() < 1e-4
    assert np.abs(states[-1, 6:]).max() < 1e-3


def test_the_robot_floats_when_its_weight_is_carried() -> None:
    q, v = MIDDLE, np.array([0.5, -0.3, 0.2, 0.4, -0.5, 0.3])
    law = kt.control.weight_compensation(ARM)
    motion = kt.simulate(ARM, q=q, v=v, tau=law, duration=0.5, control_dt="stages", passive=False)
    assert np.abs(motion.kinetic / motion.kinetic[0] - 1).max() < 1e-9
    damping = np.linspace(0.1, 0.6, 6)
    qdd = kt.aba(ARM, q, v, law(q, v, damping))
    drag = kt.crba(ARM, q) @ qdd + kt.dynamics.coriolis_forces(ARM, q, v)
    assert np.allclose(drag, -damping * v, rtol=0, atol=1e-12)
