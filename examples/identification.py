"""Identification: a Panda's inertias and friction from noisy simulated logs, from the exciting motion to the report.

The robot file is wrong about the arm: its links have other masses, centres and inertias, and its joints more friction.
A motion within the file's limits is chosen that makes all base parameters visible; the arm follows it under computed
torque with the wrong model; its torques and angles are logged at 1 kHz with noise. The parameters that the covariance
calls identifiable are found within 2 %, every body stays one that can exist, and torques of another motion are
predicted. The picture shows torques measured, by the file, and by what was identified.
"""

from importlib.metadata import distribution

import numpy as np

import kinetree as kt
from kinetree.identification import exciting_trajectory, identify, log_of

robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
panda = kt.load(robots / "panda_description/urdf/panda.urdf")
panda = panda.lock([name for name in panda.joints if "finger" in name])
rng = np.random.default_rng(0)

# The arm as it is: 20 % off in mass and size, some centimetres in its centres of mass, with friction.
pi = kt.identification.inertial_parameters(panda, drives=True)
links, drives = pi[: 10 * len(panda.bodies)].reshape(-1, 10), pi[10 * len(panda.bodies) :].reshape(-1, 3)
solid = links[:, 0] > 0.0
theta = kt.identification.log_cholesky.from_parameters(links[solid])
links[solid] = kt.identification.log_cholesky.to_parameters(
    theta + rng.normal(size=theta.shape) * ([0.2] * 4 + [0.03] * 6)
)
drives[:, 1:] = np.array([[0.5, 0.3]] * 4 + [[0.2, 0.2]] * 3)  # N·m·s/rad and N·m
arm = kt.identification.with_inertial_parameters(panda, pi, drives=True)


@kt.program(q=panda, v=panda.nv, reference=(3, panda.nv))
def controller(q, v, reference):
    q_ref, v_ref, qdd_ref = reference
    return kt.rnea(panda, q, v, qdd_ref + 60.0 * (v_ref - v) + 900.0 * (q_ref - q))


def logged(trajectory, duration):
    """A log of the arm while it follows a motion: 1 kHz, noise of torque sensors and encoders."""
    time = 0.001 * np.arange(int(1000 * duration))
    rows = np.stack(trajectory.at(time), axis=1)
    motion = kt.simulate(
        arm, q=rows[0, 0], v=rows[0, 1], tau=controller, rows={"reference": rows}, dt=0.001, duration=duration
    )
    shape = motion.q.shape
    torques = motion.tau + np.array([0.3] * 4 + [0.1] * 3) * rng.normal(size=shape)
    return log_of(panda, motion.time, motion.q + 2e-5 * rng.normal(size=shape), torques)


excitation = exciting_trajectory(panda, period=10.0, starts=1, steps=24)
print(excitation)
other = exciting_trajectory(panda, period=10.0, starts=1, steps=3, rng=1)
found = identify(
    logged(excitation.trajectory, 20.0), cutoff=6.0, drives=True, validation=logged(other.trajectory, 8.0)
)  # fmt: skip
print(found)
found.plot("identification.png")

truth = found.estimate.base.of(pi)
known = found.estimate.identifiable(within=0.02)
error = abs(found.consistent.values - truth)[known] / abs(truth)[known]
print(f"{known.sum()} parameters are identifiable within 2 %; the largest error is {100 * error.max():.2f} %")
assert known.sum() >= 10
assert error.max() < 0.02
bodies = kt.identification.inertial_parameters(found.robot).reshape(-1, 10)[solid]
assert np.linalg.eigvalsh(kt.identification.log_cholesky.pseudo_inertia(bodies)).min() > 0.0
assert (found.validation.after < found.validation.before / 10.0).all()
