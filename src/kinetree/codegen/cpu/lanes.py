"""Copies between the user's arrays and lanes, in LLVM IR.

A lane buffer holds, for each number of a sample, one register with that number of every sample of a group. The buffer
of a packed result (packing.py) holds each distinct number once, and a table gives the register of each entry. How a
group is copied depends on its memory layout, and is decided for every group and argument:

- Numbers that are contiguous in a sample, all or those of its last axis, are moved in blocks (blocks.py).
- A number that is contiguous across samples, as in a transposed array, is already a register.
- Anything else is moved number by number.

In an incomplete last group the lanes beyond the last sample repeat it: blocks read its row, and write the same results
to it, once for each of these lanes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from kinetree.codegen.cpu.blocks import PACKED, Blocks, row_copies, widest_block
from kinetree.codegen.cpu.streaming import can_stream, stream_row
from kinetree.codegen.llvm.precision import Lanes

__all__ = ["PACKED", "lane_copies", "port_copies", "port_copy"]

Shape = tuple[int, ...]


def port_copy(name: str, shape: Shape) -> str:
    """Name of the function that gathers or scatters arguments of this shape, as `port_copies` writes it.

        >>> port_copy("gather", (6, 7))
        '@gather_6x7'

    Its arguments are `(array, row_stride, steps, rows, buffer)`: the group's first sample, the bytes from a sample to
    the next, a pointer to the byte steps of the core axes, the number of samples (at most the number of lanes), and
    the lane buffer; then the table of registers if the result is packed, and whether to stream where that is possible
    (streaming.py).
    """
    return f"@{name}_" + ("x".join(map(str, shape)) or "scalar")


def port_copies(name: str, shapes: Iterable[Shape], lanes: Lanes) -> str:
    """Functions that `"gather"` or `"scatter"` arguments of these shapes, and the functions they call."""
    shapes = sorted({shape for shape in shapes if math.prod(shape)})
    rows = {size for shape in shapes for size in (math.prod(shape), *shape[-1:])}
    texts = [row_copies(name, columns, lanes) for columns in sorted(rows)]
    if name != "gather":
        streamed = {math.prod(shape) for shape in shapes if can_stream(shape, lanes)}
        texts += [stream_row(name, columns, lanes) for columns in sorted(streamed)]
    texts += [_port_copy(name, shape, lanes) for shape in shapes]
    if name == PACKED and shapes:
        texts.append(_any_strides(PACKED, lanes))
    return "".join(texts)


def lane_copies(lanes: Lanes) -> str:
    """`@gather(array, row_stride, column_stride, columns, rows, buffer)` for any strides; `@scatter`, its opposite."""
    return _any_strides("gather", lanes) + _any_strides("scatter", lanes)


def _port_copy(name: str, shape: Shape, lanes: Lanes) -> str:
    columns, size, bytes = (shape or (1,))[-1], math.prod(shape), lanes.precision.bytes
    strides, offset, fits = "", "", ["true"] * (len(shape) + 1)
    for axis, extent in reversed(list(enumerate(shape))):
        inner = math.prod(shape[axis + 1 :])
        strides += f"""
  %s_{axis}_p = getelementptr i64, ptr %steps, i64 {axis}
  %s_{axis} = load i64, ptr %s_{axis}_p"""
        fits[axis] = fits[axis + 1]
        if extent > 1:  # the stride of an axis of length one has no meaning
            strides += f"""
  %is_{axis} = icmp eq i64 %s_{axis}, {inner * bytes}
  %fits_{axis} = and i1 %is_{axis}, {fits[axis]}"""
            fits[axis] = f"%fits_{axis}"
        if axis < len(shape) - 1:
            offset += f"""
  %slice_{axis} = udiv i64 %r, {inner // columns}
  %index_{axis} = urem i64 %slice_{axis}, {extent}
  %offset_{axis} = mul i64 %index_{axis}, %s_{axis}
  %row_{axis} = getelementptr i8, ptr %{f"row_{axis + 1}" if axis < len(shape) - 2 else "array"}, i64 %offset_{axis}"""
    row = "%row_0" if len(shape) > 1 else "%array"
    if name == PACKED:
        places, of_row = ", ptr %places", "ptr %buffer, ptr %row_places"
        at_row = "%row_places = getelementptr i32, ptr %places, i64 %number"
    else:
        places, of_row = "", "ptr %row_buffer"
        at_row = f"%row_buffer = getelementptr {lanes.numbers}, ptr %buffer, i64 %number"
    arguments, stream, streamed = f"ptr %array, i64 %row_stride, ptr %buffer{places}", "", ""
    if name != "gather" and can_stream(shape, lanes):
        stream = ", i1 %stream"
        streamed = f"""
  br i1 %stream, label %past_caches, label %as_usual
past_caches:
  call void @{name.replace("scatter", "stream")}_row_{size}({arguments})
  ret void
as_usual:"""
    return f"""
define internal void {port_copy(name, shape)}(
    ptr %array, i64 %row_stride, ptr %steps, i64 %rows, ptr %buffer{places}{stream}) #0 {{
start:{strides}
  %full = icmp eq i64 %rows, {lanes.count}
  %apart = icmp ne i64 %row_stride, {bytes}
  %blocks = and i1 %full, %apart
  %row_in_blocks = and i1 %blocks, {fits[max(len(shape) - 1, 0)]}
  br i1 {fits[0]}, label %at_once, label %by_row
at_once:
  br i1 %blocks, label %all_in_blocks, label %in_one
in_one:
  call void @{name}(ptr %array, i64 %row_stride, i64 {bytes}, i64 {size}, i64 %rows, ptr %buffer{places})
  ret void
all_in_blocks:{streamed}
  call void @{name}_row_{size}({arguments})
  ret void
by_row:
  %r = phi i64 [0, %start], [%r_next, %next]{offset}
  %number = mul i64 %r, {columns}
  {at_row}
  br i1 %row_in_blocks, label %in_blocks, label %in_numbers
in_blocks:
  call void @{name}_row_{columns}(ptr {row}, i64 %row_stride, {of_row})
  br label %next
in_numbers:
  call void @{name}(ptr {row}, i64 %row_stride, i64 {f"%s_{len(shape) - 1}" if shape else "0"}, i64 {columns},
      i64 %rows, {of_row})
  br label %next
next:
  %r_next = add i64 %r, 1
  %r_done = icmp eq i64 %r_next, {size // columns}
  br i1 %r_done, label %end, label %by_row
end:
  ret void
}}
"""


def _any_strides(name: str, lanes: Lanes) -> str:
    n, size, V = lanes.count, lanes.precision.bytes, lanes.numbers
    of_register, of_column, places = ("%g", "%c", "") if name != PACKED else ("%g_place", "%c_place", ", ptr %places")
    fill, filled = "  br label %lanes_loop", ""
    if name == "gather":
        # Lanes beyond the last sample repeat it: all lanes take its number at once, and the others are overwritten.
        filled = ", [0, %fill]"
        fill = f"""\
  br i1 %full, label %lanes_loop, label %fill
fill:
  %last_row_offset = mul i64 %last_row, %row_stride
  %last_offset = add i64 %last_row_offset, %column_offset
  %last_in_array = getelementptr i8, ptr %array, i64 %last_offset
  %last = load {lanes.precision.type}, ptr %last_in_array, align 1
  %last_0 = {lanes.with_lane("poison", 0, lanes.precision.type, "%last")}
  %last_v = {lanes.repeated("%last_0")}
  %all_in_buffer = getelementptr {V}, ptr %buffer, i64 %c
  store {V} %last_v, ptr %all_in_buffer
  br label %lanes_loop"""
    width = widest_block(name, lanes.count)
    return f"""
define internal void @{name}(
    ptr %array, i64 %row_stride, i64 %column_stride, i64 %columns, i64 %rows, ptr %buffer{places}) #0 {{
start:
  %full = icmp eq i64 %rows, {n}
  %adjacent = icmp eq i64 %row_stride, {size}
  %whole = and i1 %full, %adjacent
  %last_row = sub i64 %rows, 1
  br i1 %whole, label %registers_loop, label %partial
partial:
  %contiguous = icmp eq i64 %column_stride, {size}
  %many = icmp uge i64 %columns, {width}
  %blocks = and i1 %contiguous, %many
  br i1 %blocks, label %rows_known, label %columns_loop
rows_known:{_rows(n)}
  %last_j = sub i64 %columns, {width}
  br label %block
block:
  %j = phi i64 [0, %rows_known], [%j_next, %block]
{Blocks(name, lanes, [f"%p_{k}" for k in range(n)]).text("%j", width)}
  %j_after = add i64 %j, {width}
  %j_next = call i64 @llvm.umin.i64(i64 %j_after, i64 %last_j)  ; the last block overlaps the one before it
  %j_done = icmp eq i64 %j, %last_j
  br i1 %j_done, label %end, label %block
registers_loop:
  %g = phi i64 [0, %start], [%g_next, %registers_loop]{_place(name, "%g")}
  %register_offset = mul i64 %g, %column_stride
  %register_in_array = getelementptr i8, ptr %array, i64 %register_offset
  %register_in_buffer = getelementptr {V}, ptr %buffer, i64 {of_register}
{_move(name, V, "%register_in_array", "%register_in_buffer")}
  %g_next = add i64 %g, 1
  %g_done = icmp eq i64 %g_next, %columns
  br i1 %g_done, label %end, label %registers_loop
columns_loop:
  %c = phi i64 [0, %partial], [%c_next, %columns_next]{_place(name, "%c")}
  %in_row = mul i64 {of_column}, {n}
  %column_offset = mul i64 %c, %column_stride
{fill}
lanes_loop:
  %l = phi i64 [0, %columns_loop]{filled}, [%l_next, %lanes_loop]
  %row_offset = mul i64 %l, %row_stride
  %offset = add i64 %row_offset, %column_offset
  %in_array = getelementptr i8, ptr %array, i64 %offset
  %in_lane = add i64 %in_row, %l
  %in_buffer = getelementptr {lanes.precision.type}, ptr %buffer, i64 %in_lane
{_move(name, lanes.precision.type, "%in_array", "%in_buffer")}
  %l_next = add i64 %l, 1
  %l_done = icmp eq i64 %l_next, %rows
  br i1 %l_done, label %columns_next, label %lanes_loop
columns_next:
  %c_next = add i64 %c, 1
  %c_done = icmp eq i64 %c_next, %columns
  br i1 %c_done, label %end, label %columns_loop
end:
  ret void
}}
"""


def _rows(lanes: int) -> str:
    """`%p_0`, `%p_1`, …: pointers to the rows of an incomplete group; the last one is repeated."""
    return "".join(
        f"""
  %p_{k}_row = call i64 @llvm.umin.i64(i64 {k}, i64 %last_row)
  %p_{k}_offset = mul i64 %p_{k}_row, %row_stride
  %p_{k} = getelementptr i8, ptr %array, i64 %p_{k}_offset"""
        for k in range(lanes)
    )


def _place(name: str, column: str) -> str:
    """The register of a column of a packed result, as `column`_place."""
    if name != PACKED:
        return ""
    return f"""
  {column}_entry = getelementptr i32, ptr %places, i64 {column}
  {column}_i32 = load i32, ptr {column}_entry, !invariant.load !1
  {column}_place = zext i32 {column}_i32 to i64"""


def _move(name: str, what: str, in_array: str, in_buffer: str) -> str:
    """Move one number or register from its place in the array to its place in the buffer, or back."""
    array, buffer = f"{in_array}, align 1", in_buffer
    source, target = (array, buffer) if name == "gather" else (buffer, array)
    x = f"{in_array}_x"
    return f"""\
  {x} = load {what}, ptr {source}
  store {what} {x}, ptr {target}"""
