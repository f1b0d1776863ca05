"""Random programs with every kind of statement, smooth almost everywhere, with values of moderate size."""

from __future__ import annotations

from random import Random
from typing import Any

from kinetree.expr import (
    Index,
    Memory,
    Port,
    Program,
    Range,
    Recorder,
    Walk,
    absolute,
    cos,
    exp,
    less,
    log,
    maximum,
    minimum,
    select,
    sin,
    sqrt,
    tanh,
    trace,
    trace_memory,
)

__all__ = ["N", "random_line", "random_program"]

N = 5
"""The size of every array; counters stay below it."""
_PARENTS = (0, 0, 1, 1, 3)
_PERMUTATION = (3, 1, 4, 0, 2)
_KINDS = (0, 1, 1, 0, 1)


def _operation(random: Random, a: Any, b: Any) -> Any:
    return random.choice(
        [
            lambda: a + b,
            lambda: a - b,
            lambda: sin(a) * b,
            lambda: a * tanh(b) + b,
            lambda: b - a * cos(b),
            lambda: a / (1.5 + sin(b)),
            lambda: 1.0 / (2.0 + cos(a)),
            lambda: sqrt(1.5 + sin(a)),
            lambda: exp(sin(a)) - b,
            lambda: log(2.0 + cos(b)) * a,
            lambda: -a,
            lambda: absolute(a + 0.3),
            lambda: minimum(a, sin(b)),
            lambda: maximum(cos(a), b),
            lambda: select(less(a, b), sin(b) * a, cos(a)),
            lambda: select(less(b, 0.2), 0.7 * b, select(less(a, 0.1), a * a, b)),
        ]
    )()


def random_line(random: Random, length: int) -> Program:
    """A straight line of about so many operations on three numbers, with two results."""

    def function(x: list[Any]) -> list[list[Any]]:
        values = [*x, 0.4]
        for _ in range(length):
            value = _operation(random, random.choice(values), random.choice(values))
            values.append(tanh(value) if random.random() < 0.2 else value)
        return [values[-2:]]

    return trace(function, [Port("x", (3,))], [Port("y", (2,))], "line")


def random_program(random: Random) -> Program:
    """y = f(x, z) with loops over ranges and walks, carried values, switches, calls and memory that is changed."""
    writer = _Writer(random)
    return trace_memory(writer.write, [Port("x", (N,)), Port("z", (N,))], [Port("y", (N,)), Port("w", (N,))], "f")


class _Writer:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._called = random_line(random, 3)

    def write(self, recorder: Recorder) -> None:
        self._recorder = recorder
        scratch = recorder.array("a", N, clear=True)
        constants = recorder.array("c", N, [0.3, -0.8, 1.1, 0.0, 0.6])
        self._written: list[Memory] = [scratch, recorder.array("b", N, clear=True), *recorder.outputs]
        self._read: list[Memory] = [*self._written, *recorder.inputs, constants]
        self._counters: list[Index] = []
        self._block([0.7], 4, 0)
        for k in range(N):  # whatever was computed is seen
            recorder.outputs[0][k] = recorder.outputs[0][k] + sin(scratch[k]) * recorder.inputs[0][k]

    def _place(self) -> Index:
        random = self._random
        if not self._counters or random.random() < 0.2:
            return Index(random.randrange(N))
        counter = random.choice(self._counters)
        if random.random() < 0.4:
            return self._recorder.look_up(random.choice([_PERMUTATION, _PARENTS]), counter)
        return counter

    def _over(self) -> Range | Walk:
        random, start = self._random, self._place()
        kind = random.randrange(7)
        if kind == 0:
            return Range(Index(0), Index(random.randint(0, N)))
        if kind == 1:
            return Range(start, Index(N))
        if kind == 2:
            return Range(start, Index(-1), -1)
        if kind == 3:
            return Range(Index(0), start, 2)
        if kind == 4:
            return Range(Index(N - 1), Index(0), -3)
        return Walk(start, self._recorder.table(_PARENTS))

    def _block(self, values: list[Any], statements: int, depth: int) -> list[Any]:
        values = list(values)
        for _ in range(statements):
            kind = self._random.randrange(10)
            if kind < 3 or (depth == 3 and kind > 5):
                values.append(self._random.choice(self._read)[self._place()])
            elif kind < 5:
                values.append(_operation(self._random, self._pick(values), self._pick(values)))
            elif kind == 5:
                self._random.choice(self._written)[self._place()] = tanh(self._pick(values)) + 0.1
            else:
                values += self._nested(kind, values, depth + 1)
        return values

    def _pick(self, values: list[Any]) -> Any:
        return self._random.choice(values[-4:])

    def _nested(self, kind: int, values: list[Any], depth: int) -> list[Any]:
        random, recorder = self._random, self._recorder
        if kind == 6:
            with recorder.loop(self._over()) as k:
                self._counters.append(k)
                self._body(values, depth)
                self._counters.pop()
            return []
        if kind == 7:

            def step(k: Index, state: list[Any]) -> list[Any]:
                self._counters.append(k)
                inside = self._body([*values, *state], depth)
                self._counters.pop()
                return [
                    sin(self._pick(inside)),
                    random.choice([state[0], self._pick(inside) * 0.5, self._pick(values)]),
                ]

            return list(recorder.fold(self._over(), [self._pick(values), self._pick(values)], step))
        if kind == 8 and self._counters:
            with recorder.switch(recorder.look_up(_KINDS, random.choice(self._counters))) as case:
                for _ in range(2):
                    with case():
                        self._body(values, depth)
            return []
        return recorder.call(self._called, *(self._pick(values) for _ in range(3)))

    def _body(self, values: list[Any], depth: int) -> list[Any]:
        inside = self._block(values, 5, depth)
        self._random.choice(self._written)[self._place()] = sin(self._pick(inside))
        return inside
