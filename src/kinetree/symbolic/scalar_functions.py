"""NumPy's elementary functions of one element, on floats and symbols, from the operations of `kinetree.expr`.

Each is accurate where the textbook's formula is not: near zero, near one, and for both signs. Both arms of a `select`
are harmless to each other. `_magnitude` is |x| with the derivative 1 at zero, so that odd functions have theirs.
"""

from __future__ import annotations

import math
from typing import Any

from kinetree.expr import (
    Symbol,
    absolute,
    atan2,
    cos,
    equal,
    exp,
    floor,
    less,
    log,
    maximum,
    select,
    sin,
    sqrt,
    tanh,
)
from kinetree.symbolic.refusals import refuse

__all__ = [
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctanh",
    "cbrt",
    "ceil",
    "copysign",
    "cosh",
    "different",
    "divide",
    "exp2",
    "expm1",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "heaviside",
    "hypot",
    "int_floor_divide",
    "int_power",
    "int_remainder",
    "invert",
    "is_finite",
    "is_infinite",
    "is_nan",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "power",
    "remainder",
    "rint",
    "sign",
    "sinh",
    "square",
    "tan",
    "truncate",
    "truth",
]

_MOST_MULTIPLICATIONS = 1024.0
"""Whole exponents up to this one are multiplied out."""


def divide(a: Any, b: Any) -> Any:
    """a / b, also where b is the constant zero."""
    if isinstance(b, Symbol) or b != 0.0:
        return a / b
    return a * math.copysign(math.inf, b) if isinstance(a, Symbol) or a != 0.0 else math.nan


def truth(x: Any) -> Any:
    """1 where x is not zero, else 0."""
    return invert(equal(x, 0.0))


def invert(x: Any) -> Any:
    """1 - x, for a truth value x."""
    return 1.0 - x


def different(a: Any, b: Any) -> Any:
    """1 where a is not b, else 0."""
    return invert(equal(a, b))


def sign(x: Any) -> Any:
    """The sign of x: -1, 0 or 1."""
    return less(0.0, x) - less(x, 0.0)


def _magnitude(x: Any) -> Any:
    return select(less(x, 0.0), -x, x)


def copysign(x: Any, y: Any) -> Any:
    """|x| with the sign of y."""
    m = absolute(x)
    return select(less(y, 0.0), -m, m)


def _odd(x: Any, of_magnitude: Any) -> Any:
    return select(less(x, 0.0), -of_magnitude, of_magnitude)


def square(x: Any) -> Any:
    """x²."""
    return x * x


def ceil(x: Any) -> Any:
    """The smallest whole number that is at least x."""
    return -floor(-x)


def truncate(x: Any) -> Any:
    """x without its fraction."""
    return _odd(x, floor(absolute(x)))


def rint(x: Any) -> Any:
    """The nearest whole number, the even one if there are two."""
    f = floor(x)
    fraction = x - f
    is_odd = different(floor(0.5 * f) * 2.0, f)
    up = select(equal(fraction, 0.5), is_odd, less(0.5, fraction))
    return select(up, f + 1.0, f)


def _remainder(x: Any, y: Any) -> tuple[Any, Any]:
    """Floor and remainder of x / y. A quotient that is rounded up to a whole number is corrected."""
    quotient = floor(divide(x, y))
    rest = x - quotient * y
    wrong = less(rest, 0.0) if not isinstance(y, Symbol) and y > 0.0 else less(rest * y, 0.0)
    return select(wrong, quotient - 1.0, quotient), select(wrong, rest + y, rest)


def remainder(x: Any, y: Any) -> Any:
    """The remainder of x / y, with the sign of y."""
    if not isinstance(x, Symbol) and not isinstance(y, Symbol):
        return x % y if y != 0.0 and math.isfinite(x) else math.nan
    return _remainder(x, y)[1]


def floor_divide(x: Any, y: Any) -> Any:
    """The floor of x / y."""
    if not isinstance(x, Symbol) and not isinstance(y, Symbol):
        return x // y if y != 0.0 else divide(x, y)
    return _remainder(x, y)[0] if isinstance(y, Symbol) or y != 0.0 else divide(x, y)


def int_remainder(x: Any, y: Any) -> Any:
    """The remainder of whole numbers; 0 if y is."""
    return select(equal(y, 0.0), 0.0, remainder(x, y))


def int_floor_divide(x: Any, y: Any) -> Any:
    """The floor of the quotient of whole numbers; 0 if y is."""
    return select(equal(y, 0.0), 0.0, floor_divide(x, y))


def fmod(x: Any, y: Any) -> Any:
    """The remainder of x / y, with the sign of x."""
    return _odd(x, remainder(_magnitude(x), absolute(y)))


def power(x: Any, y: Any) -> Any:
    """x to the power of y."""
    if not isinstance(y, Symbol):
        return _constant_power(x, y)
    if not isinstance(x, Symbol) and x > 0.0:
        return exp(y * math.log(x))
    size = exp(y * log(absolute(x)))
    whole = floor(y)
    is_odd = different(floor(0.5 * whole) * 2.0, whole)
    of_negative = select(equal(whole, y), select(is_odd, -size, size), math.nan)
    return select(equal(y, 0.0), 1.0, select(less(x, 0.0), of_negative, size))


def _constant_power(x: Any, y: float) -> Any:
    if not isinstance(x, Symbol):
        try:
            result = x**y
        except OverflowError:
            return math.inf
        except ZeroDivisionError:
            return math.inf
        return math.nan if isinstance(result, complex) else result
    if y < 0.0:
        return divide(1.0, _constant_power(x, -y))
    whole = math.floor(y) if math.isfinite(y) else 0
    if whole <= _MOST_MULTIPLICATIONS and y - whole in (0.0, 0.5):
        result = _whole_power(x, whole)
        return result if y == whole else sqrt(x) * result
    size = exp(y * log(absolute(x)))
    if y != math.floor(y):
        return select(less(x, 0.0), math.nan, size)
    return _odd(x, size) if y % 2.0 else size


def _whole_power(x: Any, n: int) -> Any:
    result: Any = 1.0
    while n:
        if n & 1:
            result = result * x
        n >>= 1
        if n:
            x = x * x
    return result


def int_power(x: Any, y: Any) -> Any:
    """A power of whole numbers, rounded if y is a symbol."""
    if not isinstance(y, Symbol) and y < 0.0:
        refuse("np.power: integers to negative integer powers are not allowed; write x ** -1.0")
    return _constant_power(x, y) if not isinstance(y, Symbol) else rint(power(x, y))


def cbrt(x: Any) -> Any:
    """The cube root."""
    return _odd(x, exp(log(_magnitude(x)) / 3.0))


def exp2(x: Any) -> Any:
    """2 to the power of x."""
    return exp(x * math.log(2.0))


def expm1(x: Any) -> Any:
    """e^x - 1."""
    return tanh(0.5 * x) * (exp(x) + 1.0)


def log1p(x: Any) -> Any:
    """log(1 + x). The part of x that is lost in 1 + x is exact; the maximum keeps it from being simplified."""
    if not isinstance(x, Symbol):
        return math.log1p(x) if x > -1.0 else log(1.0 + x)
    u = 1.0 + x
    lost = x - maximum(u - 1.0, -1.0)
    return log(u) + lost / u


def log2(x: Any) -> Any:
    """The logarithm to the base 2."""
    return log(x) * (1.0 / math.log(2.0))


def log10(x: Any) -> Any:
    """The logarithm to the base 10."""
    return log(x) * (1.0 / math.log(10.0))


def logaddexp(a: Any, b: Any) -> Any:
    """log(e^a + e^b)."""
    d = a - b
    return maximum(a, b) + log1p(exp(-absolute(d)))


def logaddexp2(a: Any, b: Any) -> Any:
    """log2(2^a + 2^b)."""
    return logaddexp(a * math.log(2.0), b * math.log(2.0)) * (1.0 / math.log(2.0))


def tan(x: Any) -> Any:
    """Tangent."""
    return sin(x) / cos(x) if isinstance(x, Symbol) else math.tan(x)


def arcsin(x: Any) -> Any:
    """Angle of a sine."""
    return atan2(x, sqrt((1.0 - x) * (1.0 + x)))


def arccos(x: Any) -> Any:
    """Angle of a cosine."""
    return atan2(sqrt((1.0 - x) * (1.0 + x)), x)


def arctan(x: Any) -> Any:
    """Angle of a tangent, between -π/2 and π/2."""
    return atan2(x, 1.0)


def cosh(x: Any) -> Any:
    """Hyperbolic cosine."""
    e = exp(x)
    return 0.5 * (e + divide(1.0, e))


def sinh(x: Any) -> Any:
    """Hyperbolic sine."""
    return tanh(x) * cosh(x)


def arcsinh(x: Any) -> Any:
    """The inverse of the hyperbolic sine."""
    m = _magnitude(x)
    return _odd(x, log1p(m + m * m / (1.0 + sqrt(1.0 + m * m))))


def arccosh(x: Any) -> Any:
    """The inverse of the hyperbolic cosine."""
    t = x - 1.0
    return log1p(t + sqrt(t * (t + 2.0)))


def arctanh(x: Any) -> Any:
    """The inverse of the hyperbolic tangent."""
    m = _magnitude(x)
    return _odd(x, 0.5 * log1p(divide(2.0 * m, 1.0 - m)))


def hypot(a: Any, b: Any) -> Any:
    """√(a² + b²)."""
    return sqrt(a * a + b * b)


def is_nan(x: Any) -> Any:
    """1 where x is not a number, else 0."""
    return different(x, x)


def is_finite(x: Any) -> Any:
    """1 where x is a finite number, else 0."""
    return less(absolute(x), math.inf)


def is_infinite(x: Any) -> Any:
    """1 where x is infinite, else 0."""
    return equal(absolute(x), math.inf)


def fmax(a: Any, b: Any) -> Any:
    """The larger; the other if one is NaN."""
    return select(equal(a, a), select(less(a, b), b, a), b)


def fmin(a: Any, b: Any) -> Any:
    """The smaller; the other if one is NaN."""
    return select(equal(a, a), select(less(b, a), b, a), b)


def heaviside(x: Any, at_zero: Any) -> Any:
    """0 below zero, 1 above."""
    return select(equal(x, 0.0), at_zero, less(0.0, x))
