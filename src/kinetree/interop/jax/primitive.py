"""One primitive for all programs: its rules for JAX's transformations.

Its operands are in one form: each is one sample, which the whole batch shares, or has all leading axes of the batch.
Derivatives are programs too (`Node.forward`, `Node.reverse`), called by the same primitive, so they have derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from kinetree.interop.jax.calls import Call
from kinetree.interop.jax.lowering import batch_of, lower_elsewhere, lower_on_cpu
from kinetree.interop.jax.versions import knows_devices, results_like, usable_in_shard_map, varying_alike

__all__ = ["call_with", "program_call"]

program_call: Primitive = Primitive("kinetree")
program_call.multiple_results = True


def call_with(arrays: Sequence[Any], call: Call) -> Sequence[Any]:
    """Call it with arrays whose leading axes broadcast."""
    cores = [len(port.shape) for port in call.node.inputs]
    batch = jnp.broadcast_shapes(*(jnp.shape(x)[: jnp.ndim(x) - n] for x, n in zip(arrays, cores, strict=True)))
    operands = varying_alike([_in_one_form(x, n, batch) for x, n in zip(arrays, cores, strict=True)])
    results: Sequence[Any] = program_call.bind(*operands, call=call)
    return results


def _in_one_form(x: Any, core: int, batch: tuple[int, ...]) -> Any:
    """One sample as such, anything else with the leading axes of the batch."""
    shape = jnp.shape(x)
    leading, shape = shape[: len(shape) - core], shape[len(shape) - core :]
    if leading == batch:
        return x
    if all(n == 1 for n in leading):
        return jnp.reshape(x, shape)
    return jnp.broadcast_to(x, (*batch, *shape))


def _abstract(*operands: Any, call: Call) -> list[Any]:
    return results_like(
        operands, batch_of([x.shape for x in operands], call), [p.shape for p in call.node.outputs], call.node.dtype
    )


program_call.def_abstract_eval(_abstract)

_jitted: dict[Call, Any] = {}


def _computed(*operands: Any, call: Call) -> Sequence[Any]:
    """A call outside `jax.jit`."""
    if call not in _jitted:
        _jitted[call] = jax.jit(lambda *x: program_call.bind(*x, call=call))
    results: Sequence[Any] = _jitted[call](*operands)
    return results


program_call.def_impl(_computed)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, call: Call) -> tuple[Sequence[Any], Sequence[Any]]:
    results = program_call.bind(*primals, call=call)
    active = [k for k, x in enumerate(tangents) if type(x) is not ad.Zero]
    return results, call_with([*primals, *(tangents[k] for k in active)], call.tangent(active))


ad.primitive_jvps[program_call] = _jvp


def _transpose(cotangents: Sequence[Any], *operands: Any, call: Call) -> list[Any]:
    shaped = [x.aval if ad.is_undefined_primal(x) else x for x in operands]
    batch, dtype = batch_of([x.shape for x in shaped], call), call.node.dtype
    given = [x for k, x in enumerate(operands) if k not in call.linear]
    for x, port in zip(cotangents, call.node.outputs, strict=True):
        given.append(jnp.zeros((*batch, *port.shape), dtype) if type(x) is ad.Zero else x)
    bars: list[Any] = [None] * len(operands)
    for k, bar in zip(call.linear, call_with(given, call.transposed), strict=True):
        shared = bar.ndim - shaped[k].ndim  # the cotangents of what all samples share add up
        bars[k] = jnp.sum(bar, tuple(range(shared))) if shared else bar
    return bars


ad.primitive_transposes[program_call] = _transpose


def _batched(operands: Sequence[Any], axes: Sequence[int | None], *, call: Call) -> tuple[Sequence[Any], list[int]]:
    """The axis that is mapped becomes the first of the batch."""
    first = [x if axis is None else jnp.moveaxis(x, axis, 0) for x, axis in zip(operands, axes, strict=True)]
    mapped = [axis is not None for axis in axes]
    rank = len(batch_of([jnp.shape(x)[is_mapped:] for x, is_mapped in zip(first, mapped, strict=True)], call))
    moved = []
    for x, is_mapped, port in zip(first, mapped, call.node.inputs, strict=True):
        missing = rank + len(port.shape) + 1 - jnp.ndim(x)
        moved.append(jnp.expand_dims(x, range(1, 1 + missing)) if is_mapped and missing else x)
    results = call_with(moved, call)
    return results, [0] * len(results)


batching.primitive_batchers[program_call] = _batched

knows_devices(program_call)
mlir.register_lowering(program_call, lower_elsewhere)
mlir.register_lowering(program_call, lower_on_cpu, platform="cpu")
usable_in_shard_map(program_call)
