"""The core axes of a program as a gufunc: its signature, and the lengths that a kernel is given."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr import Port

__all__ = ["place_of_rounds", "signature"]

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
