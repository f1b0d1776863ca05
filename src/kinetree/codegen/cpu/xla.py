"""A function that XLA calls on batches, in LLVM IR: a handler of its typed foreign-function interface.

`@handler(frame)` checks the arrays of a call and gives them to the `@kernel` of a batch (batch.py), in
XLA's own threads (xla_threads.py), with no Python in between. Its text is the same for all functions: its callee, and
the arrays it expects (`Task`), are in its global variable `@task`, filled in here.

The first result determines the leading axes; each argument has them all, or is one sample, which all samples of the
batch share, and is then walked with a step of zero. A handler answers with the version of the interface that it is
asked by (structures: xla_frame.py), and reports faults as XLA's errors. Quaternions are not checked: the results of one
without a direction are NaN, in its own sample.
"""

from __future__ import annotations

import ctypes
import math
from ctypes import c_int64

from kinetree.codegen.backend import Kernel
from kinetree.codegen.cpu.jit import MachineCode
from kinetree.codegen.cpu.views import PRODUCT, SAME, Expected, at, expect, leading, load, loads, same_for_all, stores
from kinetree.codegen.cpu.xla_frame import (
    DATA_TYPES,
    EXECUTE,
    INVALID_ARGUMENT,
    METADATA,
    OLDEST,
    RESOURCE_EXHAUSTED,
    Api,
    ApiVersion,
    Buffer,
    CallFrame,
    ErrorRequest,
    Extension,
    Metadata,
    Values,
)
from kinetree.codegen.cpu.xla_threads import THREADS, Task
from kinetree.codegen.llvm.memory import FAILURES

__all__ = ["make_handler"]

_GROUP = 64  # samples: a multiple of every possible number of lanes


def make_handler(kernel: Kernel, code: MachineCode, threads: int) -> MachineCode:
    """The module whose `handler` XLA may call for as long as this object lives. Batches larger than `kernel.most` are
    computed on up to this many threads.

    `code` holds the kernel of a batch. It belongs to the handler from now on: a lack of memory is no longer Python's
    error.
    """
    made = same_for_all(_TEXT, kernel)
    made.keep(code)
    ports, size = [*kernel.inputs, *kernel.outputs], kernel.dtype.itemsize
    steps = [0] * len(ports)
    for port in ports:
        steps += [size * math.prod(port.shape[axis + 1 :]) for axis in range(len(port.shape))]
    table = (c_int64 * len(steps))(*steps)
    task = Task.from_address(made.data_address("task"))
    failures = c_int64(0)
    made.keep(failures)
    for one in code.with_called():
        if one.data_address(FAILURES):
            one.variable(FAILURES, ctypes.c_void_p).value = task.failures = ctypes.addressof(failures)
    code.put("kernel", ctypes.addressof(task) + Task.kernel.offset)
    task.inputs, task.outputs = len(kernel.inputs), len(kernel.outputs)
    task.dtype = DATA_TYPES[kernel.dtype.name]
    task.steps, task.step_bytes = ctypes.addressof(table), ctypes.sizeof(table)
    task.arrays = ctypes.addressof(expect(kernel, made))
    task.most, task.helpers = kernel.most, threads - 1
    task.piece = -(-max(kernel.most // 2, 1) // _GROUP) * _GROUP
    task.other_frame = f"{kernel.name}: this version of XLA makes calls that kinetree does not know".encode()
    task.other_count = (
        f"{kernel.name} takes {task.inputs} arrays and gives {task.outputs}; this call has others".encode()
    )
    task.no_memory = f"{kernel.name}: there is not enough memory for its intermediate results".encode()
    made.keep((table, task))  # the texts belong to the structures
    return made


_HANDLER = f"""
define ptr @handler(ptr %frame) nounwind {{
{load("extension", "ptr", "%frame", at(CallFrame, "extension_start"))}
  %is_extended = icmp ne ptr %extension, null
  br i1 %is_extended, label %extended, label %usual
extended:
{load("type", "i32", "%extension", at(Extension, "type"))}
  %is_question = icmp eq i32 %type, {METADATA}
  br i1 %is_question, label %question, label %usual
question:
{load("metadata", "ptr", "%extension", at(Extension, "metadata"))}
{load("api", "ptr", "%frame", at(CallFrame, "api"))}
{stores(Metadata, "%metadata", traits="i32 0")}
  %is_old = icmp eq ptr %api, null
  br i1 %is_old, label %answer, label %asked
asked:
{load("its_major", "i32", "%api", at(Api, "api_version", at(ApiVersion, "major")))}
{load("its_minor", "i32", "%api", at(Api, "api_version", at(ApiVersion, "minor")))}
  br label %answer
answer:
  %major = phi i32 [{OLDEST[0]}, %question], [%its_major, %asked]
  %minor = phi i32 [{OLDEST[1]}, %question], [%its_minor, %asked]
  %version = getelementptr i8, ptr %metadata, i64 {at(Metadata, "api_version")}
{stores(ApiVersion, "%version", major="i32 %major", minor="i32 %minor")}
  ret ptr null
usual:
{load("stage", "i32", "%frame", at(CallFrame, "stage"))}
  %is_call = icmp eq i32 %stage, {EXECUTE}
  br i1 %is_call, label %call, label %done
call:
{load("size", "i64", "%frame", at(CallFrame, "struct_size"))}
  %is_known = icmp uge i64 %size, {ctypes.sizeof(CallFrame)}
  br i1 %is_known, label %known, label %unknown
unknown:
{load("other_frame", "ptr", "@task", at(Task, "other_frame"))}
  br label %wrong
known:
  %message = call ptr @computed(ptr %frame)
  %is_done = icmp eq ptr %message, null
  br i1 %is_done, label %done, label %failed
failed:
{load("no_memory", "ptr", "@task", at(Task, "no_memory"))}
  %is_memory = icmp eq ptr %message, %no_memory
  %code = select i1 %is_memory, i32 {RESOURCE_EXHAUSTED}, i32 {INVALID_ARGUMENT}
  br label %wrong
wrong:
  %why = phi ptr [%other_frame, %unknown], [%message, %failed]
  %kind = phi i32 [{INVALID_ARGUMENT}, %unknown], [%code, %failed]
  %error = call ptr @refused(ptr %frame, ptr %why, i32 %kind)
  ret ptr %error
done:
  ret ptr null
}}
"""

_REFUSED = f"""
define internal ptr @refused(ptr %frame, ptr %message, i32 %code) noinline {{
  %request = alloca [{ctypes.sizeof(ErrorRequest)} x i8], align 8
{stores(ErrorRequest, "%request", struct_size=f"i64 {at(ErrorRequest, 'code', 4)}", extension_start="ptr null")}
{stores(ErrorRequest, "%request", message="ptr %message", code="i32 %code")}
{load("api", "ptr", "%frame", at(CallFrame, "api"))}
{load("create", "ptr", "%api", at(Api, "error_create"))}
  %error = call ptr %create(ptr %request)
  ret ptr %error
}}
"""

_FITTING = f"""
; How many leading axes a buffer has before those of one sample, or -1 if it is another array than expected.
define internal i64 @fitting(ptr %buffer, ptr %expected) {{
{load("size", "i64", "%buffer", at(Buffer, "struct_size"))}
{load("its_dtype", "i32", "%buffer", at(Buffer, "dtype"))}
{load("dtype", "i64", "@task", at(Task, "dtype"))}
  %is_known = icmp uge i64 %size, {ctypes.sizeof(Buffer)}
  %wide_dtype = zext i32 %its_dtype to i64
  %is_right = icmp eq i64 %wide_dtype, %dtype
  %fits = and i1 %is_known, %is_right
  br i1 %fits, label %counted, label %other
counted:
  %lead = call i64 @leading(ptr %buffer, ptr %expected)
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
  %batch_rank = call i64 @fitting(ptr %first, ptr %first_expected)
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
  %lead = call i64 @fitting(ptr %buffer, ptr %expected)
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

_TEXT = f"""
@task = dso_local global [{ctypes.sizeof(Task)} x i8] zeroinitializer, align 8
@do_not_check = internal constant [2 x i64] [i64 0, i64 1]
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
{_HANDLER}{_REFUSED}{THREADS}{SAME}{PRODUCT}{leading(Buffer, "rank", "i64", "dims")}{_FITTING}{_COMPUTED}"""
"""The module without its target."""
