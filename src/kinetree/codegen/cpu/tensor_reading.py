"""The arguments of a call with tensors, in LLVM IR: the fields read from their objects, and where their samples are."""

from __future__ import annotations

import ctypes
from ctypes import c_int64, c_void_p

from kinetree.codegen.cpu.c_function import fields
from kinetree.codegen.cpu.views import SAME, at, leading, load, loads, stores
from kinetree.codegen.exchange import CPU, Tensor

__all__ = ["READING", "TYPE", "Task"]

_OBJECT = object.__basicsize__
TYPE = _OBJECT - ctypes.sizeof(ctypes.c_void_p)
"""Where an object's type is."""


class Task(ctypes.Structure):
    """The functions that the code calls, and the tensors it expects: the arguments, then the result."""

    _fields_ = (
        ("one", c_void_p),  # for one sample (single.py); null: none yet
        ("kernel", c_void_p),  # for a batch (batch.py); null: none yet
        ("inputs", c_int64),
        ("arrays", c_void_p),
        ("step_bytes", c_int64),  # of all that a kernel needs
        ("bytes", c_int64),  # of a number
        ("dtype", c_int64),  # the four bytes of a tensor's
        ("most", c_int64),  # samples that are worth computing on one thread
        ("release_from", c_int64),  # samples from which Python's lock is released
        # The library's
        *fields(c_void_p, "first_type second_type read allocate wrap tracked recording altered"),
        # Python's
        *fields(c_void_p, "number false general"),
        ("next", c_void_p),  # C function of a builtin for another dtype, tried before the general one; or null
        *fields(c_void_p, "vectorcall attribute release clear exception release_lock take_lock"),
    )


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
{loads(Task, "ptr", "@task", "false", "release")}
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
{loads(Task, "ptr", "@task", "first_type", "second_type")}
  %is_first = icmp eq ptr %type, %first_type
  %is_second = icmp eq ptr %type, %second_type
  %is_tensor = or i1 %is_first, %is_second
  br i1 %is_tensor, label %ask_tracked, label %no
ask_tracked:
{loads(Task, "ptr", "@task", "attribute", "tracked")}
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
{loads(Task, "i64", "@task", "dtype", "bytes")}
{load("start", "ptr", "%tensor", at(Tensor, "data"))}
{load("offset", "i64", "%tensor", at(Tensor, "offset"))}
  %data = getelementptr i8, ptr %start, i64 %offset
{stores(Tensor, "%tensor", data="ptr %data")}
  %address = ptrtoint ptr %data to i64
  %ones = sub i64 %bytes, 1
  %excess = and i64 %address, %ones
  %is_aligned = icmp eq i64 %excess, 0
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
{stores(Tensor, "%tensor", data="ptr %place", ndim="i32 0")}
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

_STEPS = f"""
; Store the steps in bytes of the axes of a sample, as many as the tensor has after its leading ones.
define internal void @core_steps(ptr %tensor, i64 %lead, i64 %rank, ptr %steps) {{
start:
{load("strides", "ptr", "%tensor", at(Tensor, "strides"))}
{load("bytes", "i64", "@task", at(Task, "bytes"))}
  br label %loop
loop:
  %k = phi i64 [0, %start], [%next, %axis]
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
  ret void
}}

; The step in bytes from sample to sample over so many leading axes; -1 if there is no one step.
define internal i64 @step(ptr %tensor, i64 %lead) {{
start:
{loads(Tensor, "ptr", "%tensor", "shape", "strides")}
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

READING = f"{SAME}{leading(Tensor, 'ndim', 'i32', 'shape')}{_ANSWER}{_READ}{_STEPS}"
