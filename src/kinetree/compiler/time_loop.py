"""A loop over time inside a program: the state in memory, and one row of the inputs and of the result per step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kinetree.compiler.definition import Definition
from kinetree.compiler.forms.form import Form
from kinetree.expr import Index, Memory, Numbers, Range, Recorder
from kinetree.records import record
from kinetree.tree import SPACES
from kinetree.tree.rolled import RolledTree

__all__ = ["Steps"]


class Steps:
    """For each step: `for arguments in steps: steps.state = …`, the next state in pieces.

    The inputs of the program are the state (q and v, and perhaps more, or something else), then those with one row per
    step, then dt if a step has a length.
    """

    def __init__(
        self, recorder: Recorder, model_at: Callable[[Index], Form], definition: Definition, count: int
    ) -> None:
        """`model_at`: the robot as it is in a step; `count`: how many steps."""
        self.state: Any = None
        self.model: Form
        """The robot as it is in this step."""
        self._state: list[Memory] = []
        self._recorder = recorder
        self._model_at = model_at
        self._spaces: list[Any] = [space for _, space in definition.inputs]
        self._kept = definition.state
        self._takes_dt = definition.takes_dt
        self._count = count

    def __iter__(self) -> Iterator[list[Any]]:
        recorder, spaces, kept = self._recorder, self._spaces, self._kept
        given = recorder.inputs[: len(spaces)]
        length = [recorder.inputs[len(spaces)][0]] if self._takes_dt else []
        state = [recorder.array(f"state_{space}", x.size) for space, x in zip(spaces[:kept], given, strict=False)]
        self._state = state
        for memory, start in zip(state, given, strict=False):
            with recorder.loop(Range(Index(0), Index(memory.size))) as k:
                memory[k] = start[k]
        (output,) = recorder.outputs
        with recorder.loop(Range(Index(0), Index(self._count))) as step:
            self.model = self._model_at(step)
            arguments = [
                self.pieces(memory, 0, space, memory.size) for space, memory in zip(spaces, state, strict=False)
            ]
            for memory, space in zip(given[kept:], spaces[kept:], strict=True):
                width = memory.size // self._count
                arguments.append(self.pieces(memory, step * width, space, width))
            yield [*arguments, *length]
            place: Index = step * sum(memory.size for memory in state)
            for space, memory, pieces in zip(spaces, state, self.state, strict=False):
                self.write(pieces, space, (memory, 0), (output, place))
                place = place + memory.size

    def stages(
        self,
        count: int,
        start: Sequence[Any],
        evaluate: Callable[..., tuple[Sequence[Any], Callable[[], Sequence[Numbers]]]],
        rates: Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], Sequence[Any]],
        state: Callable[[Sequence[Any]], Sequence[Any]],
    ) -> tuple[Sequence[Any], list[list[Numbers]]]:
        """Run the stages of a step, as `algorithms.integrators.one_by_one` does, in a loop of the program if there are
        several, so that common parts are compiled once. Their reports are kept apart."""
        recorder = self._recorder
        reports: list[tuple[Memory, bool]] = []

        def report(k: Index | int, found: Sequence[Numbers]) -> None:
            for row in found:
                kept = recorder.array("stage_numbers", count * len(row))
                recorder.reports.add(kept.number)
                reports.append((kept, isinstance(row, Memory)))
                for which in row.rounds(0, len(row)) if isinstance(row, Memory) else range(len(row)):
                    kept[k * len(row) + which] = row[which]

        def reported(k: int) -> list[Numbers]:
            rows: list[Numbers] = []
            for kept, is_memory in reports:
                size = kept.size // count
                row: Any = recorder.array("stage_row", size) if is_memory else [kept[k * size + n] for n in range(size)]
                for n in row.rounds(0, size) if is_memory else ():
                    row[n] = kept[k * size + n]
                rows.append(row)
            return rows

        if count == 1:
            found, numbers = evaluate(*start)
            end = state([rates([], start, found)])
            report(0, numbers())
        else:
            more = [memory.size for memory in self._state[2 : len(start)]]
            nv = self._state[1].size
            at = self._rows("stage", 1, ["nq", "nv", *more], [memory.size for memory in self._state[: len(start)]])
            past = self._rows("rates", count, ["nv", "nv", *more], [nv, nv, *more])
            for row, memory in zip(at, self._state, strict=False):
                with recorder.loop(Range(Index(0), Index(memory.size))) as n:
                    row.memory[n] = memory[n]
            with recorder.loop(Range(Index(0), Index(count))) as k:
                here = [row[0] for row in at]
                found, numbers = evaluate(*here)
                report(k, numbers())
                with recorder.switch(k) as case:
                    for stage in range(count):
                        with case():
                            before = [[row[j] for row in past] for j in range(stage)]
                            for row, pieces in zip(past, rates(before, here, found), strict=True):
                                row[stage] = pieces
                            for row, pieces in zip(at, state([*before, [row[stage] for row in past]]), strict=True):
                                row[0] = pieces
            end = [row[0] for row in at]
        return end, [reported(k) for k in range(count)]

    def _rows(self, name: str, count: int, spaces: Sequence[str | int], sizes: Sequence[int]) -> list[_Rows]:
        arrays = [self._recorder.array(f"{name}_{k}", count * size) for k, size in enumerate(sizes)]
        return [_Rows(self, *row) for row in zip(arrays, spaces, sizes, strict=True)]

    def pieces(self, memory: Memory, first: Index | int, space: str | int, width: int) -> Any:
        """Numbers in memory as the slots of a space, or flat."""
        if space in SPACES and isinstance(self.model.tree, RolledTree):
            return self.model.tree.pieces_in(memory, space, first)
        flat = [memory[first + k] for k in range(width)]
        return self.model.tree.split(flat, space) if space in SPACES else flat

    def write(self, pieces: Any, space: str | int, *places: tuple[Memory, Index | int]) -> None:
        """Write pieces from slot 1 on; flat numbers as they are."""
        if space in SPACES and isinstance(self.model.tree, RolledTree):
            self.model.tree.write(pieces, space, *places)
            return
        for k, x in enumerate(self.model.tree.joined(pieces, space) if space in SPACES else pieces):
            for memory, first in places:
                memory[first + k] = x


@record(frozen=True, slots=True)
class _Rows:
    """Rows in memory, read and written in pieces with slots from 0 on, or as flat numbers."""

    steps: Steps
    memory: Memory
    space: str | int
    size: int

    def __getitem__(self, k: int) -> Any:
        return self.steps.pieces(self.memory, k * self.size, self.space, self.size)

    def __setitem__(self, k: int, pieces: Any) -> None:
        own = pieces[1:] if self.space in SPACES else pieces
        self.steps.write(own, self.space, (self.memory, k * self.size))
