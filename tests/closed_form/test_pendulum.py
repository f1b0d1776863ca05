"""Pendulums: one hinge, and one hinge on a cart."""

from __future__ import annotations

from math import cos, pi, sin, sqrt

import numpy as np
import pytest

import kinetree as kt
from tests.closed_form.machines import GRAVITY, pendulum, point

MASS, LENGTH, INERTIA = 2.0, 0.7, 0.3


@pytest.mark.parametrize("q", [0.0, 0.3, pi / 2, 2.5, -40.0])
def test_its_acceleration(q: float) -> None:
    """q̈ = (τ - m g l sin q) / (J + m l²), at any speed."""
    robot = pendulum(MASS, LENGTH, INERTIA)
    inertia = INERTIA + MASS * LENGTH**2
    expected = (0.4 - MASS * GRAVITY * LENGTH * sin(q)) / inertia
    np.testing.assert_allclose(kt.aba(robot, [q], [3.0], [0.4]), [expected], rtol=0, atol=1e-13)
    np.testing.assert_allclose(kt.crba(robot, [q]), [[inertia]], rtol=1e-15)


@pytest.mark.parametrize("amplitude", [0.05, 1.0, 3.0])
def test_its_period(amplitude: float) -> None:
    """T = 2π √(I / m g l) / agm(1, cos(amplitude / 2)): after half of it, the other side is reached."""
    robot = pendulum(MASS, LENGTH, INERTIA)
    small = 2.0 * pi * sqrt((INERTIA + MASS * LENGTH**2) / (MASS * GRAVITY * LENGTH))
    a, b = 1.0, cos(amplitude / 2.0)
    while abs(a - b) > 1e-15:
        a, b = 0.5 * (a + b), sqrt(a * b)
    half = 0.5 * small / a
    motion = kt.simulate(robot, q=[amplitude], duration=half, dt=half / 1000)
    assert motion.q[-1, 0] == pytest.approx(-amplitude, rel=1e-9)
    assert motion.v[-1, 0] == pytest.approx(0.0, abs=1e-8)


def test_a_rotor_adds_its_inertia_at_the_joint() -> None:
    builder = kt.ModelBuilder("geared pendulum")
    builder.add_body("base")
    builder.add_body("bob", point(MASS, 0.0, 0.0, -LENGTH))
    builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "base", "bob", armature=[0.5])
    robot = builder.build()
    inertia = MASS * LENGTH**2 + 0.5
    np.testing.assert_allclose(kt.crba(robot, [0.2]), [[inertia]], rtol=1e-15)
    expected = -MASS * GRAVITY * LENGTH * sin(0.2) / inertia
    np.testing.assert_allclose(kt.aba(robot, [0.2], [1.0], [0.0]), [expected], rtol=1e-13)
    assert kt.kinetic_energy(robot, [0.2], [2.0]) == pytest.approx(2.0 * inertia, rel=1e-15)


def test_a_pendulum_on_a_cart() -> None:
    """(M + m) ẍ + m l cos θ θ̈ - m l sin θ θ'² = F,  m l cos θ ẍ + m l² θ̈ + m g l sin θ = τ, θ = 0 hanging.

    A positive turn about y takes what hangs at -z toward -x; the hinge turns about -y, so that θ leads to +x.
    """
    M, m, l = 3.0, MASS, LENGTH
    builder = kt.ModelBuilder("cart-pole", gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body("rail")
    builder.add_body("cart", point(M, 0.0, 0.0, 0.0))
    builder.add_body("bob", point(m, 0.0, 0.0, -l))
    builder.add_joint("slider", kt.Prismatic([1, 0, 0]), "rail", "cart")
    builder.add_joint("hinge", kt.Revolute([0, -1, 0]), "cart", "bob")
    robot = builder.build()
    theta, rate, F, tau = 0.8, -2.3, 5.0, -1.1
    H = np.array([[M + m, m * l * cos(theta)], [m * l * cos(theta), m * l * l]])
    bias = np.array([-m * l * sin(theta) * rate**2, m * GRAVITY * l * sin(theta)])
    q, v = [0.4, theta], [1.5, rate]
    np.testing.assert_allclose(kt.crba(robot, q), H, rtol=1e-13)
    np.testing.assert_allclose(kt.bias_forces(robot, q, v), bias, rtol=1e-13)
    np.testing.assert_allclose(kt.aba(robot, q, v, [F, tau]), np.linalg.solve(H, [F, tau] - bias), rtol=1e-12)
