"""Identification: the inertial parameters of a UR5 from a simulated experiment with noisy torques.

The arm follows waves that excite all joints; torques are measured with noise of 0.5 N·m. Joint forces are linear in the
base parameters, the combinations of masses, first moments and inertias that matter: τ = W β. Least squares finds β; how
far it may be from the truth is known as well: (β̂ − β)ᵀ Wᵀ W (β̂ − β) / σ² has a χ² distribution with as many degrees of
freedom as there are parameters. The example checks that, and that torques of other motions are predicted.
"""

from importlib.metadata import distribution

import numpy as np
from scipy.stats import chi2

import kinetree as kt

robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
ur5 = kt.load(robots / "ur_description/urdf/ur5_robot.urdf")
rng = np.random.default_rng(0)
omega, sigma = np.array([1.3, 1.7, 2.3, 2.9, 3.7, 4.3]), 0.5


def control(t, q, v):
    q_ref = np.sin(omega * t) * 0.8 + [0.0, -1.2, 1.5, -1.0, 1.0, 0.0]
    return kt.rnea(ur5, q, v, 400 * (q_ref - q) - 20 * v)


motion = kt.simulate(ur5, tau=control, duration=10.0, dt=5e-3, passive=False)
measured = motion.tau + sigma * rng.normal(size=motion.tau.shape)

base = kt.base_parameters(ur5)
W = base.regressor(motion.q, motion.v, motion.qdd).reshape(-1, len(base))
found = np.linalg.lstsq(W, measured.ravel())[0]

truth = base.of(kt.inertial_parameters(ur5))
distance = np.sum((W @ (found - truth)) ** 2) / sigma**2
low, high = chi2.interval(0.999, len(base))
q, v, qdd = rng.normal(size=(3, 1000, ur5.nv))
error = (base.regressor(q, v, qdd) @ found - kt.rnea(ur5, q, v, qdd)).std()
print(f"{len(base)} base parameters; distance from the truth {distance:.1f}, expected {low:.1f} to {high:.1f}")
print(f"torques of other motions: error {error:.3f} N·m, from measurements with {sigma} N·m")
assert low < distance < high
assert error < sigma / 10
