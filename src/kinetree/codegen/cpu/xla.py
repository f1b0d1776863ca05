"""A function that XLA calls on batches, in LLVM IR: a handler of its typed foreign-function interface.

`@handler(frame)` checks the arrays of a call (xla_arrays.py) and gives them to the `@kernel` of a batch (batch.py), in
XLA's own threads (xla_threads.py), with no Python in between. Its text is the same for all functions: what it calls,
and what arrays it expects (xla_task.py), are in its global variable `@task`, filled in here.

Each argument is one sample, which all samples of the batch share, or has the leading axes of the results. A handler
answers with the version of the interface that it is asked by (structures: xla_frame.py), and reports what is wrong as
XLA's error. Quaternions are not checked: the results of one without a direction are NaN, in its own sample.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
from ctypes import c_int64

from kinetree.codegen.backend import Kernel
from kinetree.codegen.cpu.fields import at, load, store
from kinetree.codegen.cpu.jit import MachineCode, compile_module
from kinetree.codegen.cpu.processor import processor
from kinetree.codegen.cpu.xla_arrays import ARRAYS
from kinetree.codegen.cpu.xla_frame import (
    DATA_TYPES,
    EXECUTE,
    INVALID_ARGUMENT,
    METADATA,
    OLDEST,
    RESOURCE_EXHAUSTED,
    Api,
    ApiVersion,
    CallFrame,
    ErrorRequest,
    Extension,
    Metadata,
)
from kinetree.codegen.cpu.xla_task import Expected, Task
from kinetree.codegen.cpu.xla_threads import THREADS
from kinetree.codegen.kept.cache import kept
from kinetree.codegen.kept.identity import assembler
from kinetree.codegen.llvm.memory import FAILURES
from kinetree.codegen.llvm.target import host

__all__ = ["make_handler"]

_GROUP = 64  # samples: a multiple of every possible number of lanes


def make_handler(kernel: Kernel, code: MachineCode, threads: int) -> MachineCode:
    """The module whose `handler` XLA may call for as long as this object lives. Batches larger than `kernel.most` are
    computed on up to this many threads.

    `code` holds the kernel of a batch. It belongs to the handler from now on: a lack of memory is no longer Python's
    error.
    """
    text = _text()
    tools = assembler("compile_module", processor(), kernel.imported)
    key = None if tools is None else hashlib.sha256(tools + text.encode()).digest()
    made = MachineCode(kept(key, lambda: compile_module(text, host())))
    made.keep(code)
    ports, size = [*kernel.inputs, *kernel.outputs], kernel.dtype.itemsize
    arrays, steps = (Expected * len(ports))(), [0] * len(ports)
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
    task = Task.from_address(made.data_address("task"))
    failures = c_int64(0)
    made.keep(failures)
    for one in code.with_called():
        if one.data_address(FAILURES):
            one.variable(FAILURES, ctypes.c_void_p).value = task.failures = ctypes.addressof(failures)
    code.put("kernel", ctypes.addressof(task) + Task.kernel.offset)
    task.inputs, task.outputs = len(kernel.inputs), len(kernel.outputs)
    task.dtype = DATA_TYPES[kernel.dtype.name]
    task.steps, task.step_bytes, task.arrays = ctypes.addressof(table), ctypes.sizeof(table), ctypes.addressof(arrays)
    task.most, task.helpers = kernel.most, threads - 1
    task.piece = -(-max(kernel.most // 2, 1) // _GROUP) * _GROUP
    task.other_frame = f"{kernel.name}: this version of XLA makes calls that kinetree does not know".encode()
    task.other_count = (
        f"{kernel.name} takes {task.inputs} arrays and gives {task.outputs}; this call has others".encode()
    )
    task.no_memory = f"{kernel.name}: there is not enough memory for its intermediate results".encode()
    made.keep((table, arrays, task))  # the texts belong to the structures
    return made


def _text() -> str:
    """The module."""
    return f"""
target triple = "{host().triple}"
@task = dso_local global [{ctypes.sizeof(Task)} x i8] zeroinitializer, align 8
@do_not_check = internal constant [2 x i64] [i64 0, i64 1]
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
{_HANDLER}
{_REFUSED}
{THREADS}
{ARRAYS}
"""


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
{store("traits", "i32 0", "%metadata", at(Metadata, "traits"))}
  %is_old = icmp eq ptr %api, null
  br i1 %is_old, label %answer, label %asked
asked:
{load("its_major", "i32", "%api", at(Api, "api_version", at(ApiVersion, "major")))}
{load("its_minor", "i32", "%api", at(Api, "api_version", at(ApiVersion, "minor")))}
  br label %answer
answer:
  %major = phi i32 [{OLDEST[0]}, %question], [%its_major, %asked]
  %minor = phi i32 [{OLDEST[1]}, %question], [%its_minor, %asked]
{store("major_answer", "i32 %major", "%metadata", at(Metadata, "api_version", at(ApiVersion, "major")))}
{store("minor_answer", "i32 %minor", "%metadata", at(Metadata, "api_version", at(ApiVersion, "minor")))}
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
{store("size", f"i64 {at(ErrorRequest, 'code', 4)}", "%request", at(ErrorRequest, "struct_size"))}
{store("extension", "ptr null", "%request", at(ErrorRequest, "extension_start"))}
{store("text", "ptr %message", "%request", at(ErrorRequest, "message"))}
{store("kind", "i32 %code", "%request", at(ErrorRequest, "code"))}
{load("api", "ptr", "%frame", at(CallFrame, "api"))}
{load("create", "ptr", "%api", at(Api, "error_create"))}
  %error = call ptr %create(ptr %request)
  ret ptr %error
}}
"""
