"""Which parts of a recorded trace are needed, and how often: nothing is emitted for a result that is not read.

A store is needed if its array is an output or is read by something needed, so the search repeats if an array turns out
to be read after stores into it were passed over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter

from kinetree.expr.program import Append, Each, Entry
from kinetree.expr.recording import CallEffect, Effect, LoopEffect, StoreEffect, SwitchEffect
from kinetree.expr.symbol import Graph, Scalar, Symbol

__all__ = ["PLAIN", "SUMS", "Needs"]

SUMS = frozenset({"add", "sub"})
PLAIN = 1 << 32
"""Weight of a use by anything except a sum; one by a sum counts 1."""


class Needs:
    """The needed symbols, effects and arrays."""

    def __init__(
        self, graph: Graph, results: Sequence[Scalar], outputs: Iterable[int], sums: frozenset[str],
        unread: Collection[int] = (), known: Needs | None = None,
    ) -> None:  # fmt: skip
        """`sums`: the operations whose uses are counted apart, `SUMS` or none; `unread`: arrays that count as unused,
        even if they are read; `known`: the needs of a part of it."""
        self.arrays: set[int] = set(outputs) if known is None else {*known.arrays}
        """The arrays that are read, and the outputs."""
        self.uses: dict[Symbol, int] = {}
        """How often each needed symbol is used in its own block (`PLAIN`); uses by blocks inside count once."""
        self.effects: set[Effect] = set()
        self._sums, self._unread = sums, unread
        self._orders: dict[Graph, list[Symbol | Effect]] = {} if known is None else known._orders
        self._stores: dict[Graph, set[int]] = {} if known is None else known._stores
        self._passed: dict[Effect, set[int]] = {}
        """Effects that were passed over, and the arrays into which they store."""
        self._block(graph, results)
        while late := [e for e, stores in self._passed.items() if not stores.isdisjoint(self.arrays)]:
            if all(isinstance(e, StoreEffect) and self._is_needed(e.value) for e in late):
                self._add(late)
            else:
                self.uses, self.effects, self._passed = {}, set(), {}
                self._block(graph, results)

    def _is_needed(self, x: Scalar) -> bool:
        return not isinstance(x, Symbol) or x in self.uses

    def _add(self, stores: Iterable[Effect]) -> None:
        """Add stores of values that are needed anyway."""
        for effect in stores:
            assert isinstance(effect, StoreEffect)
            self.effects.add(effect)
            del self._passed[effect]
            if isinstance(effect.value, Symbol):
                self.uses[effect.value] += PLAIN

    def order(self, graph: Graph) -> list[Symbol | Effect]:
        """The symbols and effects of a block, in the order of the trace."""
        if graph not in self._orders:
            self._orders[graph] = sorted((*graph.symbols(), *graph.effects), key=attrgetter("index"))
        return self._orders[graph]

    def _block(self, graph: Graph, results: Sequence[Scalar]) -> Iterable[Symbol]:
        """Note the needs of a block: from the end, all uses of a symbol are known before it. Return its reads from the
        enclosing blocks."""
        uses, arrays, sums = self.uses, self.arrays, self._sums
        outside: dict[Symbol, None] = {}
        reads: Iterable[Scalar] = results
        weight = PLAIN
        for step in (None, *reversed(self.order(graph))):
            if step is None:
                pass
            elif isinstance(step, Symbol):
                if step not in uses:
                    continue
                if step.op == "load":
                    arrays.add(step.args[0])
                    continue
                reads, weight = step.args, 1 if step.op in sums else PLAIN
            else:
                reads, weight = self._effect(step), PLAIN
            for a in reads:
                if isinstance(a, Symbol):
                    if a.graph is graph:
                        uses[a] = uses.get(a, 0) + weight
                    else:
                        outside[a] = None
        return outside

    def _effect(self, effect: Effect) -> Iterable[Scalar]:
        """The reads of an effect; none if it is not needed."""
        if isinstance(effect, StoreEffect):
            stores = {effect.array} if effect.array not in self._unread else set[int]()
        elif isinstance(effect, CallEffect):
            stores = set[int]()
        else:
            stores = self._stored(effect)
        needed = not stores.isdisjoint(self.arrays)
        if not needed and isinstance(effect, (LoopEffect, CallEffect)):
            needed = any(map(self.uses.__contains__, effect.results))
        if not needed:
            self._passed[effect] = stores
            return ()
        self.effects.add(effect)
        if isinstance(effect, StoreEffect):
            return (effect.value,)
        if isinstance(effect, CallEffect):
            return effect.args
        if isinstance(effect, SwitchEffect):
            return [s for graph in effect.graphs for s in self._block(graph, ())]
        if isinstance(effect.over, (Append, Each, Entry)):
            self.arrays.add(effect.over.array)
        return (*effect.given, *self._block(effect.graph, effect.ends))

    def _stored(self, effect: LoopEffect | SwitchEffect) -> set[int]:
        """The arrays into which something inside stores."""
        arrays: set[int] = set()
        if isinstance(effect, LoopEffect) and isinstance(effect.over, Append):
            arrays.add(effect.over.array)
        for graph in effect.graphs if isinstance(effect, SwitchEffect) else (effect.graph,):
            if graph not in self._stores:
                own = self._stores[graph] = set()
                for inner in graph.effects:
                    if isinstance(inner, StoreEffect):
                        own.add(inner.array)
                    elif not isinstance(inner, CallEffect):
                        own |= self._stored(inner)
            arrays |= self._stores[graph]
        return arrays
