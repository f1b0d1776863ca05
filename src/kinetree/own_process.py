"""A function called in a process of its own, with bounded time and memory.

Packages that read other formats believe what a file says of itself: they may unpack gigabytes of a small one, go round
for ever, or end the process. In a process of its own this is an error. Work that nobody waits for is done there too.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import sys
import threading
import time
import warnings
from typing import Any

from kinetree.errors import KinetreeError

__all__ = ["OwnProcess", "OwnProcessError", "called_apart", "can_start_processes"]

_WAITS = 10.0
"""How many times longer than its own work a process may take, as others work on the machine too."""
_MOST_SAID = 1000
_NICE = 5
_LOOKS_FOR_PARENT = 0.2
"""Seconds between two looks at whether the process that asked is still there."""


class OwnProcessError(Exception):
    """A function that did not return; the message, such as "it takes more than 60 s", says why."""


def called_apart(function: str, *arguments: Any, seconds: float, memory: int) -> Any:
    """What a function returns that is called in a process of its own; arguments and errors as for `OwnProcess`."""
    return OwnProcess(function, *arguments, seconds=seconds, memory=memory).result()


def can_start_processes() -> bool:
    """Whether `sys.executable` is a Python that can be started, and not a program that Python is built into."""
    name = os.path.basename(sys.executable or "").lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


class OwnProcess:
    """A call of a function in a process of its own, which ends when this process does."""

    def __init__(
        self, function: str, *arguments: Any, seconds: float, memory: int, in_background: bool = False
    ) -> None:
        """Start it.

        Args:
            function: its module and its name, such as "kinetree.number_files.joint_states:read_messages".
            arguments: can be pickled, as can what it returns.
            seconds: of a processor's work.
            memory: bytes, beyond what the process needs to begin; also of any file that it writes.
            in_background: it gives way to other processes, and an interrupt from the terminal does not reach it.

        Raises:
            OwnProcessError: no process can be started.
        """
        import subprocess  # most processes need neither
        from tempfile import TemporaryFile

        paths = os.pathsep.join(filter(None, sys.path))
        environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        apart: dict[str, Any] = {}
        if in_background:
            if sys.platform == "win32":
                apart["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP
            else:
                apart["process_group"] = 0
        self._seconds, self._began = seconds, time.monotonic()
        try:
            self._output = TemporaryFile()  # noqa: SIM115  `result` reads and closes it
            with TemporaryFile() as request:
                pickle.dump((os.getpid(), in_background, seconds, memory), request)
                pickle.dump((function, arguments), request)
                request.seek(0)
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", f"from {__name__} import _answer; _answer()"], stdin=request,
                    stdout=self._output, stderr=subprocess.DEVNULL, env=environment, **apart,
                )  # fmt: skip
        except OSError as error:
            raise OwnProcessError(f"no process can be started for it: {error.strerror or error}") from None

    def result(self) -> Any:
        """What the function returns.

        Raises:
            KinetreeError: one that the function raised.
            OwnProcessError: it raised another error, took too long or too much memory, or was ended.
        """
        from subprocess import TimeoutExpired

        with self._output:
            try:
                code = self._process.wait(_WAITS * (self._seconds + 1.0))
            except TimeoutExpired:
                raise OwnProcessError(_too_long(self._seconds)) from None
            finally:
                self.end()
            self._output.seek(0)
            answer = self._output.read()
        if code:
            took_long = code in _TOO_LONG and time.monotonic() > self._began + self._seconds  # or someone killed it
            raise OwnProcessError(_too_long(self._seconds) if took_long else f"its process ended with code {code}")
        kind, value = pickle.loads(answer)
        if kind == "result":
            return value
        raise value if kind == "error" else OwnProcessError(value)

    def end(self) -> None:
        """End the process, if it has not ended."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


_TOO_LONG = (-24, -9)
"""Codes of processes that the system ended since their time was over."""


def _too_long(seconds: float) -> str:
    return f"it takes more than {seconds:.0f} s"


def _answer() -> None:
    """The other process: read what is asked for from standard input, and write the answer to standard output."""
    output, sys.stdout = os.fdopen(os.dup(1), "wb"), sys.stderr  # the function may print
    parent, in_background, seconds, memory = pickle.load(sys.stdin.buffer)
    if sys.platform != "win32":
        threading.Thread(target=_end_with, args=(parent, os.getppid()), daemon=True).start()
        if in_background:
            os.nice(_NICE)
    function, arguments = pickle.load(sys.stdin.buffer)
    output.write(pickle.dumps(_answer_to(function, arguments, seconds, memory)))
    output.flush()
    os._exit(0)


def _end_with(asking: int, parent: int) -> None:
    """End this process when its parent has ended; that is usually the process that asks."""
    while os.getppid() == parent and (parent != 1 or asking == 1):
        time.sleep(_LOOKS_FOR_PARENT)
    os._exit(1)


def _answer_to(function: str, arguments: tuple[Any, ...], seconds: float, memory: int) -> tuple[str, Any]:
    """("result", what the function returns), ("error", what it raised), or ("fault", a sentence)."""
    module, _, name = function.partition(":")
    called = getattr(importlib.import_module(module), name)
    _limit(seconds, memory)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "result", called(*arguments)
    except KinetreeError as error:
        return "error", error
    except MemoryError:
        return "fault", f"it takes more than {memory / 2**20:,.0f} MiB of memory"
    except RecursionError:
        return "fault", "it is nested too deeply"
    except Exception as error:  # whatever a package raises
        return "fault", f"{type(error).__name__}: {' '.join(str(error).split())[:_MOST_SAID]}"


def _limit(seconds: float, memory: int) -> None:
    """Bound what this process takes from now on, where the system can."""
    try:
        import resource
    except ImportError:  # Windows, where only the time is limited, by who started it
        return
    with contextlib.suppress(OSError, ValueError):
        with open("/proc/self/statm", encoding="ascii") as file:
            memory += int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime + seconds) + 1
    for what, limit in ((resource.RLIMIT_CPU, most), (resource.RLIMIT_FSIZE, memory), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(OSError, ValueError):  # a lower limit holds already
            resource.setrlimit(what, (limit, limit))
