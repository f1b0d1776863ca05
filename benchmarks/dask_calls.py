"""kt.aba on arrays of Dask, on a cluster of this machine's cores, compared with NumPy in one process, in turn.

The arrays are made on the workers before the clock starts, so what is timed is the computing and the sum of its result.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

import numpy as np

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised


def main() -> None:
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--chunk", type=int, default=250_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    robot = kt.zoo.load("arm7")
    with (
        LocalCluster(n_workers=given.workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        draw = da.random.default_rng(0).normal
        arrays = [draw(size=(given.samples, 7), chunks=(given.chunk, 7)).persist() for _ in range(3)]
        wait(arrays)
        own = [np.random.default_rng(0).normal(size=(given.chunk, 7)) for _ in range(3)]
        kt.aba(robot, *own, threads=1)
        kt.aba(robot, *arrays).sum().compute()  # each worker has the code from now on
        ratios = []
        for _ in range(given.rounds):
            begin = time.perf_counter()
            kt.aba(robot, *arrays).sum().compute()
            there = (time.perf_counter() - begin) * given.workers / given.samples
            begin = time.perf_counter()
            for _ in range(given.samples // given.chunk):
                kt.aba(robot, *own, threads=1).sum()
            here = (time.perf_counter() - begin) / given.samples
            ratios.append(there / here)
            print(
                f"Dask {1e9 * there:6.1f} ns per sample and core, NumPy {1e9 * here:6.1f} ns: {there / here:.2f} times"
            )
        print(f"median {median(ratios):.2f} times; {len(client.scheduler_info()['workers'])} workers")


if __name__ == "__main__":
    main()
