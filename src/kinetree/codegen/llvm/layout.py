"""Locations of a program's arrays: in registers of scratch memory, in numbers for constants."""

from __future__ import annotations

from kinetree.expr import Array, Program
from kinetree.records import record

__all__ = ["Layout", "Place"]


@record(frozen=True, slots=True)
class Place:
    """Number k of an array is at start + k · stride."""

    start: int
    stride: int


class Layout:
    """Arrays of one record are interleaved entry by entry, so that values used together are close together."""

    def __init__(self, program: Program, lanes: int = 1) -> None:
        """`lanes`: how many samples are computed together."""
        self._lanes = lanes
        self.places: dict[int, Place] = {}
        """Scratch and constant arrays, by number."""
        first = len(program.inputs) + len(program.outputs)
        numbered = list(enumerate(program.arrays, first))
        self.cleared: int = self._lay([(k, a) for k, a in numbered if a.values is None and a.clear], 0)
        """How many of the first scratch numbers are initially zero."""
        self.scratch: int = self._lay([(k, a) for k, a in numbered if a.values is None and not a.clear], self.cleared)
        """Number of scratch numbers."""
        constant = [(k, a) for k, a in numbered if a.values is not None]
        self.constants: list[float] = [0.0] * self._lay(constant, 0)
        for k, array in constant:
            place = self.places[k]
            assert array.values is not None
            for n, x in enumerate(array.values):
                self.constants[place.start + n * place.stride] = x

    def _lay(self, arrays: list[tuple[int, Array]], start: int) -> int:
        """Assign places from `start` on; return the first free one."""
        groups: dict[tuple[str, int] | int, list[tuple[int, Array]]] = {}
        for k, array in arrays:
            groups.setdefault((array.record, array.size) if array.record else k, []).append((k, array))
        for members in groups.values():
            for offset, (k, _) in enumerate(members):
                self.places[k] = Place(start + offset, len(members))
            start += sum(array.size_for(self._lanes) for _, array in members)
        return start
