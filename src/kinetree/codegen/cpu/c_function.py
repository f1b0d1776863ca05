"""A builtin function of Python made of a C function in machine code."""

from __future__ import annotations

import ctypes
import keyword
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.codegen.cpu.jit import MachineCode
from kinetree.expr import Port

__all__ = ["address_of", "c_function", "fields"]

_FASTCALL_KEYWORDS = 0x0080 | 0x0002  # METH_FASTCALL | METH_KEYWORDS


def c_function(
    code: MachineCode,
    name: str,
    doc: str,
    owner: object,
    general: Callable[..., Any],
    inputs: tuple[Port, ...],
    *used: object,
    out_is_taken: bool,
) -> Callable[..., Any]:
    """The builtin whose C function is the code's `call`. Its `__self__` is `owner`, and `doc` its docstring; `inputs`
    name the parameters in its signature, which has `out=` if that is taken.

    It holds `owner`, the code, and `general` and the objects `used`, which the code refers to by address.
    """
    # Python keeps a pointer to the definition (a PyMethodDef), which keeps pointers to its texts.
    texts = f"{name}\0".encode(), f"{name}{_signature(inputs, out_is_taken)}\n--\n\n{doc}\0".encode()
    start, end = (ctypes.cast(ctypes.c_char_p(text), ctypes.c_void_p).value for text in texts)
    definition = _Definition(start, None, _FASTCALL_KEYWORDS, end)
    code.put("call", ctypes.addressof(definition) + _Definition.function.offset)

    # When everything here is garbage in a cycle, the collector clears objects in any order, but the code and the
    # definition must outlive the builtin. The collector does not look into arrays, and clears neither tuples nor bytes.
    hidden = np.empty(1, dtype=object)
    hidden[0] = code
    code.keep(definition)
    kept = _Kept((general, hidden, *texts, *used))
    # `__module__` is writable, so assigning to it would drop the reference.
    owner._kept = (kept, getattr(owner, "_kept", None))  # type: ignore[attr-defined]
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object, ctypes.c_void_p
    )
    function: Callable[..., Any] = prototype(("PyCMethod_New", ctypes.pythonapi))(
        ctypes.addressof(definition), owner, kept, None
    )
    return function


class _Definition(ctypes.Structure):
    """Python's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_void_p),
        ("function", ctypes.c_void_p),  # which Python reads at each call
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_void_p),
    )


def fields(kind: type[Any], names: str) -> tuple[tuple[str, type[Any]], ...]:
    """Fields of a structure that are of one kind."""
    return tuple((name, kind) for name in names.split())


def address_of(function: Any) -> int | None:
    """Address of a C function of ctypes."""
    return ctypes.cast(function, ctypes.c_void_p).value


class _Kept(tuple[object, ...]):
    """The objects that a builtin keeps alive, stored as its module name and usable as that name.

    A builtin has no other attribute for an arbitrary object. No `__slots__`: the collector would clear them.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return "kinetree"

    def __repr__(self) -> str:
        return repr(str(self))

    def __eq__(self, other: object) -> bool:
        return self is other or str(self) == other

    def __hash__(self) -> int:
        return hash(str(self))


def _signature(inputs: tuple[Port, ...], out_is_taken: bool) -> str:
    """The signature in the form that `inspect.signature` finds in a builtin's docstring."""
    names: list[str] = []
    for k, port in enumerate(inputs):
        name = re.sub(r"\W+", "_", port.name).strip("_")  # the port of a force is f_ext['frame']
        fits = name.isidentifier() and not keyword.iskeyword(name) and name not in (*names, "out", "self")
        names.append(name if fits else f"argument_{k}")
    return f"({', '.join(['$self', *names])}, /{', *, out=None' * out_is_taken})"
