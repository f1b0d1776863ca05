"""Large batches on several threads: a call is split into pieces, which the caller shares with helper threads.

Kernels release the interpreter's lock, so ordinary Python threads compute in parallel. A result never depends on how a
batch was split, because no sample's result depends on its neighbours. docs/decisions/0014-threads.md gives the reasons.
"""

from __future__ import annotations

import math
import operator
import os
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kinetree.errors import OptionError
from kinetree.records import record

__all__ = [
    "at_most",
    "call_in_pieces",
    "most_on_one_thread",
    "on_threads",
    "several_in_pieces",
    "thread_count",
    "worth_splitting",
]

Array = NDArray[Any]
_VARIABLE = "KINETREE_NUM_THREADS"
_MOST_THREADS = 1024  # more is a typing error, and would start that many threads
_PIECE = 1e-4  # seconds; a helper starts about this long after the call, and 10 µs pass between two pieces
_LANES = 16  # samples; a multiple of every possible number of lanes
_GROUP = 64  # as _LANES, for long pieces


def worth_splitting(samples: int, seconds_a_sample: float) -> bool:
    """Whether a batch has enough work for two threads.

    Args:
        samples: number of samples.
        seconds_a_sample: approximate time per sample on one thread.

    >>> worth_splitting(100, 1e-7), worth_splitting(100_000, 1e-7)
    (False, True)
    """
    return samples * seconds_a_sample >= 2.0 * _PIECE


def most_on_one_thread(seconds_a_sample: float) -> int:
    """Largest number of samples that is not worth splitting.

    >>> worth_splitting(most_on_one_thread(1e-7), 1e-7), worth_splitting(most_on_one_thread(1e-7) + 1, 1e-7)
    (False, True)
    """
    most = int(2.0 * _PIECE / seconds_a_sample)
    return most - 1 if worth_splitting(most, seconds_a_sample) else most


def thread_count(threads: int | None = None) -> int:
    """Maximum number of threads that a call may use, including the caller's.

    Args:
        threads: the number the caller asks for. None means the environment variable KINETREE_NUM_THREADS, which is read
            anew each time, or if it is unset the cores this process may use, by its affinity and its container's CPU
            quota.

    Raises:
        OptionError: `threads`, or else the variable, is not a whole number from 1 to 1024.

    >>> thread_count(3)
    3
    """
    if threads is not None:
        return _checked(threads)
    if (most := getattr(_caller, "most", None)) is not None:
        return int(most)
    text = os.environ.get(_VARIABLE, "").strip()
    if not text:
        return _available_cores()
    count = int(text) if text.isdecimal() and len(text) < 9 else 0
    if not 1 <= count <= _MOST_THREADS:
        raise OptionError(
            f"the environment variable {_VARIABLE} must be a whole number of threads from 1 to {_MOST_THREADS}, not "
            f"{text!r}; unset it to use all available cores"
        )
    return count


_caller = threading.local()


@contextmanager
def at_most(threads: int) -> Iterator[None]:
    """Within the block, calls of this thread that do not ask for a number of threads use at most so many.

    >>> with at_most(1):
    ...     thread_count()
    1
    """
    before = getattr(_caller, "most", None)
    _caller.most = threads
    try:
        yield
    finally:
        _caller.most = before


def call_in_pieces(
    function: Callable[..., Any],
    arrays: Sequence[Array],
    out: Array | None,
    core_in: Sequence[int],
    core_out: tuple[int, ...],
    dtype: DTypeLike,
    work: float,
    threads: int | None = None,
) -> Any:
    """`function(*arrays, out=out)`, on several threads if the batch is large.

    The result is the same to the last bit. A new array is in C order if the call was split. Floating-point warnings are
    issued once per call, according to the caller's `np.errstate`.

    Args:
        function: a gufunc with one result; it runs on several threads at once.
        arrays: its arguments, (…, core) each; the leading axes broadcast.
        out: where the result goes, or None for a new array. It may overlap the arguments.
        core_in: number of axes of each argument that belong to one sample.
        core_out: the shape of one sample's result.
        dtype: dtype of the result.
        work: approximate seconds per sample on one thread.
        threads: maximum number of threads for this call, 1 to use only the caller's; None as in `thread_count`.

    Raises:
        OptionError: `threads` or KINETREE_NUM_THREADS is not a valid number of threads. The variable is read only when
            the batch is worth splitting.
        ValueError: the leading axes do not broadcast.

    >>> import numpy as np
    >>> x = np.ones((1000, 3, 3))
    >>> call_in_pieces(np.matmul, [x, x], None, (2, 2), (3, 3), float, work=1e-6, threads=2).shape
    (1000, 3, 3)
    """
    split = _split(arrays, core_in, work, threads)
    if split is None:
        return function(*arrays, out=out)
    if out is not None and (out.shape != (*split.batch, *core_out) or not _written_once(out)):
        return function(*arrays, out=out)
    modes = np.geterr()
    if not _REPEATABLE.issuperset(modes.values()):
        return function(*arrays, out=out)
    if out is None:
        out = np.empty((*split.batch, *core_out), dtype)
    else:  # a piece must not overwrite what another still has to read
        arrays = [x.copy() if np.may_share_memory(x, out) else x for x in arrays]
    seen = split.run(function, arrays, (out,))
    if seen:
        _tell(seen, modes, getattr(function, "__name__", "function"))
    return out


def several_in_pieces(
    function: Callable[..., Any],
    arrays: Sequence[Array],
    core_in: Sequence[int],
    cores_out: Sequence[tuple[int, ...]],
    dtype: DTypeLike,
    work: float,
) -> list[Array]:
    """The results of a gufunc with any number of them, as `call_in_pieces` has that of one, in new arrays.

    There are no floating-point warnings.

    >>> x = np.linspace(0.0, 1.0, 1000)
    >>> [y.shape for y in several_in_pieces(np.modf, [x], (0,), [(), ()], float, work=1e-6)]
    [(1000,), (1000,)]
    """
    split = _split(arrays, core_in, work)
    if split is None:
        with np.errstate(all="ignore"):
            found = function(*arrays)
        return [np.asarray(x) for x in (found if len(cores_out) != 1 else (found,))]
    results = tuple(np.empty((*split.batch, *core), dtype) for core in cores_out)
    split.run(function, arrays, results)
    return [*results]


def on_threads(compute: Callable[[slice], None], pieces: list[slice], threads: int | None = None) -> None:
    """Compute all pieces of something, in any order, on at most as many threads as `thread_count` says."""
    _helpers.run(compute, pieces, thread_count(threads))


# -- number of threads


def _checked(threads: Any) -> int:
    try:
        count = 0 if isinstance(threads, bool) else operator.index(threads)
    except TypeError:
        count = 0
    if not 1 <= count <= _MOST_THREADS:
        raise OptionError(
            f"threads must be a whole number from 1 to {_MOST_THREADS}, or None for {_VARIABLE} or else all available "
            f"cores, not {threads!r:.60}"
        )
    return count


def _available_cores() -> int:
    if hasattr(os, "process_cpu_count"):  # Python 3.13: also knows -X cpu_count
        cores = os.process_cpu_count()
    elif hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count()
    return max(1, min(cores or 1, _quota()))


@cache
def _quota(root: Path = Path("/sys/fs/cgroup")) -> int:
    """Number of cores that a container's CPU quota amounts to, rounded up."""
    for files in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):  # cgroup v2, then v1
        try:
            quota, period = (int(word) for file in files for word in (root / file).read_text().split())
        except (OSError, ValueError):  # no such file, or "max"
            continue
        if quota > 0 and period > 0:
            return -(-quota // period)
    return _MOST_THREADS


# -- splitting a batch


@record(frozen=True)
class _Split:
    """How a call is split into pieces."""

    batch: tuple[int, ...]
    axis: int
    pieces: list[slice]
    own_axes: list[int | None]
    """For each argument, the index of the axis to split; None if all pieces use the whole argument."""
    limit: int
    """The maximum number of threads."""

    def run(self, function: Callable[..., Any], arrays: Sequence[Array], results: tuple[Array, ...]) -> set[str]:
        """Compute all pieces into the results; gives the kinds of floating-point errors that there were."""
        seen: set[str] = set()

        def compute(piece: slice) -> None:
            parts = [
                x if k is None else x[(slice(None),) * k + (piece,)] for x, k in zip(arrays, self.own_axes, strict=True)
            ]
            # The caller's errstate does not reach other threads, and would act once per piece, so errors are collected.
            with np.errstate(all="call", call=lambda kind, _: seen.add(kind)):
                outs = tuple(x[(slice(None),) * self.axis + (piece,)] for x in results)
                function(*parts, out=outs if len(outs) > 1 else outs[0])

        _helpers.run(compute, self.pieces, self.limit)
        return seen


def _split(arrays: Sequence[Array], core_in: Sequence[int], work: float, threads: int | None = None) -> _Split | None:
    """How a batch is split; None if one thread computes it all."""
    if threads is not None:
        threads = _checked(threads)
    batch = _batch_shape(arrays, core_in)
    samples = math.prod(batch)
    if threads == 1 or samples < 2 or not worth_splitting(samples, work):
        return None
    limit = thread_count(threads)
    axis = batch.index(max(batch))
    pieces = _cut(batch[axis], math.ceil(batch[axis] * _PIECE / (samples * work)), limit)
    if limit == 1 or len(pieces) == 1:
        return None
    own = [_own_axis(x.shape[: x.ndim - rank], len(batch), axis) for x, rank in zip(arrays, core_in, strict=True)]
    return _Split(batch, axis, pieces, own, limit)


def _batch_shape(arrays: Sequence[Array], core_in: Sequence[int]) -> tuple[int, ...]:
    batch: tuple[int, ...] = ()
    for x, rank in zip(arrays, core_in, strict=True):
        own = x.shape[: x.ndim - rank]
        if own != batch:
            batch = np.broadcast_shapes(batch, own) if batch else own
    return batch


def _cut(length: int, least: int, threads: int) -> list[slice]:
    """Split into ranges of at least `least`: large ones first, smaller ones last, so that all threads finish together.

    Except for the last ones they end where the kernels' groups of samples do, as a partial group takes as long as a
    full one.
    """
    ranges = []
    start = 0
    while start < length:
        left = length - start
        step = max(least, -(-left // (2 * threads)))
        group = _GROUP if step >= 8 * _GROUP else _LANES if step >= _LANES else 1
        rounded = -(-step // group) * group
        if left - rounded >= least:
            step = rounded
        stop = start + step if left - step >= least else length
        ranges.append(slice(start, stop))
        start = stop
    return ranges


def _own_axis(own: tuple[int, ...], ndim: int, axis: int) -> int | None:
    """Index, within one argument, of an axis of the whole batch; None if the argument broadcasts along it."""
    k = axis - (ndim - len(own))
    return k if k >= 0 and own[k] > 1 else None


def _written_once(out: Array) -> bool:
    """Whether no two elements of an array can overlap; if they do, the result depends on the order of writing."""
    extent = out.itemsize
    for stride, n in sorted((abs(stride), n) for stride, n in zip(out.strides, out.shape, strict=True) if n > 1):
        if stride < extent:
            return False
        extent += (n - 1) * stride
    return True


# -- floating-point errors

_REPEATABLE = {"ignore", "warn", "raise"}  # what `_tell` can do in NumPy's place; other modes mean one thread
_KINDS = {"divide": "divide by zero", "over": "overflow", "under": "underflow", "invalid": "invalid value"}


def _tell(seen: set[str], modes: Any, name: str) -> None:
    """Do what NumPy does after a call in which these kinds of error were seen, in NumPy's order."""
    for key, kind in _KINDS.items():
        if kind in seen:
            message = f"{kind} encountered in {name}"
            if modes[key] == "raise":
                raise FloatingPointError(message)
            if modes[key] == "warn":
                warnings.warn(message, RuntimeWarning, stacklevel=3)


# -- the threads


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
                wanted = min(limit - self._callers - self._helping, len(pieces) - 1)
            self._ask(call, wanted)
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
        """Wait, whatever happens, for helpers in the middle of a piece: they write into the caller's array."""
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
