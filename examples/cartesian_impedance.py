"""Cartesian impedance: a Panda's hand as a spring and damper about a pose.

The control law τ = Jᵀ (K e − D J q̇) + g(q) makes the hand feel like a spring of stiffness K, where e is the motion
[v; ω] from the hand to its target pose (`kt.pose_error`) and J the hand's Jacobian in the same axes. A little damping
of the joints calms the elbow, which the pose leaves free. Pulled by a force f at its origin, the hand must yield by
f / k, without turning: that is checked.
"""

from importlib.metadata import distribution

import numpy as np

import kinetree as kt

robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
panda = kt.load(robots / "panda_description/urdf/panda.urdf").lock("panda_finger_joint1")
q0 = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8])
target = kt.frame_placement(panda, q0, "panda_hand")
K, D = np.diag([500.0] * 3 + [50.0] * 3), np.diag([60.0] * 3 + [6.0] * 3)  # N/m, N·m/rad; N·s/m, N·m·s/rad


def control(t, q, v):
    J = kt.frame_jacobian(panda, q, "panda_hand", expressed_in="local")
    e = kt.pose_error(panda, q, target, "panda_hand", expressed_in="local")
    return J.T @ (K @ e - D @ J @ v) + kt.gravity_forces(panda, q) - 0.5 * v


pull = np.array([6.0, -3.0, -8.0])  # N, in the world's axes
f_ext = {kt.WrenchOn("panda_hand", "local_world_aligned"): [*pull, 0, 0, 0]}
motion = kt.simulate(panda, q=q0, tau=control, f_ext=f_ext, duration=4.0, passive=False)

moved = kt.frame_placement(panda, motion.q[-1], "panda_hand") - target
print(f"the hand moved by {1e3 * moved[:3, 3]} mm, and f / k is {1e3 * pull / 500} mm")
assert abs(moved[:3, 3] - pull / 500).max() < 1e-5
assert abs(moved[:3, :3]).max() < 1e-4
