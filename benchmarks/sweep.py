"""A study on a Dask cluster of this machine's cores, compared with one process, in turn.

    python benchmarks/sweep.py [--samples 10000000] [--rounds 5] [--workers 2] [--steps 10]

Every round computes a part of the samples twice: in this process on one thread, and on a cluster of processes with one
thread each. Both write all of it to the disk. What counts is the ratio of the times per sample and core, as the median
of the rounds; the goal is at most 3. Results are compared bit by bit. Absolute times depend on the machine, its load
and its disk.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

import kinetree as kt
import timing  # noqa: F401  what is measured has been optimised

GOAL = 3.0
ROBOT = kt.zoo.load("arm6")
VARY: dict[Any, Any] = {
    "q": kt.sweeps.Uniform(ROBOT.lower, ROBOT.upper),
    "v": kt.sweeps.Normal(0.0, 0.5),
    ("body.wrist.mass", "body.wrist.inertia"): kt.sweeps.Uniform(0.8, 1.2, relative=True),
}


def seconds(path: Path, samples: int, steps: int, seed: int, client: Client | None) -> tuple[float, kt.sweeps.Study]:
    begin = time.perf_counter()
    study = kt.sweep(
        ROBOT, path, samples=samples, vary=VARY, seed=seed, duration=1e-3 * steps, dt=1e-3, scheduler=client
    )
    return time.perf_counter() - begin, study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--steps", type=int, default=10)
    asked = parser.parse_args()
    os.environ["KINETREE_NUM_THREADS"] = "1"
    part, alone, together = asked.samples // asked.rounds, [], []
    cluster = LocalCluster(n_workers=asked.workers, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client, tempfile.TemporaryDirectory() as place:
        for client_or_none in (None, client):  # the first use compiles
            seconds(Path(place) / f"first-{client_or_none is None}", 64 * asked.workers, asked.steps, 0, client_or_none)
        for k in range(asked.rounds):
            with tempfile.TemporaryDirectory(dir=place) as folder:
                one, here = seconds(Path(folder) / "here", part, asked.steps, k, None)
                many, there = seconds(Path(folder) / "there", part, asked.steps, k, client)
                for name, x in here.results.items():
                    assert np.array_equal(x, there.results[name], equal_nan=True), name
            alone.append(one / part)
            together.append(many * asked.workers / part)
            print(f"round {k + 1}: one process {1e6 * alone[-1]:.2f} µs, cluster {1e6 * together[-1]:.2f} µs · cores")
    ratio = statistics.median(b / a for a, b in zip(alone, together, strict=True))
    print(
        f"{part * asked.rounds:,} motions of {asked.steps} steps of {ROBOT.name}: one process "
        f"{1e6 * statistics.median(alone):.2f} µs per sample; Dask, {asked.workers} workers, "
        f"{1e6 * statistics.median(together):.2f} µs per sample and core; ratio {ratio:.2f}, goal at most {GOAL:g}: "
        f"{'reached' if ratio <= GOAL else 'missed'}"
    )


if __name__ == "__main__":
    main()
