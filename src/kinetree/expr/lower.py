"""Turns a trace into a program: drops dead code, forms fused multiply-adds, and orders the rest.

A tree of additions whose inner sums are not needed elsewhere is one sum of signed terms. It is emitted as a chain that
starts with a term that is not a product, if there is one, and adds each other term when it is ready, a product with one
fused multiply-add: a sum of m products and k other terms costs m + k - 1 operations. A product becomes part of the
chain if only sums need it; otherwise it is computed once and added.

Values that are only reported (`Recorder.reports`) do not count there: with and without it the rest is computed by the
same operations, so it has the same bits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter

from kinetree.announcement import learn, phase
from kinetree.expr.bounds import check_bounds
from kinetree.expr.liveness import SUMS, Needs
from kinetree.expr.moved import same
from kinetree.expr.ops import PHILOX
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

_DEFINED_ELSEWHERE = frozenset({"input", "carried", "result"})
_LATENCY = {
    "neg": 1,
    "div": 13,
    "sqrt": 20,
    "sin": 50,
    "cos": 50,
    **dict.fromkeys(PHILOX, 150),
}  # cycles on common processors
_LATENCY_OTHERWISE = 4
_MOST_COPIES = 4  # a product needed by more sums than this is computed once

_Term = tuple[int, bool, Argument, Argument | None, Symbol | None]
"""A term of a sum: the time when it is ready, whether it is negative, and a value or the factors and the product."""


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
    is_shared: bool = False,
    reports: Collection[int] = (),
    without_reports: bool = False,
) -> Program:
    """The program that computes `results` from the inputs of `graph`, or those that its effects store in the outputs.

    `origins` is filled with the position in the trace that each statement comes from, by the statement's identity.
    With `as_recorded` sums and products stay as they were recorded: run again in another trace, the program records the
    same operations as the function that it comes from, and shares them with it. `is_shared`: as for `Program`.
    `reports`: the arrays of values that are only reported, which may be left out.

    Raises IndexError if a load or a store goes beyond its array.
    """
    learn(name, recorded=len(graph))
    ports = len(inputs) + len(outputs)
    sums: frozenset[str] = frozenset() if as_recorded else SUMS
    needed = () if results is None else results
    own = Needs(graph, needed, range(len(inputs), ports), sums, reports)
    needs = Needs(graph, needed, (), sums, known=own) if reports and not without_reports else own
    kept = [k for k in range(len(arrays)) if ports + k in needs.arrays]
    numbers = {k: k for k in range(ports)} | {ports + k: ports + n for n, k in enumerate(kept)}
    emitter = _Emitter(graph.inputs, sum(port.size for port in inputs), needs, own.uses, sums, numbers, origins)
    body = emitter.block(graph)
    arguments = None if results is None else tuple(map(emitter.argument, results))
    memory = tuple(arrays[k] for k in kept)
    program = Program(name, inputs, outputs, body, arguments, memory, tuple(tables), is_shared)
    check_bounds(program)
    return program


class _Emitter:
    """Emits each needed symbol once, its arguments before it, and the effects in their place.

    Symbols are emitted in the trace's order: the textbook's keeps neighbours independent.
    """

    def __init__(
        self,
        inputs: Sequence[Symbol],
        size: int,
        needs: Needs,
        own: Mapping[Symbol, int],
        sums: frozenset[str],
        arrays: Mapping[int, int],
        origins: dict[int, int] | None,
    ) -> None:
        """`inputs`: the symbols of the `size` inputs, unless all are read from memory; `own`: how often symbols are
        used by all that is not only reported; `arrays`: the new numbers of arrays; `origins`: as for `lower`."""
        self._needs = needs
        self._uses: Mapping[Symbol, int] = needs.uses
        self._own = own
        self._sums = sums
        self._arrays = arrays
        self._origins = origins
        self._names: dict[Symbol, int] = {s: k for k, s in enumerate(inputs)}
        self._times = [0] * size
        """When each value is ready, in cycles from the start, by its name."""
        self._statements: list[Statement] = []
        """The statements of the present block."""

    def argument(self, s: Scalar) -> Argument:
        """The name of a value that is needed, or the constant."""
        return self._names[s] if isinstance(s, Symbol) else s

    def block(self, graph: Graph) -> Block:
        outer, self._statements = self._statements, []
        statements, uses, origins = self._statements, self._uses, self._origins
        for step in self._needs.order(graph):
            known = len(statements)
            if not isinstance(step, Symbol):
                if step in self._needs.effects:
                    self._effect(step)
            elif step in uses:
                self._symbol(step, uses[step])
            if origins is not None:
                for statement in statements[known:]:
                    origins.setdefault(id(statement), step.index)
        self._statements = outer
        return Block(tuple(statements))

    def _name(self, s: Symbol, time: int) -> int:
        """A new name for the value of a symbol."""
        name = self._names[s] = len(self._times)
        self._times.append(time)
        return name

    def _effect(self, effect: Effect) -> None:
        argument = self.argument
        if isinstance(effect, StoreEffect):
            made: Statement = Store(self._arrays[effect.array], effect.at, argument(effect.value))
        elif isinstance(effect, SwitchEffect):
            made = Switch(effect.on, tuple(map(self.block, effect.graphs)))
        elif isinstance(effect, CallEffect):
            args = tuple(map(argument, effect.args))
            start = max((self._times[a] for a in args if isinstance(a, int)), default=0)
            ready = start + _LATENCY_OTHERWISE * len(effect.results)
            made = Call(effect.program, args, tuple([self._name(s, ready) for s in effect.results]))
        else:
            entry = tuple([self._name(s, 0) for s in effect.inside])
            body = self.block(effect.graph)
            carried, following = tuple(map(argument, effect.carried)), tuple(map(argument, effect.next))
            until = None if effect.until is None else argument(effect.until)
            unless = None if effect.unless is None else argument(effect.unless)
            defines = tuple([self._name(s, 0) for s in effect.results])
            over = effect.over.moved(same, self._arrays.__getitem__, same)
            made = Loop(over, body, entry, carried, following, defines, until, unless)
        self._statements.append(made)

    def _symbol(self, s: Symbol, uses: int) -> None:
        op = s.op
        if op in self._sums:
            if uses != 1:  # a sum that only another sum needs is part of that
                self._names[s] = self._sum(s)
        elif op == "load":
            array, at = s.args
            self._statements.append(Load(self._arrays[array], at, self._name(s, _LATENCY_OTHERWISE)))
        elif (op != "mul" or uses > _MOST_COPIES) and op not in _DEFINED_ELSEWHERE:
            names = self._names
            self._names[s] = self._push(op, tuple([names[a] if isinstance(a, Symbol) else a for a in s.args]))

    def _push(self, op: str, args: tuple[Argument, ...]) -> int:
        times = self._times
        start = 0
        for a in args[:1] if op == "slopes_of" else args:  # a value does not wait for its slopes
            if isinstance(a, int) and times[a] > start:
                start = times[a]
        name = len(times)
        times.append(start + _LATENCY.get(op, _LATENCY_OTHERWISE))
        self._statements.append(Instruction(op, args, name))
        return name

    def _terms(self, s: Symbol) -> list[_Term]:
        """The signed terms of a sum, each with the time when it is ready."""
        graph, uses, own, names, times = s.graph, self._uses, self._own, self._names, self._times
        if s in own:
            uses = own
        terms: list[_Term] = []
        stack: list[tuple[bool, Scalar]] = [(False, s)]
        while stack:
            negative, t = stack.pop()
            if not isinstance(t, Symbol):
                terms.append((0, negative, t, None, None))
            elif t is s or (t.graph is graph and t.op in self._sums and uses[t] == 1):
                left, right = t.args
                stack.append((negative != (t.op == "sub"), right))
                stack.append((negative, left))
            elif t.graph is graph and t.op == "mul" and uses[t] <= _MOST_COPIES:
                first, second = t.args
                a, b = names[first], names[second] if isinstance(second, Symbol) else second
                ready = times[a] if isinstance(b, float) else max(times[a], times[b])
                terms.append((ready, negative, a, b, t))
            else:
                a = names[t]
                terms.append((times[a], negative, a, None, None))
        return terms

    def _sum(self, s: Symbol) -> int:
        """Emit a chain that adds each term when it is ready, so that only one operation follows the last one."""
        terms = self._terms(s)
        terms.sort(key=itemgetter(0))
        total = self._first_of(terms)
        for _, negative, a, b, product in terms:
            if b is None:
                total = self._push("sub" if negative else "add", (total, a))
            else:
                total = self._push("fnma" if negative else "fma", (a, b, total))
                if self._origins is not None and product is not None:
                    self._origins[id(self._statements[-1])] = product.index
        assert isinstance(total, int)
        return total

    def _first_of(self, terms: list[_Term]) -> Argument:
        """Remove the terms that a chain begins with. One term is positive: signs were moved outward in the trace."""
        for k, (_, negative, a, b, _) in enumerate(terms):
            if b is None and not negative:
                del terms[k]
                return a
        k, a, b = next((k, a, b) for k, (_, negative, a, b, _) in enumerate(terms) if not negative)
        del terms[k]
        assert b is not None
        for k, (_, _, c, factor, _) in enumerate(terms):
            if factor is None:  # a negative one
                del terms[k]
                return self._push("fms", (a, b, c))
        return self._push("mul", (a, b))
