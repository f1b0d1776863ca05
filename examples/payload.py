"""A payload: the torques with which a Panda carries 2 kg.

A body attached to the hand gives a new robot; a mass passed with the call gives the same robot with another payload for
each sample, and compiles nothing anew. In both, holding the payload takes the torques Jᵀ m g in addition, with J the
Jacobian of its centre of mass, by the principle of virtual work.
"""

from importlib.metadata import distribution

import numpy as np

import kinetree as kt

robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
panda = kt.load(robots / "panda_description/urdf/panda.urdf")
loaded = panda.attach_body("payload", kt.solids.sphere(0.04, mass=2.0), "panda_hand_tcp")

q = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8, 0.02])
more = kt.gravity_forces(loaded, q) - kt.gravity_forces(panda, q)
J = kt.frame_jacobian(panda, q, "panda_hand_tcp", expressed_in="local_world_aligned", part="linear")
print(f"joint torques of 2 kg in the hand: {more.round(2)} N·m")
assert abs(more - J.T @ [0.0, 0.0, 2.0 * 9.81]).max() < 1e-12

mass = np.linspace(0.0, 30.0, 1000)
torques = kt.gravity_forces(loaded, q, parameters={"body.payload.mass": mass})
most = mass[(abs(torques) <= panda.effort_limit).all(axis=1)].max()
print(f"the motors can hold {most:.1f} kg in this pose")
error = abs(torques - kt.gravity_forces(panda, q) - mass[:, None] * (J.T @ [0.0, 0.0, 9.81])).max()
assert error < 1e-12
