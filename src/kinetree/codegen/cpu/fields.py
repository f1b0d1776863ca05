"""Fields of C structures in LLVM IR: how they are read and written."""

from __future__ import annotations

import ctypes

__all__ = ["at", "load", "loads", "store"]


def at(structure: type[ctypes.Structure], field: str, within: int = 0) -> int:
    """Where a field is, or what is `within` it."""
    offset: int = getattr(structure, field).offset
    return offset + within


def load(name: str, t: str, pointer: str, offset: int) -> str:
    """Load a field of this type as `%name`."""
    return f"  %{name}_p = getelementptr i8, ptr {pointer}, i64 {offset}\n  %{name} = load {t}, ptr %{name}_p"


def loads(structure: type[ctypes.Structure], t: str, pointer: str, *fields: str) -> str:
    """Load fields of this type by their names.

    >>> class Values(ctypes.Structure):
    ...     _fields_ = (("values", ctypes.c_void_p), ("size", ctypes.c_int64))
    >>> print(loads(Values, "i64", "%given", "size"))
      %size_p = getelementptr i8, ptr %given, i64 8
      %size = load i64, ptr %size_p
    """
    return "\n".join(load(field, t, pointer, at(structure, field)) for field in fields)


def store(name: str, value: str, pointer: str, offset: int) -> str:
    """Store a field; `name` is for its address."""
    return f"  %{name}_p = getelementptr i8, ptr {pointer}, i64 {offset}\n  store {value}, ptr %{name}_p"
