"""Ctrl-C, the end of the terminal and requests to end (SIGTERM), while a command runs.

A signal raises KeyboardInterrupt, as Ctrl-C does anyway. While results are being saved it waits instead, so that
nothing, however often it is pressed or sent, comes between what was computed and the disk.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interruption"]

_WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}


class Interruption:
    """What came in the course of one command."""

    def __init__(self) -> None:
        self.signal = 0
        """The first signal; 0: none has come."""
        self.outcome = ""
        """What became of the work, as the end of a sentence."""
        self.is_held = False
        """Whether signals wait."""
        self._is_kept = False
        self._waits = False

    @property
    def code(self) -> int:
        """The exit code of the shell's convention."""
        return 128 + (self.signal or signal.SIGINT)

    @property
    def sentence(self) -> str:
        """A line for the user."""
        name = signal.Signals(self.signal or signal.SIGINT).name
        return f"{_WORDS[name]}{self.outcome}"

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Take the signals that would end the process; those that are ignored (nohup, background jobs) remain so."""
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
        """From here on there is something to save: after a first signal, the next ones wait until `release`."""
        self._is_kept = True

    def hold(self) -> None:
        """From here on signals wait."""
        self.is_held = True

    def release(self) -> None:
        """What was to be saved is saved: a signal that has waited raises KeyboardInterrupt now."""
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
