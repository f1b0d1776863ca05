"""From the text of a Python function to LLVM IR.

It supports numbers (`float`, `int`, `bool`), arrays of up to three axes, records of these (a `NamedTuple`) as
arguments, and tuples of numbers as results; assignments, `if`, `while`, `for … in range(…)`, `break`, `continue`;
arithmetic, comparisons, `and`, `or`, `not`, choices by `… if … else …`; `min`, `max`, `abs`, `float`, `int`, `len`,
`math.sqrt`, `math.floor`; constants of the module, and calls of functions like itself. The meaning is Python's, to the
last bit: doubles, no fused operations, no regrouping; but whole numbers have 64 bits, a division by zero is not an
error, and indices are not checked. A variable has one type. A record is passed as its fields, one argument each.
Anything else is rejected, with its line; `expressions.py` has the rules for values, `instructions.py` those of
arithmetic.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from kinetree.codegen.loops.expressions import Expressions
from kinetree.codegen.loops.instructions import Unknown, Value
from kinetree.codegen.loops.kinds import ArrayKind, parameters, parts
from kinetree.source_code import syntax_tree

__all__ = ["module_text"]

Function = Callable[..., Any]


def module_text(function: Function, triple: str) -> str:
    """A module with a function, those that it calls, and `called`, which calls it from outside.

    `called` takes the address of the arguments, each of eight bytes: numbers, and an address and three lengths for an
    array.
    """
    written: dict[Function, _Writer] = {}
    arguments = _Writer(function, written, is_called_from_outside=True).arguments
    head = [f'target triple = "{triple}"']
    head += [f"declare double @llvm.{name}.f64(double)" for name in ("sqrt", "floor", "fabs")]
    lines = ["define void @called(ptr %given) nounwind {"]
    for k, type in enumerate(arguments):
        lines.append(f"  %p{k} = getelementptr i64, ptr %given, i64 {k}")
        if type == "i1":
            lines += [f"  %n{k} = load i64, ptr %p{k}", f"  %a{k} = trunc i64 %n{k} to i1"]
        else:
            lines.append(f"  %a{k} = load {type}, ptr %p{k}")
    given = ", ".join(f"{type} %a{k}" for k, type in enumerate(arguments))
    lines += [f"  call void @{function.__name__}({given}) noinline", "  ret void", "}"]
    return "\n".join([*head, *lines, *(writer.text for writer in written.values())])


class _Writer(Expressions):
    """Writes one function; every variable is in memory, and LLVM puts them into registers."""

    def __init__(self, function: Function, written: dict[Function, _Writer], *, is_called_from_outside: bool) -> None:
        source = syntax_tree(textwrap.dedent(inspect.getsource(function))).body[0]
        assert isinstance(source, ast.FunctionDef)
        super().__init__(function)
        self._source = source
        self._written = written
        self._ends: list[tuple[str, str]] = []
        """Where `continue` and `break` go, of each loop around."""
        self.text: str = ""
        """Empty until it is complete."""
        self.arguments: list[str] = []
        """Their types."""
        written[function] = self
        kinds = dict(part for parameter in parameters(function) for part in parts(*parameter))
        self.arrays = {name: kind for name, kind in kinds.items() if isinstance(kind, ArrayKind)}
        self.records = {name: kind for name, kind in kinds.items() if isinstance(kind, type)}
        self.variables = {name: kind for name, kind in kinds.items() if isinstance(kind, str)}
        self.used = set(kinds) if is_called_from_outside else set()
        self._block(source.body)
        self.line("ret void" if self.result == "void" else "unreachable")
        arguments = []
        for name, kind in kinds.items():
            if name in self.used and isinstance(kind, ArrayKind):
                arguments += [f"ptr noalias %{name}", *(f"i64 %{name}.{k}" for k in range(3))]
            elif name in self.used and isinstance(kind, str):
                arguments.append(f"{kind} %{name}.in")
                self.allocated += [f"  %{name}.v = alloca {kind}", f"  store {kind} %{name}.in, ptr %{name}.v"]
        self.arguments = [argument.partition(" ")[0] for argument in arguments]
        self.text = "\n".join(
            (
                f"define internal {self.result} @{function.__name__}({', '.join(arguments)}) nounwind {{",
                "start:",
                *self.allocated,
                "  br label %body",
                "body:",
                *self.lines,
                "}",
            )
        )

    def needed(self, function: Function, node: ast.Call) -> set[str]:
        if function not in self._written:
            _Writer(function, self._written, is_called_from_outside=False)
        if not self._written[function].text:
            raise Unknown(self.function, node, ": it calls itself")
        return self._written[function].used

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            rule = getattr(self, f"_{type(statement).__name__}", None)
            if rule is None:
                raise Unknown(self.function, statement)
            rule(statement)

    def _Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.values(node.value)

    def _Pass(self, node: ast.Pass) -> None:
        pass

    def _Assign(self, node: ast.Assign) -> None:
        if len(node.targets) > 1:
            raise Unknown(self.function, node, ": it has two targets")
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            for one, value in zip(target.elts, self.values(node.value), strict=True):
                self._put(one, value)
        else:
            self._put(target, self.value(node.value))

    def _AugAssign(self, node: ast.AugAssign) -> None:
        self._put(node.target, self.arithmetic(node.op, self.value(node.target), self.value(node.value), node))

    def _put(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._store(target.id, value)
        elif isinstance(target, ast.Subscript):
            kind, place = self.element(target)
            value = self.converted(value, kind.value, target)
            if kind.store:
                value = self.emit(kind.element, f"{kind.store} {value.type} {value.name} to {kind.element}")
            self.line(f"store {kind.element} {value.name}, ptr {place}")
        else:
            raise Unknown(self.function, target)

    def _store(self, name: str, value: Value) -> None:
        if name in self.records:
            raise Unknown(self.function, self._source, f": {name} is a record, which does not change")
        self.used.add(name)
        if name not in self.variables:
            self.variables[name] = value.type
            self.allocated.append(f"  %{name}.v = alloca {value.type}")
        value = self.converted(value, self.variables[name], self._source)
        self.line(f"store {value.type} {value.name}, ptr %{name}.v")

    def _Return(self, node: ast.Return) -> None:
        if node.value is None:
            self._leave("ret void")
            return
        types, made = self.results, "poison"
        values = [self.converted(v, t, node) for v, t in zip(self.values(node.value), types, strict=True)]
        if len(values) == 1:
            self._leave(f"ret {types[0]} {values[0].name}")
            return
        for k, value in enumerate(values):
            made = self.emit(self.result, f"insertvalue {self.result} {made}, {value.type} {value.name}, {k}").name
        self._leave(f"ret {self.result} {made}")

    def _If(self, node: ast.If) -> None:
        yes, no, end = self.label(), self.label(), self.label()
        self.condition(node.test, yes, no)
        self.begin(yes)
        self._block(node.body)
        self._go(end)
        self.begin(no)
        self._block(node.orelse)
        self._go(end)
        self.begin(end)

    def _While(self, node: ast.While) -> None:
        test, body, end = self.label(), self.label(), self.label()
        self._go(test)
        self.begin(test)
        self.condition(node.test, body, end)
        self.begin(body)
        self._repeated(node, test, end)
        self.begin(end)

    def _For(self, node: ast.For) -> None:
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
            raise Unknown(self.function, node)
        if len(call.args) > 2 and not _is_positive(call.args[2]):
            raise Unknown(self.function, call, ": its step must be a number above 0")
        given = [self.converted(self.value(x), "i64", x) for x in call.args]
        start, stop = given[:2] if len(given) > 1 else (Value("i64", "0"), given[0])
        step = given[2] if len(given) > 2 else Value("i64", "1")
        assert isinstance(node.target, ast.Name)
        counter = f"%count{len(self.allocated)}"
        self.allocated.append(f"  {counter} = alloca i64")
        test, body, more, end = (self.label() for _ in range(4))
        self.line(f"store i64 {start.name}, ptr {counter}")
        self._go(test)
        self.begin(test)
        now = self.emit("i64", f"load i64, ptr {counter}")
        goes_on = self.emit("i1", f"icmp slt i64 {now.name}, {stop.name}")
        self.line(f"br i1 {goes_on.name}, label %{body}, label %{end}")
        self.begin(body)
        self._store(node.target.id, now)
        self._repeated(node, more, end)
        self.begin(more)
        following = self.emit("i64", f"add nsw i64 {now.name}, {step.name}")
        self.line(f"store i64 {following.name}, ptr {counter}")
        self._go(test)
        self.begin(end)

    def _repeated(self, node: ast.For | ast.While, again: str, end: str) -> None:
        if node.orelse:
            raise Unknown(self.function, node.orelse[0], ": a loop has no else")
        self._ends.append((again, end))
        self._block(node.body)
        self._ends.pop()
        self._go(again)

    def _Continue(self, _: ast.Continue) -> None:
        self._go(self._ends[-1][0])
        self.begin(self.label())

    def _Break(self, _: ast.Break) -> None:
        self._go(self._ends[-1][1])
        self.begin(self.label())

    def _go(self, label: str) -> None:
        self.line(f"br label %{label}")

    def _leave(self, instruction: str) -> None:
        self.line(instruction)
        self.begin(self.label())  # whatever follows is never reached


def _is_positive(node: ast.expr) -> bool:
    """Whether it is a whole number above 0, written out."""
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value > 0
