"""Emits statements: folds constants, shares computed values, and sums products by multiply-adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import count

from kinetree.expr.ops import OPS
from kinetree.expr.program import (
    Argument,
    Block,
    Call,
    Index,
    Instruction,
    Load,
    Loop,
    Over,
    Program,
    Statement,
    Store,
    Switch,
)
from kinetree.records import record

__all__ = ["Emitter", "Product", "Scope"]

Product = tuple[bool, Argument, Argument]
"""A term of a sum: (is negative, a, b) is ± a b."""

_SWAPPED = frozenset({"add", "mul", "eq", "fma", "fms", "fnma"})
"""Operations whose first two arguments may be swapped."""


@record(slots=True, eq=False)
class Scope:
    """A body that is being written: its statements, and the operations known in it."""

    statements: list[Statement] = field(default_factory=list)
    known: dict[tuple[str, tuple[int | str, ...]], int] = field(default_factory=dict)


class Emitter:
    """Writes statements into the innermost open scope."""

    def __init__(self, inputs: int) -> None:
        self._fresh = count(inputs)
        self.top: Scope = Scope()
        self.scopes: list[Scope] = [self.top]
        self.home: dict[int, Scope] = dict.fromkeys(range(inputs), self.top)
        """The scope in which each value is defined."""
        self._negated: dict[int, Argument] = {}

    def open(self, names: int = 0) -> tuple[Scope, tuple[int, ...]]:
        """Open a new innermost scope; return it and the values, `names` of them, that it starts with."""
        scope = Scope()
        self.scopes.append(scope)
        return scope, self._names(names, scope)

    def close(self) -> None:
        self.scopes.pop()

    def _names(self, n: int, scope: Scope) -> tuple[int, ...]:
        return tuple([self._name(scope) for _ in range(n)])

    def _name(self, scope: Scope) -> int:
        name = next(self._fresh)
        self.home[name] = scope
        return name

    def op(self, name: str, *args: Argument) -> Argument:
        """The value of an operation, new or known."""
        folded = self._folded(name, args)
        if folded is not None:
            return folded
        if name in _SWAPPED and repr(args[1]) < repr(args[0]):
            args = (args[1], args[0], *args[2:])
        key = (name, tuple(a if isinstance(a, int) else repr(a) for a in args))  # the value 1 is not the number 1.0
        for scope in reversed(self.scopes):
            if key in scope.known:
                return scope.known[key]
        scope = self.scopes[-1]
        value = scope.known[key] = self._name(scope)
        scope.statements.append(Instruction(name, args, value))
        if name == "neg":
            self._negated[value] = args[0]
        return value

    def again(self, name: str, args: tuple[Argument, ...]) -> Argument:
        """An operation of the program that is differentiated."""
        return self.op("settled", args[0]) if name == "slopes_of" else self.op(name, *args)

    def _folded(self, name: str, args: tuple[Argument, ...]) -> Argument | None:
        """The result if no operation is needed; a zero absorbs any factor, as everywhere in traces."""
        if all(isinstance(a, float) for a in args):
            return OPS[name].evaluate(*args)
        if name in ("add", "sub", "mul", "neg", "fma", "fms", "fnma"):
            return self._folded_sum(name, args)
        if name == "div":
            return args[0] if _is(args[1], 1.0) else 0.0 if _is(args[0], 0.0) else None
        if name == "select":
            condition, a, b = args
            if isinstance(condition, float):
                return a if condition != 0.0 else b
            return a if a == b and type(a) is type(b) else None
        return None

    def _folded_sum(self, name: str, args: tuple[Argument, ...]) -> Argument | None:
        if name == "neg":
            return self._negated.get(args[0]) if isinstance(args[0], int) else None
        a, b = args[:2]
        if name == "add":
            return a if _is(b, 0.0) else b if _is(a, 0.0) else None
        if name == "sub":
            return a if _is(b, 0.0) else self.op("neg", b) if _is(a, 0.0) else None
        trivial = [x for x in (a, b) if isinstance(x, float) and x in (0.0, 1.0, -1.0)]
        if name == "mul":
            if not trivial:
                return None
            other = b if _is(a, trivial[0]) else a
            return 0.0 if trivial[0] == 0.0 else other if trivial[0] == 1.0 else self.op("neg", other)
        c = args[2]
        if not trivial and not _is(c, 0.0):
            return None
        c = self.op("neg", c) if name == "fms" else c
        product = self.op("mul", a, b)
        return self.op("sub", c, product) if name == "fnma" else self._plus(product, c)

    def _plus(self, a: Argument, b: Argument) -> Argument:
        return self.total([(False, a, 1.0), (False, b, 1.0)])

    def total(self, terms: Sequence[Product]) -> Argument:
        """The sum of products, as a chain of multiply-adds in the order of computation."""
        constant, plain, products = 0.0, [], []
        for negative, x, y in terms:
            a_negative, a = self._stripped(x)
            b_negative, b = self._stripped(y)
            minus = (negative != a_negative) != b_negative
            if isinstance(a, float) and isinstance(b, float):
                constant += -a * b if minus else a * b
            elif _is(a, 0.0) or _is(b, 0.0):
                continue
            elif _is(a, 1.0) or _is(b, 1.0):
                plain.append((minus, b if _is(a, 1.0) else a))
            else:
                products.append((minus, a, b))
        if constant != 0.0:
            plain.append((constant < 0.0, abs(constant)))
        plain.sort(key=lambda term: _age(term[1]))
        products.sort(key=lambda term: max(_age(term[1]), _age(term[2])))
        negated = bool(plain or products) and all(term[0] for term in (*plain, *products))
        if negated:
            plain = [(False, a) for _, a in plain]
            products = [(False, a, b) for _, a, b in products]
        value = self._chain(plain, products)
        return self.op("neg", value) if negated else value

    def _chain(self, plain: list[tuple[bool, Argument]], products: list[Product]) -> Argument:
        first = next((k for k, term in enumerate(plain) if not term[0]), None)
        if first is not None:
            total = plain.pop(first)[1]
        elif products:
            _, a, b = products.pop(next(k for k, term in enumerate(products) if not term[0]))
            total = self.op("fms", a, b, plain.pop(0)[1]) if plain else self.op("mul", a, b)
        else:
            return 0.0
        for negative, a in plain:
            total = self.op("sub" if negative else "add", total, a)
        for negative, a, b in products:
            total = self.op("fnma" if negative else "fma", a, b, total)
        return total

    def _stripped(self, a: Argument) -> tuple[bool, Argument]:
        """The pair (is negated, value without the sign)."""
        if isinstance(a, float):
            return a < 0.0, abs(a)
        return (True, self._negated[a]) if a in self._negated else (False, a)

    def load(self, array: int, at: Index, scope: Scope | None = None) -> int:
        """Load a number of an array at the end of a scope, by default of the innermost one."""
        scope = scope or self.scopes[-1]
        value = self._name(scope)
        scope.statements.append(Load(array, at, value))
        return value

    def store(self, array: int, at: Index, value: Argument, scope: Scope | None = None) -> None:
        (scope or self.scopes[-1]).statements.append(Store(array, at, value))

    def call(self, program: Program, args: Sequence[Argument]) -> tuple[int, ...]:
        scope = self.scopes[-1]
        defines = self._names(program.output_size, scope)
        scope.statements.append(Call(program, tuple(args), defines))
        return defines

    def loop(
        self,
        over: Over,
        body: Scope,
        entry: Sequence[int] = (),
        carried: Sequence[Argument] = (),
        following: Sequence[Argument] = (),
        until: Argument | None = None,
        unless: Argument | None = None,
    ) -> tuple[int, ...]:
        """Emit a loop whose body has been written and closed; return the carried values after it."""
        scope = self.scopes[-1]
        defines = self._names(len(carried), scope)
        block = Block(body.statements)  # which may still grow, until the program is complete
        scope.statements.append(
            Loop(over, block, tuple(entry), tuple(carried), tuple(following), defines, until, unless)
        )
        return defines

    def switch(self, on: Index, cases: Iterator[Scope] | Sequence[Scope]) -> None:
        self.scopes[-1].statements.append(Switch(on, tuple([Block(case.statements) for case in cases])))


def _is(a: Argument, x: float) -> bool:
    return isinstance(a, float) and a == x


def _age(a: Argument) -> int:
    return -1 if isinstance(a, float) else a
