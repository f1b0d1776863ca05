"""Turns a trace into a program: drops dead code, forms fused multiply-adds, and orders the rest.

A tree of additions whose inner sums are not needed elsewhere is one sum of signed terms. It is emitted as a chain that
starts with a term that is not a product, if there is one, and adds each other term when it is ready, a product with one
fused multiply-add: a sum of m products and k other terms costs m + k - 1 operations. A product becomes part of the
chain if only sums need it; otherwise it is computed once and added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kinetree.announcement import learn, phase
from kinetree.expr.bounds import check_bounds
from kinetree.expr.liveness import Needs
from kinetree.expr.program import (
    Argument,
    Array,
    Block,
    Call,
    Instruction,
    Load,
    Loop,
    Port,
    Program,
    Statement,
    Store,
    Switch,
)
from kinetree.expr.recording import CallEffect, Effect, StoreEffect, SwitchEffect
from kinetree.expr.symbol import Graph, Scalar, Symbol

__all__ = ["lower"]

_SUMS = frozenset({"add", "sub"})
_DEFINED_ELSEWHERE = frozenset({"input", "carried", "result"})
_LATENCY = {"neg": 1, "div": 13, "sqrt": 20, "sin": 50, "cos": 50}  # cycles on common processors
_LATENCY_OTHERWISE = 4
_MOST_COPIES = 4  # a product needed by more sums than this is computed once


@phase("lowering")
def lower(
    graph: Graph,
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    results: Sequence[Scalar] | None,
    name: str,
    arrays: Sequence[Array] = (),
    tables: Sequence[tuple[int, ...]] = (),
    origins: dict[int, int] | None = None,
    *,
    as_recorded: bool = False,
) -> Program:
    """The program that computes `results` from the inputs of `graph`, or what its effects store in the outputs.

    `origins` is filled with the position in the trace that each statement comes from, by the statement's identity.
    With `as_recorded` sums and products stay as they were recorded: run again in another trace, the program records the
    same operations as the function that it comes from, and shares them with it.

    Raises IndexError if a load or a store goes beyond its array.
    """
    learn(name, recorded=len(graph))
    ports = len(inputs) + len(outputs)
    needs = Needs(graph, () if results is None else results, range(len(inputs), ports))
    kept = [k for k in range(len(arrays)) if ports + k in needs.arrays]
    numbers = {k: k for k in range(ports)} | {ports + k: ports + n for n, k in enumerate(kept)}
    first = [0] * sum(port.size for port in inputs)
    given = {s: k for k, s in enumerate(graph.inputs)}
    emit = _Emitter(graph, () if results is None else results, needs, numbers, given, first, origins, (), as_recorded)
    arguments = None if results is None else tuple(emit.argument(r) for r in results)
    body = Block(tuple(emit.statements))
    program = Program(name, inputs, outputs, body, arguments, tuple(arrays[k] for k in kept), tuple(tables))
    check_bounds(program)
    return program


class _Emitter:
    """Emits each needed symbol once, its arguments before it, and the effects in their place."""

    def __init__(
        self,
        graph: Graph,
        results: Iterable[Scalar],
        needs: Needs,
        arrays: Mapping[int, int],
        outer: Mapping[Symbol, int],
        outer_times: Sequence[int],
        origins: dict[int, int] | None,
        defined: Sequence[Symbol] = (),
        as_recorded: bool = False,
    ) -> None:
        """`outer`: numbers of the outer values; `origins`, `as_recorded`: as for `lower`; `defined`: what the block
        begins with."""
        self._as_recorded = as_recorded
        self.statements: list[Statement] = []
        self._origins = origins
        self._needs_of = needs
        self._arrays = arrays
        self._graph = graph
        self._numbers: dict[Symbol, int] = dict(outer)
        self._times = list(outer_times)  # when each value is ready, in cycles from the start
        for s in defined:
            self._number(s, 0)
        self._plain_uses: dict[Symbol, int] = {}
        self._sum_uses: dict[Symbol, int] = {}
        self._terms: dict[Symbol, list[tuple[bool, Scalar]]] = {}
        effects = needs.effects[graph]
        roots = [r for r in (*results, *(r for e in effects for r in needs.reads(e))) if isinstance(r, Symbol)]
        roots = [r for r in roots if r.graph is graph]
        self._count_uses(roots)
        order: list[Symbol | Effect] = sorted((*self._needed(roots), *effects), key=lambda s: s.index)
        for step in order:
            known = len(self.statements)
            if isinstance(step, Symbol):
                self._emit(step)
            else:
                self._emit_effect(step)
            if self._origins is not None:
                for statement in self.statements[known:]:
                    self._origins.setdefault(id(statement), step.index)

    def _number(self, s: Symbol | None, time: int) -> int:
        """Assign the next value's number and return it."""
        number = len(self._times)
        self._times.append(time)
        if s is not None:
            self._numbers[s] = number
        return number

    def _emit_effect(self, effect: Effect) -> None:
        if isinstance(effect, StoreEffect):
            self.statements.append(Store(self._arrays[effect.array], effect.at, self.argument(effect.value)))
        elif isinstance(effect, SwitchEffect):
            cases = tuple(self._block(graph, (), ()).body for graph in effect.graphs)
            self.statements.append(Switch(effect.on, cases))
        elif isinstance(effect, CallEffect):
            self.statements.append(Call(effect.program, tuple(map(self.argument, effect.args))))
            start = max((self._times[self._numbers[a]] for a in effect.args if isinstance(a, Symbol)), default=0)
            for s in effect.results:
                self._number(s, start + _LATENCY_OTHERWISE * len(effect.results))
        else:
            block = self._block(effect.graph, effect.ends, effect.inside)
            following = tuple(block.emit.argument(x) for x in effect.next)
            carried = tuple(map(self.argument, effect.carried))
            until = None if effect.until is None else block.emit.argument(effect.until)
            unless = None if effect.unless is None else self.argument(effect.unless)
            self.statements.append(Loop(effect.over, block.body, carried, following, until, unless))
            for s in effect.results:
                self._number(s, 0)

    def _block(self, graph: Graph, results: Sequence[Scalar], defined: Sequence[Symbol]) -> _Body:
        emit = _Emitter(
            graph,
            results,
            self._needs_of,
            self._arrays,
            self._numbers,
            self._times,
            self._origins,
            defined,
            self._as_recorded,
        )
        return _Body(emit)

    def _count_uses(self, roots: Sequence[Symbol]) -> None:
        plain, sums = self._plain_uses, self._sum_uses
        seen: set[Symbol] = set()
        stack = list(roots)
        for r in roots:
            plain[r] = plain.get(r, 0) + 1
        while stack:
            s = stack.pop()
            if s in seen:
                continue
            seen.add(s)
            uses = sums if s.op in _SUMS else plain
            for a in s.args:
                if isinstance(a, Symbol) and a.graph is self._graph:
                    uses[a] = uses.get(a, 0) + 1
                    stack.append(a)

    def _is_inner(self, s: Scalar) -> bool:
        """Whether a sum's argument is itself a sum that only this one needs."""
        return (
            not self._as_recorded
            and isinstance(s, Symbol)
            and s.graph is self._graph
            and s.op in _SUMS
            and s not in self._plain_uses
            and self._sum_uses[s] == 1
        )

    def _is_fusable(self, s: Scalar) -> bool:
        return (
            not self._as_recorded
            and isinstance(s, Symbol)
            and s.graph is self._graph
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
        """The number of a value that is needed, or the constant."""
        return self._numbers[s] if isinstance(s, Symbol) else s

    def _needed(self, roots: Sequence[Symbol]) -> list[Symbol]:
        """What must be computed. It is emitted in the trace's order: the textbook's keeps neighbours independent."""
        needed: set[Symbol] = set()
        stack = list(roots)
        while stack:
            s = stack.pop()
            if s.graph is self._graph and s.op not in _DEFINED_ELSEWHERE and s not in needed:
                needed.add(s)
                stack.extend(self._needs(s))
        return list(needed)

    def _needs(self, s: Symbol) -> list[Symbol]:
        if s.op not in _SUMS or self._as_recorded:
            return [a for a in s.args if isinstance(a, Symbol)]
        terms = self._terms.get(s)
        if terms is None:
            terms = self._terms[s] = self._flatten(s)
        return [a for _, t in terms for a in self._operands(t) if isinstance(a, Symbol)]

    def _push(self, op: str, *args: Argument, names: Symbol | None = None) -> int:
        self.statements.append(Instruction(op, args))
        start = max((self._times[a] for a in args if isinstance(a, int)), default=0)
        return self._number(names, start + _LATENCY.get(op, _LATENCY_OTHERWISE))

    def _emit(self, s: Symbol) -> None:
        if s.op in _SUMS and not self._as_recorded:
            self._numbers[s] = self._emit_sum(self._terms.pop(s))
        elif s.op == "load":
            array, at = s.args
            self.statements.append(Load(self._arrays[array], at))
            self._number(s, _LATENCY_OTHERWISE)
        else:
            self._push(s.op, *(self.argument(a) for a in s.args), names=s)

    def _emit_sum(self, terms: list[tuple[bool, Scalar]]) -> int:
        """Emit a chain that adds each term when it is ready, so that only one operation follows the last one."""
        rest = sorted(terms, key=lambda term: self._ready_time(term[1]))
        total = self._first_of(rest)
        for negative, t in rest:
            if self._is_fusable(t):
                a, b = map(self.argument, self._operands(t))
                total = self._push("fnma" if negative else "fma", a, b, total)
                if self._origins is not None and isinstance(t, Symbol):
                    self._origins[id(self.statements[-1])] = t.index
            else:
                total = self._push("sub" if negative else "add", total, self.argument(t))
        assert isinstance(total, int)
        return total

    def _first_of(self, terms: list[tuple[bool, Scalar]]) -> Argument:
        """Remove the terms that a chain begins with. One term is positive: signs were moved outward in the trace."""
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
        """The operands of a term of a sum: the factors of a product that the chain fuses, or the term itself."""
        return t.args if isinstance(t, Symbol) and self._is_fusable(t) else (t,)


class _Body:
    """An emitted block, and its emitter, which knows the numbers inside."""

    def __init__(self, emit: _Emitter) -> None:
        self.emit = emit
        self.body = Block(tuple(emit.statements))
