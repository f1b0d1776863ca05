"""A function called in a process of its own, with bounded time and memory.

Packages that read other formats believe what a file says of itself: they may unpack gigabytes of a small one, go round
for ever, or end the process. In a process of its own this is an error.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import sys
import warnings
from typing import Any

from kinetree.errors import KinetreeError

__all__ = ["OwnProcessError", "called_apart"]

_WAITS = 10.0
"""How many times longer than its own work a process may take, as others work on the machine too."""
_MOST_SAID = 1000


class OwnProcessError(Exception):
    """A function that did not return; the message, such as "it takes more than 60 s", says why."""


def called_apart(function: str, *arguments: Any, seconds: float, memory: int) -> Any:
    """What a function returns that is called in a process of its own.

    Args:
        function: its module and its name, such as "kinetree.number_files.joint_states:read_messages".
        arguments: can be pickled, as can what it returns.
        seconds: of a processor's work.
        memory: bytes, beyond what the process needs to begin; also of any file that it writes.

    Raises:
        KinetreeError: one that the function raised.
        OwnProcessError: it raised another error, or took too long or too much memory.
    """
    import subprocess  # most processes need neither
    from tempfile import TemporaryFile

    asked = pickle.dumps((function, arguments, seconds, memory))
    paths = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with TemporaryFile() as output:
        try:
            code = subprocess.run(
                [sys.executable, "-P", "-c", f"from {__name__} import _answer; _answer()"], input=asked, stdout=output,
                stderr=subprocess.DEVNULL, timeout=_WAITS * (seconds + 1.0), check=False, env=environment,
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            raise OwnProcessError(_too_long(seconds)) from None
        except OSError as error:
            raise OwnProcessError(f"no process can be started for it: {error.strerror or error}") from None
        output.seek(0)
        answer = output.read()
    if code:
        raise OwnProcessError(_too_long(seconds) if code in _TOO_LONG else f"its process ended with code {code}")
    kind, value = pickle.loads(answer)
    if kind == "result":
        return value
    raise value if kind == "error" else OwnProcessError(value)


_TOO_LONG = (-24, -9)
"""Codes of processes that the system ended since their time was over."""


def _too_long(seconds: float) -> str:
    return f"it takes more than {seconds:.0f} s"


def _answer() -> None:
    """The other process: read what is asked for from standard input, and write the answer to standard output."""
    output, sys.stdout = os.fdopen(os.dup(1), "wb"), sys.stderr  # the function may print
    output.write(pickle.dumps(_answer_to(*pickle.loads(sys.stdin.buffer.read()))))
    output.flush()
    os._exit(0)


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
