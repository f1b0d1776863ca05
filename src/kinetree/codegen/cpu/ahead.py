"""Prefetch of the result memory before it is written, in LLVM IR.

A store to a line that is in no near cache waits for the line. The memory that a group of lanes will write is known
before its arithmetic begins, so the lines are requested then and arrive in the meantime.
"""

from __future__ import annotations

__all__ = ["FETCH", "worth_fetching"]

_LINE = 64
_LEAST = 512
"""Bytes of result per sample from which prefetching pays; the processor itself predicts shorter rows."""
_MOST = 32 << 10
"""Maximum bytes of a group's results, so that they fit in a near cache during the arithmetic."""

FETCH = f"""
declare void @llvm.prefetch.p0(ptr, i32 immarg, i32 immarg, i32 immarg)
define internal void @fetch(ptr %array, i64 %row_stride, i64 %rows, i64 %bytes) #0 {{
start:
  %any = icmp sgt i64 %rows, 0
  br i1 %any, label %row, label %end
row:
  %k = phi i64 [0, %start], [%next_row, %row_end]
  %offset = mul i64 %k, %row_stride
  %first = getelementptr i8, ptr %array, i64 %offset
  br label %line
line:
  %at = phi i64 [0, %row], [%next, %line]
  %p = getelementptr i8, ptr %first, i64 %at
  call void @llvm.prefetch.p0(ptr %p, i32 1, i32 3, i32 1)
  %next = add i64 %at, {_LINE}
  %more = icmp slt i64 %next, %bytes
  br i1 %more, label %line, label %row_end
row_end:
  %next_row = add i64 %k, 1
  %more_rows = icmp slt i64 %next_row, %rows
  br i1 %more_rows, label %row, label %end
end:
  ret void
}}
"""
"""`@fetch(array, row_stride, rows, bytes)`: prefetch this many bytes of each row for writing."""


def worth_fetching(size: int, lanes: int) -> bool:
    """Whether a result of this many bytes per sample is prefetched."""
    return size >= _LEAST and size * lanes <= _MOST
