"""Symbols: numbers that remember how they were computed.

A `Graph` holds one trace. An operation on the same arguments exists only once in it (hash-consing), and immediately
known results are never recorded: constants are folded, zeros and ones vanish, and signs move outward until something
absorbs them. So an algorithm run on symbols leaves only the arithmetic that this robot needs.

Constants are plain floats: `symbol * 0.0` is the float 0.0, and Python folds it further on its own.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, final

from kinetree.announcement import watched
from kinetree.expr.ops import OPS

__all__ = ["Graph", "MixedTracesError", "Scalar", "Symbol", "TraceTooLongError", "apply", "is_zero"]

_SMALLEST = sys.float_info.min
"""Two constant factors are merged as long as their product has full precision."""


@final
class Symbol:
    """One value of a trace. Made by `Graph.input` and by arithmetic on symbols."""

    __slots__ = ("args", "graph", "index", "op")
    __array_ufunc__ = None  # NumPy scalars defer to our operators

    def __init__(self, graph: Graph, index: int, op: str, args: tuple[Any, ...]) -> None:
        self.graph: Graph = graph
        self.index: int = index
        self.op: str = op
        self.args: tuple[Any, ...] = args

    def __repr__(self) -> str:
        args = ", ".join(f"%{a.index}" if isinstance(a, Symbol) else repr(a) for a in self.args)
        return f"%{self.index} = {self.op}({args})"

    def __bool__(self) -> bool:
        raise TypeError(
            "a symbol has no truth value: an algorithm may not branch on it; use kinetree.expr.select(condition, a, b)"
        )

    def __float__(self) -> float:
        raise TypeError(f"{self!r} is a symbol, not a number; use the functions of kinetree.expr on it")

    def __add__(self, other: Scalar) -> Scalar:
        return _add(self, other if type(other) is Symbol else _number(other))

    def __radd__(self, other: float) -> Scalar:
        return _add(self, _number(other))

    def __sub__(self, other: Scalar) -> Scalar:
        return _sub(self, other if type(other) is Symbol else _number(other))

    def __rsub__(self, other: float) -> Scalar:
        return _sub(_number(other), self)

    def __mul__(self, other: Scalar) -> Scalar:
        return _mul(self, other if type(other) is Symbol else _number(other))

    def __rmul__(self, other: float) -> Scalar:
        return _mul(self, _number(other))

    def __truediv__(self, other: Scalar) -> Scalar:
        return _div(self, _number(other))

    def __rtruediv__(self, other: float) -> Scalar:
        return _div(_number(other), self)

    def __neg__(self) -> Scalar:
        return _neg(self)

    def __pos__(self) -> Scalar:
        return self


Scalar = float | Symbol


class MixedTracesError(ValueError):
    """A symbol is used outside of its trace, or of its block of it."""

    def __init__(self, message: str = "symbols of two traces, or of two blocks, do not mix") -> None:
        super().__init__(message)


class TraceTooLongError(Exception):
    """A trace recorded more than it was allowed to."""


class Graph:
    """One trace, or one block of it: every operation recorded so far, and the inputs of the outermost.

    A block's graph knows the enclosing one: its operations may use symbols of that one, but not vice versa. Operations
    on outer symbols alone are recorded outside, once, even while the block is being traced; but not in a block that may
    be left out, which keeps new ones.
    """

    __slots__ = (
        "_blocks", "_clock", "_fresh", "_interned", "around", "depth", "effects", "inputs", "parent", "recorder",
    )  # fmt: skip

    def __init__(self, parent: Graph | None = None, most: int = sys.maxsize) -> None:
        """`most`: how many operations the whole trace may record before it raises `TraceTooLongError`."""
        self.parent: Graph | None = parent
        self.depth: int = parent.depth + 1 if parent else 0
        self.inputs: list[Symbol] = []
        self.around: tuple[Any, ...] = parent.around if parent else ()
        """The counters of the loops around this block, the outermost first."""
        self.recorder: Any = parent.recorder if parent else None
        """The `Recorder` of the trace, if it has memory."""
        self.effects: list[Any] = []
        """Effects on memory, in order; see `kinetree.expr.recording`."""
        self._interned: dict[tuple[object, ...], Symbol] = {}
        self._fresh: list[Symbol] = []
        self._blocks: list[Graph] = []
        self._clock: list[int] = parent._clock if parent else watched([0, most])
        if parent is not None:
            parent._blocks.append(self)

    def __len__(self) -> int:
        return self._clock[0]

    def tick(self) -> int:
        """The position of something new in the order of the whole trace."""
        clock = self._clock
        clock[0] += 1
        if clock[0] > clock[1]:
            if clock[1] < 0:
                raise MixedTracesError(
                    "an array of a program is used after its run: it lives only while the program is traced, so return "
                    "what you need"
                )
            raise TraceTooLongError(f"more than {clock[1]} operations")
        return clock[0] - 1

    @contextmanager
    def at_most(self, operations: int) -> Iterator[None]:
        """Record no more than this many operations in this context, or raise `TraceTooLongError`."""
        clock, most = self._clock, self._clock[1]
        clock[1] = min(most, clock[0] + operations)
        try:
            yield
        finally:
            clock[1] = most

    def close(self) -> None:
        """Record nothing more: from now on operations raise `MixedTracesError`.

        The records are forgotten: they and this graph refer to each other, and would wait for the garbage collector,
        which takes longer for them than everything else that it finds.
        """
        self._clock[1] = -1
        for graph in self._blocks:
            graph.close()
        for records in (self._interned, self._fresh, self._blocks, self.effects, self.inputs):
            records.clear()

    def input(self) -> Symbol:
        """A new symbol that stands for an argument of the program."""
        if self._interned:
            raise ValueError("inputs come first: this graph holds operations already")
        symbol = Symbol(self, self.tick(), "input", ())
        self.inputs.append(symbol)
        return symbol

    def new(self, op: str, *args: Any) -> Symbol:
        """A symbol that is never shared: the current content of memory, or the result of a loop."""
        symbol = Symbol(self, self.tick(), op, args)
        self._fresh.append(symbol)
        return symbol

    def symbols(self) -> Iterator[Symbol]:
        """The records of this block: operations, and results of `new`."""
        return chain(self._interned.values(), self._fresh)

    def record(self, *operation: Any) -> Symbol:
        """The symbol of an operation, its name before its arguments; always the same one for the same arguments."""
        symbol = self._interned.get(operation)
        if symbol is not None:
            return symbol
        if self.recorder is not None:
            keeper = self.recorder.keeper
            if keeper is not None and keeper is not self and keeper.is_inside(self):
                kept: Symbol = keeper.record(*operation)
                return kept
        args = operation[1:]
        for a in args:
            if type(a) is Symbol and a.graph is not self:
                if a.graph.depth > self.depth and a.graph.is_inside(self):
                    return a.graph.record(*operation)
                if not self.is_inside(a.graph):
                    raise MixedTracesError
        symbol = self._interned[operation] = Symbol(self, self.tick(), operation[0], args)
        return symbol

    def is_inside(self, other: Graph) -> bool:
        """Whether this is a block of `other`, or `other` itself."""
        graph: Graph | None = self
        while graph is not None and graph is not other:
            graph = graph.parent
        return graph is other


def _number(x: Scalar) -> Scalar:
    """A symbol, or a plain float without the sign of zero, so that 0.0 and -0.0 are one constant."""
    if type(x) is Symbol:
        return x
    return float(x) + 0.0


def _strip(x: Scalar) -> tuple[bool, Scalar]:
    """The pair (is negated, value without the sign)."""
    if type(x) is Symbol:
        return (True, x.args[0]) if x.op == "neg" else (False, x)
    return (True, -x) if x < 0.0 else (False, x)


def _neg(x: Scalar) -> Scalar:
    if type(x) is not Symbol:
        return -x + 0.0
    return x.args[0] if x.op == "neg" else x.graph.record("neg", x)


def _in_order(op: str, a: Symbol, b: Symbol) -> Symbol:
    """Record an operation whose operands may be swapped: the older one before the other."""
    return a.graph.record(op, a, b) if a.index <= b.index else b.graph.record(op, b, a)


def _add(a: Scalar, b: Scalar) -> Scalar:
    if type(a) is not Symbol:
        if type(b) is not Symbol:
            return a + b
        a, b = b, a
    if type(b) is Symbol:
        if b.op == "neg":
            return _neg(_add(a.args[0], b.args[0])) if a.op == "neg" else _sub(a, b.args[0])
        if a.op == "neg":
            return _sub(b, a.args[0])
        return _mul(a, 2.0) if a is b else _in_order("add", a, b)
    if b == 0.0:
        return a
    if b < 0.0:
        return _neg(_add(a.args[0], -b)) if a.op == "neg" else _sub(a, -b)
    return _sub(b, a.args[0]) if a.op == "neg" else a.graph.record("add", a, b)


def _sub(a: Scalar, b: Scalar) -> Scalar:
    if type(a) is not Symbol:
        if type(b) is not Symbol:
            return a - b
        if a == 0.0:
            return _neg(b)
    elif type(b) is not Symbol:
        if b == 0.0:
            return a
    elif a is b:
        return 0.0
    a_negative, a_positive = _strip(a)
    b_negative, b_positive = _strip(b)
    if b_negative:
        return _add(a, b_positive)
    if a_negative:
        return _neg(_add(a_positive, b))
    if type(a) is Symbol and (type(b) is not Symbol or a.index <= b.index):
        return a.graph.record("sub", a, b)
    return _neg(_sub(b, a))


def _mul(a: Scalar, b: Scalar) -> Scalar:
    if type(a) is not Symbol:
        if type(b) is not Symbol:
            return a * b + 0.0
        a, b = b, a
    is_negative = a.op == "neg"
    if is_negative:
        a = a.args[0]
    assert type(a) is Symbol
    product: Scalar
    if type(b) is Symbol:
        if b.op == "neg":
            b, is_negative = b.args[0], not is_negative
            assert type(b) is Symbol
        product = 1.0 if _is_reciprocal(a, b) or _is_reciprocal(b, a) else _in_order("mul", a, b)
    elif b == 0.0:
        return 0.0
    else:
        if b < 0.0:
            b, is_negative = -b, not is_negative
        if b == 1.0:
            product = a
        elif a.op == "mul" and type(a.args[1]) is not Symbol and _SMALLEST < abs(a.args[1] * b) < math.inf:
            product = _mul(a.args[0], a.args[1] * b)
        else:
            product = a.graph.record("mul", a, b)
    return _neg(product) if is_negative else product


def _is_reciprocal(a: Symbol, b: Symbol) -> bool:
    """Whether a is 1 / b. The zeros of a joint's own axis in Iᴬ - U D⁻¹ Uᵀ come from this rule."""
    return a.op == "div" and a.args[1] is b and a.args[0] == 1.0


def _div(a: Scalar, b: Scalar) -> Scalar:
    if type(a) is not Symbol and type(b) is not Symbol:
        return a / b
    if type(b) is not Symbol:
        if b == 0.0:
            raise ZeroDivisionError("a symbol divided by the constant zero")
        if abs(b) == 1.0:
            return a if b > 0.0 else _neg(a)
    elif type(a) is not Symbol and a == 0.0:
        return 0.0
    a_negative, a = _strip(a)
    b_negative, b = _strip(b)
    graph = a.graph if isinstance(a, Symbol) else b.graph  # type: ignore[union-attr]
    quotient = 1.0 if a is b else graph.record("div", a, b)
    return _neg(quotient) if a_negative != b_negative else quotient


def apply(name: str, *args: Scalar) -> Scalar:
    """An operation of the table on floats (evaluated) or symbols (recorded). Signs pass through odd and even ones."""
    op = OPS[name]
    for a in args:
        if isinstance(a, Symbol):
            graph = a.graph
            break
    else:
        return op.evaluate(*map(float, args))
    args = tuple([_number(a) for a in args])
    if op.flips:
        negative, x = _strip(args[0])
        result: Scalar = graph.record(name, x)
        return _neg(result) if negative and op.flips == "odd" else result
    if name == "select":
        condition, a, b = args
        if not isinstance(condition, Symbol):
            return a if condition != 0.0 else b
        if a is b or (not isinstance(a, Symbol) and not isinstance(b, Symbol) and a == b):
            return a
    if name == "slopes_of" and isinstance(args[1], Symbol):
        negative, x = _strip(args[0])
        if negative:
            return _neg(graph.record(name, x, _neg(args[1])))
    return graph.record(name, *args)


def is_zero(x: Scalar) -> bool:
    """Whether this is the constant zero."""
    return isinstance(x, float) and x == 0.0
