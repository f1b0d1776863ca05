"""From a trace to a program: drop what is dead, form fused multiply-adds, put the rest in order.

A tree of additions whose inner sums nobody else needs is one sum of signed terms. It is emitted as a chain that
starts with the terms that are no products and takes each product in with one fused multiply-add, so that a sum
of m products and k other terms costs m + k - 1 operations. A product goes into the chain when everyone who
needs it is a sum; otherwise it is computed once and added.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.expr.program import Argument, Block, Instruction, Port, Program
from kinetree.expr.symbol import Graph, Scalar, Symbol

__all__ = ["lower"]

_SUMS = frozenset({"add", "sub"})
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
    """Emits each symbol once, its arguments before it, the results in their order (depth first)."""

    def __init__(self, graph: Graph, results: Sequence[Scalar]) -> None:
        self.statements: list[Instruction] = []
        self._first = len(graph.inputs)
        self._numbers: dict[Symbol, int] = {s: s.index for s in graph.inputs}
        self._plain_uses: dict[Symbol, int] = {}
        self._sum_uses: dict[Symbol, int] = {}
        self._terms: dict[Symbol, list[tuple[bool, Scalar]]] = {}
        self._count_uses(results)

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
            isinstance(s, Symbol)
            and s.op == "mul"
            and s not in self._plain_uses
            and self._sum_uses[s] <= _MOST_COPIES
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
        """The number of a value, emitted now if it is not yet; or the constant."""
        if not isinstance(s, Symbol):
            return s
        numbers = self._numbers
        stack = [s]
        while stack:
            t = stack[-1]
            if t in numbers:
                stack.pop()
                continue
            missing = [a for a in self._needs(t) if a not in numbers]
            if missing:
                stack.extend(reversed(missing))
            else:
                self._emit(t)
                stack.pop()
        return numbers[s]

    def _needs(self, s: Symbol) -> list[Symbol]:
        if s.op not in _SUMS:
            return [a for a in s.args if isinstance(a, Symbol)]
        terms = self._terms.get(s)
        if terms is None:
            terms = self._terms[s] = self._flatten(s)
        needs: list[Symbol] = []
        for _, t in terms:
            for a in t.args if self._is_fusable(t) else (t,):  # type: ignore[union-attr]
                if isinstance(a, Symbol):
                    needs.append(a)
        return needs

    def _value(self, s: Scalar) -> Argument:
        return self._numbers[s] if isinstance(s, Symbol) else s

    def _push(self, op: str, *args: Argument) -> int:
        self.statements.append(Instruction(op, args))
        return self._first + len(self.statements) - 1

    def _emit(self, s: Symbol) -> None:
        if s.op in _SUMS:
            self._numbers[s] = self._emit_sum(self._terms.pop(s))
        elif s.op == "neg" and isinstance(s.args[0], Symbol):
            self._numbers[s] = self._push("neg", self._value(s.args[0]))
        else:
            self._numbers[s] = self._push(s.op, *(self._value(a) for a in s.args))

    def _emit_sum(self, terms: list[tuple[bool, Scalar]]) -> int:
        others = [(n, self._value(t)) for n, t in terms if not self._is_fusable(t)]
        products = [
            (n, *(self._value(a) for a in t.args))  # type: ignore[union-attr]
            for n, t in terms
            if self._is_fusable(t)
        ]
        total: Argument
        others.sort(key=lambda term: term[0])  # a positive one first, if there is one
        if others and not others[0][0]:
            total = others.pop(0)[1]
        else:
            # Every sum has a positive term: signs were moved outward while tracing.
            first = next(p for p in products if not p[0])
            products.remove(first)
            if others:
                total = self._push("fms", first[1], first[2], others.pop(0)[1])
            else:
                total = self._push("mul", first[1], first[2])
        for negative, t in others:
            total = self._push("sub" if negative else "add", total, t)
        for negative, a, b in products:
            total = self._push("fnma" if negative else "fma", a, b, total)
        assert isinstance(total, int)
        return total
