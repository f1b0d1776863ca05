"""How many threads a call may use: from the caller, the environment, or the number of cores."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kinetree.errors import OptionError
from kinetree.inputs import whole_number
from kinetree.resources import available_cores

__all__ = ["at_most", "checked_count", "thread_count"]

_VARIABLE = "KINETREE_NUM_THREADS"
_MOST_THREADS = 1024  # more is a typing error, and would start that many threads


def thread_count(threads: int | None = None) -> int:
    """Maximum number of threads that a call may use, including the caller's.

    Args:
        threads: the number the caller asks for. None means the environment variable KINETREE_NUM_THREADS, which is read
            again each time, or if it is unset the cores this process may use, by its affinity and its container's CPU
            quota.

    Raises:
        OptionError: `threads`, or else the variable, is not a whole number from 1 to 1024.

    >>> thread_count(3)
    3
    """
    if threads is not None:
        return checked_count(threads)
    if (most := getattr(_caller, "most", None)) is not None:
        return int(most)
    text = os.environ.get(_VARIABLE, "").strip()
    if not text:
        return available_cores()
    count = int(text) if text.isdecimal() and len(text) < 9 else 0
    if not 1 <= count <= _MOST_THREADS:
        raise OptionError(
            f"the environment variable {_VARIABLE} must be a whole number of threads from 1 to {_MOST_THREADS}, not "
            f"{text!r}; unset it to use all available cores"
        )
    return count


_caller = threading.local()


@contextmanager
def at_most(threads: int) -> Iterator[None]:
    """Within the block, calls of this thread that do not ask for a number of threads use at most so many.

    >>> with at_most(1):
    ...     thread_count()
    1
    """
    before = getattr(_caller, "most", None)
    _caller.most = threads
    try:
        yield
    finally:
        _caller.most = before


def checked_count(threads: Any) -> int:
    """A number of threads that a caller asks for; raises `OptionError` for anything else."""
    count = whole_number(threads)
    if count is None or not 1 <= count <= _MOST_THREADS:
        raise OptionError(
            f"threads must be a whole number from 1 to {_MOST_THREADS}, or None for {_VARIABLE} or else all available "
            f"cores, not {threads!r:.60}"
        )
    return count
