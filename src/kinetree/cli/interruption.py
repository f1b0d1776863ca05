"""Handling of Ctrl-C, terminal hang-up and termination requests (SIGTERM) while a command runs.

A signal raises KeyboardInterrupt, as Ctrl-C does anyway. While results are being saved it waits instead, so that no
signal, however often repeated, prevents the results from reaching the disk.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

__all__ = ["Interruption"]

_WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up", "SIGBREAK": "interrupted"}


class Interruption:
    """The signals received during one command."""

    def __init__(self) -> None:
        self.signal: int = 0
        """The first signal received; 0 if none."""
        self.outcome = ""
        """The outcome of the work, as the end of a sentence."""
        self.is_held: bool = False
        """Whether signals wait."""
        self._is_kept = False
        self._waits = False

    @classmethod
    def of(cls, context: typer.Context) -> Interruption:
        """The signals of the command that runs; new ones if nothing watches."""
        return context.obj if isinstance(context.obj, cls) else cls()

    @property
    def code(self) -> int:
        """The exit code by the shell's convention."""
        return 128 + (self.signal or signal.SIGINT)

    @property
    def sentence(self) -> str:
        """A line for the user."""
        name = signal.Signals(self.signal or signal.SIGINT).name
        return f"{_WORDS[name]}{self.outcome}"

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Catch the signals that would end the process; ignored ones (nohup, background jobs) stay ignored."""
        replaced = {}
        if threading.current_thread() is threading.main_thread():
            for name in _WORDS:
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                    replaced[number] = signal.signal(number, self._come)
        try:
            yield
        finally:
            for number, handler in replaced.items():
                signal.signal(number, handler)

    def keep(self) -> None:
        """Mark that there is something to save: after a first signal, further ones wait until `release`."""
        self._is_kept = True

    def hold(self) -> None:
        """Make signals wait from here on."""
        self.is_held = True

    def release(self) -> None:
        """Mark everything as saved: a signal that has waited raises KeyboardInterrupt now."""
        self.is_held = self._is_kept = False
        if self._waits:
            raise KeyboardInterrupt

    def _come(self, number: int, _frame: FrameType | None) -> None:
        self.signal = self.signal or number
        if self.is_held:
            self._waits = True
            return
        self.is_held = self._is_kept
        raise KeyboardInterrupt
