"""Balls that slide, roll, spin and bounce."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from tests.closed_form.scenes import Array, D, G, H, T, Thing, contact, restitution, rollout, world

R, I, MU = 0.1, 0.004, 0.5
"""Radius, and 2/5 m R² of a ball of 1 kg."""
DEPTH = G * (1.0 - D) * T * T


def ball_at(robot: kt.Model, depth: float = DEPTH) -> Array:
    q = robot.neutral()
    q[2] = R - depth
    return q


def test_a_ball_that_slides_begins_to_roll_at_five_sevenths_of_its_speed() -> None:
    # The contact is at half of the depth, so levers are shorter than R by that: 8e-5 of it at rest, 4e-3 in the hop at
    # the beginning, where it lasts for one step.
    robot = world(Thing("sphere", (R,), contact()), ground=contact())
    v0 = np.array([0.5, 1.0, 2.0])
    start = np.zeros((3, 6))
    start[:, 0] = v0
    q, v = rollout(robot, ball_at(robot), start, 600)
    x, omega = (
        v[..., 0],
        np.array([forward_spin(*pair) for pair in zip(q.reshape(-1, 7), v.reshape(-1, 6), strict=True)]),
    )
    omega = omega.reshape(x.shape)
    np.testing.assert_allclose(x[:, -1], 5.0 / 7.0 * v0, rtol=3e-4)
    np.testing.assert_allclose(R * omega[:, -1], x[:, -1], rtol=3e-4)
    time = H * np.arange(1, 601)
    for k, until in enumerate(2.0 * v0 / (7.0 * MU * G)):
        slides = time < 0.97 * until
        np.testing.assert_allclose((x + MU * v[..., 2])[k, slides], v0[k] - MU * G * time[slides], rtol=1e-8)
        assert (x[k, slides] > 1.001 * R * omega[k, slides]).all()
        assert abs(x[k, time > 1.1 * until] / (R * omega[k, time > 1.1 * until]) - 1.0).max() < 1e-2


def forward_spin(q: Array, v: Array) -> float:
    """The angular velocity about y in the world's axes."""
    x, y, z, w = q[3:]
    return float(np.array([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]) @ v[3:])


RATIOS = (0.0, 0.05, 0.2, 0.5)
STIFFNESS = 1e4


def given(zeta: float) -> tuple[float, float]:
    """Stiffness and damping of a spring of 100 rad/s."""
    return (-STIFFNESS, -2.0 * zeta * np.sqrt(STIFFNESS))


def test_thrown_balls_bounce_with_the_restitution_of_their_damping() -> None:
    # A contact accelerates by (1 - d) of what acts without it, and by its own spring and damper: without gravity that
    # is r̈ = -b ṙ - k r for any mass.
    things = [
        Thing("sphere", (R,), contact(condim=1, solref=given(z)), kt.Prismatic([0, 0, 1]), at=(k, 0, R), mass=1.0 + k)
        for k, z in enumerate(RATIOS)
    ]
    ground = contact(condim=1, solref=(0.0, 0.0), conaffinity=1, contype=0)
    robot = world(*things, ground=ground).with_gravity((0, 0, 0))
    q, v = rollout(robot, np.full(4, 0.01), np.full(4, -1.0), 1200, dt=1e-4, integrator="rk4")
    assert (q[-1] > 0.0).all()
    # A damper begins to push at once, within a step: to first order in the step.
    np.testing.assert_allclose(v[-1], [restitution(z) for z in RATIOS], rtol=2e-3)
    assert v[-1, 0] == pytest.approx(1.0, abs=1e-4)
    deepest = -q.min(axis=0)
    ratios = np.array(RATIOS)
    root = np.sqrt(1.0 - ratios**2)
    wanted = np.exp(-ratios / root * np.arctan2(root, ratios)) / np.sqrt(STIFFNESS)
    np.testing.assert_allclose(deepest, wanted, rtol=2e-3)


PAIR = world(
    Thing("sphere", (R,), contact(solref=given(0.2)), mass=1.0),
    Thing("sphere", (R,), contact(solref=given(0.2)), mass=3.0, inertia=0.02),
).with_gravity((0, 0, 0))


def collision(offset: float) -> tuple[Array, Array]:
    q, v = PAIR.neutral(), np.zeros(12)
    q[:3], q[7:10] = (-0.2, offset, 0.0), (0.2, 0.0, 0.0)
    v[0], v[6], v[3:6], v[9:12] = 1.0, -0.5, (3.0, -2.0, 5.0), (1.0, 4.0, -2.0)
    return q, v


def test_balls_that_meet_keep_their_momentum() -> None:
    q0, v0 = map(np.stack, zip(*(collision(x) for x in (0.0, 0.05, 0.12)), strict=True))
    q, v = rollout(PAIR, q0, v0, 600)
    before, after = kt.dynamics.momentum(PAIR, q0, v0), kt.dynamics.momentum(PAIR, q[:, -1], v[:, -1])
    np.testing.assert_allclose(np.stack(after), np.stack(before), atol=1e-12)
    assert (np.abs(v[:, -1, 0] - v0[:, 0]) > 0.1).all()  # they did meet
    energy = kt.kinetic_energy(PAIR, q, v)
    assert (energy[:, -1] < 0.99 * kt.kinetic_energy(PAIR, q0, v0)).all()
    assert (energy.max(axis=-1) <= kt.kinetic_energy(PAIR, q0, v0) * (1.0 + 1e-12)).all()


def test_balls_that_meet_head_on_part_with_the_restitution_of_their_damping() -> None:
    q0, v0 = collision(0.0)
    v0[3:6] = v0[9:12] = 0.0
    _, v = rollout(PAIR, q0, v0, 6000, dt=1e-4)
    np.testing.assert_allclose((v[-1, 6] - v[-1, 0]) / 1.5, restitution(0.2), rtol=5e-3)
