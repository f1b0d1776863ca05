"""NumPy's C functions, from the tables that it exports to extensions; their order is part of NumPy's ABI."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

__all__ = ["numpy_functions"]


@functools.cache
def numpy_functions(table: str) -> Any:
    """A table of addresses by index: "_ARRAY_API", as in numpy/__multiarray_api.h, or "_UFUNC_API"."""
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    get_pointer = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
    address = get_pointer(getattr(np._core._multiarray_umath, table), None)  # type: ignore[attr-defined]
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p))
