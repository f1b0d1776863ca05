"""The two-link planar arm: unit masses, unit lengths, joints about y, gravity along -z.

With c2 = cos q2, s2 = sin q2, both masses m, both lengths l, the centres of mass at a from their joints and the
inertias J about them (Spong, Hutchinson and Vidyasagar, *Robot Modeling and Control*, section 7.4):

    M11 = m a² + J + m (l² + a² + 2 l a c2) + J,    M12 = m (a² + l a c2) + J,    M22 = m a² + J
    C1 = -m l a s2 (2 q1' q2' + q2'²),               C2 = m l a s2 q1'²
    g1 = -m g (a cos q1 + l cos q1 + a cos(q1 + q2)),   g2 = -m g a cos(q1 + q2)

Gravity's signs are for angles that count downward. Point masses at the tips: a = l, J = 0; rods: a = l/2, J = m l²/12.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, sin

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.closed_form.machines import GRAVITY, point, rod, two_link_arm

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Arm:
    """An arm with its formula's constants, m = l = 1."""

    robot: kt.Model
    a: float
    J: float

    def mass_matrix(self, q: Array) -> Array:
        a, J, c2 = self.a, self.J, cos(q[1])
        M12 = a * a + a * c2 + J
        return np.array([[2.0 * a * a + 1.0 + 2.0 * a * c2 + 2.0 * J, M12], [M12, a * a + J]])

    def coriolis(self, q: Array, v: Array) -> Array:
        k = self.a * sin(q[1])
        return np.array([-k * (2.0 * v[0] * v[1] + v[1] ** 2), k * v[0] ** 2])

    def gravity(self, q: Array) -> Array:
        a, g = self.a, GRAVITY
        outer = -g * a * cos(q[0] + q[1])
        return np.array([-g * (a + 1.0) * cos(q[0]) + outer, outer])


POINTS = Arm(two_link_arm(point(1.0, 1.0, 0.0, 0.0), point(1.0, 1.0, 0.0, 0.0), 1.0), a=1.0, J=0.0)
RODS = Arm(two_link_arm(rod(1.0, 1.0), rod(1.0, 1.0), 1.0), a=0.5, J=1.0 / 12.0)
ARMS = pytest.mark.parametrize("arm", [POINTS, RODS], ids=["point masses", "rods"])
STATES = pytest.mark.parametrize(
    ("q", "v", "tau"),
    [
        ([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]),
        ([0.4, -1.3], [0.0, 0.0], [0.0, 0.0]),
        ([0.4, -1.3], [1.7, -0.6], [0.0, 0.0]),
        ([-2.9, 2.1], [-3.0, 5.0], [4.0, -2.5]),
        ([100.0, 3.0], [0.1, 0.2], [0.3, 0.4]),
    ],
)


@ARMS
@STATES
def test_its_equation_of_motion(arm: Arm, q: Array, v: Array, tau: Array) -> None:
    q, v, tau = (np.array(x) for x in (q, v, tau))
    M, C, g = arm.mass_matrix(q), arm.coriolis(q, v), arm.gravity(q)
    np.testing.assert_allclose(kt.crba(arm.robot, q), M, rtol=0, atol=1e-13)
    np.testing.assert_allclose(kt.gravity_forces(arm.robot, q), g, rtol=0, atol=1e-12)
    np.testing.assert_allclose(kt.bias_forces(arm.robot, q, v), C + g, rtol=0, atol=1e-11)
    qdd = np.linalg.solve(M, tau - C - g)
    np.testing.assert_allclose(kt.aba(arm.robot, q, v, tau), qdd, rtol=0, atol=1e-10)
    np.testing.assert_allclose(kt.rnea(arm.robot, q, v, qdd), tau, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("arm", "expected"),
    [(POINTS, [GRAVITY, -GRAVITY]), (RODS, [9.0 / 7.0 * GRAVITY, -12.0 / 7.0 * GRAVITY])],
    ids=["point masses", "rods"],
)
def test_let_go_horizontally_it_falls(arm: Arm, expected: list[float]) -> None:
    """The walk-through: q = q' = τ = 0. M = [[5, 2], [2, 1]] or [[8/3, 5/6], [5/6, 1/3]], g = -(3, 1) g or -(2, 1/2) g.

    The arm as a whole goes down, the outer link lags behind, and the shoulder has the larger moment to hold.
    """
    rest = [0.0, 0.0]
    np.testing.assert_allclose(kt.aba(arm.robot, rest, rest, rest), expected, rtol=1e-13)
    shoulder, elbow = kt.gravity_forces(arm.robot, rest)
    assert abs(shoulder) > abs(elbow) > 0.0
    falling = kt.kinematics.frame_acceleration(
        arm.robot, rest, rest, expected, "lower", expressed_in="local_world_aligned", kind="classical"
    )
    np.testing.assert_allclose(falling[:3], [0.0, 0.0, -expected[0]], rtol=1e-13)


@ARMS
def test_its_energies(arm: Arm) -> None:
    q, v = np.array([0.4, -1.3]), np.array([1.7, -0.6])
    T = 0.5 * v @ arm.mass_matrix(q) @ v
    height = -(arm.a * sin(q[0]) + sin(q[0]) + arm.a * sin(q[0] + q[1]))
    assert kt.kinetic_energy(arm.robot, q, v) == pytest.approx(T, rel=1e-13)
    assert kt.potential_energy(arm.robot, q) == pytest.approx(GRAVITY * height, rel=1e-13)


def test_where_its_elbow_is() -> None:
    T = kt.frame_placement(POINTS.robot, [0.4, -1.3], "lower")
    np.testing.assert_allclose(T[:3, 3], [cos(0.4), 0.0, -sin(0.4)], atol=1e-15)
    np.testing.assert_allclose(T[:3, 0], [cos(-0.9), 0.0, -sin(-0.9)], atol=1e-15)
