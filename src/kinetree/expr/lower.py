"""From a trace to a program: drop what is dead, form fused multiply-adds, put the rest in order.

A tree of additions whose inner sums nobody else needs is one sum of signed terms. It is emitted as a chain that
starts with a term that is no product, if there is one, and takes in each other term when it is ready, a product
with one fused multiply-add: a sum of m products and k other terms costs m + k - 1 operations. A product goes into
the chain when everyone who needs it is a sum; otherwise it is computed once and added.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr.program import Argument, Block, Instruction, Port, Program
from kinetree.expr.symbol import Graph, Scalar, Symbol

__all__ = ["lower"]

_SUMS = frozenset({"add", "sub"})
_LATENCY = {"neg": 1, "div": 13, "sqrt": 20, "sin": 50, "cos": 50}  # cycles, of common processors
_LATENCY_OTHERWISE = 4
_MOST_COPIES = 4  # a product needed by more sums than this is computed once


def lower(
    graph: Graph,
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    results: Sequence[Scalar],
    name: str,
) -> Program:
    """The program that computes `results` from the inputs of `graph`."""
    emit = _Emitter(graph, results)
    arguments = tuple(emit.argument(r) for r in results)
    return Program(name, inputs, outputs, Block(tuple(emit.statements)), arguments)


class _Emitter:
    """Emits each symbol that is needed, once, its arguments before it."""

    def __init__(self, graph: Graph, results: Sequence[Scalar]) -> None:
        self.statements: list[Instruction] = []
        self._first = len(graph.inputs)
        self._numbers: dict[Symbol, int] = {s: s.index for s in graph.inputs}
        self._times = [0] * len(graph.inputs)  # when each value is ready, in cycles from the start
        self._plain_uses: dict[Symbol, int] = {}
        self._sum_uses: dict[Symbol, int] = {}
        self._terms: dict[Symbol, list[tuple[bool, Scalar]]] = {}
        self._count_uses(results)
        for s in self._needed(results):
            self._emit(s)

    def _count_uses(self, results: Sequence[Scalar]) -> None:
        plain, sums = self._plain_uses, self._sum_uses
        seen: set[Symbol] = set()
        stack = []
        for r in results:
            if isinstance(r, Symbol):
                plain[r] = plain.get(r, 0) + 1
                stack.append(r)
        while stack:
            s = stack.pop()
            if s in seen:
                continue
            seen.add(s)
            uses = sums if s.op in _SUMS else plain
            for a in s.args:
                if isinstance(a, Symbol):
                    uses[a] = uses.get(a, 0) + 1
                    stack.append(a)

    def _is_inner(self, s: Scalar) -> bool:
        """Whether a sum's argument is itself a sum that only this one needs."""
        return isinstance(s, Symbol) and s.op in _SUMS and s not in self._plain_uses and self._sum_uses[s] == 1

    def _is_fusable(self, s: Scalar) -> bool:
        return (
            isinstance(s, Symbol) and s.op == "mul" and s not in self._plain_uses and self._sum_uses[s] <= _MOST_COPIES
        )

    def _flatten(self, s: Symbol) -> list[tuple[bool, Scalar]]:
        """The signed terms (is negative, term) of a sum."""
        terms: list[tuple[bool, Scalar]] = []
        stack: list[tuple[bool, Scalar]] = [(False, s)]
        while stack:
            negative, t = stack.pop()
            if t is s or self._is_inner(t):
                assert isinstance(t, Symbol)
                left, right = t.args
                stack.append((negative != (t.op == "sub"), right))
                stack.append((negative, left))
            else:
                terms.append((negative, t))
        return terms

    def argument(self, s: Scalar) -> Argument:
        """The number of a value that is needed, or the constant."""
        return self._numbers[s] if isinstance(s, Symbol) else s

    def _needed(self, results: Sequence[Scalar]) -> list[Symbol]:
        """What must be computed, in the order of the trace: the textbook's order keeps neighbours independent."""
        needed: set[Symbol] = set()
        stack = [r for r in results if isinstance(r, Symbol)]
        while stack:
            s = stack.pop()
            if s not in needed and s not in self._numbers:
                needed.add(s)
                stack.extend(self._needs(s))
        return sorted(needed, key=lambda s: s.index)

    def _needs(self, s: Symbol) -> list[Symbol]:
        if s.op not in _SUMS:
            return [a for a in s.args if isinstance(a, Symbol)]
        terms = self._terms.get(s)
        if terms is None:
            terms = self._terms[s] = self._flatten(s)
        return [a for _, t in terms for a in self._operands(t) if isinstance(a, Symbol)]

    def _push(self, op: str, *args: Argument) -> int:
        self.statements.append(Instruction(op, args))
        start = max((self._times[a] for a in args if isinstance(a, int)), default=0)
        self._times.append(start + _LATENCY.get(op, _LATENCY_OTHERWISE))
        return self._first + len(self.statements) - 1

    def _emit(self, s: Symbol) -> None:
        if s.op in _SUMS:
            self._numbers[s] = self._emit_sum(self._terms.pop(s))
        else:
            self._numbers[s] = self._push(s.op, *(self.argument(a) for a in s.args))

    def _emit_sum(self, terms: list[tuple[bool, Scalar]]) -> int:
        """A chain that takes in each term when it is ready, so that the last to come waits for one operation."""
        rest = sorted(terms, key=lambda term: self._ready_time(term[1]))
        total = self._first_of(rest)
        for negative, t in rest:
            if self._is_fusable(t):
                a, b = map(self.argument, self._operands(t))
                total = self._push("fnma" if negative else "fma", a, b, total)
            else:
                total = self._push("sub" if negative else "add", total, self.argument(t))
        assert isinstance(total, int)
        return total

    def _first_of(self, terms: list[tuple[bool, Scalar]]) -> Argument:
        """Take off the terms a chain begins with. One of them is positive: signs were moved outward in the trace."""
        for k, (negative, t) in enumerate(terms):
            if not negative and not self._is_fusable(t):
                del terms[k]
                return self.argument(t)
        k, first = next((k, t) for k, (negative, t) in enumerate(terms) if not negative)
        del terms[k]
        a, b = map(self.argument, self._operands(first))
        for k, (_, t) in enumerate(terms):
            if not self._is_fusable(t):  # a negative one
                del terms[k]
                return self._push("fms", a, b, self.argument(t))
        return self._push("mul", a, b)

    def _ready_time(self, t: Scalar) -> int:
        return max(self._times[self._numbers[a]] if isinstance(a, Symbol) else 0 for a in self._operands(t))

    def _operands(self, t: Scalar) -> tuple[Scalar, ...]:
        """What a term of a sum takes: the factors of a product that goes into the chain, or itself."""
        return t.args if isinstance(t, Symbol) and self._is_fusable(t) else (t,)
