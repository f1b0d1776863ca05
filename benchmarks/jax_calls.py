"""Calls in JAX beside the same calls with NumPy's arrays: forward dynamics in loops, in batches, and differentiated.

    python benchmarks/jax_calls.py [--robots Panda …] [--rounds 30]

A step of `lax.scan` with a call, without one, and a single call of `kt.compile`'s builtin; a batch in `jax.jit`, JAX's
own part of that (a `jit` that copies an array), and the builtin with NumPy's arrays; cotangents in `jax.jit` and by
`kt.vjp`; the first use in a process whose machine code is not on disk. All in one process, in turn, in double
precision; medians.
"""

from __future__ import annotations

import argparse
import os
import time

import jax
import jax.numpy as jnp
import numpy as np

import kinetree as kt
from robots import ROBOTS
from timing import medians

STEPS = 10_000
BATCHES = (1, 64, 512, 1024, 4096, 65536)


def first_use(robot: kt.Model) -> dict[str, float]:
    """Seconds of the first call and of the first gradient, with nothing on disk."""
    os.environ["KINETREE_CACHE"] = "off"
    given, seconds = state(robot, 8), {}
    start = time.perf_counter()
    aba = jax.jit(kt.interop.to_jax(robot, kt.aba))
    jax.block_until_ready(aba(*given))
    seconds["value"] = time.perf_counter() - start
    start = time.perf_counter()
    jax.block_until_ready(jax.jit(jax.grad(lambda *x: aba(*x).sum(), argnums=(0, 1, 2)))(*given))
    seconds["gradient"] = time.perf_counter() - start
    del os.environ["KINETREE_CACHE"]
    return seconds


def state(robot: kt.Model, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [robot.random(rng, count), *(0.1 * rng.normal(size=(count, robot.nv)) for _ in range(2))]


def loops(robot: kt.Model, rounds: int) -> dict[str, float]:
    """Seconds per step."""
    aba, bare = kt.interop.to_jax(robot, kt.aba), kt.compile(robot, kt.aba)
    q, v, tau = (x[0] for x in state(robot, 1))

    def of(step) -> object:
        compiled = jax.jit(lambda v: jax.lax.scan(lambda v, _: (step(v), None), v, length=STEPS)[0])
        start = jnp.asarray(v)
        return lambda: compiled(start).block_until_ready()

    found = medians(
        {
            "a step with a call": of(lambda v: v + 1e-6 * aba(q, v, tau)),
            "a step without": of(lambda v: v + 1e-6 * tau),
        },
        rounds,
    )
    found = {name: seconds / STEPS for name, seconds in found.items()}
    return found | medians({"kt.compile's builtin": lambda: bare(q, v, tau)}, rounds, 1000)


def batches(robot: kt.Model, count: int, rounds: int) -> dict[str, float]:
    """Seconds per call."""
    given = state(robot, count)
    arrays = [jnp.asarray(x) for x in given]
    aba, bare = kt.interop.to_jax(robot, kt.aba), kt.compile(robot, kt.aba)
    value = jax.jit(aba)
    empty = jax.jit(lambda *given: jnp.copy(given[2]), keep_unused=True)
    slope = jax.jit(lambda q, v, tau: jax.vjp(aba, q, v, tau)[1](tau))
    weights = given[2]
    return medians(
        {
            "jit": lambda: value(*arrays).block_until_ready(),
            "empty jit": lambda: empty(*arrays).block_until_ready(),
            "NumPy": lambda: bare(*given),
            "jit vjp": lambda: jax.block_until_ready(slope(*arrays)),
            "kt.vjp": lambda: kt.vjp(robot, kt.aba, given, weights),
        },
        rounds,
        min(64, max(1, 4096 // count)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="+", default=[robot.name for robot in ROBOTS])
    parser.add_argument("--rounds", type=int, default=30)
    arguments = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    print(f"jax {jax.__version__}, {os.cpu_count()} cores")
    for robot in ROBOTS:
        if robot.name not in arguments.robots:
            continue
        model = robot.load()
        first = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in first_use(model).items())
        print(f"\n{robot.name}: first use: {first}")
        for name, seconds in loops(model, arguments.rounds).items():
            print(f"    {name:22} {seconds * 1e6:8.3f} µs")
        for count in BATCHES:
            found = batches(model, count, arguments.rounds)
            jit, empty, value, derivative = (found[name] for name in ("jit", "empty jit", "NumPy", "kt.vjp"))
            print(
                f"    {count:6} samples: jit {jit * 1e6:9.1f} µs, {jit / value:.2f} of NumPy; an empty one "
                f"{empty * 1e6:.1f} µs, the rest {(jit - empty) / value:.2f} of NumPy; "
                f"vjp {found['jit vjp'] * 1e6:9.1f} µs, {found['jit vjp'] / derivative:.2f} of kt.vjp"
            )


if __name__ == "__main__":
    main()
