"""Reverse differentiation: a forward sweep that keeps the needed values, then each statement's rule in reverse order.

The adjoint of a value is the sum of its users' contributions. Users in the same block are summed directly; those in the
bodies of loops and switches add to a cell of memory. Each array has an array of adjoints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Protocol

from kinetree.errors import ProgramError
from kinetree.expr.derivatives.activity import Activity, Touched
from kinetree.expr.derivatives.arms import Arm, Arms, common_arm
from kinetree.expr.derivatives.backward_loops import Backward, Bounds, bounds
from kinetree.expr.derivatives.emitter import Emitter, Product, Scope
from kinetree.expr.derivatives.keeping import Keeping
from kinetree.expr.derivatives.memory import AdjointMemory
from kinetree.expr.derivatives.rules import RULES, At, Choice, Local
from kinetree.expr.moved import same
from kinetree.expr.program import (
    Append,
    Argument,
    Block,
    Call,
    Index,
    Instruction,
    Load,
    Loop,
    Program,
    Range,
    Statement,
    Store,
    Switch,
    Term,
)
from kinetree.records import record

__all__ = ["Reverse"]


class Called(Protocol):
    """Gives the reverse derivative of a called program, without the program's own outputs."""

    def __call__(self, program: Program, wrt: tuple[int, ...], /) -> Program: ...


@record(slots=True, eq=False)
class _Adjoints:
    """The adjoints of one block, summed so far."""

    arms: Arms
    terms: dict[int, list[Product]] = field(default_factory=dict)


class Reverse:
    """The reverse derivative of one program."""

    def __init__(self, program: Program, wrt: Sequence[int], called: Called, *, outputs: bool) -> None:
        self._source = source = program
        self._wrt = tuple(wrt)
        self._called = called
        self._with_outputs = outputs
        self._activity = Activity(source, self._wrt)
        self._activity.keep_useful(source)
        self._touched = touched = Touched(source.body)
        self._never_stored = set(range(source.first_array + len(source.arrays))) - touched.stored
        self._in_memory = source.results is None or any(k in touched.loaded for k in self._wrt)
        """Whether outputs are stored instead of returned: adjoints of arrays can only be summed there."""

        self._memory = AdjointMemory(source, self._wrt, self._activity, outputs=outputs)
        self._backward = Backward(source.tables)

        self._emit = Emitter(sum(port.size for port in self._memory.inputs))
        self._value: dict[int, Argument] = {k: k for k in range(source.input_size)}
        self._locals: dict[int, Local] = {}
        self._keeping = Keeping(self._emit, self._backward, self._memory.new)
        self._counters: list[Bounds] = []

    def derivative(self) -> Program:
        source, emit = self._source, self._emit
        self._sweep(source.body, emit.top)
        values = [self._new(a) for a in source.results or ()] if self._with_outputs else []
        adjoints = _Adjoints(Arms(source.body, source.results or (), self._locals.get))
        self._keeping.turn(source.body)
        self._seed(adjoints)
        self._block(source.body, adjoints)
        results = self._finish(values, adjoints)
        memory = self._memory
        memory.resize(self._keeping.sizes())
        body, own, tables = Block(emit.top.statements), tuple(memory.own), tuple(self._backward.tables)
        return Program(f"bar_{source.name}", memory.inputs, memory.outputs, body, results, own, tables)

    def _seed(self, adjoints: _Adjoints) -> None:
        """Take the given adjoints of the outputs: values, or an array, copied because the sweep overwrites it."""
        first, ports = self._source.input_size, len(self._source.inputs)
        for n, port in enumerate(self._source.outputs):
            if self._source.results is None and ports + n in self._memory.adjoints:
                scope, _ = self._emit.open()
                at = Index(0, (Term(0),))
                self._emit.store(self._memory.adjoints[ports + n], at, self._emit.load(ports + n, at))
                self._emit.close()
                self._emit.loop(Range(Index(0), Index(port.size)), scope)
        for n, a in enumerate(self._source.results or ()):
            self._add(adjoints, a, (), first + n, 1.0)

    def _finish(self, values: Sequence[Argument], adjoints: _Adjoints) -> tuple[Argument, ...] | None:
        """Return or store the outputs, if the sweeps have not yet: those of the program, then the adjoints of `wrt`."""
        results, first = list(values), [0]
        for port in self._source.inputs:
            first.append(first[-1] + port.size)
        if not self._in_memory:
            results += (self._take(adjoints, name) for k in self._wrt for name in range(first[k], first[k + 1]))
            return tuple(results)
        if results:
            places = [(k, n) for k, port in enumerate(self._source.outputs) for n in range(port.size)]
            for (k, n), value in zip(places, results, strict=True):
                self._emit.store(len(self._memory.inputs) + k, Index(n), value)
        for k in self._wrt:
            array = self._memory.adjoints[k]
            for n, name in enumerate(range(first[k], first[k + 1])):
                if self._has_adjoint(adjoints, name):
                    summed = self._emit.load(array, Index(n)) if k in self._touched.loaded else 0.0
                    self._emit.store(array, Index(n), self._take(adjoints, name, summed))
        return None

    # The forward sweep.

    def _new(self, a: Argument) -> Argument:
        return a if isinstance(a, float) else self._value[a]

    def _sweep(self, block: Block, scope: Scope) -> None:
        """Emit a block again, with the local derivatives of its instructions."""
        self._keeping.swept(block, scope, self._counters)
        for s in block.statements:
            self._sweep_statement(s)

    def _sweep_loop(self, s: Loop) -> None:
        before = [self._new(a) for a in s.carried]
        body, entry = self._emit.open(len(before))
        self._value.update(zip(s.entry, entry, strict=True))
        self._counters.append(bounds(s.over, self._counters, self._source.tables))
        self._sweep(s.body, body)
        self._counters.pop()
        after = [self._new(a) for a in s.next]
        until = None if s.until is None else self._new(s.until)
        unless = self._unless(s)
        self._emit.close()
        over = s.over.moved(same, self._memory.arrays.__getitem__, same)
        ends = self._emit.loop(over, body, entry, before, after, until, unless)
        self._value.update(zip(s.defines, ends, strict=True))

    def _unless(self, s: Loop) -> Argument | None:
        """Where a body is left out: nowhere, if it would store adjoints into the results."""
        if s.unless is None or any(isinstance(x, Load) and x.array in self._wrt for x in s.body.all_statements()):
            return None
        return self._new(s.unless)

    def _sweep_switch(self, s: Switch) -> None:
        bodies = []
        for case in s.cases:
            body, _ = self._emit.open()
            self._sweep(case, body)
            self._emit.close()
            bodies.append(body)
        self._emit.switch(s.on, bodies)

    def _sweep_statement(self, s: Statement) -> None:
        emit = self._emit
        if isinstance(s, Instruction):
            args = tuple(self._new(a) for a in s.args)
            self._value[s.name] = emit.again(s.op, args)
            if s.name in self._activity.values:
                self._locals[s.name] = RULES[s.op].local(At(emit, args, self._value[s.name]))
        elif isinstance(s, Load):
            value = self._value[s.name] = emit.load(self._memory.arrays[s.array], s.at)
            if s.array in self._never_stored:
                self._keeping.reloadable(value, self._memory.arrays[s.array], s.at)
        elif isinstance(s, Store):
            emit.store(self._memory.arrays[s.array], s.at, self._new(s.value))
        elif isinstance(s, Loop):
            self._sweep_loop(s)
        elif isinstance(s, Switch):
            self._sweep_switch(s)
        else:
            values = emit.call(s.program, [self._new(a) for a in s.args])
            self._value.update(zip(s.defines, values, strict=True))

    # The adjoints.

    def _add(self, adjoints: _Adjoints, a: Argument, arm: Arm, x: Argument, y: Argument) -> None:
        """Add x y, which is valid within an arm, to the adjoint of a value."""
        if isinstance(a, float) or a not in self._activity.values:
            return
        beyond = arm[len(adjoints.arms.of(a)) :]
        if beyond:
            x, y = self._outside(beyond, self._emit.total([(False, x, y)])), 1.0
        adjoints.terms.setdefault(a, []).append((False, x, y))

    def _outside(self, arm: Arm, value: Argument) -> Argument:
        """The value where all conditions of the arm are met, otherwise zero."""
        for condition, holds in reversed(arm):
            both = (value, 0.0) if holds else (0.0, value)
            value = self._emit.op("select", self._keeping.get(condition), *both)
        return value

    def _has_adjoint(self, adjoints: _Adjoints, name: int) -> bool:
        return name in adjoints.terms or name in self._memory.cells

    def _take(self, adjoints: _Adjoints, name: int, more: Argument = 0.0) -> Argument:
        """The whole adjoint of a value, plus `more`, where the value is defined: all users have added to it by then."""
        terms = [*adjoints.terms.pop(name, []), (False, more, 1.0)]
        if name in self._memory.cells:
            array, at = self._memory.cell_array, Index(self._memory.cell(name))
            terms.append((False, self._emit.load(array, at), 1.0))
            if self._emit.scopes[-1] is not self._emit.top:
                self._emit.store(array, at, 0.0)
        return self._emit.total(terms)

    def _flush(self, adjoints: _Adjoints) -> None:
        """Add the contributions of a body to the adjoints of outer values to their cells."""
        for name, terms in adjoints.terms.items():
            array, at = self._memory.cell_array, Index(self._memory.cell(name))
            before = self._emit.load(array, at)
            self._emit.store(array, at, self._emit.total([*terms, (False, before, 1.0)]))

    # The backward sweep.

    def _block(self, block: Block, adjoints: _Adjoints) -> None:
        for s in reversed(block.statements):
            if isinstance(s, Loop):
                self._loop(s, adjoints)
            elif isinstance(s, Switch):
                self._switch(s)
            elif isinstance(s, Store):
                self._store(s, adjoints)
            elif isinstance(s, Call):
                self._call(s, adjoints)
            elif self._has_adjoint(adjoints, s.name):
                if isinstance(s, Load):
                    self._load(s, adjoints)
                else:
                    self._instruction(s, self._locals[s.name], adjoints)

    def _body(self, block: Block, results: Iterable[tuple[Argument, Argument]], entry: Sequence[int]) -> list[Argument]:
        """Emit a body backward, in the open scope: from the adjoints of its results to those of its entry."""
        self._keeping.turn(block)
        pairs = list(results)
        adjoints = _Adjoints(Arms(block, [a for a, _ in pairs], self._locals.get))
        for a, adjoint in pairs:
            self._add(adjoints, a, (), adjoint, 1.0)
        self._block(block, adjoints)
        taken = [self._take(adjoints, name) for name in entry]
        self._flush(adjoints)
        return taken

    def _loop(self, s: Loop, adjoints: _Adjoints) -> None:
        """Emit the iterations backward, which carry the adjoints of the carried values."""
        active = [k for k, name in enumerate(s.entry) if name in self._activity.values]
        if s.until is not None and not isinstance(s.over, Append):
            if any(self._has_adjoint(adjoints, s.defines[k]) for k in active):
                raise ProgramError(
                    "a loop that ends early (kt.programs.fori with until=) has no derivative in reverse: kt.jvp and "
                    "kt.jacobian differentiate forward; otherwise let it run a fixed number of times"
                )
            return
        seeds = [self._take(adjoints, s.defines[k]) for k in active]
        around = self._keeping.counters(s.body)[:-1]
        over, order = self._backward.reverse(s.over.moved(same, self._memory.arrays.__getitem__, same), around)
        scope, carried = self._emit.open(len(active))
        if order is not None:
            self._backward.order[len(around)] = order
        results = zip((s.next[k] for k in active), carried, strict=True)
        following = self._body(s.body, results, [s.entry[k] for k in active])
        self._backward.order.pop(len(around), None)
        self._emit.close()
        unless = self._unless(s)
        unless = None if unless is None else self._keeping.get(unless)
        ends = self._emit.loop(over, scope, carried, seeds, following, unless=unless)
        for k, end in zip(active, ends, strict=True):
            self._add(adjoints, s.carried[k], (), end, 1.0)

    def _switch(self, s: Switch) -> None:
        bodies = []
        for case in s.cases:
            body, _ = self._emit.open()
            self._body(case, (), ())
            self._emit.close()
            bodies.append(body)
        self._emit.switch(self._backward.index(s.on), bodies)

    def _store(self, s: Store, adjoints: _Adjoints) -> None:
        if s.array in self._memory.adjoints:
            array, at = self._memory.adjoints[s.array], self._backward.index(s.at)
            self._add(adjoints, s.value, (), self._emit.load(array, at), 1.0)
            self._emit.store(array, at, 0.0)

    def _load(self, s: Load, adjoints: _Adjoints) -> None:
        array, at = self._memory.adjoints[s.array], self._backward.index(s.at)
        arm = adjoints.arms.of(s.name)
        before = self._emit.load(array, at)
        if arm:
            after = self._emit.op("add", before, self._outside(arm, self._take(adjoints, s.name)))
        else:
            after = self._take(adjoints, s.name, before)
        self._emit.store(array, at, after)

    def _instruction(self, s: Instruction, local: Local, adjoints: _Adjoints) -> None:
        arm, adjoint = adjoints.arms.of(s.name), self._take(adjoints, s.name)
        if isinstance(local, Choice):
            for k, holds in zip(local.arms, (True, False), strict=True):
                self._add(adjoints, s.args[k], (*arm, (local.condition, holds)), adjoint, 1.0)
            return
        if not (isinstance(local.divisor, float) and local.divisor == 1.0):
            adjoint = self._emit.op("div", adjoint, self._keeping.get(local.divisor))
        for k in RULES[s.op].passes:
            if self._activity.of(s.args[k]):
                self._add(adjoints, s.args[k], arm, self._keeping.get(local.factors[k]), adjoint)

    def _call(self, s: Call, adjoints: _Adjoints) -> None:
        """Emit a call of the reverse derivative with respect to the active ports."""
        wrt, targets = self._activity.ports_of(s)
        if not wrt:
            return
        arm = common_arm(adjoints.arms.of(name) for name in s.defines if self._has_adjoint(adjoints, name))
        outside = [adjoints.arms.of(name)[len(arm) :] for name in s.defines]
        bars = [self._outside(beyond, self._take(adjoints, n)) for beyond, n in zip(outside, s.defines, strict=True)]
        if all(isinstance(bar, float) and bar == 0.0 for bar in bars):
            return
        args = [self._keeping.get(self._new(a)) for a in s.args]
        for a, bar in zip(targets, self._emit.call(self._called(s.program, wrt), [*args, *bars]), strict=True):
            self._add(adjoints, a, arm, bar, 1.0)
