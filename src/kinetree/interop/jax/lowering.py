"""How a call of a program becomes XLA's: its handler on the CPU, a call of NumPy's function on the host elsewhere.

Handlers are machine code that XLA calls by name. Of arrays that are spread over several devices, each device computes
its own part of the batch.
"""

from __future__ import annotations

import ctypes
import functools
import re
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import jax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.interpreters import mlir
from jax.sharding import NamedSharding, PartitionSpec

from kinetree.codegen.cpu.jit import MachineCode
from kinetree.codegen.cpu.xla_frame import OLDEST
from kinetree.compiler.thread_count import thread_count
from kinetree.interop.jax.calls import Call

__all__ = ["batch_of", "has_handlers", "lower_elsewhere", "lower_on_cpu", "registered"]

_registered: dict[str, MachineCode] = {}
"""By name. XLA has no way to give up a handler."""
_lock = Lock()


def batch_of(shapes: Sequence[tuple[int, ...]], call: Call) -> tuple[int, ...]:
    """The leading axes of a call from the shapes of its operands; each has all of them or none."""
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
        computed: Sequence[Any] = jax.pure_callback(call.on_host, results, *arrays, vmap_method="broadcast_all")
        return computed

    return _lowered(ctx, operands, call, called)


def _lowered(ctx: Any, operands: Sequence[Any], call: Call, called: Any) -> Sequence[Any]:
    inputs, outputs = ([len(port.shape) for port in ports] for ports in (call.node.inputs, call.node.outputs))
    spread = _in_shards(called, [len(x.shape) for x in ctx.avals_in], inputs, outputs)
    lowered: Sequence[Any] = mlir.lower_fun(spread, multiple_results=True)(ctx, *operands)
    return lowered


def _results(arrays: Sequence[Any], call: Call) -> list[jax.ShapeDtypeStruct]:
    batch = batch_of([x.shape for x in arrays], call)
    return [jax.ShapeDtypeStruct((*batch, *port.shape), call.node.dtype) for port in call.node.outputs]


@functools.cache
def has_handlers() -> bool:
    """Whether XLA's interface here is the one that handlers are made for."""
    if sys.byteorder != "little" or struct.calcsize("P") != 8:
        return False
    header = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h")
    try:
        text = header.read_text(encoding="utf-8")
    except OSError:
        return False
    matches = re.findall(r"^#define XLA_FFI_API_(MAJOR|MINOR) (\d+)\s*$", text, re.MULTILINE)
    version = {name: int(number) for name, number in matches}
    return version.get("MAJOR") == OLDEST[0] and version.get("MINOR", -1) >= OLDEST[1]


def registered(call: Call) -> str:
    """The name under which XLA calls the machine code of a call on the CPU; it is the same in every process."""
    name = f"kinetree_{re.sub(r'[^0-9A-Za-z_]', '_', call.node.name)}_{call.fingerprint}"
    with _lock:
        if name not in _registered:
            code = call.node.kernels.xla_handler(thread_count())
            # XLA's threads may still be in it while Python ends, so nothing ever frees it.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))
            jax.ffi.register_ffi_target(name, _capsule(code.address("handler")), platform="cpu", api_version=1)
            _registered[name] = code
    return name


def _capsule(address: int) -> Any:
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return prototype(("PyCapsule_New", ctypes.pythonapi))(address, None, None)


def _in_shards(
    function: Callable[..., Any], ranks: Sequence[int], inputs: Sequence[int], outputs: Sequence[int]
) -> Callable[..., Any]:
    """The function of a batch, which XLA may run on parts of it.

    `ranks` are those of the operands; `inputs` and `outputs` are the numbers of axes of one sample of each, which stay
    together.
    """
    batch = max((rank - core for rank, core in zip(ranks, inputs, strict=True)), default=0)
    if batch == 0:
        return function

    def leading(shapes: Sequence[Any]) -> list[Any]:
        """How the leading axes are spread: as in the first operand that is spread along them."""
        for rank, core, shape in zip(ranks, inputs, shapes, strict=True):
            spec = (*getattr(shape.sharding, "spec", ()), *(None,) * rank)[: rank - core]
            if any(axis is not None for axis in spec):
                return [*spec]
        return [None] * batch

    def of_results(mesh: Any, shapes: Sequence[Any], _: Any) -> list[NamedSharding]:
        spread = leading(shapes)
        return [NamedSharding(mesh, PartitionSpec(*spread, *(None,) * core)) for core in outputs]

    def partition(mesh: Any, shapes: Sequence[Any], results: Any) -> Any:
        spread = leading(shapes)
        own = tuple(
            NamedSharding(mesh, PartitionSpec(*spread[: rank - core], *(None,) * core))
            for rank, core in zip(ranks, inputs, strict=True)
        )
        return mesh, function, of_results(mesh, shapes, results), own

    partitioned = custom_partitioning(function)
    partitioned.def_partition(
        partition=partition, infer_sharding_from_operands=of_results, sharding_rule=_rule(ranks, inputs, outputs, batch)
    )
    made: Callable[..., Any] = partitioned
    return made


def _rule(ranks: Sequence[int], inputs: Sequence[int], outputs: Sequence[int], batch: int) -> str:
    """Shardy's rule: the axes of the batch by name; those of one sample, each under its own, are not spread.

    >>> _rule([2, 1], [1, 1], [2], 1)
    'b0 i0_0, i1_0 -> b0 o0_0 o0_1'
    """
    leading = [f"b{k}" for k in range(batch)]
    given = [
        " ".join([*leading[: rank - core], *(f"i{n}_{k}" for k in range(core))])
        for n, (rank, core) in enumerate(zip(ranks, inputs, strict=True))
    ]
    made = [" ".join([*leading, *(f"o{n}_{k}" for k in range(core))]) for n, core in enumerate(outputs)]
    return f"{', '.join(given)} -> {', '.join(made)}"
