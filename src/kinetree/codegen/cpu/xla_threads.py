"""A large batch on the threads of XLA's pool, in LLVM IR.

`@called(frame, places, steps, count)` cuts a large batch into pieces, which the caller and tasks in the pool take one
after another from a common count. The caller takes pieces like all others, so it never waits for a thread to be free:
when none are left it waits only for those that are being computed. A task that starts later finds none, and touches
nothing but the job's counts, so these are on the heap, and the last of all to look at them frees them. No result
depends on how a batch was cut, for no sample's result depends on its neighbours.
"""

from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int64, c_void_p

from kinetree.codegen.cpu.c_function import fields
from kinetree.codegen.cpu.views import at, load, loads, stores
from kinetree.codegen.cpu.xla_frame import (
    Api,
    CallFrame,
    ErrorRelease,
    PoolRequest,
    TaskRequest,
)

__all__ = ["THREADS", "Task"]


class Task(ctypes.Structure):
    """The kernel that a handler calls, and the arrays it expects: the arguments, then the results."""

    _fields_ = (
        ("kernel", c_void_p),
        ("failures", c_void_p),  # the kernel's count of those for want of memory; null if it needs none
        *fields(c_int64, "inputs outputs dtype"),
        ("steps", c_void_p),  # those of one sample; the first are replaced by those from sample to sample
        ("step_bytes", c_int64),
        ("arrays", c_void_p),
        ("most", c_int64),  # samples that are worth computing on one thread
        ("piece", c_int64),  # samples that a thread computes at a time, if there are more
        ("helpers", c_int64),  # threads besides that of the call
        *fields(c_char_p, "other_frame other_count no_memory"),
    )


class _Job(ctypes.Structure):
    """A batch, and how far it is. Only the first three fields are used once all pieces are taken."""

    _fields_ = (
        ("owners", c_int64),  # the caller, and the tasks that have not ended
        *fields(c_int64, "taken pieces done"),
        ("piece", c_int64),  # samples
        *fields(c_int64, "count arrays"),
        ("kernel", c_void_p),
        ("places", c_void_p),  # of the first sample of each array
        ("steps", c_void_p),
    )


THREADS = f"""
declare ptr @malloc(i64)
declare void @free(ptr)

; Take pieces of a job and compute them until none are left.
define internal void @work(ptr %job) {{
start:
{load("pieces", "i64", "%job", at(_Job, "pieces"))}
  %taken_p = getelementptr i8, ptr %job, i64 {at(_Job, "taken")}
  %done_p = getelementptr i8, ptr %job, i64 {at(_Job, "done")}
  br label %take
take:
  %k = atomicrmw add ptr %taken_p, i64 1 seq_cst
  %is_left = icmp slt i64 %k, %pieces
  br i1 %is_left, label %compute, label %end
compute:
  call void @compute(ptr %job, i64 %k)
  %before = atomicrmw add ptr %done_p, i64 1 seq_cst
  br label %take
end:
  ret void
}}

define internal void @compute(ptr %job, i64 %k) noinline {{
start:
{loads(_Job, "i64", "%job", "piece", "count", "arrays")}
{loads(_Job, "ptr", "%job", "kernel", "places", "steps")}
  %own = alloca ptr, i64 %arrays
  %own_count = alloca i64
  %first = mul i64 %k, %piece
  %left = sub i64 %count, %first
  %is_last = icmp slt i64 %left, %piece
  %samples = select i1 %is_last, i64 %left, i64 %piece
  store i64 %samples, ptr %own_count
  br label %loop
loop:
  %j = phi i64 [0, %start], [%next, %place]
  %more = icmp slt i64 %j, %arrays
  br i1 %more, label %place, label %call
place:
  %step_p = getelementptr i64, ptr %steps, i64 %j
  %step = load i64, ptr %step_p
  %offset = mul i64 %first, %step
  %from_p = getelementptr ptr, ptr %places, i64 %j
  %from = load ptr, ptr %from_p
  %to = getelementptr i8, ptr %from, i64 %offset
  %to_p = getelementptr ptr, ptr %own, i64 %j
  store ptr %to, ptr %to_p
  %next = add i64 %j, 1
  br label %loop
call:
  call void %kernel(ptr %own, ptr %own_count, ptr %steps, ptr @do_not_check)
  ret void
}}

define internal void @release(ptr %job) {{
  %owners_p = getelementptr i8, ptr %job, i64 {at(_Job, "owners")}
  %before = atomicrmw sub ptr %owners_p, i64 1 seq_cst
  %is_last = icmp eq i64 %before, 1
  br i1 %is_last, label %last, label %end
last:
  call void @free(ptr %job)
  ret void
end:
  ret void
}}

define internal void @helping(ptr %job) {{
  call void @work(ptr %job)
  call void @release(ptr %job)
  ret void
}}

; Whether XLA did what it was asked for; its error is dropped, for the caller can do without.
define internal i1 @granted(ptr %api, ptr %error) {{
  %is_fine = icmp eq ptr %error, null
  br i1 %is_fine, label %fine, label %refused
fine:
  ret i1 true
refused:
  %release = alloca [{ctypes.sizeof(ErrorRelease)} x i8], align 8
{stores(ErrorRelease, "%release", struct_size=f"i64 {ctypes.sizeof(ErrorRelease)}", extension_start="ptr null")}
{stores(ErrorRelease, "%release", error="ptr %error")}
{load("destroy", "ptr", "%api", at(Api, "error_destroy"))}
  call void %destroy(ptr %release)
  ret i1 false
}}

; How many threads the pool has; 0 if there is none.
define internal i64 @pool(ptr %frame) noinline {{
{load("api", "ptr", "%frame", at(CallFrame, "api"))}
{load("api_size", "i64", "%api", at(Api, "struct_size"))}
  %is_known = icmp uge i64 %api_size, {ctypes.sizeof(Api)}
  br i1 %is_known, label %known, label %none
known:
{load("context", "ptr", "%frame", at(CallFrame, "context"))}
{load("ask", "ptr", "%api", at(Api, "pool_threads"))}
  %threads = alloca i64
  %request = alloca [{ctypes.sizeof(PoolRequest)} x i8], align 8
{stores(PoolRequest, "%request", struct_size=f"i64 {ctypes.sizeof(PoolRequest)}", extension_start="ptr null")}
{stores(PoolRequest, "%request", context="ptr %context", threads="ptr %threads")}
  %error = call ptr %ask(ptr %request)
  %is_answered = call i1 @granted(ptr %api, ptr %error)
  br i1 %is_answered, label %answered, label %none
answered:
  %count = load i64, ptr %threads
  ret i64 %count
none:
  ret i64 0
}}

; Compute a job on this thread and up to `helpers` others. The job is freed.
define internal void @shared(ptr %frame, ptr %job, i64 %helpers) noinline {{
start:
{loads(CallFrame, "ptr", "%frame", "api", "context")}
{load("schedule", "ptr", "%api", at(Api, "pool_schedule"))}
  %owners_p = getelementptr i8, ptr %job, i64 {at(_Job, "owners")}
  %done_p = getelementptr i8, ptr %job, i64 {at(_Job, "done")}
{load("pieces", "i64", "%job", at(_Job, "pieces"))}
  %request = alloca [{ctypes.sizeof(TaskRequest)} x i8], align 8
{stores(TaskRequest, "%request", struct_size=f"i64 {ctypes.sizeof(TaskRequest)}", extension_start="ptr null")}
{stores(TaskRequest, "%request", context="ptr %context", task="ptr @helping", data="ptr %job")}
  br label %loop
loop:
  %n = phi i64 [0, %start], [%next, %granted]
  %more = icmp slt i64 %n, %helpers
  br i1 %more, label %ask, label %help
ask:
  %with_it = atomicrmw add ptr %owners_p, i64 1 seq_cst
  %error = call ptr %schedule(ptr %request)
  %is_granted = call i1 @granted(ptr %api, ptr %error)
  br i1 %is_granted, label %granted, label %refused
granted:
  %next = add i64 %n, 1
  br label %loop
refused:
  %without_it = atomicrmw sub ptr %owners_p, i64 1 seq_cst
  br label %help
help:
  call void @work(ptr %job)
  br label %wait
wait:
  %done = load atomic i64, ptr %done_p seq_cst, align 8
  %is_done = icmp sge i64 %done, %pieces
  br i1 %is_done, label %end, label %wait
end:
  call void @release(ptr %job)
  ret void
}}

; Call the kernel, on several threads if that is worth it.
define internal void @called(ptr %frame, ptr %places, ptr %steps, i64 %count) {{
{load("kernel", "ptr", "@task", at(Task, "kernel"))}
{load("most", "i64", "@task", at(Task, "most"))}
{load("allowed", "i64", "@task", at(Task, "helpers"))}
  %count_p = alloca i64
  store i64 %count, ptr %count_p
  %is_large = icmp sgt i64 %count, %most
  %may_have = icmp sgt i64 %allowed, 0
  %is_worth_it = and i1 %is_large, %may_have
  br i1 %is_worth_it, label %large, label %alone
large:
{loads(Task, "i64", "@task", "piece", "inputs", "outputs")}
  %arrays = add i64 %inputs, %outputs
  %threads = call i64 @pool(ptr %frame)
  %rounded = add i64 %count, %piece
  %rounded_down = sub i64 %rounded, 1
  %pieces = sdiv i64 %rounded_down, %piece
  %others = sub i64 %pieces, 1
  %available = call i64 @llvm.smin.i64(i64 %threads, i64 %allowed)
  %helpers = call i64 @llvm.smin.i64(i64 %available, i64 %others)
  %has_help = icmp sgt i64 %helpers, 0
  br i1 %has_help, label %helped, label %alone
helped:
  %job = call ptr @malloc(i64 {ctypes.sizeof(_Job)})
  %has_job = icmp ne ptr %job, null
  br i1 %has_job, label %together, label %alone
together:
{stores(_Job, "%job", owners="i64 1", taken="i64 0", pieces="i64 %pieces", done="i64 0", piece="i64 %piece")}
{stores(_Job, "%job", count="i64 %count", arrays="i64 %arrays", kernel="ptr %kernel", places="ptr %places")}
{stores(_Job, "%job", steps="ptr %steps")}
  call void @shared(ptr %frame, ptr %job, i64 %helpers)
  ret void
alone:
  call void %kernel(ptr %places, ptr %count_p, ptr %steps, ptr @do_not_check)
  ret void
}}
"""
