"""The threads that help with large batches, and anything else that is in pieces.

Kernels release the interpreter's lock, so ordinary Python threads compute in parallel.
Decision 0014 gives the reasons.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

from kinetree.compiler.thread_count import thread_count

__all__ = ["on_threads"]


def on_threads(compute: Callable[[slice], None], pieces: list[slice], threads: int | None = None) -> None:
    """Compute all pieces of something, in any order, on at most as many threads as `thread_count` says."""
    _helpers.run(compute, pieces, thread_count(threads))


class _Call:
    """One split call: the pieces not yet begun, and how many helpers are working on others."""

    def __init__(
        self, compute: Callable[[slice], None], pieces: list[slice], limit: int, lock: threading.RLock
    ) -> None:
        self.compute = compute
        self.waiting = deque(pieces)
        self.limit = limit
        self.helping = 0
        self.helped = threading.Condition(lock)
        self.error: BaseException | None = None


class _Helpers:
    """The process's helper threads. They are not essential: a call that no helper joins does everything itself.

    A helper joins a call only while fewer threads are computing than that call's limit, and leaves it after a piece if
    more are: another caller has arrived, whose own thread needs the core.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal handler on this thread may call again
        self._requests: SimpleQueue[_Call] = SimpleQueue()
        self._threads = 0
        self._helping = 0
        self._callers = 0

    def run(self, compute: Callable[[slice], None], pieces: list[slice], limit: int) -> None:
        """Compute all pieces; an error drops those not yet begun, and is raised when the others are finished."""
        call = _Call(compute, pieces, limit, self._lock)
        counted = False
        try:
            with self._lock:
                self._callers += 1
                counted = True
                helpers = min(limit - self._callers - self._helping, len(pieces) - 1)
            self._ask(call, helpers)
            while (piece := self._next(call)) is not None:
                compute(piece)
        finally:
            self._finish(call, counted)
        if call.error is not None:
            try:
                raise call.error
            finally:
                call.error = None  # its traceback refers back to the call

    def _next(self, call: _Call) -> slice | None:
        with self._lock:
            return call.waiting.popleft() if call.waiting else None

    def _finish(self, call: _Call, counted: bool) -> None:
        """Wait, in any case, for helpers in the middle of a piece: they write into the caller's array."""
        interruption: BaseException | None = None
        while True:
            try:
                with self._lock:
                    call.waiting.clear()
                    if counted:
                        self._callers -= 1
                        counted = False
                    while call.helping:
                        call.helped.wait()
                break
            except BaseException as error:
                interruption = error
        del call.compute  # a request that no helper has read yet must not keep the arrays
        if interruption is not None:
            raise interruption

    def _ask(self, call: _Call, wanted: int) -> None:
        for _ in range(wanted):
            with self._lock:
                start = self._threads - self._helping < wanted
                self._threads += start
            if start:
                try:
                    threading.Thread(target=self._serve, name="kinetree helper", daemon=True).start()
                except RuntimeError:  # the interpreter is shutting down, or the system has no more threads
                    with self._lock:
                        self._threads -= 1
                    if not self._threads:
                        return
            self._requests.put(call)

    def _serve(self) -> None:
        while True:
            self._help(self._requests.get())

    def _help(self, call: _Call) -> None:
        with self._lock:
            if not call.waiting or self._callers + self._helping >= call.limit:
                return
            self._helping += 1
            call.helping += 1
        try:
            while (piece := self._next(call)) is not None:
                call.compute(piece)
                if self._callers + self._helping > call.limit:
                    break
        except BaseException as error:
            with self._lock:
                call.waiting.clear()
                call.error = call.error or error
        finally:
            with self._lock:
                self._helping -= 1
                call.helping -= 1
                if not call.helping:
                    call.helped.notify()


_helpers = _Helpers()


def _forget() -> None:
    """Start afresh in a forked child: it has no helper threads, and a thread of the parent may have held the lock."""
    global _helpers
    _helpers = _Helpers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
