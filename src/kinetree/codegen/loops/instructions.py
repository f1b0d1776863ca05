"""Instructions of LLVM, and the rules of arithmetic for Python's operations on numbers."""

from __future__ import annotations

import ast
import inspect
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

from kinetree.codegen.loops.kinds import SCALARS, ArrayKind

__all__ = ["Instructions", "Unknown", "Value", "result_type", "results_of"]


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


class Instructions:
    """Writes the instructions of one function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.results: list[str] = results_of(function)
        self.result: str = result_type(self.results)
        self.lines: list[str] = []
        self.allocated: list[str] = []
        """Lines at the beginning, which make room for variables."""
        self.variables: dict[str, str] = {}
        """The type of each."""
        self.arrays: dict[str, ArrayKind] = {}
        """Parameters and fields of records."""
        self.records: dict[str, type[Any]] = {}
        """Records among the parameters and fields."""
        self.used: set[str] = set()
        """The parameters and fields that the function needs."""
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

    def constant(self, x: object, node: ast.AST) -> Value:
        if isinstance(x, bool):
            return Value("i1", str(x).lower())
        if isinstance(x, int):
            return Value("i64", str(x))
        if isinstance(x, float):
            return Value("double", "0x" + struct.pack(">d", x).hex().upper())
        raise Unknown(self.function, node, ": it is neither a variable nor a number of the module")

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

    def compared(self, op: ast.cmpop, a: Value, b: Value, node: ast.AST) -> Value:
        if type(op) not in _COMPARED:
            raise Unknown(self.function, node)
        word = _COMPARED[type(op)]
        if a.type == b.type == "i64":
            prefix = "" if word in ("eq", "ne") else "s"
            return self.emit("i1", f"icmp {prefix}{word} i64 {a.name}, {b.name}")
        a, b = self.converted(a, "double", node), self.converted(b, "double", node)
        return self.emit("i1", f"fcmp {'u' if word == 'ne' else 'o'}{word} double {a.name}, {b.name}")

    def elementary(self, name: str, given: list[Value], node: ast.AST) -> Value:
        if name in ("min", "max"):
            best = given[0]
            for x in given[1:]:
                if best.type != x.type:
                    best, x = self.converted(best, "double", node), self.converted(x, "double", node)
                better = self.compared(ast.Lt() if name == "min" else ast.Gt(), x, best, node)
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
