"""Machine code is optimised in processes of its own while the program runs, and then replaces the present code.

A thread waits for each process; at most one per core less one. Work that our processes have not finished when the
program ends is begun again by the next one that uses the code. One of the programs that want the same module claims it;
the others look now and then whether its code is on the disk, or the claim is free again. A child of a fork has the list
of modules, but neither the threads nor the processes: it is another program.
"""

from __future__ import annotations

import atexit
import logging
import os
import subprocess  # noqa: F401  imported before threads need it, for a fork does not wait for an import in a thread
import tempfile  # noqa: F401
import threading
import time
import weakref
import zlib
from collections import deque
from collections.abc import Callable

from kinetree.codegen.cpu.jit import MachineCode, compile_module, compiled_apart
from kinetree.codegen.kept.cache import Claim, claimed, found, found_module, keep, keep_module, kept_module, remove
from kinetree.locks import replacing
from kinetree.own_process import OwnProcess
from kinetree.resources import available_cores, available_memory

__all__ = ["Waiting", "keep_text"]

_log = logging.getLogger("kinetree")

_MEMORY, _MEMORY_A_CHARACTER = 150 << 20, 40
"""Bytes that compiling takes, about twice the measurements for texts of 0.1 to 13 MB."""
_LIMIT = 4
"""How many times as much a process may take before it is ended."""
_SECONDS, _SECONDS_A_CHARACTER = 60.0, 2e-5
"""A processor's work, about ten times the measurements."""
_LOOKS = 0.5
"""Seconds between two looks at a module that another process has claimed."""


class Waiting:
    """A module whose code waits for optimisation."""

    def __init__(
        self,
        code: MachineCode,
        keys: tuple[bytes | None, bytes | None],
        text_key: bytes | None,
        text: Callable[[], str],
    ) -> None:
        """`keys`: the request for the optimised code and its maker, as for `kept_module`. `text_key`: under which the
        module's text is kept; None if it is not. `text` makes it again."""
        self._code = weakref.ref(code)
        self._make_text: Callable[[], str] | None = text
        self._text_key = text_key
        self._is_asked = False
        self.keys = keys
        self.claim: Claim | None = None
        self.looks_again: float = 0.0
        """When to look again whether another process has made the code; on the clock of `time.monotonic`."""

    @property
    def is_over(self) -> bool:
        """Whether the code is optimised already, or is no longer used."""
        code = self._code()
        return code is None or code.optimized

    def optimize_now(self) -> None:
        """Compile the optimised code, which takes the next call."""
        self.replace(kept_module(*self.keys, self.text, compile_module))
        with replacing:
            process = _running.get(self)
        if process is not None:
            process.end()

    def optimize_later(self) -> None:
        """Compile the optimised code in the background, if that has not been asked for."""
        with replacing:
            if not self._is_asked:
                self._is_asked = True
                _queue.append(self)
                _start_threads()

    def text(self) -> str:
        """The module's text."""
        assert self._make_text is not None
        kept = found(self._text_key, "text")
        return self._make_text() if kept is None else zlib.decompress(kept).decode()

    def replace(self, object_code: bytes) -> None:
        """Replace the present code by optimised code. A process that ends as soon as it does leaves no text."""
        self._make_text = None  # it may hold a large text
        remove(self._text_key, "text")
        if (code := self._code()) is not None:
            code.replace(object_code)


def keep_text(key: bytes | None, text: str) -> None:
    """Keep the text of a module for a process that begins where another one has ended."""
    keep(key, zlib.compress(text.encode(), 1), "text")


_queue: deque[Waiting] = deque()
_running: dict[Waiting, OwnProcess | None] = {}
_threads = 0
_is_ending = False
_said = False


def _start_threads() -> None:
    global _threads
    most = max(1, available_cores() - 1)
    while _threads < min(most, len(_queue) + len(_running)) and not _is_ending:
        thread = threading.Thread(target=_work, name="kinetree optimises", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads, or Python is ending
            return
        _threads += 1


def _work() -> None:
    global _threads
    while True:
        is_done = True
        with replacing:
            if not _queue or _is_ending:
                _threads -= 1
                return
            waiting = _queue.popleft()
            _running[waiting] = None
        try:
            time.sleep(max(0.0, waiting.looks_again - time.monotonic()))
            is_done = _optimize(waiting)
        except Exception as error:  # whatever it is, the code that runs is right
            if not (_is_ending or waiting.is_over):
                _say(str(error) or type(error).__name__)
        finally:
            with replacing:
                _running.pop(waiting, None)
                if not is_done:
                    _queue.append(waiting)


def _optimize(waiting: Waiting) -> bool:
    """Replace the present code by optimised code; False while another process has claimed to make it."""
    if waiting.is_over:
        return True
    waiting.claim = claim = claimed(waiting.keys[0])
    if claim is None:
        waiting.looks_again = time.monotonic() + _LOOKS
        return False
    try:
        code = found_module(*waiting.keys) or _compiled(waiting)
    finally:
        claim.release()
    if code is not None:
        waiting.replace(code)
    return True


def _compiled(waiting: Waiting) -> bytes | None:
    """The optimised code, made in a process of its own and kept; None if nobody needs it any more."""
    text = waiting.text()
    need = _MEMORY + _MEMORY_A_CHARACTER * len(text)
    free = available_memory()
    if free is not None and free < need:
        raise MemoryError(f"it would take about {need >> 20} MiB of memory, and {free >> 20} MiB are free")
    with replacing:  # a fork waits until the process has been started
        if _is_ending or waiting.is_over:
            return None
        _running[waiting] = process = OwnProcess(
            f"{compiled_apart.__module__}:{compiled_apart.__name__}", text,
            seconds=_SECONDS + _SECONDS_A_CHARACTER * len(text), memory=_LIMIT * need, most=need, in_background=True,
        )  # fmt: skip
    _, code = process.result()
    keep_module(*waiting.keys, text, code)
    return code


def _say(why: str) -> None:
    """Log once per process that code stays as it is."""
    global _said
    if not _said:
        _said = True
        _log.warning("code could not be optimised in the background and stays slower than it could be: %s", why)


def _end() -> None:
    """End the processes: unfinished work is begun again by the next process that uses the code."""
    global _is_ending
    _is_ending = True
    for waiting, process in [*_running.items()]:
        if process is not None:
            process.end()
        if waiting.claim is not None:
            waiting.claim.release()


def _begin_again() -> None:
    """In the child of a fork."""
    global _threads
    if _running or _queue:
        for waiting in _running:
            if waiting.claim is not None:
                waiting.claim.leave()
        _queue.extendleft(reversed(_running))
        _running.clear()
        _threads = 0
        _start_threads()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
