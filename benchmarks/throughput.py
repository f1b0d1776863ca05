"""Samples per second from Python, compared with Pinocchio's batched calls, in one process and in turn.

    python benchmarks/throughput.py [--batch 4096] [--rounds 60]

Both get ordinary arrays in their own natural order, (N, n) row by row here and one column per sample there, float64,
one thread, results written into an existing array. Pinocchio has no batched mass matrix: a Python loop calls it and
stores each result. The ratio of the medians is what matters; absolute times depend on the machine and its load.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import pinocchio as pin

import kinetree as kt
from robots import ROBOTS, Robot
from timing import medians

GOALS = {("aba", "UR5"): 38, ("aba", "Panda"): 38, ("aba", "ANYmal"): 18, ("aba", "Talos"): 16}
GOALS |= {("rnea", "UR5"): 25, ("rnea", "Panda"): 25, ("rnea", "ANYmal"): 15, ("rnea", "Talos"): 12}
GOALS |= {("crba", robot.name): 20 for robot in ROBOTS}


def measured(robot: Robot, batch: int, rounds: int) -> dict[str, tuple[int, int, float, float]]:
    """By function: degrees of freedom, operations, and seconds per sample, ours and Pinocchio's."""
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
    data = peer.createData()
    samples = [np.ascontiguousarray(column) for column in peer_q.T]
    out, peer_out = np.empty((batch, model.nv)), np.empty((peer.nv, batch), order="F")
    H, peer_H = np.empty((2, batch, model.nv, model.nv))

    def crba_loop() -> None:
        for k, sample in enumerate(samples):
            peer_H[k] = pin.crba(peer, data, sample)

    calls: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "aba": (
            lambda: kt.aba(model, q, v, x, out=out, threads=1),
            lambda: pin.abaInParallel(1, pool, peer_q, peer_v, peer_x, peer_out),
        ),
        "rnea": (
            lambda: kt.rnea(model, q, v, x, out=out, threads=1),
            lambda: pin.rneaInParallel(1, pool, peer_q, peer_v, peer_x, peer_out),
        ),
        "crba": (lambda: kt.crba(model, q, out=H, threads=1), crba_loop),
    }
    found = {}
    for name, (ours, theirs) in calls.items():
        program = kt.compile(model, getattr(kt.dynamics, name)).__self__.program
        ours()
        here, there = medians({"ours": ours, "theirs": theirs}, rounds).values()
        found[name] = model.nv, len(program.body.statements), here / batch, there / batch
    return found


def compare(robot: Robot, batch: int, rounds: int) -> None:
    for name, (nv, operations, here, there) in measured(robot, batch, rounds).items():
        goal = GOALS.get((name, robot.name))
        print(
            f"{robot.name:8} {name:5} {nv:3} dof {operations:6} operations"
            f" {here * 1e9:8.1f} ns a sample, pinocchio {there * 1e9:8.1f}: {there / here:5.1f} times"
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
