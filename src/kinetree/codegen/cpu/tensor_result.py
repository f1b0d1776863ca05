"""The result of a call with tensors, in LLVM IR: its tensor, which the library makes, and a batch's numbers in it."""

from __future__ import annotations

import ctypes

from kinetree.codegen.cpu.extents import PRODUCT
from kinetree.codegen.cpu.fields import at, load, store
from kinetree.codegen.cpu.tensor_task import Task
from kinetree.codegen.exchange import CPU, Tensor

__all__ = ["RESULT"]

_FLAGS = 16  # bytes: those of a kernel that looks at quaternions (batch.py)

_COPY = """
; Copy so many numbers.
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

_COMPUTE = f"""
; What the library tells its reasons to. The general function meets the same problem, and reports it.
define internal void @ignored(ptr %context, ptr %kind, ptr %message) {{
  ret void
}}

; A new tensor of the library's of this shape, or null.
define internal ptr @new(ptr %shape, i64 %rank) {{
  %prototype = alloca [{ctypes.sizeof(Tensor)} x i8], align 8
  %made = alloca ptr
{load("dtype", "i64", "@task", at(Task, "dtype"))}
{load("allocate", "ptr", "@task", at(Task, "allocate"))}
  %short_dtype = trunc i64 %dtype to i32
  %short_rank = trunc i64 %rank to i32
{store("data", "ptr null", "%prototype", at(Tensor, "data"))}
{store("device_kind", f"i32 {CPU}", "%prototype", at(Tensor, "device_kind"))}
{store("device", "i32 0", "%prototype", at(Tensor, "device"))}
{store("ndim", "i32 %short_rank", "%prototype", at(Tensor, "ndim"))}
{store("kind", "i32 %short_dtype", "%prototype", at(Tensor, "kind"))}
{store("shape", "ptr %shape", "%prototype", at(Tensor, "shape"))}
{store("strides", "ptr null", "%prototype", at(Tensor, "strides"))}
{store("offset", "i64 0", "%prototype", at(Tensor, "offset"))}
  %failure = call i32 %allocate(ptr %prototype, ptr %made, ptr null, ptr @ignored)
  %is_made = icmp eq i32 %failure, 0
  br i1 %is_made, label %yes, label %no
yes:
  %tensor = load ptr, ptr %made
  ret ptr %tensor
no:
  ret ptr null
}}

; Compute a batch; the answer is not 0 if a quaternion may have no direction.
define internal i64 @batch(ptr %places, ptr %steps, i64 %count) {{
  %dimensions = alloca i64
  %flags = alloca [{_FLAGS} x i8], align 8
  store i64 %count, ptr %dimensions
{store("doubtful", "i64 0", "%flags", 0)}
{store("unchecked", "i64 0", "%flags", 8)}
{load("kernel", "ptr", "@task", at(Task, "kernel"))}
{load("release_from", "i64", "@task", at(Task, "release_from"))}
  %is_long = icmp sge i64 %count, %release_from
  br i1 %is_long, label %long, label %short
long:
{load("release_lock", "ptr", "@task", at(Task, "release_lock"))}
{load("take_lock", "ptr", "@task", at(Task, "take_lock"))}
  %thread = call ptr %release_lock()
  call void %kernel(ptr %places, ptr %dimensions, ptr %steps, ptr %flags)
  call void %take_lock(ptr %thread)
  br label %end
short:
  call void %kernel(ptr %places, ptr %dimensions, ptr %steps, ptr %flags)
  br label %end
end:
  %answer = load i64, ptr %flags
  ret i64 %answer
}}
"""

RESULT = f"{PRODUCT}{_COPY}{_COMPUTE}"
