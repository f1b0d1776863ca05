"""Events and divergences of a motion: of some motions of a batch, in words, and as text in files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.sim.endings import Divergence
from kinetree.sim.events import Occurrence

__all__ = ["early_ends", "outcomes_content", "outcomes_of", "picked"]

Array = NDArray[np.float64]
Diverged = Mapping[tuple[int, ...], Divergence]


def early_ends(ended: Array, diverged: Diverged, last: float) -> str:
    """How many motions diverged, and how many others ended before the last row, in words; nothing if none did.

    >>> early_ends(np.array([0.5, 1.0, 1.0]), {}, 1.0)
    '1 of 3 motions ended before the others'
    """
    others = np.array(ended < last)
    for sample in diverged:
        others[sample] = False
    if not others.ndim:  # one of a batch
        return f"ended at t = {ended:g} s" if others else "; ".join(map(str, diverged.values()))
    counts = [(len(diverged), "diverged"), (int(others.sum()), "ended before the others")]
    words = [f"{count:,} of {others.size:,} motions {what}" for count, what in counts if count]
    return ", ".join(words)


def picked(
    shape: tuple[int, ...], given: tuple[Any, ...], events: Iterable[Occurrence], diverged: Diverged
) -> tuple[tuple[Occurrence, ...], dict[tuple[int, ...], Divergence]]:
    """The events and divergences of some motions of a batch, which get new numbers."""
    if not events and not diverged:
        return (), {}
    numbers = np.arange(int(np.prod(shape)), dtype=np.intp).reshape(shape)
    some = np.asarray(numbers[given])
    places: dict[int, list[tuple[int, ...]]] = {}
    for index in np.ndindex(some.shape):
        places.setdefault(int(some[index]), []).append(index)
    own_events = tuple(
        Occurrence(event.name, event.time, index, event.q, event.v)
        for event in events
        for index in places.get(int(numbers[event.sample]), ())
    )
    return own_events, {i: one for sample, one in diverged.items() for i in places.get(int(numbers[sample]), ())}


def outcomes_content(units: Mapping[str, str], events: Iterable[Occurrence], diverged: Diverged) -> dict[str, Any]:
    """Everything as numbers and texts, as JSON has them."""
    listed = [[e.name, e.time, [*e.sample], e.q.tolist(), e.v.tolist()] for e in events]
    ended = [[[*sample], d.time, d.name, d.cause] for sample, d in diverged.items()]
    return {"units": dict(units), "events": listed, "diverged": ended}


def outcomes_of(read: Any) -> dict[str, Any]:
    """The fields of a trajectory in such a content. Raises ValueError, TypeError, KeyError, AttributeError."""
    return {
        "units": {str(name): str(unit) for name, unit in read["units"].items()},
        "events": tuple(
            Occurrence(str(name), float(time), _index(sample), np.array(q, float), np.array(v, float))
            for name, time, sample, q, v in read["events"]
        ),
        "diverged": {
            _index(sample): Divergence(float(time), str(name), str(cause))
            for sample, time, name, cause in read["diverged"]
        },
    }


def _index(sample: Iterable[Any]) -> tuple[int, ...]:
    return tuple(int(k) for k in sample)
