"""Translate a program to LLVM IR: straight-line vector code, one sample per lane.

`@kernel(args, dimensions, steps, data)` has the signature of a NumPy ufunc's inner loop. It walks the batch one group
of lanes at a time: gather the inputs, `@sample` on registers, scatter the outputs. An incomplete last group runs
through the same code, so a sample's result does not depend on its position in the batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.codegen.cpu.batch import MEMORY, batch_kernel, needs_heap
from kinetree.codegen.cpu.lanes import lane_copies
from kinetree.codegen.cpu.rounds import Rounds
from kinetree.codegen.llvm.arc_tangent import arc_tangent
from kinetree.codegen.llvm.elementary import sincos
from kinetree.codegen.llvm.layout import Layout
from kinetree.codegen.llvm.memory import memory_functions
from kinetree.codegen.llvm.precision import Precision
from kinetree.codegen.llvm.sample import SampleWriter
from kinetree.codegen.llvm.target import Target
from kinetree.expr import Program

__all__ = ["emit", "sample_module"]

_CACHE = 1 << 24  # bytes of last-level cache that a core can expect


def emit(
    program: Program,
    precision: Precision,
    target: Target,
    quaternions: Sequence[tuple[int, int]] = (),
    rounds: Rounds | None = None,
) -> str:
    """A module, as text, that holds `@kernel` for this program; `quaternions` and `rounds` as for `batch_kernel`."""
    lanes = _lanes(program, precision, target)
    kept = [MEMORY] if needs_heap(program, precision, lanes) else []
    sample = sample_module(program, precision, target, lanes, zeros=False, kept=kept)
    return "\n".join(
        (sample, lane_copies(lanes, precision), batch_kernel(program, precision, lanes, quaternions, rounds))
    )


def _lanes(program: Program, precision: Precision, target: Target) -> int:
    """As many as a register holds, or fewer if that many samples' memory would overflow the processor's caches."""
    lanes = target.lanes(precision)
    scratch = Layout(program).scratch * precision.bytes
    while lanes > 2 and lanes * scratch > _CACHE:
        lanes //= 2
    return lanes


def sample_module(
    program: Program, precision: Precision, target: Target, lanes: int, *, zeros: bool, kept: Sequence[str] = ()
) -> str:
    """The part common to all modules of this program: `@sample` and the functions it calls.

    `zeros` as for `SampleWriter`; `kept`: further places where memory is kept between calls.
    """
    writer = SampleWriter(program, precision, target, lanes, zeros=zeros)
    sample = writer.text()
    parts = [
        f'target triple = "{target.triple}"',
        _declarations(lanes, precision),
        sincos(lanes, precision) if "@sincos" in sample else "",
        arc_tangent(lanes, precision) if "@arc_tangent" in sample else "",
        memory_functions(*writer.kept, *kept) if writer.kept or kept else "",
        sample,
        "!1 = !{}",
        'attributes #1 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }',
        # Spilled registers are aligned: with the stack's usual 16 bytes every other one would cross a cache line.
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
declare {V} @llvm.floor.{overload}({V})
declare {V} @llvm.copysign.{overload}({V}, {V})
declare i1 @llvm.vector.reduce.and.v{lanes}i1(<{lanes} x i1>)
declare {V} @llvm.arithmetic.fence.{overload}({V})
declare double @llvm.fma.f64(double, double, double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare double @exp(double)
declare double @log(double)
declare double @tanh(double)
"""
