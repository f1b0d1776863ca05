"""The rules for expressions: Python's in LLVM IR."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from kinetree.codegen.loops.instructions import Instructions, Unknown, Value, result_type, results_of
from kinetree.codegen.loops.kinds import SCALARS, ArrayKind, Kind, parameters, parts

__all__ = ["Expressions"]


class Expressions(Instructions):
    """Writes the values of one function."""

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
            return [self.constant(node.value, node)]
        if isinstance(node, ast.Name | ast.Attribute):
            name = ast.unparse(node)
            if name in self.variables:
                return [self._variable(name)]
            return [self.constant(self.function.__globals__.get(name), node)]
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

    def _variable(self, name: str) -> Value:
        type = self.variables[name]
        self.used.add(name)
        return self.emit(type, f"load {type}, ptr %{name}.v")

    def _unary(self, node: ast.UnaryOp) -> Value:
        x = self.value(node.operand)
        if isinstance(node.op, ast.USub) and x.type == "double":
            return self.emit("double", f"fneg double {x.name}")
        if isinstance(node.op, ast.USub) and x.type == "i64":
            return self.emit("i64", f"sub i64 0, {x.name}")
        if isinstance(node.op, ast.Not) and x.type == "i1":
            return self.emit("i1", f"xor i1 {x.name}, true")
        raise Unknown(self.function, node)

    def condition(self, node: ast.expr, yes: str, no: str) -> None:
        """Go to `yes` if it is true, otherwise to `no`; operands that Python skips are skipped."""
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
                raise Unknown(self.function, node, ": it is not a bool")
            self.line(f"br i1 {x.name}, label %{yes}, label %{no}")

    def _truth(self, node: ast.Compare | ast.BoolOp) -> Value:
        if isinstance(node, ast.Compare):
            terms = [self.value(x) for x in (node.left, *node.comparators)]
            holds = Value("i1", "true")
            for op, a, b in zip(node.ops, terms, terms[1:], strict=False):
                one = self.compared(op, a, b, node)
                holds = one if holds.name == "true" else self.emit("i1", f"and i1 {holds.name}, {one.name}")
            return holds
        true, false = ast.Constant(True), ast.Constant(False)
        return self._choice(ast.IfExp(node, true, false))

    def _choice(self, node: ast.IfExp) -> Value:
        yes, no, end = self.label(), self.label(), self.label()
        place = f"%choice.{self.label()}"
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
        name = self._array(ast.unparse(node.value), node)
        kind = self.arrays[name]
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        place = self.converted(self.value(indices[0]), "i64", node)
        for axis, index in enumerate(indices[1:], 1):
            row = self.emit("i64", f"mul nsw i64 {place.name}, %{name}.{axis}")
            place = self.arithmetic(ast.Add(), row, self.value(index), node)
        return kind, self.emit("ptr", f"getelementptr inbounds {kind.element}, ptr %{name}, i64 {place.name}").name

    def _call(self, node: ast.Call) -> list[Value]:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise Unknown(self.function, node)
        name = node.func.id
        if name == "len":
            return [Value("i64", f"%{self._array(ast.unparse(node.args[0]), node)}.0")]
        if name in ("float", "int", "bool"):
            return [self._cast(SCALARS[name], node.args[0])]
        if name in ("min", "max", "abs", "sqrt", "floor"):
            return [self.elementary(name, [self.value(x) for x in node.args], node)]
        known = self.function.__globals__.get(name)
        if not inspect.isfunction(known):
            raise Unknown(self.function, node)
        function = inspect.unwrap(known)  # it may be compiled for itself, too
        types = results_of(function)
        given = ", ".join(self._given(function, node))
        call = f"call {result_type(types)} @{function.__name__}({given})"
        if not types:
            self.line(call)
            return []
        result = self.emit(result_type(types), call)
        if len(types) == 1:
            return [result]
        return [self.emit(t, f"extractvalue {result.type} {result.name}, {k}") for k, t in enumerate(types)]

    def needed(self, function: Callable[..., Any], node: ast.Call) -> set[str]:
        """The parameters that a function uses, which must be in the module, too, and fields of them: others are not
        passed."""
        raise NotImplementedError

    def _given(self, function: Callable[..., Any], node: ast.Call) -> Iterator[str]:
        """The arguments of a call."""
        remaining, needed = parameters(function), self.needed(function, node)
        for x in node.args:
            if remaining and not isinstance(remaining[0][1], str):
                yield from self._passed(x, *remaining.pop(0), needed)
                continue
            for value in self.values(x.value) if isinstance(x, ast.Starred) else [self.value(x)]:
                name, type = remaining.pop(0) if remaining else ("", None)
                if not isinstance(type, str):
                    raise Unknown(self.function, node, ": its arguments are not those of the function")
                value = self.converted(value, type, x)
                if name in needed:
                    yield " ".join(value)
        if remaining:
            raise Unknown(self.function, node, ": it has too few arguments")

    def _passed(self, node: ast.expr, parameter: str, kind: Kind, needed: set[str]) -> Iterator[str]:
        """An array, or the fields of a record that are needed, as arguments."""
        given = ast.unparse(node)
        if self.arrays.get(given, self.records.get(given)) is not kind:
            raise Unknown(self.function, node, f": {kind.__name__ if isinstance(kind, type) else kind} is needed")
        for (name, part), (theirs, _) in zip(parts(given, kind), parts(parameter, kind), strict=True):
            if theirs in needed and isinstance(part, ArrayKind):
                yield f"ptr %{self._array(name, node)}"
                yield from (f"i64 %{name}.{k}" for k in range(3))
            elif theirs in needed and isinstance(part, str):
                yield " ".join(self._variable(name))

    def _array(self, name: str, node: ast.expr) -> str:
        """Its name in LLVM."""
        if name not in self.arrays:
            raise Unknown(self.function, node, ": it is not an array")
        self.used.add(name)
        return name

    def _cast(self, type: str, node: ast.expr) -> Value:
        if (
            type == "double"
            and isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "floor"
        ):  # not by way of a whole number
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
