"""Timing of calls to compare: they take turns, because a shared machine's speed drifts in the meantime."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

__all__ = ["medians"]


def medians(calls: Mapping[str, Callable[[], object]], rounds: int, repeat: int = 1) -> dict[str, float]:
    """Median seconds per call; in each round every call is made `repeat` times."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(repeat):
                call()
            times[name].append((time.perf_counter() - start) / repeat)
    return {name: float(np.median(t)) for name, t in times.items()}
