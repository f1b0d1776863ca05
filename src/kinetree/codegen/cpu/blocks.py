"""Copy rows of contiguous numbers to lanes and back, one block of columns at a time, in LLVM IR.

A block has as many rows as there are lanes, and `width` columns, a power of two. Its rows `i`, `i + width`,
`i + 2 width`, … are placed side by side in register `i` as they are loaded; then the squares that lie side by side in
the registers are transposed, all at once. The wider a block, the fewer loads or stores and the more shuffles: half the
lanes is the best width for gathering, all the lanes for scattering, where the number of stores matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kinetree.codegen.llvm.precision import Lanes

__all__ = ["PACKED", "Blocks", "rest_of_row", "row_copies", "widest_block"]

PACKED = "scatter_packed"
"""Name of the function that scatters a packed result; its extra argument is the table of registers as `i32`."""


def row_copies(name: str, columns: int, lanes: Lanes) -> str:
    """`@gather_row_6(array, row_stride, buffer)`: a full group of rows of six numbers; or `@scatter_row_6`.

    `@scatter_packed_row_6` has a fourth argument: the register number in the buffer for each column. Nothing outside
    the rows is read or written.
    """
    width = 1 << (min(columns, widest_block(name, lanes.count)).bit_length() - 1)
    whole = columns // width * width
    block = Blocks(name, lanes)
    rest = "\n".join(block.text(f"{at}", part) for at, part in rest_of_row(columns, width))
    return f"""
define internal void @{name}_row_{columns}(
    ptr %array, i64 %row_stride, ptr %buffer{", ptr %places" if name == PACKED else ""}) #0 {{
start:
  %two_rows = shl i64 %row_stride, 1
  br label %block
block:
  %j = phi i64 [0, %start], [%j_next, %block]
{block.text("%j", width)}
  %j_next = add i64 %j, {width}
  %done = icmp eq i64 %j_next, {whole}
  br i1 %done, label %rest, label %block
rest:
{rest}
  ret void
}}
"""


def widest_block(name: str, lanes: int) -> int:
    """The number of columns of the widest block that is worth it."""
    return max(lanes // 2, min(lanes, 2)) if name == "gather" else lanes


def rest_of_row(columns: int, width: int) -> Iterator[tuple[int, int]]:
    """Starts and widths of the blocks for the columns left over by blocks of `width`."""
    left = columns % width
    if left == 0:
        return
    if left.bit_count() == 1 and width > 2:
        yield columns - left, left
    else:  # one block that overlaps its neighbour is cheaper than two narrow ones or single numbers
        yield columns - width, width


class Blocks:
    """Writes blocks of one function, with a unique name for each value."""

    def __init__(self, name: str, lanes: Lanes, rows: Sequence[str] = ()) -> None:
        """`rows`: pointers to the rows, if they are known; otherwise `%row_stride` and `%two_rows` lead to them."""
        self._rows = rows
        self._gather = name == "gather"
        self._packed = name == PACKED
        self._lanes = lanes
        self._type = lanes.precision.type
        self._width_in_bytes = lanes.bytes
        self._V = lanes.numbers
        self._lines: list[str] = []
        self._count = 0

    def text(self, first: str, width: int) -> str:
        """The block of columns `first` to `first + width`."""
        self._lines = []
        rows = self._row_pointers(first)
        if self._gather:
            parts = [self._new(f"load {self._part(width)}, ptr {row}, align 1") for row in rows]
            registers = self._transpose([self._side_by_side(parts[i::width], width) for i in range(width)])
            for column, register in zip(self._column_pointers(first, width), registers, strict=True):
                self._lines.append(f"  store {self._V} {register}, ptr {column}, align {self._width_in_bytes}")
        else:
            registers = self._registers(first, width)
            for k, row in enumerate(rows):
                part = self._cut_out(registers[k % width], k // width * width, width)
                self._lines.append(f"  store {self._part(width)} {part}, ptr {row}, align 1")
        return "\n".join(self._lines)

    def square(self, first: str) -> tuple[str, list[str]]:
        """As many columns as rows from the lanes: the text, and one register per row."""
        self._lines = []
        rows = self._registers(first, self._lanes.count)
        return "\n".join(self._lines), rows

    def _registers(self, first: str, width: int) -> list[str]:
        columns = self._column_pointers(first, width)
        if width == self._lanes.count > 2:
            return self._transpose(self._halves_swapped(columns), width // 2)
        return self._transpose([self._new(f"load {self._V}, ptr {c}, align {self._width_in_bytes}") for c in columns])

    def _new(self, value: str) -> str:
        self._count += 1
        name = f"%b{self._count}"
        self._lines.append(f"  {name} = {value}")
        return name

    def _part(self, width: int) -> str:
        return self._type if width == 1 else f"<{width} x {self._type}>"

    def _row_pointers(self, first: str) -> list[str]:
        """Compute each row pointer from the one two rows before: few registers then hold all addresses."""
        if self._rows:
            return [self._new(f"getelementptr {self._type}, ptr {row}, i64 {first}") for row in self._rows]
        rows = [self._new(f"getelementptr {self._type}, ptr %array, i64 {first}")]
        for k in range(1, self._lanes.count):
            before, step = (rows[k - 1], "%row_stride") if k % 2 else (rows[k - 2], "%two_rows")
            rows.append(self._new(f"getelementptr i8, ptr {before}, i64 {step}"))
        return rows

    def _column_pointers(self, first: str, width: int) -> list[str]:
        if self._packed:
            return [self._packed_pointer(first, k) for k in range(width)]
        start = self._new(f"getelementptr {self._V}, ptr %buffer, i64 {first}")
        return [self._new(f"getelementptr {self._V}, ptr {start}, i64 {k}") for k in range(width)]

    def _packed_pointer(self, first: str, k: int) -> str:
        entry = self._new(f"getelementptr i32, ptr %places, i64 {first}")
        entry = self._new(f"getelementptr i32, ptr {entry}, i64 {k}")
        place = self._new(f"zext i32 {self._new(f'load i32, ptr {entry}, !invariant.load !1')} to i64")
        return self._new(f"getelementptr {self._V}, ptr %buffer, i64 {place}")

    def _side_by_side(self, parts: list[str], width: int) -> str:
        """One register that holds the parts in order."""
        if width == 1:
            total = "poison"
            for k, part in enumerate(parts):
                total = self._new(self._lanes.with_lane(total, k, self._type, part))
            return total
        while len(parts) > 1:
            V, wide = self._part(width), ", ".join(f"i32 {k}" for k in range(2 * width))
            parts = [
                self._new(f"shufflevector {V} {a}, {V} {b}, <{2 * width} x i32> <{wide}>")
                for a, b in zip(parts[::2], parts[1::2], strict=True)
            ]
            width *= 2
        return parts[0]

    def _cut_out(self, register: str, first: int, width: int) -> str:
        if width == 1:
            return self._new(self._lanes.of(register, first, self._type))
        places = ", ".join(f"i32 {first + k}" for k in range(width))
        return self._new(f"shufflevector {self._V} {register}, {self._V} poison, <{width} x i32> <{places}>")

    def _halves_swapped(self, columns: list[str]) -> list[str]:
        """The registers of a square after the transposition step with the largest squares, which loads alone can do."""
        half = self._lanes.count // 2
        part = self._part(half)
        low: list[str] = []
        high: list[str] = []
        for k in range(half):
            for half_registers, offset in ((low, 0), (high, half)):
                parts = []
                for column in (columns[k], columns[k + half]):
                    place = self._new(f"getelementptr {self._type}, ptr {column}, i64 {offset}")
                    parts.append(self._new(f"load {part}, ptr {place}, align {self._width_in_bytes // 2}"))
                half_registers.append(self._side_by_side(parts, half))
        return low + high

    def _transpose(self, names: list[str], below: int = 0) -> list[str]:
        """Transpose the squares side by side: swap off-diagonal squares of 1, 2, 4, … elements (Eklundh).

        `below`: squares of this many elements or more are already swapped.
        """
        n, V = self._lanes.count, self._V
        distance = 1
        while distance < (below or len(names)):
            low = ", ".join(f"i32 {e if e & distance == 0 else n + e - distance}" for e in range(n))
            high = ", ".join(f"i32 {e + distance if e & distance == 0 else n + e}" for e in range(n))
            swapped = list(names)
            for k in range(len(names)):
                if k & distance:
                    continue
                a, b = names[k], names[k + distance]
                for index, mask in ((k, low), (k + distance, high)):
                    swapped[index] = self._new(f"shufflevector {V} {a}, {V} {b}, <{n} x i32> <{mask}>")
            names = swapped
            distance *= 2
        return names
