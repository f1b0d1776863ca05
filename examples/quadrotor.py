"""A quadrotor in wind: four rotors as forces from outside, with a controller that hovers at a point.

The rotors' thrusts and the wind are programs in `f_ext=`, which run in the kernel of the simulation. The controller
tilts the thrust towards the acceleration β² e − 2 β v + g (Lee, Leok and McClamroch, 2010) and makes its vertical
component exact, so the height follows e₀ (1 + β t) exp(−β t). It has no integral: the wind's force F pushes it aside
by F / (m β²).
"""

import numpy as np

import kinetree as kt

mass, arm, beta, g = 1.2, 0.17, 2.0, np.array([0.0, 0.0, 9.81])
target, wind = np.array([1.0, -0.5, 2.0]), np.array([3.0, 0.0, 0.0])  # m, m/s
solid = kt.solids.box(0.25, 0.25, 0.06, mass=mass)
builder = kt.ModelBuilder("quadrotor")
builder.add_body("frame", solid)
quadrotor = builder.build(floating_base=True)
inertia = np.diag(solid.matrix[3:, 3:])
spin = 0.02  # N·m of drag torque per N of thrust
mix = np.array([[1, 1, 1, 1], [arm, arm, -arm, -arm], [-arm, arm, arm, -arm], [spin, -spin, spin, -spin]])


@kt.program(q=quadrotor, v=quadrotor.nv)
def rotors(q, v):
    R = kt.frame_placement(quadrotor, q, "frame")[:3, :3]
    a = beta**2 * (target - q[:3]) - 2.0 * beta * R @ v[:3] + g
    moment = inertia * (400.0 * np.cross([0.0, 0.0, 1.0], R.T @ a / np.linalg.norm(a)) - 40.0 * v[3:])
    thrusts = np.maximum(np.linalg.solve(mix, np.concatenate([[mass * a[2] / R[2, 2]], moment])), 0.0)
    return {"f_ext": np.concatenate([np.zeros(2), mix @ thrusts]), "thrusts": thrusts}


@kt.program(q=quadrotor, v=quadrotor.nv)
def drag(q, v):
    moving = kt.frame_placement(quadrotor, q, "frame")[:3, :3] @ v[:3]
    return np.concatenate([0.1 * (wind - moving)[:2], np.zeros(4)])  # level, so that the height is the controller's


forces = {"frame": rotors, kt.dynamics.WrenchOn("frame", "local_world_aligned"): drag}
motion = kt.simulate(quadrotor, f_ext=forces, control_dt="stages", duration=8.0, dt=2e-3)

aside, t = motion.q[-1, :3] - target, motion.time
height = target[2] * (1.0 - (1.0 + beta * t) * np.exp(-beta * t))
expected = 0.1 * wind[0] / (mass * beta**2)
print(f"pushed aside by {1e3 * aside[0]:.2f} mm, expected {1e3 * expected:.2f} mm; largest thrust of a rotor ", end="")
print(f"{motion.recorded['thrusts'].max():.1f} N; height off the formula by {abs(motion.q[:, 2] - height).max():.0e} m")
assert abs(motion.q[:, 2] - height).max() < 1e-8
assert abs(aside - [expected, 0.0, 0.0]).max() < 1e-4
