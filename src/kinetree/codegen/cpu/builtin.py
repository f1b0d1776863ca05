"""A builtin function around machine code, which CPython calls directly, without a frame and without boxing.

The machine code (from `single.py` and `small_batch.py`) reads Python's and NumPy's objects at the field offsets that
their headers declare. It contains no addresses of this process: the few it needs are in its global variable
`@context`, filled in here.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree.codegen.cpu.c_function import address_of, c_function, fields
from kinetree.codegen.cpu.jit import MachineCode
from kinetree.codegen.llvm.precision import Precision
from kinetree.expr import Port
from kinetree.records import record

__all__ = ["ArrayObject", "Batches", "Context", "chain", "layout_is_known", "make_builtin", "numpy_functions"]

_NUMPY_2 = 0x02000000  # the version of NumPy's ABI
# Indices into NumPy's table of C functions, from numpy/__multiarray_api.h.
_GET_ABI_VERSION, _ARRAY_TYPE, _SCALAR, _NEW = 0, 2, 60, 93
_CLEAR_ERRORS, _GET_ERRORS = 27, 28  # PyUFunc_clearfperr and PyUFunc_getfperr, from numpy/__ufunc_api.h


class ArrayObject(ctypes.Structure):
    """The head of NumPy's PyArrayObject, as declared in its public header."""

    _fields_ = (
        ("refcount", ctypes.c_ssize_t),
        ("type", ctypes.c_void_p),
        ("data", ctypes.c_void_p),
        ("nd", ctypes.c_int),
        ("dimensions", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("base", ctypes.c_void_p),
        ("descr", ctypes.c_void_p),
        ("flags", ctypes.c_int),
    )


class Context(ctypes.Structure):
    """Addresses and sizes of the process that the code runs in."""

    _fields_ = (
        *fields(ctypes.c_void_p, "array_type descr out none general"),
        ("next", ctypes.c_void_p),  # C function of another module, tried before the general one; or null
        ("tuple_items", ctypes.c_ssize_t),  # offset of a tuple's items, which depends on the Python version
        *fields(ctypes.c_void_p, "vectorcall new_reference release new_array new_scalar new_tuple set_item"),
        *fields(ctypes.c_void_p, "clear_errors get_errors exception release_lock take_lock"),
        ("flags", ctypes.c_void_p),  # passed to a batch kernel as its data, as in batch.py
        *fields(ctypes.c_ssize_t, "most release_from"),
        # Python's type of numbers that may come in place of an array without axes; or null
        ("number", ctypes.c_void_p),
        ("scalar", ctypes.c_void_p),  # NumPy's
        ("left_out", ctypes.c_void_p),  # the objects that take the place of arguments that calls leave out; or null
    )


@record(frozen=True)
class Batches:
    """Which batches a builtin computes itself."""

    most: int
    """Maximum number of samples; larger batches go to the general function."""
    release_from: int
    """Number of samples from which the interpreter's lock is released during the call."""
    flags: ctypes.Array[ctypes.c_int64] | None = None
    """Flags for a kernel that checks quaternions."""


@functools.cache
def layout_is_known() -> bool:
    """Whether objects have the memory layout that the code assumes: checks Python's build, NumPy's ABI and a trial."""
    if sys.implementation.name != "cpython" or struct.calcsize("P") != 8:
        return False
    # A debug build may put extra fields first, and a free-threaded one has several counts and locks.
    if hasattr(sys, "gettotalrefcount") or hasattr(sys, "getobjects") or "free-threading" in sys.version:
        return False
    table = numpy_functions("_ARRAY_API")
    version = ctypes.CFUNCTYPE(ctypes.c_uint)(table[_GET_ABI_VERSION] or 0)
    if version() != _NUMPY_2 or table[_ARRAY_TYPE] != id(np.ndarray):
        return False
    read_only = np.zeros((2, 3), np.float32)
    read_only.flags.writeable = False
    arrays = (np.zeros((2, 3, 4)), np.zeros(()), np.zeros((4, 6))[::2, 1::3], np.zeros((5, 2)).T, read_only)
    numbers = ((1.5, "d"), (np.float64(-2.5), "d"), (np.float32(0.75), "f"))
    if not all(_number_is_known(x, kind) for x, kind in numbers):
        return False
    return all(_array_is_known(x) for x in arrays) and all(_tuple_is_known(x) for x in (("out",), (1.5, None)))


def _array_is_known(array: np.ndarray[Any, Any]) -> bool:
    head, n = ArrayObject.from_address(id(array)), array.ndim
    return (
        (head.type, head.data, head.nd) == (id(np.ndarray), array.ctypes.data, n)
        and (tuple(head.dimensions[:n]), tuple(head.strides[:n])) == (array.shape, array.strides)
        and head.base == (None if array.base is None else id(array.base))
        and (head.descr, head.flags) == (id(array.dtype), array.flags.num)
    )


def _number_is_known(number: Any, kind: str) -> bool:
    place = ctypes.string_at(id(number) + object.__basicsize__, struct.calcsize(kind))
    return bool(struct.unpack(kind, place)[0] == number)


def _tuple_is_known(items: tuple[object, ...]) -> bool:
    size = ctypes.c_ssize_t.from_address(id(items) + object.__basicsize__).value
    if size != len(items):
        return False
    pointers = (ctypes.c_void_p * size).from_address(id(items) + tuple.__basicsize__)
    return list(pointers) == [id(x) for x in items]


def make_builtin(
    code: MachineCode,
    name: str,
    doc: str,
    owner: object,
    general: Callable[..., Any],
    inputs: tuple[Port, ...],
    precision: Precision,
    batches: Batches | None = None,
    left_out: Sequence[np.ndarray[Any, Any]] = (),
) -> Callable[..., Any] | None:
    """The builtin function of a module by `emit_single` or `emit_batch`, or None if the object layout is unknown.

    It takes as many positional arguments as there are inputs, and `out=`. A call for which its module is made (one
    sample, or a batch of at most `batches.most`) is computed at once if it comes in ordinary arrays of the precision's
    dtype (C-contiguous, aligned, of exactly the ports' shapes; one number of one sample may also be NumPy's scalar of
    the dtype, or a Python float in double precision); any other call goes to `general`, which gets the very same
    arguments. `inputs` name the parameters in its signature, `doc` is the docstring without a signature, and `owner`
    becomes its `__self__`. `left_out` are the arrays that take the place of the arguments that calls may leave out.

    The builtin holds `owner`, `general` and the code; `owner` holds the latter two as well (in its attribute
    `_kept`). So `owner` may hold the builtin, and `general` may be a method of it: Python's collector sees that cycle.
    Only one builtin can be made of a `MachineCode`: load the object file again for another.

    Raises:
        ValueError: the code already belongs to a builtin.

    >>> from kinetree.codegen.llvm.precision import F64

    >>> from kinetree.codegen.cpu.ufunc import batch_function

    >>> from kinetree.codegen.cpu.jit import compile_module

    >>> from kinetree.codegen.llvm.target import host
    >>> from kinetree.codegen.cpu.single import emit_single
    >>> from kinetree.expr import trace
    >>> swap = trace(lambda x: [[x[1], x[0]]], [Port("x", (2,))], [Port("y", (2,))], "swap")
    >>> class Owner: pass
    >>> code = MachineCode(compile_module(emit_single(swap, F64, host())))
    >>> f = make_builtin(code, "swap", "Both numbers, swapped.", Owner(), batch_function(swap), swap.inputs, F64)
    >>> f(np.array([1.0, 2.0]))
    array([2., 1.])
    >>> f([[1.0, 2.0], [3.0, 4.0]])  # goes to the general function
    array([[2., 1.],
           [4., 3.]])
    """
    if not layout_is_known():
        return None
    context = code.variable("context", Context)
    if context.general is not None:
        raise ValueError(f"this code already belongs to a builtin; load the object file again to make {name!r} of it")
    out, dtype = sys.intern("out"), np.dtype(precision.char)
    table, python = numpy_functions("_ARRAY_API"), ctypes.pythonapi
    context.array_type, context.none = id(np.ndarray), id(None)
    context.descr, context.out, context.general = id(dtype), id(out), id(general)
    context.tuple_items = tuple.__basicsize__
    context.scalar = id(dtype.type)
    context.number = id(float) if dtype == np.float64 else None
    context.vectorcall = address_of(python.PyObject_Vectorcall)
    context.new_reference, context.release = address_of(python.Py_NewRef), address_of(python.Py_DecRef)
    context.new_tuple, context.set_item = address_of(python.PyTuple_New), address_of(python.PyTuple_SetItem)
    context.new_array, context.new_scalar = table[_NEW], table[_SCALAR]
    if batches is not None:
        errors = numpy_functions("_UFUNC_API")
        context.clear_errors, context.get_errors = errors[_CLEAR_ERRORS], errors[_GET_ERRORS]
        context.exception = address_of(python.PyErr_Occurred)
        context.release_lock, context.take_lock = (
            address_of(python.PyEval_SaveThread),
            address_of(python.PyEval_RestoreThread),
        )
        context.most, context.release_from = batches.most, batches.release_from
        if batches.flags is not None:
            context.flags = ctypes.addressof(batches.flags)
            code.keep(batches.flags)
    if left_out:
        objects = (ctypes.c_void_p * len(left_out))(*map(id, left_out))
        context.left_out = ctypes.addressof(objects)
        code.keep((*left_out, objects))
    return c_function(code, name, doc, owner, general, inputs, out, dtype, out_is_taken=True)


def chain(first: MachineCode, second: MachineCode) -> None:
    """Let the second module's builtin try calls that the first's does not accept, before the general function.

    Both modules already have builtins, with the same owner and general function.
    """
    first.keep(second)
    second.put("call", lambda: first.data_address("context") + Context.next.offset)


@functools.cache
def numpy_functions(table: str) -> Any:
    """A table of addresses by index: "_ARRAY_API", as in numpy/__multiarray_api.h, or "_UFUNC_API"."""
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    get_pointer = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
    address = get_pointer(getattr(np._core._multiarray_umath, table), None)  # type: ignore[attr-defined]
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p))
