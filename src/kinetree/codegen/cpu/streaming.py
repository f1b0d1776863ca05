"""Store rows of results past the caches, straight to memory, in LLVM IR.

An ordinary store reads its cache line first. If a result is larger than the caches, that line comes from memory and
goes back there: twice the traffic, and most of the time. A store past the caches avoids this, but writes whole lines,
and rows seldom begin at a line boundary. So each row's blocks are shifted to its lines: a line is the end of one block
and the beginning of the next. The parts before a row's first whole line and after its last are stored as usual.

Only processors with registers as wide as a line can do this with one shuffle per line: x86 with AVX-512.
"""

from __future__ import annotations

import math

from kinetree.codegen.cpu.blocks import PACKED, Blocks, rest_of_row
from kinetree.codegen.llvm.precision import Lanes

__all__ = ["STREAMED_FROM", "can_stream", "stream_declarations", "stream_row"]

STREAMED_FROM = 1 << 23
"""Bytes of result from which it is streamed. Near this size an ordinary store is slightly faster if the last-level
cache still holds the line, and much slower if not; results this large are seldom rewritten while still cached."""
_LINE = 64
_LONG = 16
"""Lines per row from which streaming pays: two of them are stored as usual."""


def can_stream(shape: tuple[int, ...], lanes: Lanes) -> bool:
    """Whether results of this shape can be stored past the caches by the processor that has these registers."""
    return (
        lanes.bytes == _LINE and math.prod(shape) * lanes.precision.bytes >= _LONG * _LINE
    )  # 512 bits: only x86 has them


def stream_declarations(lanes: Lanes) -> str:
    """Declarations for `stream_row`, and `@llvm.x86.sse.sfence()`, or other threads may not see its results."""
    V = lanes.numbers
    return f"""
declare {V} @{_permute(lanes)}({V}, {lanes.integers}, {V})
declare void @llvm.masked.store.{lanes.suffix}.p0({V}, ptr, i32, {lanes.flags})
declare void @llvm.x86.sse.sfence()
!2 = !{{i32 1}}
"""


def stream_row(name: str, columns: int, lanes: Lanes) -> str:
    """`@stream_row_1444(array, row_stride, buffer)`: like `@scatter_row_1444`, for aligned numbers.

    `@stream_packed_row_1444` takes the table of registers as a fourth argument.
    """
    n, t, size = lanes.count, lanes.precision.type, lanes.precision.bytes
    V, I = lanes.numbers, lanes.integers
    whole = columns // n * n
    blocks = Blocks(name, lanes)
    start: list[str] = []
    first: list[str] = []
    middle: list[str] = []
    end: list[str] = []
    numbers = ", ".join(f"{lanes.precision.integer} {k}" for k in range(n))
    first_lines, first_block = blocks.square("0")
    lines, block = blocks.square("%j")
    for k in range(n):
        less = f"%less{k}" if size == 8 else f"%less_n{k}"
        start += [
            f"  %step{k} = mul i64 %row_stride, {k}",
            f"  %row{k} = getelementptr i8, ptr %array, i64 %step{k}",
            f"  %address{k} = ptrtoint ptr %row{k} to i64",
            f"  %over{k} = and i64 %address{k}, {_LINE - 1}",
            f"  %back{k} = sub i64 0, %over{k}",
            f"  %line{k} = getelementptr i8, ptr %row{k}, i64 %back{k}",
            f"  %before{k} = lshr exact i64 %over{k}, {size.bit_length() - 1}",
            f"  %less{k} = sub i64 {n}, %before{k}",
            *([f"  {less} = trunc i64 %less{k} to {lanes.precision.integer}"] if size < 8 else []),
            f"  %less_0{k} = insertelement {I} poison, {lanes.precision.integer} {less}, i32 0",
            f"  %less_v{k} = shufflevector {I} %less_0{k}, {I} poison, <{n} x i32> zeroinitializer",
            f"  %from{k} = add {I} %less_v{k}, <{numbers}>",
            # From the line that a row begins in, take the lanes from the row's start; from the next line, the others.
            f"  %own{k} = icmp uge {I} %from{k}, {lanes.integer(n)}",
            f"  %others{k} = xor {lanes.flags} %own{k}, splat (i1 true)",
        ]
        first += [
            f"  %head{k} = call {V} @{_permute(lanes)}({V} {first_block[k]}, {I} %from{k}, {V} {first_block[k]})",
            f"  call void @llvm.masked.store.{lanes.suffix}.p0("
            f"{V} %head{k}, ptr %line{k}, i32 {_LINE}, {lanes.flags} %own{k})",
        ]
        middle += [
            f"  %shifted{k} = call {V} @{_permute(lanes)}({V} %last{k}, {I} %from{k}, {V} {block[k]})",
            f"  %place{k} = getelementptr {t}, ptr %line{k}, i64 %j",
            f"  store {V} %shifted{k}, ptr %place{k}, align {_LINE}, !nontemporal !2",
        ]
        end += [
            f"  %tail{k} = call {V} @{_permute(lanes)}({V} %last{k}, {I} %from{k}, {V} %last{k})",
            f"  %end{k} = getelementptr {t}, ptr %line{k}, i64 {whole}",
            f"  call void @llvm.masked.store.{lanes.suffix}.p0("
            f"{V} %tail{k}, ptr %end{k}, i32 {_LINE}, {lanes.flags} %others{k})",
        ]
    phis = "\n".join(f"  %last{k} = phi {V} [{first_block[k]}, %start], [{block[k]}, %more]" for k in range(n))
    rest = "\n".join(blocks.text(f"{at}", width) for at, width in rest_of_row(columns, n))
    newline = "\n"
    return f"""
define internal void @{name.replace("scatter", "stream")}_row_{columns}(
    ptr %array, i64 %row_stride, ptr %buffer{", ptr %places" if name == PACKED else ""}) #0 {{
start:
  %two_rows = shl i64 %row_stride, 1
{newline.join(start)}
{first_lines}
{newline.join(first)}
  br label %block
block:
  %j = phi i64 [{n}, %start], [%j_next, %more]
{phis}
  %is_more = icmp slt i64 %j, {whole}
  br i1 %is_more, label %more, label %rest
more:
{lines}
{newline.join(middle)}
  %j_next = add i64 %j, {n}
  br label %block
rest:
{newline.join(end)}
{rest}
  ret void
}}
"""


def _permute(lanes: Lanes) -> str:
    return f"llvm.x86.avx512.vpermi2var.{'pd' if lanes.precision.bits == 64 else 'ps'}.512"
