"""The walk over a batch, in LLVM's language.

`@kernel(args, dimensions, steps, data)` has the signature of a NumPy ufunc's inner loop. A group of lanes at a time
it gathers the inputs, runs `@sample` on registers and scatters the outputs. A last group that is not full runs
through the same code, so a sample's result does not depend on where in the batch it stands.
"""

from __future__ import annotations

from kinetree.codegen.lanes import port_copies, port_copy
from kinetree.codegen.precision import Precision
from kinetree.codegen.sample import port_names
from kinetree.expr import Program

__all__ = ["MEMORY", "batch_kernel", "needs_heap"]

MEMORY = "kernel_memory"
"""Where `@kernel` keeps large lane buffers between calls."""
_ON_STACK = 1 << 18  # bytes


def batch_kernel(program: Program, precision: Precision, lanes: int) -> str:
    """`@kernel` of a program whose `@sample` has this many lanes, and the functions it copies with."""
    V, width = f"<{lanes} x {precision.type}>", lanes * precision.bytes
    ports = [*program.inputs, *program.outputs]
    buffers: list[str] = []
    pointers: list[str] = []
    gathers: list[str] = []
    scatters: list[str] = []
    place, on_heap = 0, needs_heap(program, precision, lanes)
    if on_heap:
        size = width * sum(port.size for port in ports)
        buffers += [
            f"  %memory = call ptr @take(ptr @{MEMORY}, i64 {size})",
            "  %no_memory = icmp eq ptr %memory, null",
            "  br i1 %no_memory, label %nothing, label %work",
            "nothing:",
            "  ret void",
            "work:",
        ]
    step = len(ports)  # the steps of the core axes follow those of the batch
    for k, (port, buffer) in enumerate(zip(ports, port_names(program), strict=True)):
        is_input = k < len(program.inputs)
        if on_heap:
            buffers.append(f"  %{buffer} = getelementptr {V}, ptr %memory, i64 {place}")
        else:
            buffers.append(f"  %{buffer} = alloca {V}, i64 {max(port.size, 1)}, align {width}")
        place += port.size
        if not is_input:  # what is always zero is written here, not by `@sample`
            size = port.size * width
            buffers.append(f"  call void @llvm.memset.p0.i64(ptr align {width} %{buffer}, i8 0, i64 {size}, i1 false)")
        pointers += [
            f"  %a{k}_p = getelementptr ptr, ptr %args, i64 {k}",
            f"  %a{k} = load ptr, ptr %a{k}_p",
            f"  %s{k}_p = getelementptr i64, ptr %steps, i64 {k}",
            f"  %s{k} = load i64, ptr %s{k}_p",
            f"  %core{k} = getelementptr i64, ptr %steps, i64 {step}",
        ]
        step += len(port.shape)
        if port.size:
            function = port_copy("gather" if is_input else "scatter", port.shape)
            copies = gathers if is_input else scatters
            copies += [
                f"  %b{k}_o = mul i64 %sample, %s{k}",
                f"  %b{k} = getelementptr i8, ptr %a{k}, i64 %b{k}_o",
                f"  call void {function}(ptr %b{k}, i64 %s{k}, ptr %core{k}, i64 %rows, ptr %{buffer})",
            ]
    new_line = "\n"
    return f"""
{port_copies("gather", (port.shape for port in program.inputs), lanes, precision)}
{port_copies("scatter", (port.shape for port in program.outputs), lanes, precision)}
define void @kernel(ptr %args, ptr %dimensions, ptr %steps, ptr %data) #0 {{
start:
{new_line.join(buffers)}
  %count = load i64, ptr %dimensions
{new_line.join(pointers)}
  br label %first
first:
  br label %loop
loop:
  %sample = phi i64 [0, %first], [%next, %group]
  %more = icmp slt i64 %sample, %count
  br i1 %more, label %group, label %end
group:
  %left = sub i64 %count, %sample
  %is_last = icmp slt i64 %left, {lanes}
  %rows = select i1 %is_last, i64 %left, i64 {lanes}
{new_line.join(gathers)}
  call void @sample({", ".join(f"ptr %{name}" for name in port_names(program))})
{new_line.join(scatters)}
  %next = add i64 %sample, {lanes}
  br label %loop
end:
{f"  call void @give(ptr @{MEMORY}, ptr %memory)" if on_heap else ""}
  ret void
}}
"""


def needs_heap(program: Program, precision: Precision, lanes: int) -> bool:
    """Whether the lane buffers are too large for the stack."""
    ports = (*program.inputs, *program.outputs)
    return lanes * precision.bytes * sum(port.size for port in ports) > _ON_STACK
