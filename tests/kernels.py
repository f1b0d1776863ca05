"""Functions compiled for a robot, for tests that need no more than a part of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import kinetree as kt
from kinetree.codegen.backend import Batch, Kernel
from kinetree.codegen.cpu.backend import CpuKernels
from kinetree.compiler.compiled import CompiledFunction
from kinetree.expr import interpret

__all__ = ["compiled_late", "interpreted"]

Array = NDArray[Any]


def compiled_late(robot: kt.Model, function: Callable[..., Any], **request: Any) -> Any:
    """What `kt.compile` returns, before there is machine code: code for one sample and for batches is made when called.

    Tests that only read a program, or call batches alone, spend half of their time or less in the compiler.
    """
    with patch.object(CompiledFunction, "prepare", lambda self: self):
        return kt.compile(robot, function, **request)


class _Interpreted(CpuKernels):
    """A kernel whose program is run by the interpreter of `kinetree.expr`, sample by sample, once for each sample."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self._results: dict[bytes, Array] = {}

    def single(self) -> None:
        return None

    def tensor_call(self, *_: object) -> None:
        return None

    def batch(self) -> Batch:
        kernel = self._kernel
        (port,) = kernel.outputs
        ranks = [len(x.shape) for x in kernel.inputs]

        def call(*arrays: Array, out: Array | None = None) -> Array:
            leading = np.broadcast_shapes(*(x.shape[: x.ndim - rank] for x, rank in zip(arrays, ranks, strict=True)))
            whole = [
                np.broadcast_to(x, (*leading, *x.shape[x.ndim - rank :])) for x, rank in zip(arrays, ranks, strict=True)
            ]
            core = (whole[kernel.rows[0]].shape[len(leading)], *port.shape[1:]) if kernel.rows else port.shape
            result = np.empty((*leading, *core), kernel.dtype)
            for index in np.ndindex(leading):
                result[index] = self._one(*(x[index] for x in whole)).reshape(core)
            if out is None:
                return result
            out[...] = result
            return out

        return Batch(call, None)

    def _one(self, *arrays: Array) -> Array:
        key = b"|".join(x.tobytes() for x in arrays)
        if key not in self._results:
            self._results[key] = self._rounds(*arrays) if self._kernel.rows else self._run(*arrays)
        return self._results[key]

    def _rounds(self, *arrays: Array) -> Array:
        """A program that is run once per row of some arguments; its result replaces the state."""
        kernel, own = self._kernel, [*arrays]
        result = []
        for t in range(len(own[kernel.rows[0]])):
            result.append(self._run(*(x[t] if k in kernel.rows else x for k, x in enumerate(own))))
            ends = np.cumsum([kernel.inputs[k].size for k in kernel.state])
            for k, part in zip(kernel.state, np.split(result[-1], ends[:-1]), strict=True):
                own[k] = part.reshape(kernel.inputs[k].shape)
        return np.array(result)

    def _run(self, *arrays: Array) -> Array:
        (values,) = interpret(self._kernel.program(), *(np.ravel(x).tolist() for x in arrays))
        return np.array(values, self._kernel.dtype)


@contextmanager
def interpreted() -> Iterator[None]:
    """Programs that are compiled in here run in the interpreter of `kinetree.expr`, sample by sample: no machine code,
    and no search for the shortest form of a user's program.

    For tests of what goes into programs and of what becomes of their results.
    """
    unsearched = patch("kinetree.programs.trace._WORTH_SEARCHING", 0)
    with patch("kinetree.codegen.cpu.backend.CpuKernels", _Interpreted), unsearched:
        yield
