"""Timing of calls to compare: they take turns, because a shared machine's speed drifts in the meantime.

Where this is imported, machine code is optimised before it runs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

import numpy as np

__all__ = ["medians", "print_beside"]

os.environ.setdefault("KINETREE_OPTIMIZE", "now")


def medians(
    calls: Mapping[str, Callable[[], object]],
    rounds: int,
    repeat: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Median seconds per call; in each round every call is made `repeat` times.

    `clock`: `time.process_time` measures this process alone, all its threads together, on a busy machine.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = clock()
            for _ in range(repeat):
                call()
            times[name].append((clock() - start) / repeat)
    return {name: float(np.median(t)) for name, t in times.items()}


def print_beside(title: str, calls: Mapping[str, Callable[[], object]], samples: int, rounds: int, repeat: int) -> None:
    """Print the time per sample of the call "kinetree", and those of the others with their ratio to it."""
    seconds = medians(calls, rounds, repeat)
    own = seconds.pop("kinetree")
    others = ", ".join(f"{name} {t / samples * 1e6:6.2f}: {t / own:5.1f} times" for name, t in seconds.items())
    print(f"{title:21} {own / samples * 1e6:6.3f} µs per sample, {others}")
