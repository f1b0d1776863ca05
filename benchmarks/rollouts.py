"""Rollouts of any number of steps, compared with a kernel compiled for exactly that number.

    python benchmarks/rollouts.py [--rounds 15]

Nanoseconds per step and sample, semi-implicit Euler, 2048 samples, results written into an existing array; and two
threads against one. Medians of rounds, in turn.
"""

from __future__ import annotations

import argparse

import numpy as np

import kinetree as kt
from robots import ROBOTS, Robot
from timing import medians

SAMPLES = 2048
LENGTHS = (1, 10, 36, 64, 100)


def measure(robot: Robot, rounds: int) -> None:
    model = robot.load()
    rng, dt = np.random.default_rng(0), np.array(1e-4)
    q = np.stack([model.neutral()] * SAMPLES)
    v = 0.1 * rng.normal(size=(SAMPLES, model.nv))
    calls = {}
    for steps in LENGTHS:
        tau, out = rng.normal(size=(SAMPLES, steps, model.nv)), np.empty((SAMPLES, steps, model.nq + model.nv))
        exact = kt.compile(model, kt.rollout, steps=steps)
        for threads in (1, 2):
            calls[f"any {steps} {threads}"] = lambda tau=tau, out=out, threads=threads: kt.rollout(
                model, q, v, tau, dt, out=out, threads=threads
            )
        calls[f"exact {steps}"] = lambda tau=tau, out=out, exact=exact: exact(q, v, tau, dt, out=out, threads=1)
    for call in calls.values():
        call()
    times = medians(calls, rounds)
    print(f"{robot.name}\n  steps  kt.rollout  steps=T  two threads")
    for steps in LENGTHS:
        each = 1e9 / (steps * SAMPLES)
        one, two, exact = times[f"any {steps} 1"], times[f"any {steps} 2"], times[f"exact {steps}"]
        print(f"{steps:7} {one * each:11.1f} {exact * each:8.1f} {one / two:9.2f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    for robot in ROBOTS[:3]:
        measure(robot, rounds)


if __name__ == "__main__":
    main()
