"""The arguments of a call with tensors, in LLVM IR: what is read of their objects, and where their samples are."""

from __future__ import annotations

import ctypes

from kinetree.codegen.cpu.extents import SAME
from kinetree.codegen.cpu.fields import at, load, store
from kinetree.codegen.cpu.tensor_task import Expected, Task
from kinetree.codegen.exchange import CPU, Tensor

__all__ = ["READING", "TYPE"]

_OBJECT = object.__basicsize__
TYPE = _OBJECT - ctypes.sizeof(ctypes.c_void_p)
"""Where an object's type is."""

_ANSWER = f"""
; Whether an object, which is released, is not False; 1 also where there is none, but an exception, which is dropped.
define internal i1 @is_so(ptr %object) {{
  %is_missing = icmp eq ptr %object, null
  br i1 %is_missing, label %missing, label %found
missing:
{load("clear", "ptr", "@task", at(Task, "clear"))}
  call void %clear()
  ret i1 true
found:
{load("false", "ptr", "@task", at(Task, "false"))}
{load("release", "ptr", "@task", at(Task, "release"))}
  call void %release(ptr %object)
  %is_so = icmp ne ptr %object, %false
  ret i1 %is_so
}}
"""

_READ = f"""
; Fill in a tensor, if the object is one that can be read in place.
define internal i1 @read(ptr %object, ptr %tensor) {{
  %argument = alloca ptr
{load("vectorcall", "ptr", "@task", at(Task, "vectorcall"))}
{load("type", "ptr", "%object", TYPE)}
{load("first_type", "ptr", "@task", at(Task, "first_type"))}
{load("second_type", "ptr", "@task", at(Task, "second_type"))}
  %is_first = icmp eq ptr %type, %first_type
  %is_second = icmp eq ptr %type, %second_type
  %is_tensor = or i1 %is_first, %is_second
  br i1 %is_tensor, label %ask_tracked, label %no
ask_tracked:
{load("attribute", "ptr", "@task", at(Task, "attribute"))}
{load("tracked", "ptr", "@task", at(Task, "tracked"))}
  %tracked_answer = call ptr %attribute(ptr %object, ptr %tracked)
  %is_tracked = call i1 @is_so(ptr %tracked_answer)
  br i1 %is_tracked, label %ask_recording, label %ask_altered
ask_recording:
{load("recording", "ptr", "@task", at(Task, "recording"))}
  %recording_answer = call ptr %vectorcall(ptr %recording, ptr null, i64 0, ptr null)
  %is_recording = call i1 @is_so(ptr %recording_answer)
  br i1 %is_recording, label %no, label %ask_altered
ask_altered:
{load("altered", "ptr", "@task", at(Task, "altered"))}
  store ptr %object, ptr %argument
  %altered_answer = call ptr %vectorcall(ptr %altered, ptr %argument, i64 1, ptr null)
  %is_altered = call i1 @is_so(ptr %altered_answer)
  br i1 %is_altered, label %no, label %plain
plain:
{load("read", "ptr", "@task", at(Task, "read"))}
  %failure = call i32 %read(ptr %object, ptr %tensor)
  %is_read = icmp eq i32 %failure, 0
  br i1 %is_read, label %seen, label %unreadable
unreadable:
{load("clear", "ptr", "@task", at(Task, "clear"))}
  call void %clear()
  br label %no
seen:
{load("device", "i32", "%tensor", at(Tensor, "device_kind"))}
{load("its_dtype", "i32", "%tensor", at(Tensor, "kind"))}
{load("dtype", "i64", "@task", at(Task, "dtype"))}
{load("bytes", "i64", "@task", at(Task, "bytes"))}
{load("start", "ptr", "%tensor", at(Tensor, "data"))}
{load("offset", "i64", "%tensor", at(Tensor, "offset"))}
  %data = getelementptr i8, ptr %start, i64 %offset
{store("moved", "ptr %data", "%tensor", at(Tensor, "data"))}
  %address = ptrtoint ptr %data to i64
  %ones = sub i64 %bytes, 1
  %beside = and i64 %address, %ones
  %is_aligned = icmp eq i64 %beside, 0
  %is_here = icmp eq i32 %device, {CPU}
  %wide_dtype = zext i32 %its_dtype to i64
  %is_right = icmp eq i64 %wide_dtype, %dtype
  %aligned_here = and i1 %is_aligned, %is_here
  %is_fit = and i1 %aligned_here, %is_right
  ret i1 %is_fit
no:
  ret i1 false
}}

; Store the number of a Python float in this dtype, as a tensor without axes.
define internal void @read_number(ptr %object, ptr %tensor, ptr %place) {{
{load("number", "double", "%object", _OBJECT)}
{load("bytes", "i64", "@task", at(Task, "bytes"))}
{store("data", "ptr %place", "%tensor", at(Tensor, "data"))}
{store("ndim", "i32 0", "%tensor", at(Tensor, "ndim"))}
  %is_double = icmp eq i64 %bytes, 8
  br i1 %is_double, label %double, label %single
double:
  store double %number, ptr %place
  ret void
single:
  %rounded = fptrunc double %number to float
  store float %rounded, ptr %place
  ret void
}}
"""

_SHAPES = f"""
; How many leading axes a tensor has before those of one sample, whose steps in bytes are stored; -1 if those differ.
define internal i64 @leading(ptr %tensor, ptr %expected, ptr %steps) {{
start:
{load("axes", "i32", "%tensor", at(Tensor, "ndim"))}
{load("shape", "ptr", "%tensor", at(Tensor, "shape"))}
{load("strides", "ptr", "%tensor", at(Tensor, "strides"))}
{load("rank", "i64", "%expected", at(Expected, "rank"))}
{load("wanted", "ptr", "%expected", at(Expected, "shape"))}
{load("bytes", "i64", "@task", at(Task, "bytes"))}
  %all = sext i32 %axes to i64
  %lead = sub i64 %all, %rank
  %is_enough = icmp sge i64 %lead, 0
  br i1 %is_enough, label %compared, label %other
compared:
  %own = getelementptr i64, ptr %shape, i64 %lead
  %same = call i1 @same(ptr %own, ptr %wanted, i64 %rank)
  br i1 %same, label %loop, label %other
loop:
  %k = phi i64 [0, %compared], [%next, %axis]
  %more = icmp slt i64 %k, %rank
  br i1 %more, label %axis, label %end
axis:
  %place = add i64 %lead, %k
  %stride_p = getelementptr i64, ptr %strides, i64 %place
  %stride = load i64, ptr %stride_p
  %step = mul i64 %stride, %bytes
  %step_p = getelementptr i64, ptr %steps, i64 %k
  store i64 %step, ptr %step_p
  %next = add i64 %k, 1
  br label %loop
end:
  ret i64 %lead
other:
  ret i64 -1
}}

; The step in bytes from sample to sample over so many leading axes; -1 if there is no one step.
define internal i64 @step(ptr %tensor, i64 %lead) {{
start:
{load("shape", "ptr", "%tensor", at(Tensor, "shape"))}
{load("strides", "ptr", "%tensor", at(Tensor, "strides"))}
{load("bytes", "i64", "@task", at(Task, "bytes"))}
  br label %loop
loop:
  %k = phi i64 [%lead, %start], [%axis, %kept]
  %step = phi i64 [-1, %start], [%step_kept, %kept]
  %wanted = phi i64 [0, %start], [%wanted_kept, %kept]
  %more = icmp sgt i64 %k, 0
  br i1 %more, label %look, label %end
look:
  %axis = sub i64 %k, 1
  %extent_p = getelementptr i64, ptr %shape, i64 %axis
  %stride_p = getelementptr i64, ptr %strides, i64 %axis
  %extent = load i64, ptr %extent_p
  %stride = load i64, ptr %stride_p
  %is_one = icmp eq i64 %extent, 1
  br i1 %is_one, label %kept, label %counted
counted:
  %after = mul i64 %extent, %stride
  %is_innermost = icmp eq i64 %step, -1
  %follows = icmp eq i64 %stride, %wanted
  %fits = or i1 %is_innermost, %follows
  br i1 %fits, label %taken, label %none
taken:
  %step_taken = select i1 %is_innermost, i64 %stride, i64 %step
  br label %kept
kept:
  %step_kept = phi i64 [%step, %look], [%step_taken, %taken]
  %wanted_kept = phi i64 [%wanted, %look], [%after, %taken]
  br label %loop
end:
  %has_none = icmp eq i64 %step, -1
  %in_numbers = select i1 %has_none, i64 0, i64 %step
  %found = mul i64 %in_numbers, %bytes
  ret i64 %found
none:
  ret i64 -1
}}
"""

READING = f"{SAME}{_ANSWER}{_READ}{_SHAPES}"
