"""Reverse differentiation: a forward sweep that keeps what is needed, then each statement's rule in reverse order.

The adjoint of a value is the sum of what its users add to it. Users in the same block are summed directly; those in the
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
from kinetree.expr.named import Line, Lines, LoopLine, NamedProgram, SwitchLine, named
from kinetree.expr.program import Argument, Call, Index, Instruction, Load, Program, Range, Store, Term
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
        self._source = source = named(program)
        self._wrt = tuple(wrt)
        self._called = called
        self._with_outputs = outputs
        self._activity = Activity(source, self._wrt)
        self._touched = touched = Touched(source.lines)
        self._never_stored = set(range(source.first_array + len(source.arrays))) - touched.stored
        self._in_memory = source.results is None or any(k in touched.loaded for k in self._wrt)
        """Whether outputs are stored instead of returned: adjoints of arrays can only be summed there."""

        self._memory = AdjointMemory(source, self._wrt, self._activity, outputs=outputs)
        self._backward = Backward(source.tables)

        self._emit = Emitter(sum(port.size for port in self._memory.inputs))
        self._value: dict[int, Argument] = {k: k for k in range(source.input_size)}
        self._locals: dict[Line, Local] = {}
        self._keeping = Keeping(self._emit, self._backward, self._memory.new)
        self._counters: list[Bounds] = []

    def derivative(self) -> NamedProgram:
        source, emit = self._source, self._emit
        self._sweep(source.lines, emit.top)
        values = [self._new(a) for a in source.results or ()] if self._with_outputs else []
        adjoints = _Adjoints(Arms(source.lines, source.results or (), self._locals.get))
        self._keeping.turn(source.lines)
        self._seed(adjoints)
        self._block(source.lines, adjoints)
        results = self._finish(values, adjoints)
        memory = self._memory
        memory.resize(self._keeping.sizes())
        lines, tables = emit.top.lines, source.tables
        return NamedProgram(f"bar_{source.name}", memory.inputs, memory.outputs, lines, results, memory.own, tables)

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

    def _sweep(self, lines: Lines, scope: Scope) -> None:
        """Emit a block again, with the local derivatives of its instructions."""
        self._keeping.swept(lines, scope, self._counters)
        for line in lines:
            if isinstance(line, LoopLine):
                self._sweep_loop(line)
            elif isinstance(line, SwitchLine):
                bodies = []
                for case in line.cases:
                    body, _ = self._emit.open()
                    self._sweep(case, body)
                    self._emit.close()
                    bodies.append(body)
                self._emit.switch(line.on, bodies)
            else:
                self._sweep_line(line)

    def _sweep_loop(self, line: LoopLine) -> None:
        before = [self._new(a) for a in line.carried]
        body, entry = self._emit.open(len(before))
        self._value.update(zip(line.entry, entry, strict=True))
        self._counters.append(bounds(line.over, self._counters, self._source.tables))
        self._sweep(line.body, body)
        self._counters.pop()
        after = [self._new(a) for a in line.next]
        until = None if line.until is None else self._new(line.until)
        self._emit.close()
        ends = self._emit.loop(line.over, body, entry, before, after, until)
        self._value.update(zip(line.defines, ends, strict=True))

    def _sweep_line(self, line: Line) -> None:
        s, emit = line.statement, self._emit
        if isinstance(s, Instruction):
            (name,) = line.defines
            args = tuple(self._new(a) for a in s.args)
            self._value[name] = emit.again(s.op, args)
            if name in self._activity.values:
                self._locals[line] = RULES[s.op].local(At(emit, args, self._value[name]))
        elif isinstance(s, Load):
            (name,) = line.defines
            value = self._value[name] = emit.load(self._memory.arrays[s.array], s.at)
            if s.array in self._never_stored:
                self._keeping.reloadable(value, self._memory.arrays[s.array], s.at)
        elif isinstance(s, Store):
            emit.store(self._memory.arrays[s.array], s.at, self._new(s.value))
        else:
            values = emit.call(s.program, [self._new(a) for a in s.args])
            self._value.update(zip(line.defines, values, strict=True))

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
        """Add what a body contributes to the adjoints of outer values to their cells."""
        for name, terms in adjoints.terms.items():
            array, at = self._memory.cell_array, Index(self._memory.cell(name))
            before = self._emit.load(array, at)
            self._emit.store(array, at, self._emit.total([*terms, (False, before, 1.0)]))

    # The backward sweep.

    def _block(self, lines: Lines, adjoints: _Adjoints) -> None:
        for line in reversed(lines):
            if isinstance(line, LoopLine):
                self._loop(line, adjoints)
            elif isinstance(line, SwitchLine):
                self._switch(line)
            else:
                self._line(line, adjoints)

    def _body(self, lines: Lines, results: Iterable[tuple[Argument, Argument]], entry: Sequence[int]) -> list[Argument]:
        """Emit a body backward, in the open scope: from the adjoints of its results to those of its entry."""
        self._keeping.turn(lines)
        pairs = list(results)
        adjoints = _Adjoints(Arms(lines, [a for a, _ in pairs], self._locals.get))
        for a, adjoint in pairs:
            self._add(adjoints, a, (), adjoint, 1.0)
        self._block(lines, adjoints)
        taken = [self._take(adjoints, name) for name in entry]
        self._flush(adjoints)
        return taken

    def _loop(self, line: LoopLine, adjoints: _Adjoints) -> None:
        """Emit the iterations backward, which carry the adjoints of the carried values."""
        active = [k for k, name in enumerate(line.entry) if name in self._activity.values]
        if line.until is not None:
            if any(self._has_adjoint(adjoints, line.defines[k]) for k in active):
                raise ProgramError(
                    "a loop that ends early (kt.fori with until=) has no derivative in reverse: kt.jvp and kt.jacobian "
                    "differentiate forward; otherwise let it run a fixed number of times"
                )
            return
        seeds = [self._take(adjoints, line.defines[k]) for k in active]
        around = self._keeping.counters(line.body)[:-1]
        over, order = self._backward.reverse(line.over, around)
        scope, carried = self._emit.open(len(active))
        if order is not None:
            self._backward.order[len(around)] = order
        results = zip((line.next[k] for k in active), carried, strict=True)
        following = self._body(line.body, results, [line.entry[k] for k in active])
        self._backward.order.pop(len(around), None)
        self._emit.close()
        ends = self._emit.loop(over, scope, carried, seeds, following)
        for k, end in zip(active, ends, strict=True):
            self._add(adjoints, line.carried[k], (), end, 1.0)

    def _switch(self, line: SwitchLine) -> None:
        bodies = []
        for case in line.cases:
            body, _ = self._emit.open()
            self._body(case, (), ())
            self._emit.close()
            bodies.append(body)
        self._emit.switch(self._backward.index(line.on), bodies)

    def _line(self, line: Line, adjoints: _Adjoints) -> None:
        s, emit = line.statement, self._emit
        if isinstance(s, Store):
            if s.array in self._memory.adjoints:
                array, at = self._memory.adjoints[s.array], self._backward.index(s.at)
                self._add(adjoints, s.value, (), emit.load(array, at), 1.0)
                emit.store(array, at, 0.0)
        elif isinstance(s, Call):
            self._call(s, line.defines, adjoints)
        elif self._has_adjoint(adjoints, line.defines[0]):
            if isinstance(s, Load):
                self._load(s, line.defines[0], adjoints)
            else:
                self._instruction(s, self._locals[line], line.defines[0], adjoints)

    def _load(self, s: Load, name: int, adjoints: _Adjoints) -> None:
        array, at = self._memory.adjoints[s.array], self._backward.index(s.at)
        arm = adjoints.arms.of(name)
        before = self._emit.load(array, at)
        if arm:
            after = self._emit.op("add", before, self._outside(arm, self._take(adjoints, name)))
        else:
            after = self._take(adjoints, name, before)
        self._emit.store(array, at, after)

    def _instruction(self, s: Instruction, local: Local, name: int, adjoints: _Adjoints) -> None:
        arm, adjoint = adjoints.arms.of(name), self._take(adjoints, name)
        if isinstance(local, Choice):
            for k, holds in zip(local.arms, (True, False), strict=True):
                self._add(adjoints, s.args[k], (*arm, (local.condition, holds)), adjoint, 1.0)
            return
        if not (isinstance(local.divisor, float) and local.divisor == 1.0):
            adjoint = self._emit.op("div", adjoint, self._keeping.get(local.divisor))
        for k in RULES[s.op].passes:
            if self._activity.of(s.args[k]):
                self._add(adjoints, s.args[k], arm, self._keeping.get(local.factors[k]), adjoint)

    def _call(self, s: Call, names: tuple[int, ...], adjoints: _Adjoints) -> None:
        """Emit a call of the reverse derivative with respect to the active ports."""
        wrt, targets = self._activity.ports_of(s)
        if not wrt:
            return
        arm = common_arm(adjoints.arms.of(name) for name in names if self._has_adjoint(adjoints, name))
        outside = [adjoints.arms.of(name)[len(arm) :] for name in names]
        bars = [self._outside(beyond, self._take(adjoints, n)) for beyond, n in zip(outside, names, strict=True)]
        if all(isinstance(bar, float) and bar == 0.0 for bar in bars):
            return
        args = [self._keeping.get(self._new(a)) for a in s.args]
        for a, bar in zip(targets, self._emit.call(self._called(s.program, wrt), [*args, *bars]), strict=True):
            self._add(adjoints, a, arm, bar, 1.0)
