"""Cartesian impedance: a Panda's hand as a spring and damper, under a push.

With `kt.control.cartesian_impedance` the hand is a spring of stiffness K about a pose, with a damping ratio of 0.7,
whatever the arm's configuration; a weak spring keeps the elbow's posture in what the hand leaves free. The hand is
pushed for 1.5 s and let go. It must yield by f / k, and move as the linear system Λ ẍ + D ẋ + K x = f with the
inertia Λ that the hand has at the start: both are checked, and the way of the hand is plotted beside this theory.
"""

from importlib.metadata import distribution

import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt

robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
panda = kt.load(robots / "panda_description/urdf/panda.urdf").lock("panda_finger_joint1")
q0 = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8])
target = kt.frame_placement(panda, q0, "panda_hand")
K, ratio = np.array([500.0, 500.0, 500.0, 50.0, 50.0, 50.0]), 0.7  # N/m, N·m/rad
push, dt, steps = np.array([6.0, -3.0, -8.0]), 0.001, 3000  # N, in the world's axes

f_ext = np.zeros((steps, 6))
f_ext[: steps // 2, :3] = push
motion = kt.simulate(
    panda, q=q0, tau=kt.control.cartesian_impedance(panda, "panda_hand"), dt=dt, duration=steps * dt, passive=False,
    f_ext={kt.dynamics.WrenchOn("panda_hand", "local_world_aligned"): f_ext},
    arguments={
        "target": target, "stiffness": K, "damping_ratio": ratio, "posture": q0,
        "posture_stiffness": np.full(7, 5.0), "posture_damping": np.full(7, 2.0),
    },
)  # fmt: skip
moved = (kt.frame_placement(panda, motion.q, "panda_hand") - target)[:, :3, 3]

# The theory: with Λ = L Lᵀ and y = Lᵀ x, each mode of L⁻¹ K L⁻ᵀ obeys ÿ + 2 ζ ω ẏ + ω² y = its part of the force.
inertia = kt.constraints.operational_space_inertia(panda, q0, "panda_hand")
L = np.linalg.cholesky(inertia)
squares, modes = np.linalg.eigh(np.linalg.solve(L, np.linalg.solve(L, np.diag(K)).T))
shapes, omega = np.linalg.solve(L.T, modes), np.sqrt(squares)


def step_response(t):
    t, damped = np.maximum(t, 0.0)[:, None], omega * np.sqrt(1 - ratio**2)
    rise = 1 - np.exp(-ratio * omega * t) * (np.cos(damped * t) + ratio * omega / damped * np.sin(damped * t))
    return (rise / squares * (np.r_[push, 0, 0, 0] @ shapes)) @ shapes[:3].T


theory = step_response(motion.time) - step_response(motion.time - 1.5)
plt.plot(motion.time, 1e3 * moved, label=["x", "y", "z"])
plt.gca().set_prop_cycle(None)
plt.plot(motion.time, 1e3 * theory, "--", label=["x, theory", "y, theory", "z, theory"])
plt.xlabel("time (s)")
plt.ylabel("way of the hand (mm)")
plt.legend()
plt.savefig("panda_impedance.png")

largest, held = abs(push / 500).max(), moved[steps // 2 - 1]
print(f"the hand yielded by {1e3 * held} mm, and f / k is {1e3 * push / 500} mm")
print(f"largest difference from the linear theory on the way: {abs(moved - theory).max() / largest:.2%} of that")
assert abs(held - push / 500).max() < 0.002 * largest
assert abs(moved - theory).max() < 0.01 * largest
assert abs(moved[-1]).max() < 0.01 * largest
