"""Turn machine code into a NumPy generalised ufunc: broadcasting, strides, `out=` and the release of the GIL.

NumPy's C function for this is reached through its table of functions (numpy_api.py).
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree.codegen.cpu.builtin import numpy_functions
from kinetree.codegen.cpu.jit import MachineCode, compile_module
from kinetree.codegen.cpu.rounds import signature
from kinetree.codegen.llvm.precision import F64, Precision
from kinetree.codegen.llvm.target import Target, host
from kinetree.codegen.optimization import optimization
from kinetree.expr import Port, Program

__all__ = ["batch_function", "make_ufunc"]

_FROM_FUNC_AND_DATA_AND_SIGNATURE = 31  # its index, from numpy/__ufunc_api.h
_NO_IDENTITY = -1


def make_ufunc(
    code: MachineCode,
    name: str,
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    precision: Precision,
    flags: ctypes.Array[ctypes.c_int64] | None = None,
    rows: Sequence[int] = (),
) -> Callable[..., Any]:
    """A gufunc of the code's `kernel`. It keeps alive the code and `flags`, which a kernel that checks quaternions
    reads and writes (batch.py). `rows` are the inputs with one row per round (rounds.py)."""
    n_in, n_out = len(inputs), len(outputs)
    functions = (ctypes.c_void_p * 1)()  # which NumPy reads at each call
    code.put("kernel", ctypes.addressof(functions))
    data = (ctypes.c_void_p * 1)(None if flags is None else ctypes.addressof(flags))
    types = ctypes.create_string_buffer(bytes([np.dtype(precision.char).num] * (n_in + n_out)))
    name_text, doc_text = ctypes.create_string_buffer(name.encode()), ctypes.create_string_buffer(b"")
    axes = ctypes.create_string_buffer(signature(inputs, outputs, rows).encode())
    ufunc = _constructor()(functions, data, types, 1, n_in, n_out, _NO_IDENTITY, name_text, doc_text, 0, axes)
    # NumPy keeps pointers to these, not copies; the ufunc itself must hold them.
    _hold(ufunc, (code, functions, data, flags, types, name_text, doc_text))
    return ufunc  # type: ignore[no-any-return]


def batch_function(program: Program, precision: Precision = F64, target: Target | None = None) -> Callable[..., Any]:
    """A program as a gufunc, compiled immediately, and optimised unless the environment says that nothing is."""
    from kinetree.codegen.cpu.module import emit

    target, optimized = target or host(), optimization() != "quick"
    object_code = compile_module(emit(program, precision, target), target, optimized=optimized)
    code = MachineCode(object_code, target, optimized=optimized)
    return make_ufunc(code, program.name, program.inputs, program.outputs, precision)


class _UFuncObject(ctypes.Structure):
    """The head of NumPy's PyUFuncObject, as declared in its public header, up to the object it holds."""

    _fields_ = (
        ("refcount", ctypes.c_ssize_t),
        ("type", ctypes.c_void_p),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("ntypes", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", ctypes.c_void_p),
        ("types", ctypes.c_void_p),
        ("doc", ctypes.c_void_p),
        ("ptr", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
    )


def _hold(ufunc: Any, keep: tuple[object, ...]) -> None:
    head = _UFuncObject.from_address(id(ufunc))
    if (head.nin, head.nargs, head.obj) != (ufunc.nin, ufunc.nargs, None):
        raise RuntimeError(f"NumPy {np.__version__} lays out ufuncs in a way this version of kinetree does not know")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(keep))
    head.obj = id(keep)


@functools.cache
def _constructor() -> Callable[..., Any]:
    """NumPy's PyUFunc_FromFuncAndDataAndSignature."""
    entry = numpy_functions("_UFUNC_API")[_FROM_FUNC_AND_DATA_AND_SIGNATURE]
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int,
        ctypes.c_void_p,
    )
    assert entry is not None
    return prototype(entry)
