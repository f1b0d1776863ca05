"""Between the user's arrays and lanes: `@gather` and `@scatter`, in LLVM's language.

A lane buffer holds, for each number of a sample, one register with that number of every sample of a group. Rows
of contiguous numbers are moved a square block at a time and transposed in registers; the last block overlaps its
neighbour where the row's length is no multiple of the lanes. Anything else (other strides, a last group that is
not full) moves number by number. Lanes beyond the last sample repeat it and are never stored.
"""

from __future__ import annotations

from kinetree.codegen.precision import Precision

__all__ = ["lane_copies"]


def lane_copies(lanes: int, precision: Precision) -> str:
    """`@gather(array, row_stride, column_stride, columns, rows, buffer)` and `@scatter`, its opposite."""
    return _function("gather", lanes, precision) + _function("scatter", lanes, precision)


def _function(name: str, lanes: int, precision: Precision) -> str:
    n, size = lanes, precision.bytes
    block, element = _block(name, lanes, precision), _element(name, precision)
    lane_count = n if name == "gather" else "%rows"
    return f"""
define internal void @{name}(
    ptr %array, i64 %row_stride, i64 %column_stride, i64 %columns, i64 %rows, ptr %buffer) #0 {{
start:
  %contiguous = icmp eq i64 %column_stride, {size}
  %full = icmp eq i64 %rows, {n}
  %wide = icmp sge i64 %columns, {n}
  %both = and i1 %contiguous, %full
  %fast = and i1 %both, %wide
  %last = sub i64 %columns, {n}
  %last_row = sub i64 %rows, 1
  br i1 %fast, label %block, label %columns_loop
block:
  %j = phi i64 [0, %start], [%j_next, %block]
{block}
  %done = icmp eq i64 %j, %last
  %j_step = add i64 %j, {n}
  %over = icmp sgt i64 %j_step, %last
  %j_next = select i1 %over, i64 %last, i64 %j_step
  br i1 %done, label %end, label %block
columns_loop:
  %c = phi i64 [0, %start], [%c_next, %columns_next]
  %c_done = icmp eq i64 %c, %columns
  br i1 %c_done, label %end, label %lanes_loop
lanes_loop:
  %l = phi i64 [0, %columns_loop], [%l_next, %lanes_loop]
  %beyond = icmp sgt i64 %l, %last_row
  %row = select i1 %beyond, i64 %last_row, i64 %l
  %row_offset = mul i64 %row, %row_stride
  %column_offset = mul i64 %c, %column_stride
  %offset = add i64 %row_offset, %column_offset
  %in_array = getelementptr i8, ptr %array, i64 %offset
  %in_row = mul i64 %c, {n}
  %in_lane = add i64 %in_row, %l
  %in_buffer = getelementptr {precision.type}, ptr %buffer, i64 %in_lane
{element}
  %l_next = add i64 %l, 1
  %l_done = icmp eq i64 %l_next, {lane_count}
  br i1 %l_done, label %columns_next, label %lanes_loop
columns_next:
  %c_next = add i64 %c, 1
  br label %columns_loop
end:
  ret void
}}
"""


def _element(name: str, precision: Precision) -> str:
    """One number, from its place in the array to its place in the buffer or back."""
    array, buffer = ("%in_array", ", align 1"), ("%in_buffer", "")
    (source, from_align), (target, to_align) = (array, buffer) if name == "gather" else (buffer, array)
    return f"""\
  %x = load {precision.type}, ptr {source}{from_align}
  store {precision.type} %x, ptr {target}{to_align}"""


def _block(name: str, lanes: int, precision: Precision) -> str:
    """A square of rows of the array and registers of the buffer: load, transpose, store."""
    V, width = f"<{lanes} x {precision.type}>", lanes * precision.bytes
    lines: list[str] = []

    def row(k: int) -> str:
        lines.extend(
            (
                f"  %row_{k} = mul i64 %row_stride, {k}",
                f"  %start_{k} = getelementptr i8, ptr %array, i64 %row_{k}",
                f"  %row_at_{k} = getelementptr {precision.type}, ptr %start_{k}, i64 %j",
            )
        )
        return f"ptr %row_at_{k}, align 1"

    def column(k: int) -> str:
        lines.append(f"  %column_{k} = add i64 %j, {k}")
        lines.append(f"  %column_at_{k} = getelementptr {V}, ptr %buffer, i64 %column_{k}")
        return f"ptr %column_at_{k}, align {width}"

    source, target = (row, column) if name == "gather" else (column, row)
    for k in range(lanes):
        place = source(k)
        lines.append(f"  %v_{k} = load {V}, {place}")
    for k, register in enumerate(_transpose([f"%v_{k}" for k in range(lanes)], V, lines)):
        place = target(k)
        lines.append(f"  store {V} {register}, {place}")
    return "\n".join(lines)


def _transpose(names: list[str], V: str, lines: list[str]) -> list[str]:
    """Transpose a square block of registers: swap off-diagonal squares of 1, 2, 4, … elements (Eklundh)."""
    n = len(names)
    distance = 1
    while distance < n:
        low = ", ".join(f"i32 {e if e & distance == 0 else n + e - distance}" for e in range(n))
        high = ", ".join(f"i32 {e + distance if e & distance == 0 else n + e}" for e in range(n))
        swapped = list(names)
        for k in range(n):
            if k & distance:
                continue
            a, b = names[k], names[k + distance]
            for index, mask in ((k, low), (k + distance, high)):
                swapped[index] = f"%t{distance}_{index}"
                lines.append(f"  {swapped[index]} = shufflevector {V} {a}, {V} {b}, <{n} x i32> <{mask}>")
        names = swapped
        distance *= 2
    return names
