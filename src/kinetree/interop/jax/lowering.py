"""How a call of a program becomes XLA's: its handler on the CPU, a call of NumPy's function on the host elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.interpreters import mlir

from kinetree.interop.jax.calls import Call
from kinetree.interop.jax.handlers import has_handlers, registered
from kinetree.interop.jax.sharding import in_shards

__all__ = ["batch_of", "lower_elsewhere", "lower_on_cpu"]


def batch_of(shapes: Sequence[tuple[int, ...]], call: Call) -> tuple[int, ...]:
    """The leading axes of a call from the shapes of its operands, of which each has them all or none."""
    leading = [shape[: len(shape) - len(port.shape)] for shape, port in zip(shapes, call.node.inputs, strict=True)]
    return max(leading, key=len, default=())


def lower_on_cpu(ctx: Any, *operands: Any, call: Call) -> Sequence[Any]:
    """XLA calls the machine code itself."""
    if not has_handlers():
        return lower_elsewhere(ctx, *operands, call=call)
    target = registered(call)

    def called(*arrays: Any) -> Sequence[Any]:
        results: Sequence[Any] = jax.ffi.ffi_call(target, _results(arrays, call))(*arrays)
        return results

    return _lowered(ctx, operands, call, called)


def lower_elsewhere(ctx: Any, *operands: Any, call: Call) -> Sequence[Any]:
    """The arrays go to the host, where Python calls NumPy's function, and the results go back."""

    def called(*arrays: Any) -> Sequence[Any]:
        results = _results(arrays, call)
        found: Sequence[Any] = jax.pure_callback(call.on_host, results, *arrays, vmap_method="broadcast_all")
        return found

    return _lowered(ctx, operands, call, called)


def _lowered(ctx: Any, operands: Sequence[Any], call: Call, called: Any) -> Sequence[Any]:
    inputs, outputs = ([len(port.shape) for port in ports] for ports in (call.node.inputs, call.node.outputs))
    spread = in_shards(called, [len(x.shape) for x in ctx.avals_in], inputs, outputs)
    lowered: Sequence[Any] = mlir.lower_fun(spread, multiple_results=True)(ctx, *operands)
    return lowered


def _results(arrays: Sequence[Any], call: Call) -> list[jax.ShapeDtypeStruct]:
    batch = batch_of([x.shape for x in arrays], call)
    return [jax.ShapeDtypeStruct((*batch, *port.shape), call.node.dtype) for port in call.node.outputs]
