"""From a program to LLVM's language: straight-line vector code, one sample a lane.

`@kernel(args, dimensions, steps, data)` has the signature of a NumPy ufunc's inner loop. It walks the batch a
group of lanes at a time: gather the inputs, `@sample` on registers, scatter the outputs. A last group that is not
full runs through the same code, so a sample's result does not depend on where in the batch it stands.
"""

from __future__ import annotations

from kinetree.codegen.elementary import sincos
from kinetree.codegen.lanes import lane_copies
from kinetree.codegen.precision import Precision
from kinetree.codegen.sample import SampleWriter, port_names
from kinetree.codegen.target import Target
from kinetree.expr import Port, Program

__all__ = ["emit", "sample_module"]


def emit(program: Program, precision: Precision, target: Target) -> str:
    """A module, as text, that holds `@kernel` for this program."""
    lanes = target.lanes(precision)
    sample = sample_module(program, precision, target, lanes, zeros=False)
    return "\n".join((sample, lane_copies(lanes, precision), _kernel(program, precision, lanes)))


def sample_module(program: Program, precision: Precision, target: Target, lanes: int, *, zeros: bool) -> str:
    """What every module of this program holds: `@sample` and what it calls; `zeros` as for `SampleWriter`."""
    sample = SampleWriter(program, precision, target, lanes, zeros=zeros).text()
    parts = [
        f'target triple = "{target.triple}"',
        _declarations(lanes, precision),
        sincos(lanes, precision) if "@sincos" in sample else "",
        sample,
        'attributes #1 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }',
        # Spilled registers stand aligned: on the stack's usual 16 bytes every other one would cross a cache line.
        f"attributes #0 = {{ nounwind alignstack={max(16, lanes * precision.bytes)} "
        f'"prefer-vector-width"="512" "min-legal-vector-width"="512" }}',
    ]
    return "\n".join(parts)


def _declarations(lanes: int, precision: Precision) -> str:
    V, overload = f"<{lanes} x {precision.type}>", f"v{lanes}{precision.suffix}"
    return f"""\
declare {V} @llvm.fma.{overload}({V}, {V}, {V})
declare {V} @llvm.sqrt.{overload}({V})
declare {V} @llvm.fabs.{overload}({V})
declare double @llvm.fma.f64(double, double, double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare double @exp(double)
declare double @log(double)
declare double @tanh(double)
declare double @atan2(double, double)
"""


def _kernel(program: Program, precision: Precision, lanes: int) -> str:
    width = lanes * precision.bytes
    V = f"<{lanes} x {precision.type}>"
    ports = [*program.inputs, *program.outputs]
    head: list[str] = []
    gathers: list[str] = []
    scatters: list[str] = []
    step = len(ports)  # the steps of the core axes follow those of the batch
    buffers = []
    for k, (port, buffer) in enumerate(zip(ports, port_names(program), strict=True)):
        is_input = k < len(program.inputs)
        buffers.append(f"  %{buffer} = alloca {V}, i64 {max(port.size, 1)}, align {width}")
        if not is_input:
            size = port.size * width
            buffers.append(f"  call void @llvm.memset.p0.i64(ptr align {width} %{buffer}, i8 0, i64 {size}, i1 false)")
        head += [
            f"  %a{k}_p = getelementptr ptr, ptr %args, i64 {k}",
            f"  %a{k} = load ptr, ptr %a{k}_p",
            f"  %s{k}_p = getelementptr i64, ptr %steps, i64 {k}",
            f"  %s{k} = load i64, ptr %s{k}_p",
        ]
        copies = gathers if is_input else scatters
        copies += [f"  %b{k}_o = mul i64 %sample, %s{k}", f"  %b{k} = getelementptr i8, ptr %a{k}, i64 %b{k}_o"]
        copies += _copies("gather" if is_input else "scatter", k, port, step, f"%{buffer}", head, V)
        step += len(port.shape)
    new_line = "\n"
    return f"""
define void @kernel(ptr %args, ptr %dimensions, ptr %steps, ptr %data) #0 {{
start:
{new_line.join(buffers)}
  %count = load i64, ptr %dimensions
{new_line.join(head)}
  br label %loop
loop:
  %sample = phi i64 [0, %start], [%next, %group]
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
  ret void
}}
"""


def _copies(function: str, k: int, port: Port, step: int, buffer: str, head: list[str], V: str) -> list[str]:
    """The calls that move one port: a call for each row of its last axis."""
    for axis in range(len(port.shape)):
        head += [
            f"  %s{k}_{axis}_p = getelementptr i64, ptr %steps, i64 {step + axis}",
            f"  %s{k}_{axis} = load i64, ptr %s{k}_{axis}_p",
        ]
    columns = port.shape[-1] if port.shape else 1
    column_stride = f"%s{k}_{len(port.shape) - 1}" if port.shape else "0"
    lines = []
    for row in range(port.size // columns if columns else 0):
        base, rest = f"%b{k}", row
        for axis in reversed(range(len(port.shape) - 1)):
            rest, index = divmod(rest, port.shape[axis])
            if index:
                lines.append(f"  %o{k}_{row}_{axis} = mul i64 %s{k}_{axis}, {index}")
                lines.append(f"  %p{k}_{row}_{axis} = getelementptr i8, ptr {base}, i64 %o{k}_{row}_{axis}")
                base = f"%p{k}_{row}_{axis}"
        lines.append(f"  %l{k}_{row} = getelementptr {V}, ptr {buffer}, i64 {row * columns}")
        lines.append(
            f"  call void @{function}(ptr {base}, i64 %s{k}, i64 {column_stride}, i64 {columns}, "
            f"i64 %rows, ptr %l{k}_{row})"
        )
    return lines
