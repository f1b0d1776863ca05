"""Values of the forward sweep that the backward sweep needs, stored in memory: one number per value and iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from kinetree.expr.derivatives.backward_loops import Backward, Bounds, slots
from kinetree.expr.derivatives.emitter import Emitter, Scope
from kinetree.expr.program import Argument, Array, Block, Index
from kinetree.records import record

__all__ = ["Keeping"]


@record(slots=True, eq=False)
class _Block:
    """A block of the forward sweep, and the corresponding block of the backward sweep."""

    scope: Scope
    counters: tuple[Bounds, ...]
    array: int = -1
    """The array of stored values, one after the other, each for all iterations."""
    kept: dict[int, int] = field(default_factory=dict)
    """The part of the array in which each value is stored, by name."""
    back: Scope | None = None
    """The block of the backward sweep, once it is begun."""
    loaded: dict[int, int] = field(default_factory=dict)
    """The values already loaded there, by name."""


class Keeping:
    """Gives the values of the forward sweep to the backward sweep."""

    def __init__(self, emit: Emitter, backward: Backward, new_array: Callable[[Array], int]) -> None:
        self._emit = emit
        self._backward = backward
        self._new_array = new_array
        self._blocks: dict[Scope, _Block] = {}
        self._scopes: dict[int, Scope] = {}
        """The scopes, by the identity of the source's blocks."""
        self._reloads: dict[int, tuple[int, Index]] = {}

    def swept(self, block: Block, scope: Scope, counters: Sequence[Bounds]) -> None:
        """Note that a block of the source is written into a scope, inside loops with these counters."""
        self._blocks[scope] = _Block(scope, tuple(counters))
        self._scopes[id(block)] = scope

    def counters(self, block: Block) -> tuple[Bounds, ...]:
        """The bounds of the counters around a block."""
        return self._blocks[self._scopes[id(block)]].counters

    def turn(self, block: Block) -> None:
        """Note that the innermost open scope is the backward sweep of this block."""
        self._blocks[self._scopes[id(block)]].back = self._emit.scopes[-1]

    def reloadable(self, name: int, array: int, at: Index) -> None:
        """Note that a value can be loaded again, as nothing is stored into its array."""
        self._reloads[name] = (array, at)

    def get(self, a: Argument) -> Argument:
        """A value of the forward sweep: still available, loaded again, or stored from now on."""
        if isinstance(a, float) or self._emit.home[a] is self._emit.top:
            return a
        block = self._blocks[self._emit.home[a]]
        if a not in block.loaded:
            array, at = self._reloads.get(a) or self._keep(a, block)
            block.loaded[a] = self._emit.load(array, self._backward.index(at), block.back)
        return block.loaded[a]

    def _keep(self, a: int, block: _Block) -> tuple[int, Index]:
        """Store a value at the end of its block, unless it already is; return where it is."""
        if not block.kept:
            block.array = self._new_array(Array("kept", 0, is_scratch=True))
        size, at = slots(block.counters)
        if a not in block.kept:
            block.kept[a] = len(block.kept)
            self._emit.store(block.array, at + block.kept[a] * size, a, block.scope)
        return block.array, at + block.kept[a] * size

    def sizes(self) -> dict[int, int]:
        """The final sizes of the arrays of stored values."""
        return {b.array: slots(b.counters)[0] * len(b.kept) for b in self._blocks.values() if b.kept}
