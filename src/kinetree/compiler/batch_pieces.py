"""Large batches on several threads: a call is split into pieces, which the caller shares with helper threads.

A result never depends on how a batch was split, because no sample's result depends on its neighbours.
Decision 0014 gives the reasons.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kinetree.compiler.helper_threads import on_threads
from kinetree.compiler.thread_count import checked_count, thread_count
from kinetree.records import record

__all__ = ["call_in_pieces", "most_on_one_thread", "several_in_pieces", "worth_splitting"]

Array = NDArray[Any]
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
    errors = split.run(function, arrays, (out,))
    if errors:
        _report_errors(errors, modes, getattr(function, "__name__", "function"))
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

    Floating-point warnings are off.

    >>> x = np.linspace(0.0, 1.0, 1000)
    >>> [y.shape for y in several_in_pieces(np.modf, [x], (0,), [(), ()], float, work=1e-6)]
    [(1000,), (1000,)]
    """
    split = _split(arrays, core_in, work)
    batch = _batch_shape(arrays, core_in) if split is None else split.batch
    results = tuple(np.empty((*batch, *core), dtype) for core in cores_out)
    if split is not None:
        split.run(function, arrays, results)
        return [*results]
    with np.errstate(all="ignore"):
        function(*arrays, out=results if len(results) > 1 else results[0])
    return [*results]


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
        errors: set[str] = set()

        def compute(piece: slice) -> None:
            parts = [
                x if k is None else x[(slice(None),) * k + (piece,)] for x, k in zip(arrays, self.own_axes, strict=True)
            ]
            # The caller's errstate does not reach other threads, and would act once per piece, so errors are collected.
            with np.errstate(all="call", call=lambda kind, _: errors.add(kind)):
                outs = tuple(x[(slice(None),) * self.axis + (piece,)] for x in results)
                function(*parts, out=outs if len(outs) > 1 else outs[0])

        on_threads(compute, self.pieces, self.limit)
        return errors


def _split(arrays: Sequence[Array], core_in: Sequence[int], work: float, threads: int | None = None) -> _Split | None:
    """How a batch is split; None if one thread computes it all."""
    if threads is not None:
        threads = checked_count(threads)
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

_REPEATABLE = {"ignore", "warn", "raise"}  # what `_report_errors` can do in NumPy's place; other modes mean one thread
_KINDS = {"divide": "divide by zero", "over": "overflow", "under": "underflow", "invalid": "invalid value"}


def _report_errors(seen: set[str], modes: Any, name: str) -> None:
    """Report these kinds of error as NumPy does after a call, in NumPy's order."""
    for key, kind in _KINDS.items():
        if kind in seen:
            message = f"{kind} encountered in {name}"
            if modes[key] == "raise":
                raise FloatingPointError(message)
            if modes[key] == "warn":
                warnings.warn(message, RuntimeWarning, stacklevel=3)
