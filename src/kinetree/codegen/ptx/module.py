"""The module of a program for a graphics processor, in LLVM IR."""

from __future__ import annotations

from kinetree.codegen.llvm.arc_tangent import arc_tangent
from kinetree.codegen.llvm.elementary import sincos
from kinetree.codegen.llvm.layout import Layout
from kinetree.codegen.llvm.operations import LIBM
from kinetree.codegen.llvm.precision import Precision
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
    """A module that holds the kernel of a program, by this name, and what it calls; the rest as for `kernel`."""
    program = in_pieces(program)
    writer = SampleWriter(program, precision, target, 1, zeros=True)
    sample = writer.text()
    if writer.kept:
        size = Layout(program).scratch * precision.bytes
        raise OptionError(
            f"{program.name} needs {size:,} bytes of memory for one sample, and a thread of a graphics processor has "
            f"{target.stack:,}"
        )
    V, overload = f"<1 x {precision.type}>", f"v1{precision.suffix}"
    return "\n".join(
        [
            f'target triple = "{target.triple}"',
            f'target datalayout = "{_LAYOUT}"',
            f"declare {V} @llvm.fma.{overload}({V}, {V}, {V})",
            *(f"declare {V} @llvm.{x}.{overload}({V})" for x in ("sqrt", "fabs", "floor", "arithmetic.fence")),
            f"declare {V} @llvm.copysign.{overload}({V}, {V})",
            "declare double @llvm.fma.f64(double, double, double)",
            "declare i1 @llvm.vector.reduce.and.v1i1(<1 x i1>)",
            "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
            sincos(1, precision) if "@sincos" in sample else "",
            arc_tangent(1, precision) if "@arc_tangent" in sample else "",
            EXPONENTIALS if any(f"@{x}(" in sample for x in LIBM.values()) else "",
            sample,
            kernel(program, precision, name, block, registers),
            "!1 = !{}",
            "attributes #0 = { nounwind }",
            "attributes #1 = { nounwind alwaysinline }",
        ]
    )
