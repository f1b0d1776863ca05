"""Programs with arrays that hold no numbers, as those of a robot without degrees of freedom: a gufunc cannot have them.

They are interpreted, which is slow; what is long has such arrays taken away before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree.compiler.definition import Array
from kinetree.expr import Program, interpret

__all__ = ["run_rounds", "without_kernel"]


def without_kernel(program: Program, dtype: np.dtype[Any]) -> Callable[..., Any]:
    """The program, sample by sample.

    What comes out depends on the parameters at most, and is the same for all samples without them.
    """
    (port,), inputs = program.outputs, program.inputs

    def function(*arrays: Array, out: Array | None = None) -> Array:
        leading = [a.shape[: a.ndim - len(p.shape)] for p, a in zip(inputs, arrays, strict=True)]
        shape = np.broadcast_shapes(*leading)
        if out is None:
            out = np.empty((*shape, *port.shape), dtype)
        if not out.size:
            return out
        varied = shape if program.input_size else ()
        whole = [
            np.broadcast_to(a, (*varied, *p.shape)) if p.size else np.zeros((*varied, 0), dtype)
            for p, a in zip(inputs, arrays, strict=True)
        ]
        result = np.empty((*varied, *port.shape), dtype)
        for index in np.ndindex(varied):
            (values,) = interpret(program, *(a[index].ravel().tolist() for a in whole))
            result[index] = np.reshape(values, port.shape)
        out[...] = result
        return out

    return function


def run_rounds(
    program: Program, rows: Sequence[int], state: Sequence[int], arrays: Sequence[Array], result: Array
) -> None:
    """The rounds of a program that is run repeatedly, sample by sample, into the result (…, T, n).

    `rows` are the inputs with one row per round, and `state` those that the result of a round replaces in the next.
    """
    leading, inputs = result.shape[:-2], program.inputs
    whole = [
        np.broadcast_to(x, (*leading, *x.shape[x.ndim - len(port.shape) :])).copy()
        for port, x in zip(inputs, arrays, strict=True)
    ]
    for index in np.ndindex(leading):
        own = [x[index] for x in whole]
        for t in range(result.shape[-2]):
            given = [x[t] if k in rows else x for k, x in enumerate(own)]
            (found,) = interpret(program, *(np.ravel(x).tolist() for x in given))
            result[(*index, t)] = found
            start = 0
            for k in state:
                port = inputs[k]
                own[k] = np.reshape(result[(*index, t)][start : start + port.size], port.shape)
                start += port.size
