"""Computed torque: a UR5 follows sine waves, and its error decays as the theory says.

The control law τ = rnea(q, v, q̈_ref + 2 β ė + β² e) makes the closed loop linear: ë + 2 β ė + β² e = 0. From an error
e₀ at rest the solution is e(t) = e₀ (1 + β t) exp(−β t), the same for every joint. The error is plotted, and compared
with this formula.
"""

from importlib.metadata import distribution

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
ur5 = kt.load(robots / "ur_description/urdf/ur5_robot.urdf")
beta, omega = 8.0, 2.0
middle, e0 = np.array([0.0, -1.2, 1.5, -1.0, 1.0, 0.0]), np.array([0.3, -0.2, 0.1, 0.2, -0.3, 0.4])


def reference(t):
    wave = 0.5 * np.sin(omega * t) * np.ones(6)
    return middle + wave, 0.5 * omega * np.cos(omega * t) * np.ones(6), -(omega**2) * wave


def control(t, q, v):
    q_ref, v_ref, qdd_ref = reference(t)
    return kt.rnea(ur5, q, v, qdd_ref + 2 * beta * (v_ref - v) + beta**2 * (q_ref - q))


q_ref, v_ref, _ = reference(0.0)
motion = kt.simulate(ur5, q=q_ref - e0, v=v_ref, tau=control, duration=1.5, passive=False, control_dt="stages")

time = motion.time[:, None]
error = reference(time)[0] - motion.q
theory = e0 * (1 + beta * time) * np.exp(-beta * time)
plt.plot(motion.time, error, label=motion.q_names)
plt.xlabel("time (s)")
plt.ylabel("error (rad)")
plt.legend()
plt.savefig("computed_torque.png")

difference = abs(error - theory).max()
print(f"error after 1.5 s: {abs(error[-1]).max():.1e} rad; largest difference from the formula: {difference:.0e} rad")
assert difference < 1e-8
