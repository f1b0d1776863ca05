"""Arrays of a block of samples, through shared memory, in LLVM IR.

The threads of a block copy adjacent elements of the array together, so that each access is one of whole lines; then
each thread reads or writes its own row. Rows are an odd number of places apart, so that the threads of a warp meet in
no bank. A row longer than a line goes in pieces of one line.
"""

from __future__ import annotations

from collections.abc import Iterable

from kinetree.codegen.llvm.precision import Precision

__all__ = ["Tiles", "widths"]

_LINE = 128
"""Bytes that a warp's access takes from memory at once."""
_AT_ONCE = 4
"""Numbers that a thread has on their way; all of a row would keep their places in registers until the results go."""


def widths(size: int, precision: Precision) -> list[tuple[int, int]]:
    """(start, width) of the pieces in which a row of this size goes.

    >>> from kinetree.codegen.llvm.precision import F64
    >>> widths(19, F64)
    [(0, 16), (16, 3)]
    """
    most = _LINE // precision.bytes
    return [(start, min(most, size - start)) for start in range(0, size, most)]


class Tiles:
    """The functions for the pieces of some rows, and calls of them."""

    def __init__(self, sizes: Iterable[int], precision: Precision, block: int) -> None:
        """`sizes`: of the rows; `block`: how many threads there are."""
        self._precision = precision
        self._block = block
        self._widths = sorted({width for size in sizes for _, width in widths(size, precision)})

    def functions(self) -> str:
        """The shared memory, and for each width `@fetch`, `@take`, `@give` and `@put`."""
        if not self._widths:
            return ""
        places = self._block * max(map(_stride, self._widths))
        tile = f"@tile = internal addrspace(3) global [{places} x {self._precision.type}] undef, align 16"
        return "\n".join([tile, *(text for width in self._widths for text in (self._shared(width), self._own(width)))])

    def read(self, width: int, source: str, stride: str, place: str) -> list[str]:
        """Calls that bring one piece of every row at `source` to the thread's own memory at `place`."""
        return [
            f"  call void @fetch_{width}(ptr addrspace(1) {source}, i64 {stride}, i32 %rows, i32 %thread)",
            "  call void @llvm.nvvm.barrier0()",
            f"  call void @take_{width}(ptr {place}, i32 %thread)",
            "  call void @llvm.nvvm.barrier0()",
        ]

    def write(self, width: int, target: str, stride: str, place: str) -> list[str]:
        """Calls that bring the thread's own memory at `place` to one piece of every row at `target`."""
        return [
            f"  call void @give_{width}(ptr {place}, i32 %thread)",
            "  call void @llvm.nvvm.barrier0()",
            f"  call void @put_{width}(ptr addrspace(1) {target}, i64 {stride}, i32 %rows, i32 %thread)",
            "  call void @llvm.nvvm.barrier0()",
        ]

    def _shared(self, width: int) -> str:
        """The copies that all threads of a block make together, a few numbers at once, so that they are on their way
        together. Elements beyond the last row repeat the last number."""
        t, at_once = self._precision.type, min(_AT_ONCE, width)
        functions = []
        for name, source, target in (("fetch", "far", "near"), ("put", "near", "far")):
            space = {"near": "ptr addrspace(3)", "far": "ptr addrspace(1)"}
            lines = [
                f"define internal void @{name}_{width}(ptr addrspace(1) %rows_at, i64 %stride, i32 %rows, i32 %thread) "
                "alwaysinline {",
                "start:",
                f"  %total = mul i32 %rows, {width}",
                "  %last = sub i32 %total, 1",
                "  br label %head",
                "head:",
                "  %k = phi i32 [%thread, %start], [%next, %body]",
                "  %more = icmp slt i32 %k, %total",
                "  br i1 %more, label %body, label %end",
                "body:",
            ]
            for n in range(at_once):
                lines += [
                    f"  %any{n} = add i32 %k, {n * self._block}",
                    f"  %is_one{n} = icmp slt i32 %any{n}, %total",
                    f"  %k{n} = select i1 %is_one{n}, i32 %any{n}, i32 %last",
                    f"  %row{n} = udiv i32 %k{n}, {width}",
                    f"  %column{n} = urem i32 %k{n}, {width}",
                    f"  %row_w{n} = zext i32 %row{n} to i64",
                    f"  %column_w{n} = zext i32 %column{n} to i64",
                    f"  %start_of_row{n} = mul i64 %row_w{n}, %stride",
                    f"  %far_at{n} = add i64 %start_of_row{n}, %column_w{n}",
                    f"  %far{n} = getelementptr {t}, ptr addrspace(1) %rows_at, i64 %far_at{n}",
                    f"  %near_row{n} = mul i32 %row{n}, {_stride(width)}",
                    f"  %near_at{n} = add i32 %near_row{n}, %column{n}",
                    f"  %near{n} = getelementptr {t}, ptr addrspace(3) @tile, i32 %near_at{n}",
                    f"  %x{n} = load {t}, {space[source]} %{source}{n}",
                ]
            lines += [f"  store {t} %x{n}, {space[target]} %{target}{n}" for n in range(at_once)]
            lines += [
                f"  %next = add i32 %k, {at_once * self._block}",
                "  br label %head",
                "end:",
                "  ret void",
                "}",
            ]
            functions.append("\n".join(lines))
        return "\n".join(functions)

    def _own(self, width: int) -> str:
        """The copies between the shared memory and that of a thread. Written out, they are registers in the end."""
        t = self._precision.type
        functions = []
        for name, source, target in (("take", "near", "own"), ("give", "own", "near")):
            space = {"near": "ptr addrspace(3)", "own": "ptr"}
            lines = [
                f"define internal void @{name}_{width}(ptr %place, i32 %thread) alwaysinline {{",
                f"  %row = mul i32 %thread, {_stride(width)}",
            ]
            for k in range(width):
                lines += [
                    f"  %at{k} = add i32 %row, {k}",
                    f"  %near{k} = getelementptr {t}, ptr addrspace(3) @tile, i32 %at{k}",
                    f"  %own{k} = getelementptr {t}, ptr %place, i64 {k}",
                    f"  %x{k} = load {t}, {space[source]} %{source}{k}",
                    f"  store {t} %x{k}, {space[target]} %{target}{k}",
                ]
            functions.append("\n".join([*lines, "  ret void", "}"]))
        return "\n".join(functions)


def _stride(width: int) -> int:
    """The distance between rows in shared memory."""
    return width | 1
