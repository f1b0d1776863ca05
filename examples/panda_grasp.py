"""A grasp: a Panda's gripper holds a ball, a box and a mug for ten seconds while it is shaken.

The gripper hangs on a carriage that three servos shake by 5, 8 and 3 m/s² along x, y and z, and its fingers press with
20 N each. Printed is how far the thing slips in the hand, for rigid contacts and for MuJoCo's, with elliptic cones and
an `impratio` of 100. No step of a contact may give energy.
"""

import math
from dataclasses import replace
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

import kinetree as kt

robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
around = math.pi / 6.0 * (np.arange(12) + 0.5)  # twelve flat sides, two of which face the fingers
corners = [(0.03 * math.cos(a), 0.03 * math.sin(a), z) for a in around for z in (-0.04, 0.05)]
corners += [(0.055, y, z) for y in (-0.006, 0.006) for z in (-0.01, 0.03)]  # its handle
things = {  # and how far each finger is from the middle when it touches them
    "ball": ('type="sphere" size="0.03" mass="0.1"', 0.03),
    "box": ('type="box" size="0.025 0.025 0.05" mass="0.2"', 0.025),
    "mug": ('type="mesh" mesh="mug" mass="0.3"', 0.03 * math.cos(math.pi / 12.0)),
}
dt = 0.002


def scene(thing, option='cone="elliptic" impratio="100"'):
    """The gripper on its carriage, with a thing between its fingers."""
    Path("carriage.xml").write_text(f"""<mujoco><option {option}/>
    <asset><mesh name="mug" vertex="{" ".join(str(x) for corner in corners for x in corner)}"/></asset>
    <worldbody>
      <body name="carriage">
        <joint name="x" type="slide" axis="1 0 0"/>
        <joint name="y" type="slide" axis="0 1 0"/>
        <joint name="z" type="slide" axis="0 0 1"/>
        <geom type="box" size="0.06 0.06 0.02" pos="0 0 0.02" mass="1" contype="0" conaffinity="0"/>
      </body>
      <body name="thing" pos="0 0 -0.1036"><freejoint/><geom name="thing" {things[thing][0]}/></body>
    </worldbody></mujoco>""")
    _, gripper = kt.load(robots / "panda_description/urdf/panda.urdf").detach("panda_hand")
    robot = kt.load("carriage.xml").attach(gripper, "carriage", kt.lie.placement(rpy=(math.pi, 0.0, 0.0)))
    return robot.with_servos(1e5, 2e3, ["x", "y", "z"]).with_servos(0.0, 800.0, ["panda_finger_joint1"])


def shaken(robot, thing, seconds=10.0, **setting):
    """The motion, and the place and the turn (m, rad) of the thing in the hand since it was grasped."""
    contact = kt.contact.soft_constraints(robot, **setting)
    tips = {"panda_leftfinger[4]", "panda_rightfinger[4]"}  # only their rubber touches the thing
    pairs = [pair for pair in contact.touches if {pair.first.name, pair.second.name} - tips == {"thing"}]
    contact = replace(contact, touches=tuple(pairs), unsupported=())

    start = kt.contact.above_ground(robot)
    start[-1] = things[thing][1] + 1e-4
    time = dt * np.arange(round(seconds / dt))
    amplitude, omega = np.array([5.0, 8.0, 2.0]), 2.0 * math.pi * np.array([2.0, 2.6, 1.5])  # m/s², rad/s
    begins = np.clip(time - 0.2, 0.0, 1.0)[:, None]
    ctrl = np.empty((len(time), 4))
    ctrl[:, :3] = -amplitude / omega**2 * np.sin(omega * time[:, None]) * begins
    ctrl[:, 3] = -0.05  # a speed that the fingers do not reach: 800 N s/m times it is the force of both
    motion = kt.simulate(robot, q=start, ctrl=ctrl, dt=dt, duration=seconds, contact=contact, integrator="discrete")

    hand, held = (kt.frame_placement(robot, motion.q[100:], name) for name in ("panda_hand_tcp", "thing"))
    inside = np.linalg.inv(hand) @ held
    moved = np.linalg.norm(inside[:, :3, 3] - inside[0, :3, 3], axis=1)
    cosine = (np.einsum("ij,tij->t", inside[0, :3, :3], inside[:, :3, :3]) - 1.0) / 2.0
    return motion, moved, np.arccos(np.clip(cosine, -1.0, 1.0))


settings = {  # and the most that a thing may slip, m
    "rigid": ({"setting": "rigid"}, 5e-4),
    "rigid, accurate": ({"setting": "rigid", "accurate": True}, 1e-6),
    "mujoco": ({"setting": "mujoco"}, 1e-3),
}

if __name__ == "__main__":
    for thing in things:
        robot = scene(thing)
        for name, (setting, most) in settings.items():
            motion, moved, turned = shaken(robot, thing, **setting)
            shake = np.abs(np.diff(motion.v[500:, :3], axis=0)).max(axis=0) / dt
            print(
                f"{thing}, {name}: shaken by {shake.round(1)} m/s², it has slipped by {1e3 * moved[-1]:.5f} mm "
                f"(at most {1e3 * moved.max():.5f}) and turned by {math.degrees(turned[-1]):.4f}°"
            )
            assert moved.max() < most
            assert turned.max() < 0.02
            assert np.diff(motion.dissipated).min() > -1e-5  # J, what contacts and dampers took in each step
