"""A function called in a process of its own, with bounded time and memory.

Packages that read other formats trust the sizes in a file: they may unpack gigabytes of a small one, go round for ever,
or end the process. In a process of its own this is an error. A file may even run code there, so the answer is JSON and
bytes, which run nothing where they are read, and its size is limited. Work that nobody waits for is done in such a
process, too.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import threading
import time
import warnings
from typing import Any

from kinetree import errors
from kinetree.errors import KinetreeError
from kinetree.files import read_at_most

__all__ = ["OwnProcess", "OwnProcessError", "called_apart", "can_start_processes"]

_WAITS = 10.0
"""How many times longer than its own work a process may take, as others work on the machine too."""
_MOST_SAID = 1000
"""Characters of an error's message."""
_MOST_FACTS = 2**20
"""Bytes of JSON in an answer."""
_NICE = 5
_LOOKS_FOR_PARENT = 0.2
"""Seconds between two looks at whether the process that asked is still there."""


class OwnProcessError(Exception):
    """A function that did not return; the message, such as "it takes more than 60 s", says why."""


def called_apart(function: str, *arguments: Any, seconds: float, memory: int, most: int) -> tuple[Any, bytes]:
    """The result of a function that is called in a process of its own; arguments and errors as for `OwnProcess`."""
    return OwnProcess(function, *arguments, seconds=seconds, memory=memory, most=most).result()


def can_start_processes() -> bool:
    """Whether `sys.executable` is a Python that can be started, and not a program that Python is built into."""
    name = os.path.basename(sys.executable or "").lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


class OwnProcess:
    """A call of a function in a process of its own, which ends when this process does."""

    def __init__(
        self, function: str, *arguments: Any, seconds: float, memory: int, most: int, in_background: bool = False
    ) -> None:
        """Start it.

        Args:
            function: its module and its name, such as "kinetree.number_files.joint_states:packed". It returns a value
                that JSON can hold, and bytes.
            arguments: values that JSON can hold.
            seconds: of a processor's work.
            memory: bytes, beyond the process's own at its start; also of any file that it writes.
            most: bytes that the function may return.
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
                apart["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.BELOW_NORMAL_PRIORITY_CLASS
            else:
                apart["process_group"] = 0
        self._seconds, self._most, self._began = seconds, most, time.monotonic()
        try:
            self._output = TemporaryFile()  # noqa: SIM115  `result` reads and closes it
            with TemporaryFile() as request:
                request.write(json.dumps([os.getpid(), in_background, seconds, memory]).encode() + b"\n")
                request.write(json.dumps([function, arguments]).encode())
                request.seek(0)
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", f"from {__name__} import _answer; _answer()"], stdin=request,
                    stdout=self._output, stderr=subprocess.DEVNULL, env=environment, **apart,
                )  # fmt: skip
        except OSError as error:
            raise OwnProcessError(f"no process can be started for it: {error.strerror or error}") from None

    def result(self) -> tuple[Any, bytes]:
        """The value and the bytes that the function returns.

        Nothing in the value is checked: the caller must expect anything, as if it were read from the file.

        Raises:
            KinetreeError: one that the function raised.
            OwnProcessError: it raised another error, took too long or too much memory, was ended, or answered in
                another form.
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
            answer = read_at_most(self._output, self._most + _MOST_FACTS + 1)
        if code:
            took_long = code in _TOO_LONG and time.monotonic() > self._began + self._seconds  # or someone killed it
            raise OwnProcessError(_too_long(self._seconds) if took_long else f"its process ended with code {code}")
        if len(answer) > self._most + _MOST_FACTS:
            raise OwnProcessError(f"it returns more than {self._most:,} bytes")
        return _returned(answer)

    def end(self) -> None:
        """End the process, if it has not ended."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()


def _returned(answer: bytes) -> tuple[Any, bytes]:
    """The function's result in an answer; raises the error in it."""
    line, _, data = answer.partition(b"\n")
    try:
        name, value = json.loads(line[:_MOST_FACTS])
    except (ValueError, TypeError, RecursionError):
        raise OwnProcessError("its process gave an answer that cannot be read") from None
    if name is None:
        return value, data
    raised = getattr(errors, name) if name in errors.__all__ else OwnProcessError
    if not isinstance(raised, type) or not issubclass(raised, KinetreeError):
        raised = OwnProcessError
    raise raised(str(value)[:_MOST_SAID])


_TOO_LONG = (-24, -9)
"""Codes of processes that the system ended since their time was over."""


def _too_long(seconds: float) -> str:
    return f"it takes more than {seconds:.0f} s"


def _answer() -> None:
    """The other process: read the request from standard input, and write the answer to standard output."""
    output, sys.stdout = os.fdopen(os.dup(1), "wb"), sys.stderr  # the function may print
    parent, in_background, seconds, memory = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    if in_background and sys.platform != "win32":
        os.nice(_NICE)
    function, arguments = json.loads(sys.stdin.buffer.read())
    output.write(_answer_to(function, arguments, seconds, memory))
    output.flush()
    os._exit(0)


def _end_with(asking: int) -> None:
    """End this process when its parent has ended; that is usually the process that asks."""
    if sys.platform == "win32":  # the parent may be the launcher of an environment, and has its number even when dead
        import _winapi

        with contextlib.suppress(OSError):  # no process has the number any more
            _winapi.WaitForSingleObject(_winapi.OpenProcess(_winapi.SYNCHRONIZE, False, asking), _winapi.INFINITE)
    else:
        parent = os.getppid()
        while os.getppid() == parent and (parent != 1 or asking == 1):
            time.sleep(_LOOKS_FOR_PARENT)
    os._exit(1)


def _answer_to(function: str, arguments: list[Any], seconds: float, memory: int) -> bytes:
    """A line of JSON and bytes: nothing and the function's result, or the error's class and message."""
    module, _, name = function.partition(":")
    called = getattr(importlib.import_module(module), name)
    _limit(seconds, memory)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value, data = called(*arguments)
        return b"\n".join([json.dumps([None, value]).encode(), data])
    except KinetreeError as error:
        return json.dumps([type(error).__name__, str(error)]).encode()
    except MemoryError:
        fault = f"it takes more than {memory / 2**20:,.0f} MiB of memory"
    except RecursionError:
        fault = "it is nested too deeply"
    except Exception as error:  # whatever a package raises
        fault = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return json.dumps(["", fault[:_MOST_SAID]]).encode()


def _limit(seconds: float, memory: int) -> None:
    """Bound the resources of this process from now on, where the system can."""
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
