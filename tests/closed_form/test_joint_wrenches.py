"""What a bearing carries, and what a cart with a pendulum weighs to a hand that pushes it, in closed form."""

from __future__ import annotations

from math import cos, sin

import numpy as np
import pytest

import kinetree as kt
from kinetree.spatial import Inertia, Sym3, Vec3
from tests.closed_form.machines import GRAVITY, pendulum, point, rod, two_link_arm
from tests.laws.reference import close

STATES = pytest.mark.parametrize(
    ("q", "w", "dw"), [(0.0, 0.0, 0.0), (0.7, 0.0, -3.0), (-2.1, 4.0, 1.5), (3.0, -9.0, 20.0)]
)


@STATES
def test_the_bearing_of_a_pendulum(q: float, w: float, dw: float) -> None:
    """Along the rod m (g cos q + l w²), across it m (g sin q + l w'), and the hinge's own torque about its axis."""
    m, l, inertia = 2.0, 0.6, 0.05
    robot = pendulum(m, l, inertia)
    (row,) = kt.dynamics.joint_wrenches(robot, [q], [w], [dw], expressed_in="local")
    # The rod is along -z of the bob; turned by q about y it leans toward -x.
    across, along = m * (GRAVITY * sin(q) + l * dw), m * (GRAVITY * cos(q) + l * w * w)
    torque = (inertia + m * l * l) * dw + m * GRAVITY * l * sin(q)
    close(row, [-across, 0.0, along, 0.0, torque, 0.0], scale=100.0)


def test_the_elbow_and_shoulder_of_an_arm_of_two_rods() -> None:
    """Newton's and Euler's equations of each rod, about its centre of mass."""
    robot = two_link_arm(rod(1.0, 1.0), rod(1.0, 1.0), 1.0)
    q, v, qdd = np.array([0.4, -1.3]), np.array([1.7, -0.6]), np.array([-2.0, 3.5])
    (a, b), (wa, wb), (ra, rb) = np.cumsum(q), np.cumsum(v), np.cumsum(qdd)

    def end(angle: float, rate: float, acceleration: float, length: float) -> tuple[np.ndarray, np.ndarray]:
        """A rod's end relative to its beginning: position and acceleration; a positive angle lowers it."""
        x, z = np.array([cos(angle), 0, -sin(angle)]), np.array([-sin(angle), 0, -cos(angle)])
        return length * x, length * (acceleration * z - rate * rate * x)

    up = np.array([0.0, 0.0, GRAVITY])
    (ca, aa), (elbow, a_elbow), (cb, ab) = end(a, wa, ra, 0.5), end(a, wa, ra, 1.0), end(b, wb, rb, 0.5)
    y = np.array([0.0, 1.0, 0.0])
    f2 = a_elbow + ab + up
    n2 = y * rb / 12.0 + np.cross(cb, f2)
    f1 = aa + up + f2
    n1 = y * ra / 12.0 + np.cross(ca, aa + up) + n2 + np.cross(elbow, f2)
    found = kt.dynamics.joint_wrenches(robot, q, v, qdd, expressed_in="local_world_aligned")
    close(found, [[*f1, *n1], [*f2, *n2]], scale=10.0)


@pytest.mark.parametrize("angle", [0.0, 0.4, -1.2, 1.5707963267948966])
def test_a_cart_feels_only_what_its_pendulum_resists(angle: float) -> None:
    """A point mass on a massless rod resists along the rod alone: the cart's mass along x is M + m sin² q."""
    M, m = 3.0, 0.7
    builder = kt.ModelBuilder("cart", gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body("cart", Inertia.from_com(M, Vec3.zero(), Sym3.scalar(0.2)))
    builder.add_body("bob", point(m, 0.0, 0.0, -0.9))
    builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "cart", "bob")
    robot = builder.build(floating_base=True)
    q = np.concatenate([robot.neutral()[:7], [angle]])
    cart = kt.dynamics.articulated_inertias(robot, q, expressed_in="world")[0]
    close(cart[0, 0], M + m * sin(angle) ** 2)
    close(cart[2, 2], M + m * cos(angle) ** 2)
    w = 2.0
    v = np.array([0.0] * 6 + [w])
    pull = m * (GRAVITY * cos(angle) + 0.9 * w * w)  # of the rod, while the cart does not accelerate
    (p, _) = kt.dynamics.articulated_bias_forces(robot, q, v, np.zeros(7), expressed_in="world")
    close(p[:3], [pull * sin(angle), 0.0, pull * cos(angle) + M * GRAVITY], scale=10.0)
