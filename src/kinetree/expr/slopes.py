"""Values that only derivatives need: dropped before a program is compiled that is not to be differentiated any more."""

from __future__ import annotations

from dataclasses import replace

from kinetree.expr.dead_code import without_dead_code
from kinetree.expr.program import Argument, Block, Call, Instruction, Load, Loop, Program, Statement, Store, Switch

__all__ = ["without_slopes"]

_MARKS = ("settled", "slopes_of")


def without_slopes(program: Program) -> Program:
    """The same function with `slopes_of(a, b)` and `settled(a)` replaced by a; itself, if it has none.

    >>> from kinetree.expr import Port, slopes_of, trace
    >>> without_slopes(trace(lambda x: [[slopes_of(x[0], x[0] * x[0])]], [Port("x", (1,))], [Port("y", ())], "same"))
    same(x[1]) -> y[]
    """
    return _Without().program(program)


class _Without:
    """Programs that were met, so that one called in several places stays one."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Program, Program]] = {}

    def program(self, program: Program) -> Program:
        if id(program) not in self._known:
            changed = program
            if self._has_slopes(program):
                values: dict[int, Argument] = {}
                body = self._block(program.body, values)
                results = program.results and tuple([_new(a, values) for a in program.results])
                changed = without_dead_code(replace(program, body=body, results=results))
            self._known[id(program)] = program, changed
        return self._known[id(program)][1]

    def _has_slopes(self, program: Program) -> bool:
        return any(
            (isinstance(s, Instruction) and s.op in _MARKS)
            or (isinstance(s, Call) and self.program(s.program) is not s.program)
            for s in program.body.all_statements()
        )

    def _block(self, block: Block, values: dict[int, Argument]) -> Block:
        """The block without marks; `values` are those that take the place of marked ones."""

        def new(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
            return arguments if values.keys().isdisjoint(arguments) else tuple([_new(a, values) for a in arguments])

        kept: list[Statement] = []
        for s in block.statements:
            if isinstance(s, Instruction):
                if s.op in _MARKS:
                    values[s.name] = _new(s.args[0], values)
                    continue
                args = new(s.args)
                kept.append(s if args is s.args else Instruction(s.op, args, s.name))
            elif isinstance(s, Load):
                kept.append(s)
            elif isinstance(s, Store):
                kept.append(Store(s.array, s.at, _new(s.value, values)))
            elif isinstance(s, Call):
                kept.append(Call(self.program(s.program), new(s.args), s.defines))
            elif isinstance(s, Switch):
                kept.append(Switch(s.on, tuple([self._block(case, values) for case in s.cases])))
            else:
                carried, body, following = new(s.carried), self._block(s.body, values), new(s.next)
                until = None if s.until is None else _new(s.until, values)
                unless = None if s.unless is None else _new(s.unless, values)
                kept.append(Loop(s.over, body, s.entry, carried, following, s.defines, until, unless))
        return Block(tuple(kept))


def _new(a: Argument, values: dict[int, Argument]) -> Argument:
    return values.get(a, a) if isinstance(a, int) else a
