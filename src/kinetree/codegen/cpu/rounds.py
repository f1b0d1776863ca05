"""A program that is run repeatedly on each group of samples, in LLVM IR.

The number of rounds is known only when the kernel is called, so one kernel serves any number: it is the length of an
axis that NumPy's ufunc machinery passes on. Between rounds a group's state stays in the kernel's own memory, so that
only the rows of each round go to and from the user's arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.codegen.cpu.signature import place_of_rounds
from kinetree.expr import Program
from kinetree.records import record

__all__ = ["COPY", "ROUNDS_END", "Rounds", "round_count"]

ROUNDS_END = "%rounds_done"
"""The block after the last round of a group."""
COPY = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"


@record(frozen=True, slots=True)
class Rounds:
    """Which ports have one row per round, and which carry the state."""

    rows: tuple[int, ...]
    """Inputs with one row per round: their first axis, like the result's, counts rounds. In the program it is 1."""
    state: tuple[int, ...]
    """The inputs that the row of the result replaces in the next round, in order."""

    def loop(self, program: Program, body: Sequence[str], names: Sequence[str], width: int) -> str:
        """All rounds of one group, in block `%run`, from the `body` of one. A lane register has `width` bytes."""
        result, start = names[len(program.inputs)], 0
        feeds = []
        for k in self.state:
            size = program.inputs[k].size
            feeds += [
                f"  %fed{k} = getelementptr i8, ptr %{result}, i64 {start * width}",
                f"  call void @llvm.memcpy.p0.p0.i64(ptr align {width} %{names[k]}, ptr align {width} %fed{k}, "
                f"i64 {size * width}, i1 false)",
            ]
            start += size
        return "\n".join(
            [
                "  br label %rounds",
                "rounds:",
                "  %round = phi i64 [0, %run], [%next_round, %one_round]",
                "  %more_rounds = icmp slt i64 %round, %round_count",
                f"  br i1 %more_rounds, label %one_round, label {ROUNDS_END}",
                "one_round:",
                *body,
                *feeds,
                "  %next_round = add i64 %round, 1",
                "  br label %rounds",
                f"{ROUNDS_END[1:]}:",
            ]
        )


def round_count(program: Program, rounds: Rounds) -> str:
    """`%round_count`, from the lengths that NumPy passes on."""
    place = place_of_rounds(program.inputs, program.outputs, rounds.rows)
    return (
        f"  %round_count_p = getelementptr i64, ptr %dimensions, i64 {place}\n"
        "  %round_count = load i64, ptr %round_count_p"
    )
