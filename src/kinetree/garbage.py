"""Pauses Python's cyclic garbage collector while a file becomes a robot, or an algorithm a program."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_paused"]

_LONG = 0.1
"""Seconds of a pause after which the collector would look through so many new objects that it is worth preventing."""


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collector: millions of objects are made, no garbage; looking through them takes a third of the time."""
    was_on, start = gc.isenabled(), time.perf_counter()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            # What is frozen and thawed counts as old. To count what others have frozen takes 10 ms for a million.
            if time.perf_counter() - start > _LONG and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
