"""Inverse kinematics: a Panda's hand on a line of poses, on ten thousand random ones, and on one out of reach.

The hand looks down along a line; the first pose is searched for, and each next one from the last, with the middle of
the joints' range as a wish of lower priority, which a Panda's seventh joint leaves room for. Then ten thousand random
poses take one call. What is out of reach is said to be, with how far the hand stays away: it ends on the line from the
shoulder to the target, stretched. The picture shows the line.
"""

from importlib.metadata import distribution

import numpy as np

import kinetree as kt
from kinetree.control import Pose, Position, Posture, inverse_kinematics

robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
panda = kt.load(robots / "panda_description/urdf/panda.urdf")
panda = panda.lock([name for name in panda.joints if "finger" in name])
hand, middle = "panda_hand_tcp", 0.5 * (panda.lower + panda.upper)

line = np.tile(kt.lie.placement((0.0, 0.0, 0.4), rpy=(np.pi, 0.0, 0.0)).matrix, (9, 1, 1))
line[:, :2, 3] = np.stack([np.full(9, 0.45), np.linspace(-0.4, 0.4, 9)], axis=1)
tasks, q = [Pose(hand), Posture(priority=1)], middle
path = []
for pose in line:
    found = inverse_kinematics(panda, tasks, [pose, middle], q)
    assert found.reached
    q = found.q
    path.append(q)
path = np.array(path)
error = abs(kt.frame_placement(panda, path, hand) - line).max()
print(f"line: error {error:.0e}, joints move by at most {abs(np.diff(path, axis=0)).max():.2f} rad between poses")
assert error < 2e-6

goals = kt.frame_placement(panda, panda.random(0, size=10_000), hand)
many = inverse_kinematics(panda, Pose(hand), goals)
error = abs(kt.frame_placement(panda, many.q, hand) - goals)[many.reached].max()
print(f"random poses: {many}")
assert many.reached.mean() >= 0.995
assert error < 2e-6
assert ((panda.lower <= many.q) & (many.q <= panda.upper)).all()

far = np.array([1.5, 0.4, 0.333])  # level with the shoulder
near = inverse_kinematics(panda, Position(hand), far)
shoulder, place = np.array([0.0, 0.0, 0.333]), kt.frame_placement(panda, near.q, hand)[:3, 3]
aside = np.linalg.norm(np.cross(far - shoulder, place - shoulder)) / np.linalg.norm(far - shoulder)
print(f"out of reach: {near}; {aside:.0e} m beside the line")
assert not near.reached
assert aside < 1e-3

kt.render(panda, path, samples="ghosts", size=(960, 640), path="inverse_kinematics.png")
