"""Machine code of such functions: made when they are first called, and kept on disk."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.codegen.cpu.jit import MachineCode
from kinetree.codegen.cpu.processor import processor
from kinetree.codegen.kept.cache import kept
from kinetree.codegen.kept.identity import toolchain
from kinetree.codegen.loops.kinds import ArrayKind
from kinetree.codegen.loops.translate import module_text, parameters

__all__ = ["compiled"]

_IMPORTED = time.time()
_compiling = threading.RLock()


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator: the function as machine code. What was given is `function.__wrapped__`, and computes the same.

    Its arguments are as annotated, arrays in C order that do not overlap. While it runs, other threads do too.
    """

    made: list[Callable[..., Any]] = []

    @functools.wraps(function)
    def call(*given: Any) -> Any:
        if not made:
            with _compiling:  # threads that draw together need it at the same moment
                if not made:
                    made.append(_callable(function))
        return made[0](*given)

    return call


def _callable(function: Callable[..., Any]) -> Callable[..., Any]:
    tools, name = toolchain(processor(), _IMPORTED), f"{function.__module__}.{function.__qualname__}"
    key = None if tools is None else hashlib.sha256(b"loops" + tools + name.encode()).digest()
    code = MachineCode(kept(key, lambda: _object_code(function)))
    types: list[Any] = []
    kinds = [kind for _, kind in parameters(function)]
    for kind in kinds:
        if isinstance(kind, ArrayKind):
            types += [ctypes.c_void_p, *[ctypes.c_int64] * 3]
        else:
            types.append(ctypes.c_double if kind == "double" else ctypes.c_int64)
    bare = ctypes.CFUNCTYPE(None, *types)(code.address(function.__name__))

    def call(*given: Any) -> None:
        flat: list[Any] = []
        for x, kind in zip(given, kinds, strict=True):
            if isinstance(kind, ArrayKind):
                if x.dtype != kind.dtype or not x.flags.carray or x.ndim > 3:
                    raise TypeError(f"{name}: an array of {kind.dtype} in C order is needed, not one of {x.dtype}")
                flat += [x.ctypes.data, *(np.ones(3, int) if x.ndim == 0 else (*x.shape, 1, 1)[:3])]
            else:
                flat.append(x)
        bare(*flat)

    call.__dict__["code"] = code
    return call


def _object_code(function: Callable[..., Any]) -> bytes:
    import llvmlite.binding as llvm

    from kinetree.codegen.llvm.target import host

    machine = host().machine()
    module = llvm.parse_assembly(module_text([function], host().triple))
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    made: bytes = machine.emit_object(module)
    return made
