"""Wrenches of all joints, beside Pinocchio's `data.f` after `rnea` and MuJoCo's `cfrc_int`, in one process and in turn.

    python benchmarks/joint_wrenches.py [--batch 4096] [--rounds 15]

One thread, float64, at random states. For a batch the others are called in a Python loop that stores each result, as
they have no call that returns the wrenches of many samples. `cfrc_int` needs positions and velocities first
(`mj_fwdPosition`, `mj_fwdVelocity`, `mj_comVel`), which are part of its time. For a single sample, storing is left out.
"""

from __future__ import annotations

import argparse
import xml.etree.ElementTree as ET
from collections.abc import Callable

import mujoco
import numpy as np
import pinocchio as pin

import kinetree as kt
from robots import ROBOTS, Robot
from timing import print_beside

Call = Callable[[int], object]
"""Computes wrenches for one sample, by its number, and returns something that can be stored."""


def pinocchio_call(robot: Robot, v: np.ndarray, qdd: np.ndarray) -> Call:
    model = pin.buildModelFromUrdf(robot.path, *([pin.JointModelFreeFlyer()] if robot.floating else []))
    data, bound = model.createData(), np.ones(model.nq)
    q = [pin.randomConfiguration(model, -bound, bound) for _ in v]

    def call(k: int) -> object:
        pin.rnea(model, data, q[k], v[k], qdd[k])
        return data.f

    return call


def mujoco_call(robot: Robot, v: np.ndarray, qdd: np.ndarray) -> Call:
    model = mujoco.MjModel.from_xml_string(without_shapes(robot))
    data, q = mujoco.MjData(model), np.random.default_rng(1).uniform(-1.0, 1.0, (len(v), model.nq))

    def call(k: int) -> object:
        data.qpos[:], data.qvel[:], data.qacc[:] = q[k], v[k], qdd[k]
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        return data.cfrc_int

    return call


def without_shapes(robot: Robot) -> str:
    """The links and joints of a file, with a joint for a floating base."""
    root = ET.parse(robot.path).getroot()
    for link in root.iter("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    settings = {"fusestatic": "true", "balanceinertia": "true", "boundmass": "1e-6", "boundinertia": "1e-9"}
    ET.SubElement(ET.SubElement(root, "mujoco"), "compiler", settings)
    if robot.floating:
        children = {child.get("link") for child in root.iter("child")}
        base = next(link.get("name") for link in root.findall("link") if link.get("name") not in children)
        ET.SubElement(root, "link", name="the world")
        joint = ET.SubElement(root, "joint", name="floating", type="floating")
        ET.SubElement(joint, "parent", link="the world")
        ET.SubElement(joint, "child", link=str(base))
    return ET.tostring(root, encoding="unicode")


def compare(robot: Robot, batch: int, rounds: int) -> None:
    model = robot.load()
    rng = np.random.default_rng(0)
    q = np.stack([model.random(rng) for _ in range(batch)])
    v, qdd = rng.normal(size=(2, batch, model.nv))
    kernel = kt.compile(model, kt.dynamics.joint_wrenches, expressed_in="local")
    out, one = kernel(q, v, qdd), kernel(q[0], v[0], qdd[0])
    ways = {"pinocchio": pinocchio_call(robot, v, qdd), "mujoco": mujoco_call(robot, v, qdd)}

    def stored(way: Call) -> None:
        kept = [None] * batch
        for k in range(batch):
            kept[k] = np.array(way(k))

    a, b, c = q[0], v[0], qdd[0]
    single = {"kinetree": lambda: kernel(a, b, c, out=one), **{n: lambda w=w: w(0) for n, w in ways.items()}}
    many = {
        "kinetree": lambda: kernel(q, v, qdd, out=out, threads=1),
        **{n: lambda w=w: stored(w) for n, w in ways.items()},
    }
    print_beside(f"{robot.name:8} one sample", single, 1, rounds, 200)
    print_beside(f"{robot.name:8} {batch} samples", many, batch, rounds, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    for robot in ROBOTS:
        compare(robot, options.batch, options.rounds)


if __name__ == "__main__":
    main()
