"""A function that XLA calls on batches, in LLVM IR: a handler of its typed foreign-function interface.

`@handler(frame)` checks the arrays of a call and gives them to the `@kernel` of a batch (batch.py), in XLA's own
thread, with no Python in between. Its text is the same for all functions: what it calls, and what arrays it expects,
are in its global variable `@task`, filled in here.

Each argument is one sample, which all samples of the batch share, or has the leading axes of the results. A handler
answers with the version of the interface that it is asked by (structures: xla_frame.py), and reports what is wrong as
XLA's error. Quaternions are not checked: the results of one without a direction are NaN, in its own sample.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
from ctypes import c_char_p, c_int64, c_void_p

from kinetree.codegen.backend import Kernel
from kinetree.codegen.cpu.extents import SAME
from kinetree.codegen.cpu.jit import MachineCode, compile_module
from kinetree.codegen.cpu.processor import processor
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
from kinetree.codegen.kept.cache import kept
from kinetree.codegen.kept.identity import toolchain
from kinetree.codegen.llvm.memory import FAILURES
from kinetree.codegen.llvm.target import host

__all__ = ["make_handler"]


class _Array(ctypes.Structure):
    """What an argument or a result must be."""

    _fields_ = (
        ("rank", c_int64),
        ("bytes", c_int64),  # of one sample
        ("shape", c_void_p),
        ("other_array", c_char_p),
        ("other_batch", c_char_p),
    )


class _Task(ctypes.Structure):
    """What a handler calls, and the arrays it expects: the arguments, then the results."""

    _fields_ = (
        ("kernel", c_void_p),
        ("failures", c_void_p),  # the kernel's count of those for want of memory; null if it needs none
        ("inputs", c_int64),
        ("outputs", c_int64),
        ("dtype", c_int64),
        ("steps", c_void_p),  # those of one sample; the first are replaced by those from sample to sample
        ("step_bytes", c_int64),
        ("arrays", c_void_p),
        ("other_frame", c_char_p),
        ("other_count", c_char_p),
        ("no_memory", c_char_p),
    )


def make_handler(kernel: Kernel, code: MachineCode) -> MachineCode:
    """The module whose `handler` XLA may call for as long as this object lives.

    `code` holds the kernel of a batch. It belongs to the handler from now on: a lack of memory is no longer Python's
    error.
    """
    text = _text()
    tools = toolchain(processor(), kernel.imported)
    key = None if tools is None else hashlib.sha256(tools + text.encode()).digest()
    made = MachineCode(kept(key, lambda: compile_module(text, host())))
    made.keep(code)
    ports, size = [*kernel.inputs, *kernel.outputs], kernel.dtype.itemsize
    arrays, steps = (_Array * len(ports))(), [0] * len(ports)
    for port, array in zip(ports, arrays, strict=True):
        shape = (c_int64 * len(port.shape))(*port.shape)
        made.keep(shape)
        array.rank, array.bytes, array.shape = len(port.shape), port.size * size, ctypes.addressof(shape)
        expected = ", ".join(("…", *map(str, port.shape)))
        array.other_array = f"{kernel.name}: {port.name} must be an array ({expected}) of {kernel.dtype}".encode()
        array.other_batch = (
            f"{kernel.name}: the leading axes of {port.name} must be those of the results, or absent".encode()
        )
        steps += [size * math.prod(port.shape[axis + 1 :]) for axis in range(len(port.shape))]
    table = (c_int64 * len(steps))(*steps)
    task = _Task.from_address(made.data_address("task"))
    task.kernel = code.address("kernel")
    if failures := code.data_address(FAILURES):
        c_int64.from_address(failures).value = 0
        task.failures = failures
    task.inputs, task.outputs = len(kernel.inputs), len(kernel.outputs)
    task.dtype = DATA_TYPES[kernel.dtype.name]
    task.steps, task.step_bytes, task.arrays = ctypes.addressof(table), ctypes.sizeof(table), ctypes.addressof(arrays)
    task.other_frame = f"{kernel.name}: this version of XLA makes calls that kinetree does not know".encode()
    task.other_count = (
        f"{kernel.name} takes {task.inputs} arrays and gives {task.outputs}; this call has others".encode()
    )
    task.no_memory = f"{kernel.name}: there is not enough memory for its intermediate results".encode()
    made.keep((table, arrays, task))  # the texts belong to the structures
    return made


def _at(structure: type[ctypes.Structure], field: str, within: int = 0) -> int:
    offset: int = getattr(structure, field).offset
    return offset + within


def _load(name: str, t: str, pointer: str, offset: int) -> str:
    """Load a field."""
    return f"  %{name}_p = getelementptr i8, ptr {pointer}, i64 {offset}\n  %{name} = load {t}, ptr %{name}_p"


def _store(name: str, value: str, pointer: str, offset: int) -> str:
    """Store a field."""
    return f"  %{name}_p = getelementptr i8, ptr {pointer}, i64 {offset}\n  store {value}, ptr %{name}_p"


def _text() -> str:
    """The module."""
    return f"""
target triple = "{host().triple}"
@task = dso_local global [{ctypes.sizeof(_Task)} x i8] zeroinitializer, align 8
@do_not_check = internal constant [2 x i64] [i64 0, i64 1]
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
{_HANDLER}
{_REFUSED}
{SAME}
{_LEADING}
{_COMPUTED}
"""


_HANDLER = f"""
define ptr @handler(ptr %frame) nounwind {{
{_load("extension", "ptr", "%frame", _at(CallFrame, "extension_start"))}
  %is_extended = icmp ne ptr %extension, null
  br i1 %is_extended, label %extended, label %usual
extended:
{_load("type", "i32", "%extension", _at(Extension, "type"))}
  %is_question = icmp eq i32 %type, {METADATA}
  br i1 %is_question, label %question, label %usual
question:
{_load("metadata", "ptr", "%extension", _at(Extension, "metadata"))}
{_load("api", "ptr", "%frame", _at(CallFrame, "api"))}
{_store("traits", "i32 0", "%metadata", _at(Metadata, "traits"))}
  %is_old = icmp eq ptr %api, null
  br i1 %is_old, label %answer, label %asked
asked:
{_load("its_major", "i32", "%api", _at(Api, "api_version", _at(ApiVersion, "major")))}
{_load("its_minor", "i32", "%api", _at(Api, "api_version", _at(ApiVersion, "minor")))}
  br label %answer
answer:
  %major = phi i32 [{OLDEST[0]}, %question], [%its_major, %asked]
  %minor = phi i32 [{OLDEST[1]}, %question], [%its_minor, %asked]
{_store("major_answer", "i32 %major", "%metadata", _at(Metadata, "api_version", _at(ApiVersion, "major")))}
{_store("minor_answer", "i32 %minor", "%metadata", _at(Metadata, "api_version", _at(ApiVersion, "minor")))}
  ret ptr null
usual:
{_load("stage", "i32", "%frame", _at(CallFrame, "stage"))}
  %is_call = icmp eq i32 %stage, {EXECUTE}
  br i1 %is_call, label %call, label %done
call:
{_load("size", "i64", "%frame", _at(CallFrame, "struct_size"))}
  %is_known = icmp uge i64 %size, {ctypes.sizeof(CallFrame)}
  br i1 %is_known, label %known, label %unknown
unknown:
{_load("other_frame", "ptr", "@task", _at(_Task, "other_frame"))}
  br label %wrong
known:
  %message = call ptr @computed(ptr %frame)
  %is_done = icmp eq ptr %message, null
  br i1 %is_done, label %done, label %failed
failed:
{_load("no_memory", "ptr", "@task", _at(_Task, "no_memory"))}
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
{_store("size", f"i64 {_at(ErrorRequest, 'code', 4)}", "%request", _at(ErrorRequest, "struct_size"))}
{_store("extension", "ptr null", "%request", _at(ErrorRequest, "extension_start"))}
{_store("text", "ptr %message", "%request", _at(ErrorRequest, "message"))}
{_store("kind", "i32 %code", "%request", _at(ErrorRequest, "code"))}
{_load("api", "ptr", "%frame", _at(CallFrame, "api"))}
{_load("create", "ptr", "%api", _at(Api, "error_create"))}
  %error = call ptr %create(ptr %request)
  ret ptr %error
}}
"""

_LEADING = f"""
; How many leading axes a buffer has before those of one sample, or -1 if it is another array than expected.
define internal i64 @leading(ptr %buffer, ptr %expected) {{
{_load("size", "i64", "%buffer", _at(Buffer, "struct_size"))}
{_load("its_dtype", "i32", "%buffer", _at(Buffer, "dtype"))}
{_load("its_rank", "i64", "%buffer", _at(Buffer, "rank"))}
{_load("its_shape", "ptr", "%buffer", _at(Buffer, "dims"))}
{_load("dtype", "i64", "@task", _at(_Task, "dtype"))}
{_load("rank", "i64", "%expected", _at(_Array, "rank"))}
{_load("shape", "ptr", "%expected", _at(_Array, "shape"))}
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

define internal i64 @product(ptr %numbers, i64 %count) {{
start:
  br label %loop
loop:
  %k = phi i64 [0, %start], [%next, %body]
  %product = phi i64 [1, %start], [%larger, %body]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %body, label %end
body:
  %x_p = getelementptr i64, ptr %numbers, i64 %k
  %x = load i64, ptr %x_p
  %larger = mul i64 %product, %x
  %next = add i64 %k, 1
  br label %loop
end:
  ret i64 %product
}}
"""

_COMPUTED = f"""
; Compute the results of a call. Returns null, or a sentence that says why it cannot be.
define internal ptr @computed(ptr %frame) {{
{_load("inputs", "i64", "@task", _at(_Task, "inputs"))}
{_load("outputs", "i64", "@task", _at(_Task, "outputs"))}
{_load("arrays", "ptr", "@task", _at(_Task, "arrays"))}
{_load("given", "i64", "%frame", _at(CallFrame, "arguments", _at(Values, "size")))}
{_load("wanted", "i64", "%frame", _at(CallFrame, "results", _at(Values, "size")))}
{_load("arguments", "ptr", "%frame", _at(CallFrame, "arguments", _at(Values, "values")))}
{_load("results", "ptr", "%frame", _at(CallFrame, "results", _at(Values, "values")))}
  %all_given = icmp eq i64 %given, %inputs
  %all_wanted = icmp eq i64 %wanted, %outputs
  %counts_fit = and i1 %all_given, %all_wanted
  br i1 %counts_fit, label %memory, label %other_count
other_count:
{_load("count_text", "ptr", "@task", _at(_Task, "other_count"))}
  ret ptr %count_text
memory:
  %total = add i64 %inputs, %outputs
  %places = alloca ptr, i64 %total
{_load("step_bytes", "i64", "@task", _at(_Task, "step_bytes"))}
  %steps = alloca i8, i64 %step_bytes, align 8
{_load("step_table", "ptr", "@task", _at(_Task, "steps"))}
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %steps, ptr align 8 %step_table, i64 %step_bytes, i1 false)
  %first = load ptr, ptr %results
  %first_expected = getelementptr [{ctypes.sizeof(_Array)} x i8], ptr %arrays, i64 %inputs
  %batch_rank = call i64 @leading(ptr %first, ptr %first_expected)
  %first_fits = icmp sge i64 %batch_rank, 0
  br i1 %first_fits, label %sound, label %other_result
other_result:
{_load("first_text", "ptr", "%first_expected", _at(_Array, "other_array"))}
  ret ptr %first_text
sound:
{_load("batch", "ptr", "%first", _at(Buffer, "dims"))}
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
  %expected = getelementptr [{ctypes.sizeof(_Array)} x i8], ptr %arrays, i64 %k
  %lead = call i64 @leading(ptr %buffer, ptr %expected)
  %fits = icmp sge i64 %lead, 0
  br i1 %fits, label %fitting, label %other_array
other_array:
{_load("array_text", "ptr", "%expected", _at(_Array, "other_array"))}
  ret ptr %array_text
fitting:
{_load("data", "ptr", "%buffer", _at(Buffer, "data"))}
  %place = getelementptr ptr, ptr %places, i64 %k
  store ptr %data, ptr %place
  %is_one = icmp eq i64 %lead, 0
  %is_shared = and i1 %is_one, %is_input
  br i1 %is_shared, label %counted, label %of_batch
of_batch:
{_load("dims", "ptr", "%buffer", _at(Buffer, "dims"))}
  %same_rank = icmp eq i64 %lead, %batch_rank
  br i1 %same_rank, label %compared, label %other_batch
compared:
  %same = call i1 @same(ptr %dims, ptr %batch, i64 %batch_rank)
  br i1 %same, label %varied, label %other_batch
other_batch:
{_load("batch_text", "ptr", "%expected", _at(_Array, "other_batch"))}
  ret ptr %batch_text
varied:
{_load("sample_bytes", "i64", "%expected", _at(_Array, "bytes"))}
  br label %counted
counted:
  %step = phi i64 [0, %fitting], [%sample_bytes, %varied]
  %step_p = getelementptr i64, ptr %steps, i64 %k
  store i64 %step, ptr %step_p
  %next = add i64 %k, 1
  br label %loop
ready:
{_load("kernel", "ptr", "@task", _at(_Task, "kernel"))}
{_load("failures", "ptr", "@task", _at(_Task, "failures"))}
  %count_p = alloca i64
  store i64 %count, ptr %count_p
  %needs_memory = icmp ne ptr %failures, null
  br i1 %needs_memory, label %watched, label %unwatched
unwatched:
  call void %kernel(ptr %places, ptr %count_p, ptr %steps, ptr @do_not_check)
  ret ptr null
watched:
  %before = load atomic i64, ptr %failures seq_cst, align 8
  call void %kernel(ptr %places, ptr %count_p, ptr %steps, ptr @do_not_check)
  %after = load atomic i64, ptr %failures seq_cst, align 8
  %has_failed = icmp ne i64 %before, %after
{_load("memory_text", "ptr", "@task", _at(_Task, "no_memory"))}
  %answer = select i1 %has_failed, ptr %memory_text, ptr null
  ret ptr %answer
}}
"""
