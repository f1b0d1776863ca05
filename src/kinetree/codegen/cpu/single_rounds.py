"""A program that is run repeatedly on one sample, in LLVM IR."""

from __future__ import annotations

from kinetree.codegen.cpu.module import Apart, sample_module
from kinetree.codegen.cpu.rounds import Rounds, round_count
from kinetree.codegen.llvm.precision import Precision
from kinetree.codegen.llvm.target import Target
from kinetree.expr import Program

__all__ = ["single_rounds"]


def single_rounds(
    program: Program, precision: Precision, target: Target, rounds: Rounds, apart: Apart | None = None
) -> str:
    """A module whose `@kernel` takes one sample, in contiguous arrays.

    A round reads the state where the previous one wrote it. The number of samples and the byte steps are ignored.
    `apart` is as for `sample_module`.
    """
    inputs = range(len(program.inputs))
    rows = (*rounds.rows, len(inputs))
    lines = []
    for k in (*inputs, len(inputs)):
        lines += [f"  %p{k}_p = getelementptr ptr, ptr %args, i64 {k}", f"  %p{k} = load ptr, ptr %p{k}_p"]
    starts = {k: sum(program.inputs[j].size for j in rounds.state if j < k) for k in rounds.state}
    body = []
    for k in rows:
        size = (program.inputs[k] if k in inputs else program.outputs[0]).size * precision.bytes
        body += [f"  %at{k} = mul i64 %round, {size}", f"  %row{k} = getelementptr i8, ptr %p{k}, i64 %at{k}"]
    for k in rounds.state:
        back = (starts[k] - program.outputs[0].size) * precision.bytes
        body += [
            f"  %last{k} = getelementptr i8, ptr %row{len(inputs)}, i64 {back}",
            f"  %state{k} = select i1 %is_first, ptr %p{k}, ptr %last{k}",
        ]
    places = [
        f"%state{k}" if k in rounds.state else f"%row{k}" if k in rows else f"%p{k}" for k in (*inputs, len(inputs))
    ]
    new_line = "\n"
    return f"""{sample_module(program, precision, target, 1, zeros=True, apart=apart)}
define void @kernel(ptr %args, ptr %dimensions, ptr %steps, ptr %data) #0 {{
start:
{round_count(program, rounds)}
{new_line.join(lines)}
  br label %rounds
rounds:
  %round = phi i64 [0, %start], [%next_round, %one_round]
  %more_rounds = icmp slt i64 %round, %round_count
  br i1 %more_rounds, label %one_round, label %end
one_round:
  %is_first = icmp eq i64 %round, 0
{new_line.join(body)}
  call void @sample({", ".join(f"ptr {place}" for place in places)})
  %next_round = add i64 %round, 1
  br label %rounds
end:
  ret void
}}
"""
