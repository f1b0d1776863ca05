"""Fair timing: contenders take turns, round after round, and the median of the rounds counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median

__all__ = ["in_turn"]

_ROUNDS = 7
_SECONDS = 0.02
"""Length of one contender's turn."""


def in_turn(contenders: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds per call of each. They take turns because a shared machine's speed drifts during a measurement."""
    counts = {name: _calls_a_turn(call) for name, call in contenders.items()}
    rounds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(_ROUNDS):
        for name, call in contenders.items():
            rounds[name].append(_turn(call, counts[name]) / counts[name])
    return {name: median(times) for name, times in rounds.items()}


def _calls_a_turn(call: Callable[[], object]) -> int:
    count = 1
    while (seconds := _turn(call, count)) < _SECONDS / 4:
        count *= 4
    return max(1, round(count * _SECONDS / seconds))


def _turn(call: Callable[[], object], count: int) -> float:
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - begin
