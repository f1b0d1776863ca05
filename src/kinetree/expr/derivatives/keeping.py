"""What the way back needs of the rounds of the forward sweep: kept in memory, a number a value and round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kinetree.expr.derivatives.backward_loops import Backward, Bounds, slots
from kinetree.expr.derivatives.emitter import Emitter, Scope
from kinetree.expr.named import Lines
from kinetree.expr.program import Argument, Array, Index

__all__ = ["Keeping"]


@dataclass(slots=True, eq=False)
class _Block:
    """A block of the forward sweep, and the block of the way back that belongs to it."""

    scope: Scope
    counters: tuple[Bounds, ...]
    array: int = -1
    """Where values are kept, one after the other, each for all rounds."""
    kept: dict[int, int] = field(default_factory=dict)
    """By name, which of the array's parts a value has."""
    back: Scope | None = None
    """The block of the way back, once it is begun."""
    loaded: dict[int, int] = field(default_factory=dict)
    """By name, what has been loaded there already."""


class Keeping:
    """Gives the values of the forward sweep to the way back."""

    def __init__(self, emit: Emitter, backward: Backward, new_array: Callable[[Array], int]) -> None:
        self._emit = emit
        self._backward = backward
        self._new_array = new_array
        self._blocks: dict[Scope, _Block] = {}
        self._scopes: dict[int, Scope] = {}
        """By the identity of the lines of the source."""
        self._reloads: dict[int, tuple[int, Index]] = {}

    def swept(self, lines: Lines, scope: Scope, counters: Sequence[Bounds]) -> None:
        """Lines of the source are written into a scope, inside loops with these counters."""
        self._blocks[scope] = _Block(scope, tuple(counters))
        self._scopes[id(lines)] = scope

    def counters(self, lines: Lines) -> tuple[Bounds, ...]:
        """The bounds of the counters around the lines."""
        return self._blocks[self._scopes[id(lines)]].counters

    def turn(self, lines: Lines) -> None:
        """The innermost scope that is open is the way back of these lines."""
        self._blocks[self._scopes[id(lines)]].back = self._emit.scopes[-1]

    def reloadable(self, name: int, array: int, at: Index) -> None:
        """A value can be loaded again, as nobody stores into the array."""
        self._reloads[name] = (array, at)

    def get(self, a: Argument) -> Argument:
        """A value of the forward sweep: still there, loaded again, or kept from now on."""
        if isinstance(a, float) or self._emit.home[a] is self._emit.top:
            return a
        block = self._blocks[self._emit.home[a]]
        if a not in block.loaded:
            array, at = self._reloads.get(a) or self._keep(a, block)
            block.loaded[a] = self._emit.load(array, self._backward.index(at), block.back)
        return block.loaded[a]

    def _keep(self, a: int, block: _Block) -> tuple[int, Index]:
        """Store a value at the end of its block, if it is not yet; return where it is."""
        if not block.kept:
            block.array = self._new_array(Array("kept", 0))
        size, at = slots(block.counters)
        if a not in block.kept:
            block.kept[a] = len(block.kept)
            self._emit.store(block.array, at + block.kept[a] * size, a, block.scope)
        return block.array, at + block.kept[a] * size

    def sizes(self) -> dict[int, int]:
        """The arrays of what is kept, and how large they became."""
        return {b.array: slots(b.counters)[0] * len(b.kept) for b in self._blocks.values() if b.kept}
