"""Batches of a few samples, such as the knots of a horizon, compared with their arithmetic alone.

    python benchmarks/small_batches.py [--rounds 200]

ABA of N samples in ordinary arrays, by the compiled function with `out=` and without, by `kt.aba`, and by the general
entry that accepts lists, strides and everything else. The arithmetic is that of whole groups of lanes, from the extra
time of 256 samples over 64. Medians of rounds, in turn.
"""

from __future__ import annotations

import argparse

import numpy as np

import kinetree as kt
from kinetree.codegen.llvm.precision import F64
from kinetree.codegen.llvm.target import host
from robots import ROBOTS, Robot
from timing import medians

SIZES = (1, 2, 4, 8, 16, 64, 256)
CALLS = 20  # per round


def measure(robot: Robot, rounds: int) -> None:
    model = robot.load()
    rng, f = np.random.default_rng(0), kt.compile(model, kt.aba)
    q = np.stack([model.random(rng) for _ in range(SIZES[-1])])
    v, tau = rng.normal(size=(2, SIZES[-1], model.nv))
    calls = {}
    for n in SIZES:
        given, out = (q[:n].copy(), v[:n].copy(), tau[:n].copy()), np.empty((n, model.nv))
        calls[f"out= {n}"] = lambda given=given, out=out: f(*given, out=out)
        calls[f"new {n}"] = lambda given=given: f(*given)
        calls[f"kt.aba {n}"] = lambda given=given: kt.aba(model, *given)
        calls[f"general {n}"] = lambda given=given, out=out: f.__self__(*given, out=out)  # type: ignore[attr-defined]
    times = {name: 1e6 * seconds for name, seconds in medians(calls, rounds, CALLS).items()}
    lanes = host().lanes(F64)
    group = (times["out= 256"] - times["out= 64"]) / ((256 - 64) // lanes)
    print(f"{robot.name}, µs; a group of {lanes} takes {group:.2f}")
    print("      N  arithmetic     out=  beside it      new   kt.aba  general")
    for n in SIZES:
        arithmetic = -(-n // lanes) * group
        own = times[f"out= {n}"]
        others = "".join(f"{times[f'{name} {n}']:9.2f}" for name in ("new", "kt.aba", "general"))
        print(f"{n:7} {arithmetic:11.2f} {own:8.2f} {own - arithmetic:10.2f}{others}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    for robot in ROBOTS:
        measure(robot, rounds)


if __name__ == "__main__":
    main()
