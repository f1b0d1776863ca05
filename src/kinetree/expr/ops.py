"""The operations a program is made of, one row each: `interpret` defines the operation.

Comparisons give 1.0 or 0.0, and `select(c, a, b)` is a where c is not zero. `fma`, `fms` and `fnma` round
once; they are formed by `lower`, never by an algorithm. A backend is complete when it has a rule for each row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from kinetree.expr import philox
from kinetree.records import record

__all__ = ["OPS", "PHILOX", "Op"]


@record(frozen=True, slots=True)
class Op:
    """A row of the table.

    `flips` is the rule for signs: "odd" f(-x) = -f(x), "even" f(-x) = f(x), "" neither.
    """

    name: str
    arity: int
    evaluate: Callable[..., float]
    meaning: str
    flips: str = ""


def _divide(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    if a == 0.0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _trig(f: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: f(x) if math.isfinite(x) else math.nan


def _sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0.0 else math.nan


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _log(x: float) -> float:
    if x > 0.0:
        return math.log(x)
    return -math.inf if x == 0.0 else math.nan


def _floor(x: float) -> float:
    return math.copysign(math.floor(x), x) if math.isfinite(x) else x


def _fma(a: float, b: float, c: float) -> float:
    """a * b + c, rounded once."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c  # even if a * b overflows by itself
    (m, p), (n, q), (k, r) = a.as_integer_ratio(), b.as_integer_ratio(), c.as_integer_ratio()
    exact = m * n * r + k * p * q  # over p q r: no common factor needs to be found, as for a Fraction
    if exact == 0:
        return a * b + c  # the sign of a zero sum follows the usual rule
    try:
        return exact / (p * q * r)  # Python divides whole numbers with one rounding
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _min(a: float, b: float) -> float:
    return math.nan if math.isnan(a) or math.isnan(b) else (a if a < b else b)


def _max(a: float, b: float) -> float:
    return math.nan if math.isnan(a) or math.isnan(b) else (a if a > b else b)


PHILOX = tuple(f"philox_{word}" for word in range(4))
"""The operations that give random numbers, one for each word of a block."""

OPS: dict[str, Op] = {
    op.name: op
    for op in (
        Op("add", 2, lambda a, b: a + b, "a + b"),
        Op("sub", 2, lambda a, b: a - b, "a - b"),
        Op("mul", 2, lambda a, b: a * b, "a b"),
        Op("div", 2, _divide, "a / b"),
        Op("neg", 1, lambda a: -a, "-a"),
        Op("fma", 3, _fma, "a b + c"),
        Op("fms", 3, lambda a, b, c: _fma(a, b, -c), "a b - c"),
        Op("fnma", 3, lambda a, b, c: _fma(-a, b, c), "c - a b"),
        Op("sqrt", 1, _sqrt, "square root; NaN below zero"),
        Op("sin", 1, _trig(math.sin), "sine", flips="odd"),
        Op("cos", 1, _trig(math.cos), "cosine", flips="even"),
        Op("atan2", 2, math.atan2, "angle of the point (b, a)"),
        Op("exp", 1, _exp, "exponential"),
        Op("log", 1, _log, "natural logarithm; -inf at zero, NaN below"),
        Op("tanh", 1, math.tanh, "hyperbolic tangent", flips="odd"),
        Op("min", 2, _min, "the smaller; NaN if either is"),
        Op("max", 2, _max, "the larger; NaN if either is"),
        Op("abs", 1, abs, "absolute value", flips="even"),
        Op("floor", 1, _floor, "largest whole number that is not larger"),
        Op("lt", 2, lambda a, b: float(a < b), "1 if a < b else 0"),
        Op("le", 2, lambda a, b: float(a <= b), "1 if a <= b else 0"),
        Op("eq", 2, lambda a, b: float(a == b), "1 if a = b else 0"),
        Op("settled", 1, lambda a: a, "a, which was slopes_of(a, b) in the program that this is a derivative of"),
        Op("slopes_of", 2, lambda a, _: a, "a, with the derivatives of b"),
        Op("select", 3, lambda c, a, b: a if c != 0.0 else b, "a if c is not 0 else b"),
        *(
            Op(
                name,
                6,
                partial(philox.uniform, word),
                f"word {word} of Philox4x64-10, in [0, 1); in float32 its first 24 bits",
            )
            for word, name in enumerate(PHILOX)
        ),
    )
}
