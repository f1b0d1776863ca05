"""Inverse kinematics and control of an arm of seven joints beside obstacles, with the distances of four cylinder pairs.

    python benchmarks/distances_in_control.py [--targets 200]

Before `kt.control.keep_apart`, distances were a task of one's own over `kt.contact.distance`, whose derivatives
kinetree makes. Both solve the same problems in turn, from the middle of the limits. Times are processor time per call
with one target, beside those of calls without distances.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import kinetree as kt
from kinetree.control import (
    Pose,
    Position,
    Posture,
    Task,
    WholeBody,
    differential_inverse_kinematics,
    inverse_kinematics,
    keep_apart,
)
from timing import medians

MARGIN, DT = 0.03, 0.01
PAIRS = [("upper_arm_b", "post"), ("forearm_b", "post"), ("forearm_b", "bar"), ("hand[0]", "bar")]


class Distances(Task):
    """The same errors, with kinetree's derivatives of the distances."""

    def size(self, _: kt.Model) -> int:
        return len(PAIRS)

    def target_shape(self, _: kt.Model) -> tuple[int, ...]:
        return ()

    def error(self, robot: kt.Model, q: Any, target: Any) -> Any:
        return np.maximum(target - np.stack([kt.contact.distance(robot, q, a, b) for a, b in PAIRS]), 0.0)


def scene() -> kt.Model:
    """The arm, a post in front of it and a bar above."""
    lying = kt.lie.placement((0.3, 0.0, 0.9), rotation=kt.lie.rotation_exp([0.5 * np.pi, 0.0, 0.0]))
    arm = kt.zoo.load("arm7").with_obstacle("cylinder", (0.05, 0.8), kt.lie.placement((0.4, 0.1, 0.4)), name="post")
    return arm.with_obstacle("cylinder", (0.04, 1.0), lying, name="bar")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=40)
    count = parser.parse_args().targets
    robot = scene()
    distances = np.array([kt.contact.distance(robot, robot.random(0, size=20 * count), a, b) for a, b in PAIRS])
    free = robot.random(0, size=20 * count)[(distances > MARGIN).all(axis=0)][:count]
    targets = kt.frame_placement(robot, free, "tool")
    apart, before, tool = keep_apart(PAIRS, MARGIN), Distances(), Pose("tool")
    ways = {
        "without distances": lambda T: inverse_kinematics(robot, tool, T),
        "keep_apart": lambda T: inverse_kinematics(robot, [tool, apart], [T]),
        "a task of one's own": lambda T: inverse_kinematics(robot, [tool, before], [T, MARGIN]),
    }
    print(f"one call of inverse kinematics, of {len(targets)} reachable poses:")
    beside(ways, targets)
    print("the same of random poses, some of which are in the obstacles, so that all starts are used up:")
    beside(ways, kt.frame_placement(robot, robot.random(9, size=count), "tool"))
    q = free[0]
    print("one call of differential inverse kinematics:")
    beside(
        {
            "without distances": lambda T: differential_inverse_kinematics(robot, tool, T, q, DT, gain=0.1),
            "keep_apart": lambda T: differential_inverse_kinematics(robot, [tool, apart], [T], q, DT, gain=0.1),
            "a task of one's own": lambda T: differential_inverse_kinematics(
                robot, [tool, before], [T, MARGIN], q, DT, gain=0.1
            ),
        },
        targets,
    )
    print("one step of whole-body control:")
    tasks = {"hand": Position("tool"), "posture": Posture(priority=1)}
    alone, both = WholeBody(robot, tasks, {}), WholeBody(robot, {**tasks, "apart": apart}, {})
    v = np.zeros(robot.nv)
    beside(
        {
            "without distances": lambda T: alone.step(q, v, {"hand": T[:3, 3], "posture": q}),
            "keep_apart": lambda T: both.step(q, v, {"hand": T[:3, 3], "posture": q}),
        },
        targets,
    )


def beside(ways: dict[str, Any], targets: Any) -> None:
    for solve in ways.values():
        solve(targets[0])
    calls = {name: (lambda solve=solve: [solve(T) for T in targets]) for name, solve in ways.items()}
    micro = {name: 1e6 * t / len(targets) for name, t in medians(calls, rounds=3, clock=time.process_time).items()}
    own, rest = micro["keep_apart"], micro["without distances"]
    for name, t in micro.items():
        print(f"  {name:20} {t:10.1f} µs, {t / own:7.2f} times as long")
    print(f"  of which four distances take {own - rest:.1f} µs")


if __name__ == "__main__":
    main()
