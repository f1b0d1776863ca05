"""The arrays of a call of XLA's, in LLVM IR: `@computed(frame)` checks them and computes the results.

The first result says what the leading axes are; each argument must have them all, or be one sample, and is then walked
with a step of zero.
"""

from __future__ import annotations

import ctypes

from kinetree.codegen.cpu.extents import PRODUCT, SAME
from kinetree.codegen.cpu.fields import at, load, loads
from kinetree.codegen.cpu.xla_frame import Buffer, CallFrame, Values
from kinetree.codegen.cpu.xla_task import Expected, Task

__all__ = ["ARRAYS"]

_LEADING = f"""
; How many leading axes a buffer has before those of one sample, or -1 if it is another array than expected.
define internal i64 @leading(ptr %buffer, ptr %expected) {{
{load("size", "i64", "%buffer", at(Buffer, "struct_size"))}
{load("its_dtype", "i32", "%buffer", at(Buffer, "dtype"))}
{load("its_rank", "i64", "%buffer", at(Buffer, "rank"))}
{load("its_shape", "ptr", "%buffer", at(Buffer, "dims"))}
{load("dtype", "i64", "@task", at(Task, "dtype"))}
{load("rank", "i64", "%expected", at(Expected, "rank"))}
{load("shape", "ptr", "%expected", at(Expected, "shape"))}
  %is_known = icmp uge i64 %size, {ctypes.sizeof(Buffer)}
  %wide_dtype = zext i32 %its_dtype to i64
  %is_right = icmp eq i64 %wide_dtype, %dtype
  %lead = sub i64 %its_rank, %rank
  %is_enough = icmp sge i64 %lead, 0
  %known_right = and i1 %is_known, %is_right
  %fits = and i1 %known_right, %is_enough
  br i1 %fits, label %axes, label %other
axes:
  %own = getelementptr i64, ptr %its_shape, i64 %lead
  %same = call i1 @same(ptr %own, ptr %shape, i64 %rank)
  br i1 %same, label %right, label %other
right:
  ret i64 %lead
other:
  ret i64 -1
}}
"""

_COMPUTED = f"""
; Compute the results of a call. Returns null, or a sentence that says why it cannot be.
define internal ptr @computed(ptr %frame) {{
{loads(Task, "i64", "@task", "inputs", "outputs")}
{load("arrays", "ptr", "@task", at(Task, "arrays"))}
{load("given", "i64", "%frame", at(CallFrame, "arguments", at(Values, "size")))}
{load("wanted", "i64", "%frame", at(CallFrame, "results", at(Values, "size")))}
{load("arguments", "ptr", "%frame", at(CallFrame, "arguments", at(Values, "values")))}
{load("results", "ptr", "%frame", at(CallFrame, "results", at(Values, "values")))}
  %all_given = icmp eq i64 %given, %inputs
  %all_wanted = icmp eq i64 %wanted, %outputs
  %counts_fit = and i1 %all_given, %all_wanted
  br i1 %counts_fit, label %memory, label %other_count
other_count:
{load("count_text", "ptr", "@task", at(Task, "other_count"))}
  ret ptr %count_text
memory:
  %total = add i64 %inputs, %outputs
  %places = alloca ptr, i64 %total
{load("step_bytes", "i64", "@task", at(Task, "step_bytes"))}
  %steps = alloca i8, i64 %step_bytes, align 8
{load("step_table", "ptr", "@task", at(Task, "steps"))}
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %steps, ptr align 8 %step_table, i64 %step_bytes, i1 false)
  %first = load ptr, ptr %results
  %first_expected = getelementptr [{ctypes.sizeof(Expected)} x i8], ptr %arrays, i64 %inputs
  %batch_rank = call i64 @leading(ptr %first, ptr %first_expected)
  %first_fits = icmp sge i64 %batch_rank, 0
  br i1 %first_fits, label %sound, label %other_result
other_result:
{load("first_text", "ptr", "%first_expected", at(Expected, "other_array"))}
  ret ptr %first_text
sound:
{load("batch", "ptr", "%first", at(Buffer, "dims"))}
  %count = call i64 @product(ptr %batch, i64 %batch_rank)
  br label %loop
loop:
  %k = phi i64 [0, %sound], [%next, %counted]
  %more = icmp slt i64 %k, %total
  br i1 %more, label %look, label %ready
look:
  %is_input = icmp slt i64 %k, %inputs
  %of_results = sub i64 %k, %inputs
  %table = select i1 %is_input, ptr %arguments, ptr %results
  %number = select i1 %is_input, i64 %k, i64 %of_results
  %buffer_p = getelementptr ptr, ptr %table, i64 %number
  %buffer = load ptr, ptr %buffer_p
  %expected = getelementptr [{ctypes.sizeof(Expected)} x i8], ptr %arrays, i64 %k
  %lead = call i64 @leading(ptr %buffer, ptr %expected)
  %fits = icmp sge i64 %lead, 0
  br i1 %fits, label %fitting, label %other_array
other_array:
{load("array_text", "ptr", "%expected", at(Expected, "other_array"))}
  ret ptr %array_text
fitting:
{load("data", "ptr", "%buffer", at(Buffer, "data"))}
  %place = getelementptr ptr, ptr %places, i64 %k
  store ptr %data, ptr %place
  %is_one = icmp eq i64 %lead, 0
  %is_shared = and i1 %is_one, %is_input
  br i1 %is_shared, label %counted, label %of_batch
of_batch:
{load("dims", "ptr", "%buffer", at(Buffer, "dims"))}
  %same_rank = icmp eq i64 %lead, %batch_rank
  br i1 %same_rank, label %compared, label %other_batch
compared:
  %same = call i1 @same(ptr %dims, ptr %batch, i64 %batch_rank)
  br i1 %same, label %varied, label %other_batch
other_batch:
{load("batch_text", "ptr", "%expected", at(Expected, "other_batch"))}
  ret ptr %batch_text
varied:
{load("sample_bytes", "i64", "%expected", at(Expected, "bytes"))}
  br label %counted
counted:
  %step = phi i64 [0, %fitting], [%sample_bytes, %varied]
  %step_p = getelementptr i64, ptr %steps, i64 %k
  store i64 %step, ptr %step_p
  %next = add i64 %k, 1
  br label %loop
ready:
{load("failures", "ptr", "@task", at(Task, "failures"))}
  %needs_memory = icmp ne ptr %failures, null
  br i1 %needs_memory, label %watched, label %unwatched
unwatched:
  call void @called(ptr %frame, ptr %places, ptr %steps, i64 %count)
  ret ptr null
watched:
  %before = load atomic i64, ptr %failures seq_cst, align 8
  call void @called(ptr %frame, ptr %places, ptr %steps, i64 %count)
  %after = load atomic i64, ptr %failures seq_cst, align 8
  %has_failed = icmp ne i64 %before, %after
{load("memory_text", "ptr", "@task", at(Task, "no_memory"))}
  %answer = select i1 %has_failed, ptr %memory_text, ptr null
  ret ptr %answer
}}
"""

ARRAYS = f"{SAME}{PRODUCT}{_LEADING}{_COMPUTED}"
