"""How results are stored in lane buffers: each distinct number once.

A mass matrix is symmetric, and zero where one branch of the tree meets another: a humanoid's 1,444 entries are 332
distinct numbers. Written out for every group of lanes they overflow the nearest cache; packed they fit in it, and are
expanded to entries on the way to the user's array.
"""

from __future__ import annotations

from kinetree.expr import Argument, Program
from kinetree.records import record

__all__ = ["Packing", "packings"]


@record(frozen=True, slots=True)
class Packing:
    """The lane buffer of one output: a register for each distinct number."""

    values: tuple[Argument, ...]
    """The contents of each register: a value, or a constant."""
    places: tuple[int, ...]
    """The register of each entry of the output."""

    @property
    def is_plain(self) -> bool:
        """Whether every entry has its own register, in order, which each sample computes again."""
        return len(self.values) == len(self.places) and all(isinstance(value, int) for value in self.values)


def packings(program: Program) -> tuple[Packing, ...] | None:
    """One packing per output; None if the program stores its results itself, entry by entry.

    >>> from kinetree.expr import Port, trace
    >>> symmetric = trace(lambda x: [[x[0], 0.0, 0.0, x[0]]], [Port("x", (1,))], [Port("y", (2, 2))])
    >>> packings(symmetric)
    (Packing(values=(0, 0.0), places=(0, 1, 1, 0)),)
    """
    if program.results is None:
        return None
    results = iter(program.results)
    return tuple(_packed([next(results) for _ in range(port.size)]) for port in program.outputs)


def _packed(entries: list[Argument]) -> Packing:
    registers: dict[int | str, int] = {}
    values: list[Argument] = []
    places = []
    for entry in entries:
        key = entry if isinstance(entry, int) else repr(entry)  # 0.0 == -0.0 == 0, but the three must be kept apart
        if key not in registers:
            registers[key] = len(values)
            values.append(entry)
        places.append(registers[key])
    return Packing(tuple(values), tuple(places))
