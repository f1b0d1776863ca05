"""Placements, velocities and accelerations of all links, beside Pinocchio and MuJoCo, in one process and in turn.

    python benchmarks/all_links.py [--batch 4096] [--rounds 15]

One thread, float64, at random states, in each link's own axes. Pinocchio's share is `forwardKinematics(q, v, a)` and
`updateFramePlacements`, which place its frames and leave velocities and accelerations with its joints, so those of
fixed links are missing. MuJoCo's is `mj_fwdPosition`, `mj_fwdVelocity` and `mj_rnePostConstraint`, which also compute
inertias and forces; it has no call for kinematics with accelerations alone. For a batch both are called in a Python
loop, which stores what they found in arrays or leaves that out, as for a single sample.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import mujoco
import numpy as np
import pinocchio as pin

import kinetree as kt
from joint_wrenches import without_shapes
from robots import ROBOTS, Robot
from timing import print_beside

Call = Callable[[int, bool], object]
"""Computes the state of all links for one sample, by its number, and stores it if asked to."""


def pinocchio_call(robot: Robot, v: np.ndarray, qdd: np.ndarray) -> Call:
    model = pin.buildModelFromUrdf(robot.path, *([pin.JointModelFreeFlyer()] if robot.floating else []))
    data, bound = model.createData(), np.ones(model.nq)
    q = [pin.randomConfiguration(model, -bound, bound) for _ in v]
    T, twists, a = np.empty((len(v), model.nframes, 4, 4)), *np.empty((2, len(v), model.njoints, 6))

    def call(k: int, store: bool) -> object:
        pin.forwardKinematics(model, data, q[k], v[k], qdd[k])
        pin.updateFramePlacements(model, data)
        if store:
            for i, placement in enumerate(data.oMf):
                T[k, i] = placement.homogeneous
            for j in range(model.njoints):
                twists[k, j], a[k, j] = data.v[j].vector, data.a[j].vector
        return data

    return call


def mujoco_call(robot: Robot, v: np.ndarray, qdd: np.ndarray) -> Call:
    model = mujoco.MjModel.from_xml_string(without_shapes(robot))
    data, q = mujoco.MjData(model), np.random.default_rng(1).uniform(-1.0, 1.0, (len(v), model.nq))
    found = data.xpos, data.xmat, data.cvel, data.cacc
    kept = [np.empty((len(v), *x.shape)) for x in found]

    def call(k: int, store: bool) -> object:
        data.qpos[:], data.qvel[:], data.qacc[:] = q[k], v[k], qdd[k]
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        if store:
            for into, x in zip(kept, found, strict=True):
                into[k] = x
        return found

    return call


def compare(robot: Robot, batch: int, rounds: int) -> None:
    model = robot.load()
    rng = np.random.default_rng(0)
    q = np.stack([model.random(rng) for _ in range(batch)])
    v, qdd = rng.normal(size=(2, batch, model.nv))
    kernel = kt.compile(model, kt.kinematics.body_motions, expressed_in="local")
    out, one = kernel(q, v, qdd), kernel(q[0], v[0], qdd[0])
    ways = {"pinocchio": pinocchio_call(robot, v, qdd), "mujoco": mujoco_call(robot, v, qdd)}

    def loop(way: Call, store: bool) -> None:
        for k in range(batch):
            way(k, store)

    a, b, c = q[0], v[0], qdd[0]
    single = {"kinetree": lambda: kernel(a, b, c, out=one), **{n: lambda w=w: w(0, False) for n, w in ways.items()}}
    many = {
        "kinetree": lambda: kernel(q, v, qdd, out=out, threads=1),
        **{n: lambda w=w: loop(w, False) for n, w in ways.items()},
        **{f"{n}, stored": lambda w=w: loop(w, True) for n, w in ways.items()},
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
