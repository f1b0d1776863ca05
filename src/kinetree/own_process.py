"""A function called in a process of its own, with bounded time and memory.

Packages that read other formats believe what a file says of itself: they may unpack gigabytes of a small one, go round
for ever, or end the process. In a process of its own this is an error. A file may even run code there, so the answer is
JSON and bytes, which run nothing where they are read, and its size is limited.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import warnings
from typing import Any

from kinetree import errors
from kinetree.errors import KinetreeError
from kinetree.files import read_at_most

__all__ = ["OwnProcessError", "called_apart"]

_WAITS = 10.0
"""How many times longer than its own work a process may take, as others work on the machine too."""
_MOST_SAID = 1000
"""Characters of an error's message."""
_MOST_FACTS = 2**20
"""Bytes of JSON in an answer."""


class OwnProcessError(Exception):
    """A function that did not return; the message, such as "it takes more than 60 s", says why."""


def called_apart(function: str, *arguments: Any, seconds: float, memory: int, most: int) -> tuple[Any, bytes]:
    """What a function returns that is called in a process of its own: a value that JSON can hold, and bytes.

    Nothing in the value is checked: the caller must expect anything, as if it were read from the file.

    Args:
        function: its module and its name, such as "kinetree.number_files.joint_states:packed".
        arguments: values that JSON can hold.
        seconds: of a processor's work.
        memory: bytes, beyond what the process needs to begin; also of any file that it writes.
        most: bytes that the function may return.

    Raises:
        KinetreeError: one that the function raised.
        OwnProcessError: it raised another error, took too long or too much memory, or answered in another form.
    """
    import subprocess  # most processes need neither
    from tempfile import TemporaryFile

    request = json.dumps([function, arguments, seconds, memory]).encode()
    paths = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with TemporaryFile() as output:
        try:
            code = subprocess.run(
                [sys.executable, "-P", "-c", f"from {__name__} import _answer; _answer()"],
                input=request, stdout=output, stderr=subprocess.DEVNULL, timeout=_WAITS * (seconds + 1.0), check=False,
                env=environment,
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            raise OwnProcessError(_too_long(seconds)) from None
        except OSError as error:
            raise OwnProcessError(f"no process can be started for it: {error.strerror or error}") from None
        output.seek(0)
        answer = read_at_most(output, most + _MOST_FACTS + 1)
    if code:
        raise OwnProcessError(_too_long(seconds) if code in _TOO_LONG else f"its process ended with code {code}")
    if len(answer) > most + _MOST_FACTS:
        raise OwnProcessError(f"it returns more than {most:,} bytes")
    return _returned(answer)


def _returned(answer: bytes) -> tuple[Any, bytes]:
    """What an answer says that the function returned; the error that it says was raised."""
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
    output.write(_answer_to(*json.loads(sys.stdin.buffer.read())))
    output.flush()
    os._exit(0)


def _answer_to(function: str, arguments: list[Any], seconds: float, memory: int) -> bytes:
    """A line of JSON and bytes: nothing and what the function returns, or the error's class and message."""
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
