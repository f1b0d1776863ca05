"""A progress bar for long work: on standard error, and only on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kinetree.cli.output import error_console

__all__ = ["progress_bar"]

_PATIENCE = 1.0
"""Seconds before a bar is shown."""


@contextmanager
def progress_bar(what: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function (done, total) to call now and then, or None if there is no terminal for a bar."""
    console = error_console()
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn(what), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), console=console, transient=True
    )
    task = bar.add_task(what, total=None)
    begin = time.monotonic()
    shown, last = False, 0

    def progress(done: int, total: int) -> None:
        nonlocal shown, last
        if done - last < total // 500 and done != total:
            return
        last = done
        if not shown and time.monotonic() - begin > _PATIENCE:
            shown = True
            bar.start()
        if shown:
            bar.update(task, completed=done, total=total)

    try:
        yield progress
    finally:
        if shown:
            bar.stop()
