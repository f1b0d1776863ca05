"""A line that is replaced while something takes long: on standard error if that is a terminal, or in a notebook."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any, Protocol, TextIO

from kinetree.errors import visible

__all__ = ["Line", "bar", "duration", "live_line", "progress_bar"]

_PATIENCE = 1.0
"""Seconds before the bar of `progress_bar` is shown."""
_BETWEEN = 0.1
"""Seconds between two states of the bar of `progress_bar`."""
_WIDTH = 16
_is_quiet = ContextVar("_is_quiet", default=False)


class Line(Protocol):
    """A line of text that is replaced."""

    def show(self, text: str) -> None:
        """Show a text in place of the last one."""

    def end(self, text: str = "") -> None:
        """Remove the line; a notebook shows this text in its place."""


def live_line() -> Line | None:
    """A line where somebody is looking: a notebook's output, or standard error on a terminal; None if nobody is.

    A process that another one started for its own work has none: its terminal is the other's. Nor does work inside a
    quiet `progress_bar`.
    """
    if _is_quiet.get():
        return None
    processes = sys.modules.get("multiprocessing.process")  # imported by whoever started this one by it
    if processes is not None and processes.parent_process() is not None:
        return None
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:
        return _InNotebook(import_module("IPython.display").display)
    stream = sys.stderr
    try:
        return _OnTerminal(stream) if stream is not None and stream.isatty() else None
    except ValueError:  # the stream is closed
        return None


class _OnTerminal:
    """A terminal's present line, without escape sequences: blanks cover a longer text before."""

    def __init__(self, stream: TextIO) -> None:
        self._stream: TextIO | None = stream
        self._shown = 0

    def show(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            width = os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):
            width = 80
        text = visible(text)[: width - 1]  # a line that is full would go on below
        self._write("\r" + text.ljust(min(self._shown, width - 1)))
        self._shown = len(text)

    def end(self, text: str = "") -> None:  # noqa: ARG002 a terminal keeps nothing
        if self._shown:
            self._write("\r" + " " * self._shown + "\r")
            self._shown = 0

    def _write(self, text: str) -> None:
        stream = self._stream
        if stream is not None:
            try:
                stream.write(text)
                stream.flush()
            except (OSError, ValueError):  # closed, full, or nobody reads it: the work goes on
                self._stream = None


class _InNotebook:
    """A plain text below a cell."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display = display
        self._handle: Any = None

    def show(self, text: str) -> None:
        data = {"text/plain": visible(text)}
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def end(self, text: str = "") -> None:
        if self._handle is not None:
            self.show(text)


def bar(share: float) -> str:
    """A bar with a share of it full.

    >>> bar(0.25)
    '[####            ]'
    """
    return "[" + ("#" * int(_WIDTH * min(max(share, 0.0), 1.0))).ljust(_WIDTH) + "]"


def duration(seconds: float) -> str:
    """A duration in words, rounded.

    >>> duration(23.4), duration(312.0)
    ('23 s', '5 min')
    """
    return f"{seconds:.0f} s" if seconds < 99.5 else f"{seconds / 60:.0f} min"


@contextmanager
def progress_bar(name: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function (done, total) to call now and then, or None if nobody is looking at a bar."""
    if quiet:
        before = _is_quiet.set(True)
        try:
            yield None
        finally:
            _is_quiet.reset(before)
        return
    line = live_line()
    if line is None:
        yield None
        return
    begin = time.monotonic()
    due = begin + _PATIENCE

    def progress(done: int, total: int) -> None:
        nonlocal due
        now = time.monotonic()
        if now < due or not total:
            return
        due = now + _BETWEEN
        rest = f", {duration((now - begin) * (total - done) / done)} left" if done else ""
        line.show(f"{name} {bar(done / total)} {done / total:4.0%}{rest}")

    try:
        yield progress
    finally:
        line.end()
