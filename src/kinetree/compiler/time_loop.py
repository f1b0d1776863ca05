"""A loop over time inside a program: the state in memory, and a row of the inputs and of the result a step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from kinetree.expr import Index, Memory, Range, Recorder, Scalar
from kinetree.model import Model
from kinetree.tree.rolled import RolledTree

__all__ = ["Steps"]


class Steps:
    """For each step: `for arguments, dt in steps: steps.state = …`, the next q and v in pieces.

    The inputs of the program are q, v, then those with a row a step, then dt.
    """

    def __init__(self, recorder: Recorder, model: Model, inputs: int, count: int, *, rolled: bool) -> None:
        """`inputs`: how many there are, up to and with dt; `count`: how many steps."""
        self.state: Any = None
        self._inputs = recorder.inputs[:inputs]
        self._recorder = recorder
        self._tree = model.tree
        self._sizes = {space: recorder.inputs[k].size for k, space in enumerate(("nq", "nv"))}
        self._count = count
        self._rolled = rolled

    def __iter__(self) -> Iterator[tuple[list[Any], Scalar]]:
        recorder, sizes = self._recorder, self._sizes
        state = {space: recorder.array(f"state_{space}", n) for space, n in sizes.items()}
        for memory, given in zip(state.values(), recorder.inputs, strict=False):
            with recorder.loop(Range(Index(0), Index(memory.size))) as k:
                memory[k] = given[k]
        (output,) = recorder.outputs
        *rows, dt = self._inputs[2:]
        with recorder.loop(Range(Index(0), Index(self._count))) as step:
            arguments = [self._pieces(memory, space, 0) for space, memory in state.items()]
            arguments += [self._pieces(memory, "forces", step * sizes["nv"]) for memory in rows]
            yield arguments, dt[0]
            first: Index = step * (sizes["nq"] + sizes["nv"])
            for space, pieces, place in zip(sizes, self.state, (first, first + sizes["nq"]), strict=True):
                self._write(pieces, space, (state[space], 0), (output, place))

    def _pieces(self, memory: Memory, space: str, first: Index | int) -> Any:
        if self._rolled:
            return cast(RolledTree, self._tree).pieces_in(memory, space, first)
        size = self._sizes["nq" if space == "nq" else "nv"]
        return self._tree.split([memory[first + k] for k in range(size)], space)

    def _write(self, pieces: Any, space: str, *places: tuple[Memory, Index | int]) -> None:
        if self._rolled:
            cast(RolledTree, self._tree).write(pieces, space, *places)
            return
        for k, x in enumerate(self._tree.joined(pieces, space)):
            for memory, first in places:
                memory[first + k] = x
