"""Joints with three rotations, compared with the same motion by three revolute joints, in one process and in turn.

    python benchmarks/ball_joints.py [--batch 4096] [--rounds 60]

A chain of bodies on ball joints: by quaternion, by Euler angles, by rotation vector, and with each ball as three
revolute joints with massless bodies between. One thread, float64.
"""

from __future__ import annotations

import argparse

import numpy as np

import kinetree as kt
from kinetree.joints import JointKind
from timing import medians

X, Y, Z = kt.Revolute([1, 0, 0]), kt.Revolute([0, 1, 0]), kt.Revolute([0, 0, 1])
WAYS: dict[str, list[JointKind]] = {
    "three revolutes": [Z, Y, X],
    "spherical": [kt.joints.Spherical()],
    "Euler ZYX": [kt.joints.Euler("ZYX")],
    "rotation vector": [kt.joints.ExponentialMap()],
}


def chain(kinds: list[JointKind], balls: int) -> kt.Model:
    body = kt.solids.ellipsoid(0.1, 0.15, 0.3, mass=2.0, placement=kt.lie.placement([0.02, 0.01, 0.25]))
    builder = kt.ModelBuilder("chain")
    builder.add_body("base")
    parent = "base"
    for k in range(balls):
        for j, kind in enumerate(kinds, 1):
            name = f"body {k}.{j}"
            builder.add_body(name, body if j == len(kinds) else None)
            place = kt.lie.placement([0.05, 0.0, 0.5] if j == 1 else [0.0, 0.0, 0.0])
            builder.add_joint(f"joint {k}.{j}", kind, parent, name, place)
            parent = name
    return builder.build()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--balls", type=int, default=4)
    options = parser.parse_args()
    robots = {name: chain(kinds, options.balls) for name, kinds in WAYS.items()}
    rng = np.random.default_rng(0)
    for function in (kt.aba, kt.rnea, kt.crba):
        calls, operations = {}, {}
        for name, robot in robots.items():
            kernel = kt.compile(robot, function)
            arrays = [
                np.stack([robot.random(rng) for _ in range(options.batch)])
                if size == "nq"
                else rng.normal(size=(options.batch, robot.nv))
                for _, size in function.definition.inputs
            ]
            out = kernel(*arrays)
            calls[name] = lambda kernel=kernel, arrays=arrays, out=out: kernel(*arrays, out=out, threads=1)
            operations[name] = kernel.__self__.program.operation_counts().total()
        seconds = medians(calls, options.rounds)
        base = seconds["three revolutes"]
        for name, time in seconds.items():
            print(
                f"{function.__name__:5} {name:16} {operations[name]:6} operations {time / options.batch * 1e9:8.1f} ns "
                f"a sample: {base / time:4.2f} times as fast as three revolutes"
            )


if __name__ == "__main__":
    main()
