"""Two threads against one: a large batch of forward dynamics, in one process and in turn.

    python benchmarks/threads.py [--batch 65536] [--threads 2] [--rounds 40]

For comparison with the call on several threads, the best possible: as many Python threads, each with its own part of
the batch, started together and timed to the end of the last. What both lose against the number of threads is due to
the machine: cores used by other processes, and shared memory. The goal is 1.8 on two free cores.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised
from kinetree.codegen.cpu.ufunc import batch_function
from kinetree.compiler.batch_pieces import call_in_pieces
from robots import ROBOTS, Robot


class ByHand:
    """A batch divided once over a fixed set of threads."""

    def __init__(self, kernel: Callable[..., object], arrays: Sequence[np.ndarray], out: np.ndarray, threads: int):
        self.start, self.end = threading.Barrier(threads), threading.Barrier(threads)
        self.mine, *others = (
            (kernel, parts[:-1], parts[-1])
            for parts in zip(*(np.array_split(x, threads) for x in (*arrays, out)), strict=True)
        )
        for part in others:
            threading.Thread(target=self.work, args=part, daemon=True).start()

    def work(self, kernel: Callable[..., object], arrays: Sequence[np.ndarray], out: np.ndarray) -> None:
        while True:
            self.start.wait()
            kernel(*arrays, out=out)
            self.end.wait()

    def __call__(self) -> None:
        kernel, arrays, out = self.mine
        self.start.wait()
        kernel(*arrays, out=out)
        self.end.wait()


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measured(robot: Robot, batch: int, threads: int, rounds: int) -> tuple[float, float, float]:
    """Median seconds per sample: on one thread, on several, and by hand."""
    model = robot.load()
    kernel = batch_function(kt.compile(model, kt.aba).__self__.program)
    rng = np.random.default_rng(0)
    q = np.resize(np.stack([model.random(rng) for _ in range(1024)]), (batch, model.nq))
    arrays = [q, *rng.normal(size=(2, batch, model.nv))]
    out, expected = np.empty((2, batch, model.nv))

    kernel(*arrays, out=expected)
    work = min(seconds(lambda: kernel(*arrays, out=expected)) for _ in range(3)) / batch
    by_hand = ByHand(kernel, arrays, out, threads)
    calls = (
        lambda: kernel(*arrays, out=expected),
        lambda: call_in_pieces(kernel, arrays, out, (1, 1, 1), (model.nv,), float, work, threads),
        by_hand,
    )
    times = list(zip(*([seconds(call) for call in calls] for _ in range(rounds)), strict=True))
    calls[1]()
    np.testing.assert_array_equal(out, expected)  # the same bits
    single, split, best = (statistics.median(each) / batch for each in times)
    return single, split, best


def compare(robot: Robot, batch: int, threads: int, rounds: int) -> None:
    single, split, best = measured(robot, batch, threads, rounds)
    print(
        f"{robot.name:8} {single * 1e9:7.0f} ns a sample alone; {threads} threads {single / split:5.2f} "
        f"times as fast, by hand {single / best:5.2f}; the results are the same to the bit"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=65536)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    for robot in ROBOTS:
        compare(robot, options.batch, options.threads, options.rounds)


if __name__ == "__main__":
    main()
