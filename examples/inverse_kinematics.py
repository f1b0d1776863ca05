"""Inverse kinematics: joint angles that put a Panda's hand at a pose.

`kt.nearest_configuration` finds the configuration nearest to a given one in which a frame is held at a pose. A Panda
has one joint more than a pose needs, so there are many answers; this one moves the joints as little as possible. A
thousand poses take one call. The example checks that the poses are reached to rounding, and that the answer is within
the joints' limits, which the search does not know.
"""

from importlib.metadata import distribution

import numpy as np

import kinetree as kt

robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
panda = kt.load(robots / "panda_description/urdf/panda.urdf")

q = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8, 0.02])
goal = kt.placement((0.45, 0.2, 0.4), rpy=(np.pi, 0.0, 0.3)).matrix  # looking down
found = kt.nearest_configuration(panda, q, [kt.Contact("panda_hand_tcp", "fixed", at=goal)])
reached = kt.frame_placement(panda, found.q, "panda_hand_tcp")
error = abs(reached - goal).max()
print(f"q = {found.q.round(3)}, error {error:.0e}")
assert error < 1e-11
assert ((panda.lower <= found.q) & (found.q <= panda.upper)).all()

goals = np.tile(goal, (1000, 1, 1))
goals[:, :2, 3] += np.random.default_rng(0).uniform(-0.1, 0.1, (1000, 2))
found = kt.nearest_configuration(panda, q, [kt.Contact("panda_hand_tcp", "fixed", at=goals)])
error = abs(kt.frame_placement(panda, found.q, "panda_hand_tcp") - goals).max()
print(f"1000 poses, error {error:.0e}")
assert error < 1e-11
