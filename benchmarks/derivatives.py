"""Derivatives and matrices of dynamics against Pinocchio's calls, and derivative products against the functions.

    python benchmarks/derivatives.py [--batch 4096] [--rounds 21] [--samples 400]

One process, one thread, in turn, medians. Kinetree computes batches, float64, into an existing array. Pinocchio has no
batched calls for these: a Python loop makes one call after the other and leaves the results in its own memory, so that
nothing is copied; its time per sample is that of a loop over `--samples` of them. A single kinetree call is the
compiled function on one sample. First uses run in processes of their own, without machine code on disk.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pinocchio as pin

import kinetree as kt
from robots import ROBOTS, Robot
from timing import medians

GOALS = {
    ("aba_derivatives", "Panda"): 25, ("aba_derivatives", "ANYmal"): 15, ("aba_derivatives", "Talos"): 8,
    ("rnea_derivatives", "Panda"): 15, ("rnea_derivatives", "ANYmal"): 10, ("rnea_derivatives", "Talos"): 8,
    **{("mass_matrix_inverse", robot.name): 20 for robot in ROBOTS},
    **{("centroidal_momentum_matrix", robot.name): 15 for robot in ROBOTS},
}  # fmt: skip
ONE_CALL = {("aba_derivatives", "Panda"): 2}
FIRST_USE = {"Panda": 3, "Talos": 15}
_FIRST_USE = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, kinetree as kt
path, floating, samples = sys.argv[1:]
robot = kt.load(path, floating_base=floating == "True", mimic=False)
q = np.tile(robot.neutral(), (int(samples), 1)) if int(samples) > 1 else robot.neutral()
v = np.zeros(robot.nv)
start = time.perf_counter()
kt.dynamics.aba_derivatives(robot, q, v, v)
print(time.perf_counter() - start)
"""


def _goal(goals: dict[tuple[str, str], int], name: str, robot: Robot) -> str:
    goal = goals.get((name, robot.name))
    return f" (goal {goal})" if goal else ""


def compare(robot: Robot, batch: int, rounds: int, samples: int) -> None:
    """Measure the four calls on one robot."""
    model = robot.load()
    peer = pin.buildModelFromUrdf(robot.path, *([pin.JointModelFreeFlyer()] if robot.floating else []))
    data = peer.createData()
    rng = np.random.default_rng(0)
    q = np.stack([model.random(rng) for _ in range(batch)])
    v, x = rng.normal(size=(2, batch, model.nv))
    peer_q = [pin.randomConfiguration(peer, -np.ones(peer.nq), np.ones(peer.nq)) for _ in range(samples)]

    def loop(call: Callable[[int], object]) -> Callable[[], None]:
        def calls() -> None:
            for k in range(samples):
                call(k)

        return calls

    n = model.nv
    cases: dict[str, tuple[tuple[np.ndarray, ...], tuple[int, ...], Callable[[int], object]]] = {
        "aba_derivatives": (
            (q, v, x), (3, n, n), lambda k: pin.computeABADerivatives(peer, data, peer_q[k], v[k], x[k])
        ),
        "rnea_derivatives": (
            (q, v, x), (3, n, n), lambda k: pin.computeRNEADerivatives(peer, data, peer_q[k], v[k], x[k])
        ),
        "mass_matrix_inverse": ((q,), (n, n), lambda k: pin.computeMinverse(peer, data, peer_q[k])),
        "centroidal_momentum_matrix": ((q,), (6, n), lambda k: pin.computeCentroidalMap(peer, data, peer_q[k])),
    }  # fmt: skip
    for name, (arguments, shape, call) in cases.items():
        function = getattr(kt.dynamics, name)
        ours = kt.compile(model, function)
        out, one = np.empty((batch, *shape)), np.empty(shape)
        first = [a[0].copy() for a in arguments]
        times = medians({
            "batch": lambda f=ours, a=arguments, o=out: f(*a, out=o, threads=1),
            "pinocchio": loop(call),
        }, rounds)  # fmt: skip
        here, there = times["batch"] / batch, times["pinocchio"] / samples
        single = medians({
            "kernel": lambda f=ours, a=first, o=one: f(*a, out=o),
            "function": lambda f=function, a=first: f(model, *a),
            "pinocchio": lambda c=call: c(0),
        }, rounds, 200)  # fmt: skip
        print(
            f"{robot.name:7} {name:27}{here * 1e9:9.1f} ns a sample, pinocchio {there * 1e9:9.1f}: {there / here:5.1f}"
            f" times{_goal(GOALS, name, robot)}; one call {single['kernel'] * 1e6:.2f} µs,"
            f" as kt.{name} {single['function'] * 1e6:.2f}, pinocchio {single['pinocchio'] * 1e6:.2f}:"
            f" {single['pinocchio'] / single['kernel']:.1f} and {single['pinocchio'] / single['function']:.1f} times"
            f"{_goal(ONE_CALL, name, robot)}"
        )


def products(robot: Robot, batch: int, rounds: int) -> None:
    """Time jvp and vjp by all arguments relative to the function, batches on one thread."""
    model = robot.load()
    rng = np.random.default_rng(0)
    q = np.stack([model.random(rng) for _ in range(batch)])
    v, x, dq, dv, dx, w = rng.normal(size=(6, batch, model.nv))
    functions = {
        "aba": ((q, v, x), {"q": dq, "v": dv, "tau": dx}),
        "rnea": ((q, v, x), {"q": dq, "v": dv, "qdd": dx}),
        "bias_forces": ((q, v), {"q": dq, "v": dv}),
    }
    for name, (arguments, tangents) in functions.items():
        function = getattr(kt.dynamics, name)
        times = medians({
            "f": lambda f=function, a=arguments: f(model, *a, threads=1),
            "jvp": lambda f=function, a=arguments, t=tangents: kt.jvp(model, f, a, t, threads=1),
            "vjp": lambda f=function, a=arguments: kt.vjp(model, f, a, w, threads=1),
        }, rounds)  # fmt: skip
        f, forward, backward = times["f"], times["jvp"], times["vjp"]
        print(f"{robot.name:7} {name:12} jvp {forward / f:.2f} times the function (goal 3), vjp {backward / f:.2f}"
              " (goal 5)")  # fmt: skip


def first_use(robot: Robot, rounds: int) -> None:
    """Time a new process that has never seen the robot: one sample, and a batch."""
    for samples in (1, 16):
        command = [sys.executable, "-c", _FIRST_USE, robot.path, str(robot.floating), str(samples)]
        environment = {**os.environ, "KINETREE_CACHE": "off"}
        runs = [subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
                for _ in range(rounds)]  # fmt: skip
        seconds = statistics.median(float(run.stdout) for run in runs)
        goal = f" (goal {FIRST_USE[robot.name]} s)" if robot.name in FIRST_USE else ""
        print(f"{robot.name:7} first use of aba_derivatives, {samples} samples: {seconds:.2f} s{goal}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--samples", type=int, default=400)
    options = parser.parse_args()
    for robot in ROBOTS:
        compare(robot, options.batch, options.rounds, options.samples)
    for robot in ROBOTS:
        products(robot, options.batch, options.rounds)
    for robot in ROBOTS:
        first_use(robot, 3)


if __name__ == "__main__":
    main()
