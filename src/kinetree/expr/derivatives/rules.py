"""The rules of differentiation, one for each row of `OPS`.

At corners and poles of a function, these rules hold:

- `min` and `max` of equals and `select` differentiate the argument that evaluation takes; the other has no effect, even
  if its derivative is NaN or infinite.
- `abs` has the derivative 0 at 0.
- `slopes_of(a, b)` has the derivatives of b, once: in a derivative it is `settled`, which cannot be differentiated.
- Comparisons and `floor` have the derivative 0, even where they jump; so has `select` with respect to its condition,
  and random numbers with respect to their keys.
- `sqrt` at 0, `log` at 0 and a quotient by 0 have the infinite derivative (or NaN) that calculus gives them, and
  `atan2(0, 0)` has NaN. To get a finite one, choose another arm with `select`.
"""

from __future__ import annotations

from collections.abc import Callable

from kinetree.errors import OptionError
from kinetree.expr.derivatives.emitter import Emitter
from kinetree.expr.ops import PHILOX
from kinetree.expr.program import Argument
from kinetree.records import record

__all__ = ["RULES", "At", "Choice", "Local", "Rule", "Slope"]


@record(frozen=True, slots=True)
class Slope:
    """dy = (Σ factor · dx) / divisor, with one factor per argument."""

    factors: tuple[Argument, ...]
    divisor: Argument = 1.0


@record(frozen=True, slots=True)
class Choice:
    """dy is dx of one of two arguments: of the first where the condition is not zero."""

    condition: Argument
    arms: tuple[int, int]


Local = Slope | Choice


@record(frozen=True, slots=True)
class At:
    """The point at which a derivative is taken, y = op(*x), and the emitter of the operations it needs."""

    emit: Emitter
    x: tuple[Argument, ...]
    y: Argument

    def op(self, name: str, *args: Argument) -> Argument:
        return self.emit.op(name, *args)


@record(frozen=True, slots=True)
class Rule:
    """A row: the arguments through which derivatives pass, and the local derivative."""

    passes: tuple[int, ...]
    local: Callable[[At], Local]


def _through(n: int, local: Callable[[At], Local]) -> Rule:
    return Rule(tuple(range(n)), local)


def _div(at: At) -> Local:
    a, b = at.x
    if isinstance(a, float) and a == 1.0:
        return Slope((0.0, at.op("neg", at.op("mul", at.y, at.y))))
    if isinstance(b, float):
        return Slope((1.0, 0.0), b)
    return Slope((1.0, at.op("neg", at.y)), b)


def _atan2(at: At) -> Local:
    a, b = at.x
    return Slope((b, at.op("neg", a)), at.op("fma", a, a, at.op("mul", b, b)))


def _abs(at: At) -> Local:
    (x,) = at.x
    return Slope((at.op("sub", at.op("lt", 0.0, x), at.op("lt", x, 0.0)),))


def _settled(_: At) -> Local:
    raise OptionError(
        "solutions of iterations, such as accelerations with contacts, have first derivatives only: kt.jvp, kt.vjp and "
        "kt.jacobian, not kt.hvp or derivatives of derivatives"
    )


_STEP = Rule((), lambda _: Slope((0.0,)))
_COMPARISON = Rule((), lambda _: Slope((0.0, 0.0)))

RULES: dict[str, Rule] = {
    "add": _through(2, lambda _: Slope((1.0, 1.0))),
    "sub": _through(2, lambda _: Slope((1.0, -1.0))),
    "mul": _through(2, lambda at: Slope((at.x[1], at.x[0]))),
    "div": _through(2, _div),
    "neg": _through(1, lambda _: Slope((-1.0,))),
    "fma": _through(3, lambda at: Slope((at.x[1], at.x[0], 1.0))),
    "fms": _through(3, lambda at: Slope((at.x[1], at.x[0], -1.0))),
    "fnma": _through(3, lambda at: Slope((at.op("neg", at.x[1]), at.op("neg", at.x[0]), 1.0))),
    "sqrt": _through(1, lambda at: Slope((0.5,), at.y)),
    "sin": _through(1, lambda at: Slope((at.op("cos", at.x[0]),))),
    "cos": _through(1, lambda at: Slope((at.op("neg", at.op("sin", at.x[0])),))),
    "atan2": _through(2, _atan2),
    "exp": _through(1, lambda at: Slope((at.y,))),
    "log": _through(1, lambda at: Slope((1.0,), at.x[0])),
    "tanh": _through(1, lambda at: Slope((at.op("fnma", at.y, at.y, 1.0),))),
    "min": _through(2, lambda at: Choice(at.op("lt", at.x[0], at.x[1]), (0, 1))),
    "max": _through(2, lambda at: Choice(at.op("lt", at.x[1], at.x[0]), (0, 1))),
    "abs": _through(1, _abs),
    "floor": _STEP,
    "lt": _COMPARISON,
    "le": _COMPARISON,
    "eq": _COMPARISON,
    "settled": Rule((0,), _settled),
    "slopes_of": Rule((1,), lambda _: Slope((0.0, 1.0))),
    "select": Rule((1, 2), lambda at: Choice(at.x[0], (1, 2))),
    **dict.fromkeys(PHILOX, Rule((), lambda _: Slope((0.0,) * 6))),
}
