"""DLPack: how libraries give each other arrays without copying them. Reading and making its capsules.

A capsule holds a pointer to a `DLManagedTensor` of `dlpack.h`, under the name "dltensor" until somebody takes it over.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from typing import Any

import numpy as np

from kinetree.codegen.cpu.jit import MachineCode, compile_module
from kinetree.errors import DTypeError

__all__ = ["CPU", "CUDA", "MANAGED", "Contents", "capsule", "contents"]

CPU, CUDA, MANAGED = 1, 2, 13
"""Kinds of devices: this processor; a graphics processor; its memory that moves by itself."""
_NAME = b"dltensor"
_TENSOR = struct.Struct("=QiiiBBHQQQ")
"""The same as `_Tensor`, which is slower to read."""
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_kind", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


Contents = tuple[int, tuple[int, ...], tuple[int, ...] | None, "np.dtype[Any]", int]
"""Address, shape, strides in numbers (None: in C order), dtype, number of the device."""


def contents(given: object) -> Contents:
    """The contents of a capsule, which stays as it is: whoever asks keeps it as long as the array is used."""
    pointer = _python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(given, _NAME)
    data, _, device, ndim, code, bits, lanes, shape_at, strides_at, offset = _TENSOR.unpack(
        ctypes.string_at(pointer, _TENSOR.size)
    )
    dtype = _dtype(code, bits, lanes)
    shape = struct.unpack(f"{ndim}q", ctypes.string_at(shape_at, 8 * ndim)) if ndim else ()
    strides = struct.unpack(f"{ndim}q", ctypes.string_at(strides_at, 8 * ndim)) if ndim and strides_at else None
    return data + offset, shape, strides if ndim else (), dtype, device


@functools.cache
def _dtype(code: int, bits: int, lanes: int) -> np.dtype[Any]:
    kind = _KINDS.get(code)
    if kind is None or lanes != 1:
        raise DTypeError("an array of a kind of numbers that NumPy does not know, such as bfloat16")
    return np.dtype(np.bool_) if kind == "b" else np.dtype(f"{kind}{bits // 8}")


def capsule(pointer: int, shape: tuple[int, ...], dtype: np.dtype[Any], device: int, owner: object) -> object:
    """A capsule of an array in C order on a graphics processor; `owner` lives as long as the array is used."""
    code = _machine_code()
    sizes = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    managed = _Managed(_Tensor(pointer, CUDA, device, len(shape), 2, 8 * dtype.itemsize, 1, sizes, None, 0))
    kept = managed, sizes, owner
    managed.context, managed.deleter = id(kept), code.address("delete")
    _python("Py_IncRef", None, ctypes.py_object)(kept)
    make = _python("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    made: object = make(ctypes.addressof(managed), _NAME, code.address("drop"))
    return made


_DELETERS = f"""
@name = internal constant [{len(_NAME) + 1} x i8] c"{_NAME.decode()}\\00"
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare void @Py_DecRef(ptr)
declare i32 @PyCapsule_IsValid(ptr, ptr)
declare ptr @PyCapsule_GetPointer(ptr, ptr)

; By whoever has taken an array over, when it is no longer used.
define void @delete(ptr %managed) {{
  %state = call i32 @PyGILState_Ensure()
  %owner_p = getelementptr i8, ptr %managed, i64 {_Managed.context.offset}
  %owner = load ptr, ptr %owner_p
  call void @Py_DecRef(ptr %owner)
  call void @PyGILState_Release(i32 %state)
  ret void
}}

; By Python, when a capsule dies: if nobody has taken it over, the array is no longer used.
define void @drop(ptr %capsule) {{
  %valid = call i32 @PyCapsule_IsValid(ptr %capsule, ptr @name)
  %is_valid = icmp ne i32 %valid, 0
  br i1 %is_valid, label %own, label %end
own:
  %managed = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr @name)
  call void @delete(ptr %managed)
  br label %end
end:
  ret void
}}
"""
"""Machine code, since both may be called while an exception is on its way, when Python cannot run a function."""


@functools.cache
def _machine_code() -> MachineCode:
    return MachineCode(compile_module(_DELETERS))


@functools.cache
def _python(name: str, result: Any, *arguments: Any) -> Any:
    """A function of Python's C interface."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))
