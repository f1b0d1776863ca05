"""Fields of C structures in LLVM IR: how they are read and written."""

from __future__ import annotations

import ctypes

__all__ = ["at", "load", "store"]


def at(structure: type[ctypes.Structure], field: str, within: int = 0) -> int:
    """Where a field is, or what is `within` it."""
    offset: int = getattr(structure, field).offset
    return offset + within


def load(name: str, t: str, pointer: str, offset: int) -> str:
    """Load a field of this type as `%name`."""
    return f"  %{name}_p = getelementptr i8, ptr {pointer}, i64 {offset}\n  %{name} = load {t}, ptr %{name}_p"


def store(name: str, value: str, pointer: str, offset: int) -> str:
    """Store a field; `name` is for its address."""
    return f"  %{name}_p = getelementptr i8, ptr {pointer}, i64 {offset}\n  store {value}, ptr %{name}_p"
