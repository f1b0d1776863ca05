"""Forward differentiation: each statement is followed by those for its tangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from kinetree.expr.derivatives.activity import Activity
from kinetree.expr.derivatives.emitter import Emitter, Scope
from kinetree.expr.derivatives.rules import RULES, At, Choice
from kinetree.expr.moved import same
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

__all__ = ["Forward"]


class Forward:
    """The derivative of one program; `called` gives that of a program it calls."""

    def __init__(
        self, program: Program, wrt: Sequence[int], called: Callable[[Program, tuple[int, ...]], Program]
    ) -> None:
        self._source = program
        self._wrt = tuple(wrt)
        self._called = called
        self._activity = Activity(self._source, self._wrt)
        n_in, n_out, more = len(program.inputs), len(program.outputs), len(self._wrt)
        self._inputs = (*program.inputs, *(_tangent(program.inputs[k]) for k in self._wrt))
        self._outputs = (*program.outputs, *map(_tangent, program.outputs))
        self._arrays: dict[int, int] = {k: k for k in range(n_in)}
        self._arrays.update((n_in + k, n_in + more + k) for k in range(n_out))
        self._tangent_arrays: dict[int, int] = {k: n_in + n for n, k in enumerate(self._wrt)}
        self._tangent_arrays.update((n_in + k, n_in + more + n_out + k) for k in range(n_out))
        self._own: list[Array] = []
        self._more_arrays()

        size = self._source.input_size
        self._emit = Emitter(sum(port.size for port in self._inputs))
        self._value: dict[int, Argument] = {k: k for k in range(size)}
        self._d: dict[int, Argument] = {}
        firsts = [sum(port.size for port in program.inputs[:k]) for k in range(n_in)]
        for k in self._wrt:
            for n in range(program.inputs[k].size):
                self._d[firsts[k] + n] = size
                size += 1

    def _more_arrays(self) -> None:
        """Put the array of its derivative after each array, in the same record, so that they are stored together."""
        ports = len(self._inputs) + len(self._outputs)
        for k, array in enumerate(self._source.arrays, self._source.first_array):
            self._arrays[k] = ports + len(self._own)
            self._own.append(array)
            if k in self._activity.arrays:
                self._tangent_arrays[k] = ports + len(self._own)
                self._own.append(replace(array, name=f"d_{array.name}"))

    def derivative(self) -> Program:
        source = self._source
        self._block(source.body)
        results = source.results
        if results is not None:
            results = (*map(self._new, results), *map(self._tangent, results))
        body, own = Block(self._emit.top.statements), tuple(self._own)
        return Program(f"d_{source.name}", self._inputs, self._outputs, body, results, own, source.tables)

    def _new(self, a: Argument) -> Argument:
        return a if isinstance(a, float) else self._value[a]

    def _tangent(self, a: Argument) -> Argument:
        return 0.0 if isinstance(a, float) else self._d.get(a, 0.0)

    def _block(self, block: Block) -> None:
        for s in block.statements:
            self._statement(s)

    def _case(self, block: Block) -> Scope:
        scope, _ = self._emit.open()
        self._block(block)
        self._emit.close()
        return scope

    def _statement(self, s: Statement) -> None:
        emit = self._emit
        if isinstance(s, Instruction):
            args = tuple(map(self._new, s.args))
            self._value[s.name] = emit.again(s.op, args)
            if s.name in self._activity.values:
                self._d[s.name] = self._derivative_of(s, args, self._value[s.name])
        elif isinstance(s, Load):
            self._value[s.name] = emit.load(self._arrays[s.array], s.at)
            if s.name in self._activity.values:
                self._d[s.name] = emit.load(self._tangent_arrays[s.array], s.at)
        elif isinstance(s, Store):
            emit.store(self._arrays[s.array], s.at, self._new(s.value))
            if s.array in self._activity.arrays:
                emit.store(self._tangent_arrays[s.array], s.at, self._tangent(s.value))
        elif isinstance(s, Loop):
            self._loop(s)
        elif isinstance(s, Switch):
            emit.switch(s.on, [self._case(case) for case in s.cases])
        else:
            self._call(s)

    def _derivative_of(self, s: Instruction, args: tuple[Argument, ...], y: Argument) -> Argument:
        tangents = [self._tangent(a) for a in s.args]
        rule = RULES[s.op]
        if all(t == 0.0 and isinstance(t, float) for t in (tangents[k] for k in rule.passes)):
            return 0.0
        local = rule.local(At(self._emit, args, y))
        if isinstance(local, Choice):
            a, b = local.arms
            return self._emit.op("select", local.condition, tangents[a], tangents[b])
        total = self._emit.total([(False, f, t) for f, t in zip(local.factors, tangents, strict=True)])
        return self._emit.op("div", total, local.divisor)

    def _loop(self, s: Loop) -> None:
        """Emit the same loop, with the tangents carried as well."""
        active = [k for k, name in enumerate(s.entry) if name in self._activity.values]
        before = [*map(self._new, s.carried), *(self._tangent(s.carried[k]) for k in active)]
        unless = None if s.unless is None else self._new(s.unless)
        scope, entry = self._emit.open(len(before))
        self._enter(s.entry, active, entry)
        self._block(s.body)
        after = [*map(self._new, s.next), *(self._tangent(s.next[k]) for k in active)]
        until = None if s.until is None else self._new(s.until)
        self._emit.close()
        over = s.over.moved(same, self._arrays.__getitem__, same)
        self._enter(s.defines, active, self._emit.loop(over, scope, entry, before, after, until, unless))

    def _enter(self, names: Sequence[int], active: Sequence[int], values: Sequence[int]) -> None:
        self._value.update(zip(names, values, strict=False))
        self._d.update((names[k], values[len(names) + n]) for n, k in enumerate(active))

    def _call(self, s: Call) -> None:
        """Emit a call of the derivative with respect to the active ports."""
        args = list(map(self._new, s.args))
        wrt, given = self._activity.ports_of(s)
        tangents = map(self._tangent, given)
        if not wrt:
            self._value.update(zip(s.defines, self._emit.call(s.program, args), strict=True))
            return
        values = self._emit.call(self._called(s.program, wrt), [*args, *tangents])
        self._enter(s.defines, range(len(s.defines)), values)


def _tangent(port: Port) -> Port:
    return Port(f"d_{port.name}", port.shape)
