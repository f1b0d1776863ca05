"""DLPack's functions in C for tensors: a library's type of tensors has their addresses as an attribute, in a capsule.

The structures are those of `dlpack.h`, whose versions 1.2 and later say that each tensor with axes has strides. A
library whose functions are of another version is taken for one that has none.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_int32, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any

from kinetree.records import record

__all__ = ["CPU", "FLOAT", "Exchange", "Functions", "ManagedTensor", "Tensor", "exchange_functions"]

CPU = 1
"""The kind of device whose memory is this processor's."""
FLOAT = 2
"""The kind of real numbers."""
_ATTRIBUTE, _CAPSULE = "__dlpack_c_exchange_api__", b"dlpack_exchange_api"
_OLDEST = (1, 2)


class Tensor(ctypes.Structure):
    """`DLTensor`: where the numbers of a tensor are; strides are in numbers."""

    _fields_ = (
        ("data", c_void_p),
        ("device_kind", c_int32),
        ("device", c_int32),
        ("ndim", c_int32),
        ("kind", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("offset", c_uint64),
    )


class ManagedTensor(ctypes.Structure):
    """`DLManagedTensorVersioned`: a tensor that belongs to whoever has it, until `deleter` is called."""

    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("manager", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", Tensor),
    )


class Functions(ctypes.Structure):
    """`DLPackExchangeAPI`: the library's functions. `read` fills in a `Tensor` that is valid as long as its object."""

    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("previous", c_void_p),
        ("allocate", c_void_p),
        ("export", c_void_p),
        ("wrap", c_void_p),
        ("read", c_void_p),
        ("stream", c_void_p),
    )


@record(frozen=True)
class Exchange:
    """How tensors of a library are read and made without Python, and which of them must not be read so."""

    functions: Functions
    types: tuple[type, type]
    """The types of tensors that are taken; those of a subclass are not."""
    tracked: str
    """An attribute of tensors: whether derivatives by it are wanted, which is asked if `recording()`."""
    recording: Callable[[], bool]
    altered: Callable[[Any], bool]
    """Whether the numbers of a tensor are others than those in its memory."""


def exchange_functions(of: type) -> Functions | None:
    """The functions of a type of tensors; None if it has none that are known here."""
    capsule = getattr(of, _ATTRIBUTE, None)
    if capsule is None:
        return None
    prototype = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, ctypes.c_char_p)
    address = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))(capsule, _CAPSULE)
    functions = Functions.from_address(address)
    is_known = functions.major == _OLDEST[0] and functions.minor >= _OLDEST[1]
    has_all = functions.read and functions.allocate and functions.wrap
    return functions if is_known and has_all else None
