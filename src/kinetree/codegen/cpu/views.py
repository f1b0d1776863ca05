"""Arrays of C callers in LLVM IR: how their structures are read, and which shapes a call expects.

A caller's arguments are seen as an address, a rank and a shape: a tensor of DLPack's (tensor_reading.py), a buffer of
XLA's (xla.py) or an array of NumPy's (call.py). The leading axes are those before the axes of one sample.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
from ctypes import c_char_p, c_int64, c_void_p

from kinetree.codegen.backend import Kernel
from kinetree.codegen.cpu.jit import MachineCode, compile_module
from kinetree.codegen.cpu.processor import processor
from kinetree.codegen.kept.cache import kept
from kinetree.codegen.kept.identity import assembler
from kinetree.codegen.llvm.target import host

__all__ = ["COPY", "PRODUCT", "SAME", "Expected", "at", "expect", "leading", "load", "loads", "same_for_all", "stores"]


class Expected(ctypes.Structure):
    """One sample of an argument or of a result, in C order, as it must be."""

    _fields_ = (
        ("rank", c_int64),
        ("bytes", c_int64),
        ("shape", c_void_p),
        ("steps", c_void_p),  # in bytes
        ("other_array", c_char_p),
        ("other_batch", c_char_p),
    )


def expect(kernel: Kernel, code: MachineCode) -> ctypes.Array[Expected]:
    """The layout that a kernel's arguments and then its results must have; `code` keeps it."""
    ports, size = [*kernel.inputs, *kernel.outputs], kernel.dtype.itemsize
    arrays = (Expected * len(ports))()
    for port, array in zip(ports, arrays, strict=True):
        rank = len(port.shape)
        shape = (c_int64 * rank)(*port.shape)
        steps = (c_int64 * rank)(*(size * math.prod(port.shape[axis + 1 :]) for axis in range(rank)))
        array.rank, array.bytes = rank, port.size * size
        array.shape, array.steps = ctypes.addressof(shape), ctypes.addressof(steps)
        expected = ", ".join(("…", *map(str, port.shape)))
        array.other_array = f"{kernel.name}: {port.name} must be an array ({expected}) of {kernel.dtype}".encode()
        array.other_batch = (
            f"{kernel.name}: the leading axes of {port.name} must be those of the results, or absent".encode()
        )
        code.keep((shape, steps))
    code.keep(arrays)
    return arrays


def same_for_all(text: str, kernel: Kernel) -> MachineCode:
    """The code of a module whose text is the same for all kernels."""
    text = f'target triple = "{host().triple}"\n{text}'
    tools = assembler("compile_module", processor(), kernel.imported)
    key = None if tools is None else hashlib.sha256(tools + text.encode()).digest()
    return MachineCode(kept(key, lambda: compile_module(text, host())))


def at(structure: type[ctypes.Structure], field: str, within: int = 0) -> int:
    """The address of a field, or of a part `within` it."""
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


def stores(structure: type[ctypes.Structure], pointer: str, **values: str) -> str:
    """Store fields by their names; each value begins with its type."""
    lines = []
    for field, value in values.items():
        place = f"{pointer}_{field}"
        lines.append(f"  {place} = getelementptr i8, ptr {pointer}, i64 {at(structure, field)}")
        lines.append(f"  store {value}, ptr {place}")
    return "\n".join(lines)


def leading(structure: type[ctypes.Structure], rank: str, rank_type: str, shape: str) -> str:
    """`@leading(array, expected)`: how many leading axes an array has, or -1 if those of a sample are others.

    `rank`, of this type, and `shape` are fields of the caller's structure.
    """
    return f"""
define internal i64 @leading(ptr %array, ptr %expected) {{
{load("own_rank", rank_type, "%array", at(structure, rank))}
{load("own_shape", "ptr", "%array", at(structure, shape))}
{load("rank", "i64", "%expected", at(Expected, "rank"))}
{load("shape", "ptr", "%expected", at(Expected, "shape"))}
  %all = {"add i64 0, %own_rank" if rank_type == "i64" else f"sext {rank_type} %own_rank to i64"}
  %lead = sub i64 %all, %rank
  %is_enough = icmp sge i64 %lead, 0
  br i1 %is_enough, label %compared, label %other
compared:
  %core = getelementptr i64, ptr %own_shape, i64 %lead
  %same = call i1 @same(ptr %core, ptr %shape, i64 %rank)
  br i1 %same, label %right, label %other
right:
  ret i64 %lead
other:
  ret i64 -1
}}
"""


PRODUCT = """
; How many elements an array of so many extents has.
define internal i64 @product(ptr %numbers, i64 %count) {
start:
  br label %loop
loop:
  %k = phi i64 [0, %start], [%next, %one]
  %product = phi i64 [1, %start], [%larger, %one]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %end
one:
  %x_p = getelementptr i64, ptr %numbers, i64 %k
  %x = load i64, ptr %x_p
  %larger = mul i64 %product, %x
  %next = add i64 %k, 1
  br label %loop
end:
  ret i64 %product
}
"""

SAME = """
; Whether so many extents are the same.
define internal i1 @same(ptr %a, ptr %b, i64 %n) nounwind {
start:
  br label %loop
loop:
  %k = phi i64 [0, %start], [%next, %more]
  %is_done = icmp sge i64 %k, %n
  br i1 %is_done, label %end, label %more
more:
  %a_p = getelementptr i64, ptr %a, i64 %k
  %b_p = getelementptr i64, ptr %b, i64 %k
  %x = load i64, ptr %a_p
  %y = load i64, ptr %b_p
  %next = add i64 %k, 1
  %equal = icmp eq i64 %x, %y
  br i1 %equal, label %loop, label %end
end:
  ret i1 %is_done
}
"""

COPY = """
; Copy so many extents.
define internal void @copy(ptr %from, ptr %to, i64 %count) {
start:
  br label %loop
loop:
  %k = phi i64 [0, %start], [%next, %one]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %end
one:
  %from_p = getelementptr i64, ptr %from, i64 %k
  %to_p = getelementptr i64, ptr %to, i64 %k
  %x = load i64, ptr %from_p
  store i64 %x, ptr %to_p
  %next = add i64 %k, 1
  br label %loop
end:
  ret void
}
"""
