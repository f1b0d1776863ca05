"""The rules for values: what each expression of Python is in LLVM IR."""

from __future__ import annotations

import ast
import inspect
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from kinetree.codegen.loops.kinds import SCALARS, ArrayKind

__all__ = ["Expressions", "Unknown", "Value"]


class Value(NamedTuple):
    """A number, by its type and its name in LLVM."""

    type: str
    name: str


class Unknown(TypeError):
    """Something in a function's text that is not translated."""

    def __init__(self, function: Callable[..., Any], node: ast.AST, why: str = "") -> None:
        line = getattr(node, "lineno", 1) + function.__code__.co_firstlineno - 1
        super().__init__(f"{function.__name__}, line {line}: {ast.unparse(node)!r:.120} is not translated{why}")


_FLOAT = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_WHOLE = {ast.Add: "add nsw", ast.Sub: "sub nsw", ast.Mult: "mul nsw", ast.BitAnd: "and", ast.RShift: "ashr"}
_COMPARED = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}


class Expressions:
    """Writes the values of one function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.results = results_of(function)
        self.result = result_type(self.results)
        self.lines: list[str] = []
        self.allocated: list[str] = []
        self.variables: dict[str, str] = {}
        self.arrays: dict[str, ArrayKind] = {}
        self.called: list[Callable[..., Any]] = []
        self._count = 0

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def emit(self, type: str, text: str) -> Value:
        self._count += 1
        name = f"%t{self._count}"
        self.line(f"{name} = {text}")
        return Value(type, name)

    def label(self) -> str:
        self._count += 1
        return f"l{self._count}"

    def begin(self, label: str) -> None:
        self.lines.append(f"{label}:")

    def value(self, node: ast.expr) -> Value:
        """One number."""
        values = self.values(node)
        if len(values) != 1:
            raise Unknown(self.function, node, f": it is {len(values)} values")
        return values[0]

    def values(self, node: ast.expr) -> list[Value]:
        """The numbers of a tuple or of a call; of anything else one."""
        if isinstance(node, ast.Tuple):
            return [self.value(x) for x in node.elts]
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Constant):
            return [self._constant(node.value, node)]
        if isinstance(node, ast.Name):
            if node.id in self.variables:
                type = self.variables[node.id]
                return [self.emit(type, f"load {type}, ptr %{node.id}.v")]
            return [self._constant(self.function.__globals__.get(node.id), node)]
        if isinstance(node, ast.Subscript):
            kind, place = self.element(node)
            if kind.load:
                raise Unknown(self.function, node, ": its elements are read by float(…) or int(…)")
            return [self.emit(kind.element, f"load {kind.element}, ptr {place}")]
        if isinstance(node, ast.BinOp):
            return [self.arithmetic(node.op, self.value(node.left), self.value(node.right), node)]
        if isinstance(node, ast.UnaryOp):
            return [self._unary(node)]
        if isinstance(node, ast.Compare | ast.BoolOp):
            return [self._truth(node)]
        if isinstance(node, ast.IfExp):
            return [self._choice(node)]
        raise Unknown(self.function, node)

    def _constant(self, x: object, node: ast.AST) -> Value:
        if isinstance(x, bool):
            return Value("i1", str(x).lower())
        if isinstance(x, int):
            return Value("i64", str(x))
        if isinstance(x, float):
            return Value("double", "0x" + struct.pack(">d", x).hex().upper())
        raise Unknown(self.function, node, ": it is no variable, and no number of the module")

    def converted(self, value: Value, type: str, node: ast.AST) -> Value:
        if value.type == type:
            return value
        if (value.type, type) == ("i64", "double"):
            return self.emit(type, f"sitofp i64 {value.name} to double")
        raise Unknown(self.function, node, f": {value.type} where {type} is needed")

    def arithmetic(self, op: ast.operator, a: Value, b: Value, node: ast.AST) -> Value:
        if a.type == b.type == "i64" and not isinstance(op, ast.Div):
            if type(op) in _WHOLE:
                return self.emit("i64", f"{_WHOLE[type(op)]} i64 {a.name}, {b.name}")
            if isinstance(op, ast.FloorDiv | ast.Mod):
                return self._divided(op, a.name, b.name)
        elif type(op) in _FLOAT:
            a, b = self.converted(a, "double", node), self.converted(b, "double", node)
            return self.emit("double", f"{_FLOAT[type(op)]} double {a.name}, {b.name}")
        raise Unknown(self.function, node)

    def _divided(self, op: ast.operator, a: str, b: str) -> Value:
        """Division that rounds downward."""
        quotient, rest = self.emit("i64", f"sdiv i64 {a}, {b}").name, self.emit("i64", f"srem i64 {a}, {b}").name
        signs = self.emit("i64", f"xor i64 {rest}, {b}").name
        differ, some = self.emit("i1", f"icmp slt i64 {signs}, 0").name, self.emit("i1", f"icmp ne i64 {rest}, 0").name
        below = self.emit("i1", f"and i1 {differ}, {some}").name
        if isinstance(op, ast.FloorDiv):
            less = self.emit("i64", f"sub i64 {quotient}, 1").name
            return self.emit("i64", f"select i1 {below}, i64 {less}, i64 {quotient}")
        more = self.emit("i64", f"add i64 {rest}, {b}").name
        return self.emit("i64", f"select i1 {below}, i64 {more}, i64 {rest}")

    def _unary(self, node: ast.UnaryOp) -> Value:
        x = self.value(node.operand)
        if isinstance(node.op, ast.USub) and x.type == "double":
            return self.emit("double", f"fneg double {x.name}")
        if isinstance(node.op, ast.USub) and x.type == "i64":
            return self.emit("i64", f"sub i64 0, {x.name}")
        if isinstance(node.op, ast.Not) and x.type == "i1":
            return self.emit("i1", f"xor i1 {x.name}, true")
        raise Unknown(self.function, node)

    def _compared(self, op: ast.cmpop, a: Value, b: Value, node: ast.AST) -> Value:
        if type(op) not in _COMPARED:
            raise Unknown(self.function, node)
        word = _COMPARED[type(op)]
        if a.type == b.type == "i64":
            prefix = "" if word in ("eq", "ne") else "s"
            return self.emit("i1", f"icmp {prefix}{word} i64 {a.name}, {b.name}")
        a, b = self.converted(a, "double", node), self.converted(b, "double", node)
        return self.emit("i1", f"fcmp {'u' if word == 'ne' else 'o'}{word} double {a.name}, {b.name}")

    def condition(self, node: ast.expr, yes: str, no: str) -> None:
        """Go to `yes` if it is true, otherwise to `no`; what Python does not look at is not looked at."""
        if isinstance(node, ast.BoolOp):
            is_and = isinstance(node.op, ast.And)
            for part in node.values[:-1]:
                following = self.label()
                self.condition(part, following if is_and else yes, no if is_and else following)
                self.begin(following)
            self.condition(node.values[-1], yes, no)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.condition(node.operand, no, yes)
        else:
            x = self.value(node)
            if x.type != "i1":
                raise Unknown(self.function, node, ": it is no bool")
            self.line(f"br i1 {x.name}, label %{yes}, label %{no}")

    def _truth(self, node: ast.Compare | ast.BoolOp) -> Value:
        if isinstance(node, ast.Compare):
            terms = [self.value(x) for x in (node.left, *node.comparators)]
            holds = Value("i1", "true")
            for op, a, b in zip(node.ops, terms, terms[1:], strict=False):
                one = self._compared(op, a, b, node)
                holds = one if holds.name == "true" else self.emit("i1", f"and i1 {holds.name}, {one.name}")
            return holds
        true, false = ast.Constant(True), ast.Constant(False)
        return self._choice(ast.IfExp(node, true, false))

    def _choice(self, node: ast.IfExp) -> Value:
        yes, no, end = self.label(), self.label(), self.label()
        place = f"%choice{len(self.allocated)}"
        self.condition(node.test, yes, no)
        types = []
        for k, (label, branch) in enumerate(((yes, node.body), (no, node.orelse))):
            self.begin(label)
            value = self.value(branch)
            if k == 0:
                self.allocated.append(f"  {place} = alloca {value.type}")
            types.append(value.type)
            value = self.converted(value, types[0], node)
            self.line(f"store {value.type} {value.name}, ptr {place}")
            self.line(f"br label %{end}")
        self.begin(end)
        return self.emit(types[0], f"load {types[0]}, ptr {place}")

    def element(self, node: ast.Subscript) -> tuple[ArrayKind, str]:
        """Where an element of an array is."""
        if not (isinstance(node.value, ast.Name) and node.value.id in self.arrays):
            raise Unknown(self.function, node)
        name, kind = node.value.id, self.arrays[node.value.id]
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        place = self.converted(self.value(indices[0]), "i64", node)
        for axis, index in enumerate(indices[1:], 1):
            row = self.emit("i64", f"mul nsw i64 {place.name}, %{name}.{axis}")
            place = self.arithmetic(ast.Add(), row, self.value(index), node)
        return kind, self.emit("ptr", f"getelementptr inbounds {kind.element}, ptr %{name}, i64 {place.name}").name

    def _call(self, node: ast.Call) -> list[Value]:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name == "len" and isinstance(node.args[0], ast.Name):
            return [Value("i64", f"%{node.args[0].id}.0")]
        if name in ("float", "int", "bool"):
            return [self._cast(SCALARS[name], node.args[0])]
        if name in ("min", "max", "abs", "sqrt", "floor"):
            return [self._elementary(name, [self.value(x) for x in node.args], node)]
        function = self.function.__globals__.get(name)
        if not inspect.isfunction(function):
            raise Unknown(self.function, node)
        self.called.append(function)
        given, kinds = [], [str(p.annotation) for p in inspect.signature(function).parameters.values()]
        numbers = iter([SCALARS[kind] for kind in kinds if kind in SCALARS])
        for x in node.args:
            if isinstance(x, ast.Name) and x.id in self.arrays:
                given += [f"ptr %{x.id}", *(f"i64 %{x.id}.{k}" for k in range(3))]
                continue
            for value in self.values(x.value) if isinstance(x, ast.Starred) else [self.value(x)]:
                given.append(" ".join(self.converted(value, next(numbers), x)))
        types = results_of(function)
        call = f"call {result_type(types)} @{name}({', '.join(given)})"
        if not types:
            self.line(call)
            return []
        result = self.emit(result_type(types), call)
        if len(types) == 1:
            return [result]
        return [self.emit(t, f"extractvalue {result.type} {result.name}, {k}") for k, t in enumerate(types)]

    def _cast(self, type: str, node: ast.expr) -> Value:
        if (
            type == "double"
            and isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "floor"
        ):
            x = self.converted(self.value(node.args[0]), "double", node)
            return self.emit("double", f"call double @llvm.floor.f64(double {x.name})")
        if isinstance(node, ast.Subscript):
            kind, place = self.element(node)
            value = self.emit(kind.element, f"load {kind.element}, ptr {place}")
            if kind.load:
                value = self.emit(kind.value, f"{kind.load} {kind.element} {value.name} to {kind.value}")
        else:
            value = self.value(node)
        if (value.type, type) == ("double", "i64"):
            return self.emit("i64", f"fptosi double {value.name} to i64")
        return self.converted(value, type, node)

    def _elementary(self, name: str, given: list[Value], node: ast.AST) -> Value:
        if name in ("min", "max"):
            best = given[0]
            for x in given[1:]:
                if best.type != x.type:
                    best, x = self.converted(best, "double", node), self.converted(x, "double", node)
                better = self._compared(ast.Lt() if name == "min" else ast.Gt(), x, best, node)
                best = self.emit(x.type, f"select i1 {better.name}, {x.type} {x.name}, {x.type} {best.name}")
            return best
        x = self.converted(given[0], "double", node)
        result = self.emit("double", f"call double @llvm.{'fabs' if name == 'abs' else name}.f64(double {x.name})")
        return self.emit("i64", f"fptosi double {result.name} to i64") if name == "floor" else result


def results_of(function: Callable[..., Any]) -> list[str]:
    """The types of a function's results."""
    annotation = str(inspect.signature(function).return_annotation)
    if annotation == "None":
        return []
    return [SCALARS[word.strip()] for word in annotation.removeprefix("tuple[").removesuffix("]").split(",")]


def result_type(types: list[str]) -> str:
    return "void" if not types else types[0] if len(types) == 1 else "{" + ", ".join(types) + "}"
