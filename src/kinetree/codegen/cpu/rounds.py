"""A program that is run repeatedly on each group of samples, in LLVM IR.

The number of rounds is known only when the kernel is called, so one kernel serves any number: it is the length of an
axis that NumPy's ufunc machinery passes on. Between rounds a group's state stays in the kernel's own memory, so that
only the rows of each round go to and from the user's arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Port, Program
from kinetree.records import record

__all__ = ["COPY", "ROUNDS_END", "Rounds", "round_count", "signature"]

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


_ROUNDS, _NOTHING = "rounds", "nothing"


def signature(inputs: Sequence[Port], outputs: Sequence[Port], rows: Sequence[int] = ()) -> str:
    """The signature in NumPy's notation. The first axes of the inputs `rows` and of the outputs share one free length.
    Axes without numbers share another one, because NumPy takes no fixed length of zero.

    >>> signature([Port("x", (1, 3)), Port("t", ())], [Port("y", (1, 4))], rows=[0])
    '(rounds,3),()->(rounds,4)'
    >>> signature([Port("x", (3,)), Port("act", (0,))], [Port("y", (2,))])
    '(3),(nothing)->(2)'
    """
    axes = [f"({','.join(names)})" for names in _axes(inputs, outputs, rows)]
    return f"{','.join(axes[: len(inputs)])}->{','.join(axes[len(inputs) :])}"


def place_of_rounds(inputs: Sequence[Port], outputs: Sequence[Port], rows: Sequence[int]) -> int:
    """Index of that length among a kernel's `dimensions`, which begin with the number of samples.

    >>> place_of_rounds([Port("q", (3,)), Port("x", (1, 3))], [Port("y", (1, 4))], rows=[1])
    2
    """
    return 1 + list(dict.fromkeys(name for names in _axes(inputs, outputs, rows) for name in names)).index(_ROUNDS)


def _axes(inputs: Sequence[Port], outputs: Sequence[Port], rows: Sequence[int]) -> list[list[str]]:
    varied = [*rows, *(range(len(inputs), len(inputs) + len(outputs)) if rows else ())]
    return [
        [_ROUNDS if k in varied and axis == 0 else str(n) if n else _NOTHING for axis, n in enumerate(port.shape)]
        for k, port in enumerate((*inputs, *outputs))
    ]
