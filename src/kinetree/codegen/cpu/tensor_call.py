"""A call with tensors, in LLVM IR: `@call`, a C function for a Python builtin (tensors.py).

It reads the tensors through the functions that their library exports to C (exchange.py), computes in place, and has the
library make the tensor of the result; no array of NumPy's is made. Its text is the same for all functions: its callees
and expectations (`Task`) are in its global variable `@task`. Arguments have the same leading axes, in memory with one
step from sample to sample, or none, where one sample serves all; for an argument without axes a Python float will do.
One sample in C order goes to `@one` of single.py, all else to the `@kernel` of a batch.

Any other call goes, unchanged, to the builtin of another dtype or the general function. So does one in which a
quaternion may have no direction: the general function raises the error. Floating-point errors are not reported.
"""

from __future__ import annotations

import ctypes

from kinetree.codegen.cpu.tensor_reading import READING, TYPE, Task
from kinetree.codegen.cpu.views import COPY, PRODUCT, Expected, at, load, loads, stores
from kinetree.codegen.exchange import CPU, ManagedTensor, Tensor

__all__ = ["TENSOR_CALL"]

_FLAGS = 16  # bytes: those of a kernel that looks at quaternions (batch.py)

_COMPUTE = f"""
; The library calls this with its reasons. The general function meets the same problem, and reports it.
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
{stores(Tensor, "%prototype", data="ptr null", device_kind=f"i32 {CPU}", device="i32 0", ndim="i32 %short_rank")}
{stores(Tensor, "%prototype", kind="i32 %short_dtype", shape="ptr %shape", strides="ptr null", offset="i64 0")}
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
  store [2 x i64] zeroinitializer, ptr %flags
{load("kernel", "ptr", "@task", at(Task, "kernel"))}
{load("release_from", "i64", "@task", at(Task, "release_from"))}
  %is_long = icmp sge i64 %count, %release_from
  br i1 %is_long, label %long, label %short
long:
{loads(Task, "ptr", "@task", "release_lock", "take_lock")}
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

_CALL = f"""
define ptr @call(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) nounwind {{
{load("inputs", "i64", "@task", at(Task, "inputs"))}
  %all_given = icmp eq i64 %nargs, %inputs
  %no_names = icmp eq ptr %kwnames, null
  %can_fit = and i1 %all_given, %no_names
  br i1 %can_fit, label %begin, label %general
begin:
{load("arrays", "ptr", "@task", at(Task, "arrays"))}
{load("step_bytes", "i64", "@task", at(Task, "step_bytes"))}
{load("number_type", "ptr", "@task", at(Task, "number"))}
  %ports = add i64 %inputs, 1
  %places = alloca ptr, i64 %ports
  %tensors = alloca [{ctypes.sizeof(Tensor)} x i8], i64 %ports, align 8
  %numbers = alloca i64, i64 %ports
  %steps = alloca i8, i64 %step_bytes, align 8
  %first_core = getelementptr i64, ptr %steps, i64 %ports
  %output = getelementptr [{ctypes.sizeof(Expected)} x i8], ptr %arrays, i64 %inputs
{load("output_rank", "i64", "%output", at(Expected, "rank"))}
{load("output_shape", "ptr", "%output", at(Expected, "shape"))}
{load("output_steps", "ptr", "%output", at(Expected, "steps"))}
{load("output_bytes", "i64", "%output", at(Expected, "bytes"))}
  br label %loop
loop:
  %k = phi i64 [0, %begin], [%next, %stored]
  %core = phi ptr [%first_core, %begin], [%next_core, %stored]
  %lead = phi i64 [0, %begin], [%next_lead, %stored]  ; of the batch, so far
  %extents = phi ptr [null, %begin], [%next_extents, %stored]
  %dense = phi i1 [true, %begin], [%next_dense, %stored]  ; whether all samples are in C order
  %found = phi i1 [false, %begin], [%next_found, %stored]  ; whether there is a tensor
  %more = icmp slt i64 %k, %inputs
  br i1 %more, label %look, label %ready
look:
  %object_p = getelementptr ptr, ptr %args, i64 %k
  %object = load ptr, ptr %object_p
  %tensor = getelementptr [{ctypes.sizeof(Tensor)} x i8], ptr %tensors, i64 %k
  %expected = getelementptr [{ctypes.sizeof(Expected)} x i8], ptr %arrays, i64 %k
{load("rank", "i64", "%expected", at(Expected, "rank"))}
{load("dense_steps", "ptr", "%expected", at(Expected, "steps"))}
{load("type", "ptr", "%object", TYPE)}
  %is_float = icmp eq ptr %type, %number_type
  %is_scalar = icmp eq i64 %rank, 0
  %is_number = and i1 %is_float, %is_scalar
  br i1 %is_number, label %number, label %no_number
number:
  %number_p = getelementptr i64, ptr %numbers, i64 %k
  call void @read_number(ptr %object, ptr %tensor, ptr %number_p)
  br label %read
no_number:
  %is_read = call i1 @read(ptr %object, ptr %tensor)
  br i1 %is_read, label %read, label %general
read:
  %tensor_here = phi i1 [false, %number], [true, %no_number]
  %next_found = or i1 %found, %tensor_here
  %own_lead = call i64 @leading(ptr %tensor, ptr %expected)
  %is_sample = icmp eq i64 %own_lead, 0
  %is_batch = icmp sgt i64 %own_lead, 0
  br i1 %is_sample, label %stepped, label %batched
batched:
  br i1 %is_batch, label %shaped, label %general
shaped:
{load("own_extents", "ptr", "%tensor", at(Tensor, "shape"))}
  %is_first = icmp eq i64 %lead, 0
  br i1 %is_first, label %fits, label %compared
compared:
  %same_lead = icmp eq i64 %own_lead, %lead
  br i1 %same_lead, label %as_many, label %general
as_many:
  %same = call i1 @same(ptr %own_extents, ptr %extents, i64 %lead)
  br i1 %same, label %fits, label %general
fits:
  %own_step = call i64 @step(ptr %tensor, i64 %own_lead)
  %has_step = icmp ne i64 %own_step, -1
  br i1 %has_step, label %stepped, label %general
stepped:
  %step = phi i64 [0, %read], [%own_step, %fits]
  %next_lead = phi i64 [%lead, %read], [%own_lead, %fits]
  %next_extents = phi ptr [%extents, %read], [%own_extents, %fits]
  call void @core_steps(ptr %tensor, i64 %own_lead, i64 %rank, ptr %core)
  %in_order = call i1 @same(ptr %core, ptr %dense_steps, i64 %rank)
  %next_dense = and i1 %dense, %in_order
  br label %stored
stored:
{load("data", "ptr", "%tensor", at(Tensor, "data"))}
  %place_p = getelementptr ptr, ptr %places, i64 %k
  store ptr %data, ptr %place_p
  %step_p = getelementptr i64, ptr %steps, i64 %k
  store i64 %step, ptr %step_p
  %next_core = getelementptr i64, ptr %core, i64 %rank
  %next = add i64 %k, 1
  br label %loop
ready:
  br i1 %found, label %measured, label %general
measured:
  %count = call i64 @product(ptr %extents, i64 %lead)
{loads(Task, "ptr", "@task", "one", "kernel")}
{load("most", "i64", "@task", at(Task, "most"))}
  %has_one = icmp ne ptr %one, null
  %is_single = icmp eq i64 %lead, 0
  %single_in_order = and i1 %is_single, %dense
  %by_one = and i1 %single_in_order, %has_one
  %has_kernel = icmp ne ptr %kernel, null
  %is_any = icmp sge i64 %count, 1
  %is_small = icmp sle i64 %count, %most
  %any_small = and i1 %is_any, %is_small
  %by_kernel = and i1 %any_small, %has_kernel
  %is_possible = or i1 %by_one, %by_kernel
  br i1 %is_possible, label %make, label %general
make:
  %all_axes = add i64 %lead, %output_rank
  %shape = alloca i64, i64 %all_axes
  %shape_core = getelementptr i64, ptr %shape, i64 %lead
  call void @copy(ptr %extents, ptr %shape, i64 %lead)
  call void @copy(ptr %output_shape, ptr %shape_core, i64 %output_rank)
  call void @copy(ptr %output_steps, ptr %core, i64 %output_rank)
  %result = call ptr @new(ptr %shape, i64 %all_axes)
  %is_made = icmp ne ptr %result, null
  br i1 %is_made, label %run, label %general
run:
{load("result_start", "ptr", "%result", at(ManagedTensor, "tensor", at(Tensor, "data")))}
{load("result_offset", "i64", "%result", at(ManagedTensor, "tensor", at(Tensor, "offset")))}
  %result_data = getelementptr i8, ptr %result_start, i64 %result_offset
  %result_place = getelementptr ptr, ptr %places, i64 %inputs
  store ptr %result_data, ptr %result_place
  %result_step = getelementptr i64, ptr %steps, i64 %inputs
  store i64 %output_bytes, ptr %result_step
  br i1 %by_one, label %single, label %batch
single:
  %single_doubt = call i64 %one(ptr %places)
  br label %ran
batch:
  %batch_doubt = call i64 @batch(ptr %places, ptr %steps, i64 %count)
  br label %ran
ran:
  %doubt = phi i64 [%single_doubt, %single], [%batch_doubt, %batch]
{load("exception", "ptr", "@task", at(Task, "exception"))}
  %raised = call ptr %exception()
  %is_sound = icmp eq ptr %raised, null
  %is_sure = icmp eq i64 %doubt, 0
  %is_done = and i1 %is_sound, %is_sure
  br i1 %is_done, label %done, label %dropped
done:
{load("wrap", "ptr", "@task", at(Task, "wrap"))}
  %wrapped = call i32 %wrap(ptr %result, ptr %places)
  %is_wrapped = icmp eq i32 %wrapped, 0
  %answer = load ptr, ptr %places
  %given_back = select i1 %is_wrapped, ptr %answer, ptr null
  ret ptr %given_back
dropped:
{load("deleter", "ptr", "%result", at(ManagedTensor, "deleter"))}
  call void %deleter(ptr %result)
  br i1 %is_sound, label %general, label %failed
failed:
  ret ptr null
general:
{load("following", "ptr", "@task", at(Task, "next"))}
  %is_last = icmp eq ptr %following, null
  br i1 %is_last, label %last, label %onward
onward:
  %next_answer = tail call ptr %following(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %next_answer
last:
{load("function", "ptr", "@task", at(Task, "general"))}
{load("vectorcall", "ptr", "@task", at(Task, "vectorcall"))}
  %general_answer = call ptr %vectorcall(ptr %function, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %general_answer
}}
"""

TENSOR_CALL = f"""
@task = dso_local global [{ctypes.sizeof(Task)} x i8] zeroinitializer, align 8
{READING}{PRODUCT}{COPY}{_COMPUTE}{_CALL}"""
"""A module without its target."""
