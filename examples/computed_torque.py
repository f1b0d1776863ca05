"""Computed torque: a UR5 follows sine waves, and its error decays as the theory says.

The law `kt.control.computed_torque` makes the closed loop linear: ë + D ė + K e = 0. With D = 2 β and K = β² an error
e₀ at rest becomes e(t) = e₀ (1 + β t) exp(−β t), the same for every joint. Here the law is part of a program that knows
the waves, which runs in the kernel of the simulation. The motion and its error are plotted, and the error is compared
with this formula.
"""

from importlib.metadata import distribution

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
ur5 = kt.load(robots / "ur_description/urdf/ur5_robot.urdf")
law = kt.control.computed_torque(ur5)
beta, omega = 8.0, 2.0
middle, e0 = np.array([0.0, -1.2, 1.5, -1.0, 1.0, 0.0]), np.array([0.3, -0.2, 0.1, 0.2, -0.3, 0.4])
K, D = np.full(6, beta**2), np.full(6, 2 * beta)


@kt.program(t=(), q=ur5, v=ur5.nv)
def control(t, q, v):
    wave, rate = 0.5 * np.sin(omega * t), 0.5 * omega * np.cos(omega * t)
    return law(q, v, middle + wave, K, D, rate * np.ones(6), -(omega**2) * wave * np.ones(6))


def reference(t):
    return middle + 0.5 * np.sin(omega * t)


motion = kt.simulate(
    ur5, q=middle - e0, v=np.full(6, 0.5 * omega), tau=control, duration=1.5, passive=False, control_dt="stages"
)

time = motion.time[:, None]
error = reference(time) - motion.q
theory = e0 * (1 + beta * time) * np.exp(-beta * time)
figure, (above, below) = plt.subplots(2, 1, sharex=True)
above.plot(motion.time, motion.q)
above.set_prop_cycle(None)
above.plot(motion.time, reference(time) + 0.0 * motion.q, "--")
above.set_ylabel("angle, reference (rad)")
below.plot(motion.time, error, label=motion.q_names)
below.legend(fontsize="small", loc="upper right", ncols=2)
below.set_xlabel("time (s)")
below.set_ylabel("error (rad)")
figure.savefig("computed_torque.png")

difference = abs(error - theory).max()
print(f"error after 1.5 s: {abs(error[-1]).max():.1e} rad; largest difference from the formula: {difference:.0e} rad")
assert difference < 1e-8
