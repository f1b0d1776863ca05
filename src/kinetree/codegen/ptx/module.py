"""The module of a program for a graphics processor, in LLVM IR."""

from __future__ import annotations

from kinetree.codegen.llvm.arc_tangent import arc_tangent
from kinetree.codegen.llvm.elementary import sincos
from kinetree.codegen.llvm.layout import Layout
from kinetree.codegen.llvm.operations import LIBM, declarations
from kinetree.codegen.llvm.precision import Lanes, Precision
from kinetree.codegen.llvm.sample import SampleWriter
from kinetree.codegen.llvm.target import Target
from kinetree.codegen.ptx.exponentials import EXPONENTIALS
from kinetree.codegen.ptx.kernel import BLOCK, REGISTERS, kernel
from kinetree.errors import OptionError
from kinetree.expr import Program, in_pieces

__all__ = ["module"]

_LAYOUT = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"


def module(
    program: Program,
    precision: Precision,
    target: Target,
    name: str,
    *,
    block: int = BLOCK,
    registers: int = REGISTERS,
) -> str:
    """A module that holds the kernel of a program, by this name, and its callees; the rest as for `kernel`."""
    program = in_pieces(program)
    writer, register = SampleWriter(program, precision, target, 1, zeros=True), Lanes(1, precision)
    sample = writer.text()
    if writer.kept:
        size = Layout(program).scratch * precision.bytes
        raise OptionError(
            f"{program.name} needs {size:,} bytes of memory for one sample, and a thread of a graphics processor has "
            f"{target.stack:,}"
        )
    return "\n".join(
        [
            f'target triple = "{target.triple}"',
            f'target datalayout = "{_LAYOUT}"',
            declarations(register),
            sincos(register) if "@sincos" in sample else "",
            arc_tangent(register) if "@arc_tangent" in sample else "",
            EXPONENTIALS if any(f"@{x}(" in sample for x in LIBM.values()) else "",
            sample,
            kernel(program, precision, name, block, registers),
            "!1 = !{}",
            "attributes #0 = { nounwind }",
            "attributes #1 = { nounwind alwaysinline }",
        ]
    )
