"""Which parts of a recorded trace are needed: nothing is emitted for a result that is not read.

A store is needed if its array is an output or is read by something needed, so the search repeats until nothing new is
found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kinetree.expr.recording import CallEffect, Effect, LoopEffect, StoreEffect
from kinetree.expr.symbol import Graph, Scalar, Symbol

__all__ = ["Needs"]


class Needs:
    """The needed effects of each block, the arrays they touch, and the symbols each reads from outside itself."""

    def __init__(self, graph: Graph, results: Sequence[Scalar], outputs: Iterable[int]) -> None:
        self.arrays: set[int] = set(outputs)
        """The arrays that are read, and the outputs."""
        self.effects: dict[Graph, list[Effect]] = {}
        self._reads: dict[Effect, list[Symbol]] = {}
        known = -1
        while known != len(self.arrays):
            known = len(self.arrays)
            self.effects, self._reads = {}, {}
            self._block(graph, results)

    def reads(self, effect: Effect) -> list[Symbol]:
        """The outer symbols that an effect needs, each as often as it is needed."""
        return self._reads[effect]

    def _block(self, graph: Graph, results: Sequence[Scalar]) -> list[Symbol]:
        """Note a block's needed effects; return what it reads from the enclosing blocks."""
        kept: set[Effect] = set()
        results_of = {s: e for e in graph.effects if isinstance(e, LoopEffect | CallEffect) for s in e.results}
        outside: list[Symbol] = []
        seen: set[Symbol] = set()

        def follow(roots: list[Symbol]) -> None:
            while roots:
                s = roots.pop()
                if s in seen:
                    continue
                seen.add(s)
                if s.graph is not graph:
                    outside.append(s)
                elif s.op == "load":
                    self.arrays.add(s.args[0])
                elif s in results_of and results_of[s] not in kept:
                    effect = results_of[s]
                    kept.add(effect)
                    self._reads[effect] = list(self._of_results(effect))
                    roots.extend(self._reads[effect])
                else:
                    roots.extend(a for a in s.args if isinstance(a, Symbol))

        follow([r for r in results if isinstance(r, Symbol)])
        for effect in reversed(graph.effects):  # from the end, what is read is known before it is stored
            if effect in kept:
                continue
            reads = self._effect(effect)
            if reads is not None:
                kept.add(effect)
                self._reads[effect] = reads
                follow(list(reads))
        self.effects[graph] = sorted(kept, key=lambda e: e.index)
        return outside

    def _effect(self, effect: Effect) -> list[Symbol] | None:
        """What an effect reads, or None if what it does to memory is not needed."""
        if isinstance(effect, StoreEffect):
            if effect.array not in self.arrays:
                return None
            return [effect.value] if isinstance(effect.value, Symbol) else []
        if isinstance(effect, CallEffect):
            return None  # only its results can be needed
        if isinstance(effect, LoopEffect):
            outside = self._block(effect.graph, ())
            if not self._does_something(effect.graph):
                return None
            if effect.ends:
                outside = self._block(effect.graph, effect.ends)
            return [*outside, *(a for a in effect.given if isinstance(a, Symbol))]
        outside = [s for graph in effect.graphs for s in self._block(graph, ())]
        return outside if any(self._does_something(graph) for graph in effect.graphs) else None

    def _does_something(self, graph: Graph) -> bool:
        return any(not isinstance(e, CallEffect) for e in self.effects[graph])

    def _of_results(self, effect: Effect) -> Iterator[Symbol]:
        """What an effect reads if only its results are needed."""
        if isinstance(effect, LoopEffect):
            yield from self._block(effect.graph, effect.ends)
        assert isinstance(effect, LoopEffect | CallEffect)
        values = effect.given if isinstance(effect, LoopEffect) else effect.args
        yield from (a for a in values if isinstance(a, Symbol))
