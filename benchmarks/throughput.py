"""Samples a second from Python, beside Pinocchio's batched calls, in one process and in turn.

    python benchmarks/throughput.py [--batch 4096] [--rounds 60]

Both get ordinary arrays in their own natural order, (N, n) row by row here and one column a sample there, float64,
one thread, results written into an array made before. The figure that counts is the ratio of the medians; absolute
times depend on the machine and on who else uses it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin

import kinetree as kt
from robots import ROBOTS, Robot

GOALS = {("aba", "UR5"): 25, ("aba", "Panda"): 25, ("aba", "ANYmal"): 12, ("aba", "Talos"): 12}
GOALS |= {("rnea", "UR5"): 15, ("rnea", "Panda"): 15}


def medians(a: Callable[[], object], b: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Median seconds of two calls, taken in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for call, record in zip((a, b), times, strict=True):
            start = time.perf_counter()
            call()
            record.append(time.perf_counter() - start)
    return float(np.median(times[0])), float(np.median(times[1]))


def compare(robot: Robot, batch: int, rounds: int) -> None:
    model = robot.load()
    peer = pin.buildModelFromUrdf(robot.path, *([pin.JointModelFreeFlyer()] if robot.floating else []))
    pool = pin.ModelPool(peer, 1)
    rng = np.random.default_rng(0)
    q = np.stack([model.random(rng) for _ in range(batch)])
    v, x = rng.normal(size=(2, batch, model.nv))
    peer_q = np.asfortranarray(
        np.stack([pin.randomConfiguration(peer, -np.ones(peer.nq), np.ones(peer.nq)) for _ in range(batch)], 1)
    )
    peer_v, peer_x = np.asfortranarray(v.T), np.asfortranarray(x.T)
    out, peer_out = np.empty((batch, model.nv)), np.empty((peer.nv, batch), order="F")
    for name, ours, theirs in (("aba", kt.aba, pin.abaInParallel), ("rnea", kt.rnea, pin.rneaInParallel)):
        program = kt.compile(model, ours).__self__.program
        here, there = medians(
            lambda f=ours: f(model, q, v, x, out=out),
            lambda f=theirs: f(1, pool, peer_q, peer_v, peer_x, peer_out),
            rounds,
        )
        goal = GOALS.get((name, robot.name))
        print(
            f"{robot.name:8} {name:5} {model.nv:3} dof {len(program.body.statements):6} operations"
            f" {here / batch * 1e9:8.1f} ns a sample, pinocchio {there / batch * 1e9:8.1f}: {there / here:5.1f} times"
            + (f" (goal {goal})" if goal else "")
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    for robot in ROBOTS:
        compare(robot, options.batch, options.rounds)


if __name__ == "__main__":
    main()
