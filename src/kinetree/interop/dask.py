"""Arrays of Dask in calls of kinetree's functions and of programs: the result is one, block by block, and lazy.

Blocks of leading axes are kept; each task computes one block by the compiled function, on one thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.compiler.compiled import CompiledFunction
from kinetree.errors import DTypeError
from kinetree.inputs import sample_shape
from kinetree.interop.subject import Subject
from kinetree.programs.source import ProgramSource

if TYPE_CHECKING:
    import dask.array as da

__all__ = ["adapted", "as_numbers"]


class _Blocks:
    """A compiled function of blocks, which a task takes along: a request, repeated once in each process."""

    def __init__(self, compiled: CompiledFunction, ranks: Sequence[int], fingerprint: str) -> None:
        self._compiled, self._ranks, self._fingerprint = compiled, tuple(ranks), fingerprint

    def __dask_tokenize__(self) -> tuple[str, str]:
        """The key of equal calls, by which Dask names their tasks."""
        return "kinetree", self._fingerprint

    def __call__(self, *blocks: Any) -> Any:
        """Axes that are summed over come in lists of one block, and those of one sample are."""
        arrays = []
        for x, rank in zip(blocks, self._ranks, strict=True):
            for _ in range(rank):
                (x,) = x
            arrays.append(x)
        return self._compiled(*as_numbers(self._compiled, arrays), threads=1)


def as_numbers(compiled: CompiledFunction, arrays: Sequence[Any]) -> Sequence[Any]:
    """The arrays that a compiled function takes for truth values and whole numbers of programs."""
    source = compiled.source
    if isinstance(source, ProgramSource):
        pairs = zip(source.arguments.items(), arrays, strict=True)
        return [argument.numbers(source.name, name, x) for (name, argument), x in pairs]
    plain = map(np.asarray, arrays)  # of a program's derivative
    return [x.astype(compiled.dtype) if x.dtype.kind == "b" else x for x in plain]


def adapted(subject: Subject) -> Callable[..., Any]:
    """A function of arrays of Dask, mixed with NumPy's; it takes all arguments in order."""
    dtype = subject.dtype or "float64"
    compiled, ports = subject.compiled(dtype), subject.ports
    core = subject.source.output.shape
    ranks = [len(port.shape) for port in ports]
    function = _Blocks(compiled, ranks, subject.node(dtype).fingerprint)

    def call(*given: Any) -> da.Array:
        import dask.array as da

        arguments = [da.asarray(x) for x in subject.bound(given, {})]
        for x, port in zip(arguments, ports, strict=True):
            if x.dtype.kind not in "fiub":
                raise DTypeError(
                    f"{subject.name}: {port.name} must be an array of real numbers of shape "
                    f"{sample_shape(port.shape)}, not of dtype {x.dtype}"
                )
        shapes = [x.shape for x in arguments]
        if not any(math.isnan(n) for shape in shapes for n in shape):  # blocks whose lengths are not known yet
            subject.batch_shape(subject.node(dtype), shapes)
        leading = [len(subject.leading_axes(port, x.shape)) for x, port in zip(arguments, ports, strict=True)]
        batch, pairs = max(leading), []
        for k, (x, port, count) in enumerate(zip(arguments, ports, leading, strict=True)):
            own = [f"{k}.{axis}" for axis in range(len(port.shape))]
            pairs += [
                x.rechunk(dict.fromkeys(range(count, x.ndim), -1)),
                [*map(str, range(batch - count, batch)), *own],
            ]
        results = [f"result.{axis}" for axis in range(len(core))]
        made: da.Array = da.blockwise(
            function,
            [*map(str, range(batch)), *results],
            *pairs,
            new_axes=dict(zip(results, core, strict=True)),
            token=subject.name,
            dtype=dtype,
            meta=np.empty((0,) * (batch + len(core)), dtype),
        )
        return made

    return call
