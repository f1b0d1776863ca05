"""Bodies in free flight and tops."""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.spatial import Inertia, Sym3, Vec3
from tests.closed_form.machines import GRAVITY, free_body

Array = NDArray[np.float64]

A, C = 0.5, 0.8
"""Of the symmetric top: moments of inertia across its axis, z, and about it."""

Q = np.array([0.3, -0.2, 1.0, 0.1, -0.5, 0.3, 0.8])


def body(mass: float, xx: float, yy: float, zz: float) -> Inertia:
    """With its centre of mass at the origin and its principal axes along the coordinates'."""
    return Inertia.from_com(mass, Vec3.zero(), Sym3(xx, yy, zz, 0.0, 0.0, 0.0))


def orientation(q: Array) -> Array:
    """R of a configuration of a free body."""
    x, y, z, w = q[3:7] / np.linalg.norm(q[3:7])
    U = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * w * U + 2.0 * U @ U


def test_euler_s_equations() -> None:
    """I ω̇ + ω x I ω = n, and the centre of mass obeys m (v̇ + ω x v) = f + Rᵀ m g."""
    I = np.array([0.4, 0.5, 0.7])
    robot = free_body(body(2.0, *I), gravity=GRAVITY)
    v, w = np.array([0.3, -1.0, 2.0]), np.array([1.0, -2.0, 0.5])
    f, n = np.array([4.0, 5.0, -6.0]), np.array([0.7, -0.8, 0.9])
    weight = orientation(Q).T @ np.array([0.0, 0.0, -2.0 * GRAVITY])
    expected = np.concatenate([(f + weight) / 2.0 - np.cross(w, v), (n - np.cross(w, I * w)) / I])
    actual = kt.aba(robot, Q, np.concatenate([v, w]), np.concatenate([f, n]))
    np.testing.assert_allclose(actual, expected, rtol=1e-13)


def test_the_mass_matrix_of_a_body_is_its_spatial_inertia() -> None:
    m, c = 2.0, np.array([0.1, -0.2, 0.3])
    robot = free_body(Inertia.from_com(m, Vec3(*map(float, c)), Sym3(0.4, 0.5, 0.6, 0.0, 0.0, 0.0)))
    cx = np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])
    expected = np.block([[m * np.eye(3), -m * cx], [m * cx, np.diag([0.4, 0.5, 0.6]) - m * cx @ cx]])
    np.testing.assert_allclose(kt.crba(robot, Q), expected, rtol=0, atol=1e-15)


def test_a_spinning_body_falls_along_a_parabola() -> None:
    """Its centre of mass, wherever that is in it, and however it spins."""
    c = np.array([0.1, -0.2, 0.3])
    inertia = Inertia.from_com(2.0, Vec3(*map(float, c)), Sym3(0.4, 0.5, 0.6, 0.0, 0.0, 0.0))
    robot = free_body(inertia, gravity=GRAVITY)
    v, w = np.array([1.0, 2.0, 3.0]), np.array([3.0, -1.0, 2.0])
    motion = kt.simulate(robot, q=Q, v=np.concatenate([v, w]), duration=1.0, dt=1e-3)
    start = Q[:3] + orientation(Q) @ c
    velocity = orientation(Q) @ (v + np.cross(w, c))
    t = motion.time[:, None]
    parabola = start + velocity * t - 0.5 * GRAVITY * t**2 * np.array([0.0, 0.0, 1.0])
    np.testing.assert_allclose(kt.center_of_mass(robot, motion.q), parabola, rtol=0, atol=1e-9)


def test_a_symmetric_top_precesses_about_its_angular_momentum() -> None:
    """Torque-free: its axis goes round L at the rate |L| / A, at a constant angle; ω goes round in the body at
    (C - A) / A ω_z.
    """
    robot = free_body(body(1.0, A, A, C))
    w = np.array([0.6, 0.0, 4.0])
    R0 = orientation(Q)
    L = R0 @ (np.array([A, A, C]) * w)
    axis = L / np.linalg.norm(L)
    motion = kt.simulate(robot, q=Q, v=[0.0, 0.0, 0.0, *w], duration=2.0, dt=1e-3)
    for k in (250, 1000, 2000):
        t = motion.time[k]
        turn = (C - A) / A * w[2] * t
        np.testing.assert_allclose(motion.v[k, 3:], [w[0] * cos(turn), w[0] * sin(turn), w[2]], rtol=0, atol=1e-9)
        # Rodrigues: the top's axis, taken about L.
        angle = np.linalg.norm(L) / A * t
        z0 = R0[:, 2]
        z = z0 * cos(angle) + np.cross(axis, z0) * sin(angle) + axis * (axis @ z0) * (1.0 - cos(angle))
        np.testing.assert_allclose(orientation(motion.q[k])[:, 2], z, rtol=0, atol=1e-9)


def test_an_asymmetric_body_spins_steadily_about_a_principal_axis() -> None:
    robot = free_body(body(1.0, 0.4, 0.5, 0.7))
    for k in range(3):
        v = np.zeros(6)
        v[3 + k] = 5.0
        assert not kt.aba(robot, Q, v, np.zeros(6)).any()


@pytest.mark.parametrize("root", [0, 1], ids=["slow", "fast"])
def test_a_heavy_top_precesses_steadily(root: int) -> None:
    """On three hinges z, x, z with its tip fixed: A' cos θ Ω² - C n Ω + m g l = 0 (Goldstein, section 5.7).

    A' is about the tip, n = ψ' + Ω cos θ the spin about the axis. No torque, no acceleration.
    """
    m, l, theta, n = 1.5, 0.4, 0.7, 20.0
    across = A + m * l * l
    builder = kt.ModelBuilder("top", gravity=(0.0, 0.0, -GRAVITY))
    for name in ("ground", "outer", "inner"):
        builder.add_body(name)
    builder.add_body("top", Inertia.from_com(m, Vec3(0.0, 0.0, l), Sym3(A, A, C, 0.0, 0.0, 0.0)))
    builder.add_joint("precession", kt.joints.Continuous([0, 0, 1]), "ground", "outer")
    builder.add_joint("nutation", kt.Revolute([1, 0, 0]), "outer", "inner")
    builder.add_joint("spin", kt.joints.Continuous([0, 0, 1]), "inner", "top")
    robot = builder.build()
    sign = (-1.0, 1.0)[root]
    a, b, c = across * cos(theta), -C * n, m * GRAVITY * l
    precession = (-b + sign * sqrt(b * b - 4.0 * a * c)) / (2.0 * a)
    v = [precession, 0.0, n - precession * cos(theta)]
    qdd = kt.aba(robot, [0.3, theta, -1.1], v, np.zeros(3))
    np.testing.assert_allclose(qdd, 0.0, atol=1e-11 * precession**2 + 1e-11)
    # Off that rate the top nods.
    v[0] *= 1.1
    assert abs(kt.aba(robot, [0.3, theta, -1.1], v, np.zeros(3))[1]) > 0.1
