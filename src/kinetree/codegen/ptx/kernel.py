"""The kernel of a program for a graphics processor, in LLVM IR: one sample per thread.

`kernel(in0, stride0, in1, stride1, …, out0, …, count)` has a pointer to device memory for each port, the distance
between the samples of each input in numbers (0: all samples have the same), and the number of samples. A thread block
brings the rows of its samples in through shared memory (`tiles.py`), runs `@sample` on its own, and takes the results
out the same way. The threads beyond the last sample only help to copy.

Rows that are long, in programs that go through them in loops, stay where they are: each thread reads and writes its
own.
"""

from __future__ import annotations

import re

from kinetree.codegen.llvm.precision import Precision
from kinetree.codegen.llvm.sample import port_names
from kinetree.codegen.ptx.tiles import Tiles, widths
from kinetree.expr import Program

__all__ = ["BLOCK", "REGISTERS", "entry_name", "kernel"]

BLOCK = 128
"""Threads in a block."""
REGISTERS = 255
"""The most that a thread can have. Without a limit the assembler gives some very long kernels as few as 40."""
_LONGEST_COPY = 256
"""Numbers of a row that a program with loops keeps in the memory of its thread."""


def entry_name(name: str) -> str:
    """The name of a kernel: profilers show it, and the driver finds it by it.

    >>> entry_name("jacobian of a_b")
    'kinetree_jacobian_of_a_b'
    """
    return f"kinetree_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"


def kernel(program: Program, precision: Precision, name: str, block: int = BLOCK, registers: int = REGISTERS) -> str:
    """The kernel of a program whose `@sample` has one lane, by its `entry_name`.

    `block`: threads in a block; `registers`: the most per thread.
    """
    t, inputs = precision.type, len(program.inputs)
    ports, names = (*program.inputs, *program.outputs), port_names(program)
    stays = [not program.is_straight and port.size > _LONGEST_COPY for port in ports]
    tiles = Tiles([port.size for port, stay in zip(ports, stays, strict=True) if not stay], precision, block)
    memory: list[str] = []
    before: list[str] = []
    after: list[str] = []
    for k, (port, own, stay) in enumerate(zip(ports, names, stays, strict=True)):
        stride = f"%stride{k}" if k < inputs else str(port.size)
        before += [
            f"  %skipped{k} = mul i64 %first, {stride}",
            f"  %block{k} = getelementptr {t}, ptr addrspace(1) %array{k}, i64 %skipped{k}",
        ]
        if stay:
            before += [
                f"  %row{k}_at = mul i64 %thread_w, {stride}",
                f"  %row{k} = getelementptr {t}, ptr addrspace(1) %block{k}, i64 %row{k}_at",
                f"  %{own} = addrspacecast ptr addrspace(1) %row{k} to ptr",
            ]
            continue
        memory.append(f"  %{own} = alloca [{max(port.size, 1)} x {t}], align {precision.bytes}")
        for start, width in widths(port.size, precision):
            lines = before if k < inputs else after
            lines += [
                f"  %piece{k}_{start} = getelementptr {t}, ptr addrspace(1) %block{k}, i64 {start}",
                f"  %own{k}_{start} = getelementptr {t}, ptr %{own}, i64 {start}",
                *(tiles.read if k < inputs else tiles.write)(width, f"%piece{k}_{start}", stride, f"%own{k}_{start}"),
            ]
    parameters = []
    for k in range(len(ports)):
        parameters.append(f"ptr addrspace(1) noalias %array{k}")
        if k < inputs:
            parameters.append(f"i64 %stride{k}")
    return "\n".join(
        [
            tiles.functions(),
            f"define ptx_kernel void @{name}({', '.join(parameters)}, i64 %count) {{",
            "start:",
            *memory,
            "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
            "  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
            "  %thread_w = zext i32 %thread to i64",
            "  %block_w = zext i32 %block to i64",
            f"  %first = mul i64 %block_w, {block}",
            "  %left = sub i64 %count, %first",
            f"  %is_full = icmp sgt i64 %left, {block}",
            f"  %rows_w = select i1 %is_full, i64 {block}, i64 %left",
            "  %rows = trunc i64 %rows_w to i32",
            *before,
            "  %has_sample = icmp slt i32 %thread, %rows",
            "  br i1 %has_sample, label %compute, label %computed",
            "compute:",
            f"  call void @sample({', '.join(f'ptr %{own}' for own in names)}) alwaysinline",
            "  br label %computed",
            "computed:",
            *after,
            "  ret void",
            "}",
            "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
            "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
            "declare void @llvm.nvvm.barrier0()",
            "!nvvm.annotations = !{!2}",
            f'!2 = !{{ptr @{name}, !"maxntidx", i32 {block}, !"maxnreg", i32 {registers}}}',
        ]
    )
