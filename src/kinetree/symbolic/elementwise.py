"""Elementwise functions: a row per universal function of NumPy, and how a row is applied to operands."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree.expr import (
    Scalar,
    absolute,
    atan2,
    cos,
    equal,
    exp,
    floor,
    less,
    less_equal,
    log,
    maximum,
    minimum,
    select,
    sin,
    sqrt,
    tanh,
)
from kinetree.symbolic import scalar_functions as sf
from kinetree.symbolic.array import BOOL, FLOAT64, SymbolicArray, made
from kinetree.symbolic.operands import Kind, closest, read
from kinetree.symbolic.refusals import function_name, misfit, refuse
from kinetree.symbolic.registry import NP, UFUNCS

__all__ = ["elementwise", "logical_and", "on_elements", "truth_values"]

_Elementwise = Callable[..., Any]


def on_elements(function: Callable[..., Scalar], arity: int) -> Any:
    """A function of numbers as a function of arrays of dtype object, and of numbers."""
    return NP.frompyfunc(function, arity, 1)


truth_values: Any = on_elements(sf.truth, 1)
_invert = on_elements(sf.invert, 1)
_maximum, _minimum = on_elements(maximum, 2), on_elements(minimum, 2)
_different = on_elements(sf.different, 2)
_floor = on_elements(floor, 1)
_floor_divide, _remainder = on_elements(sf.floor_divide, 2), on_elements(sf.remainder, 2)
_int_floor_divide, _int_remainder = on_elements(sf.int_floor_divide, 2), on_elements(sf.int_remainder, 2)


def logical_and(a: Any, b: Any) -> Any:
    """The product of truth values."""
    return NP.multiply(a, b)


def _same(x: Any) -> Any:
    return x


_ON_FLOATS: dict[str, _Elementwise] = {
    "add": NP.add,
    "subtract": NP.subtract,
    "multiply": NP.multiply,
    "negative": NP.negative,
    "positive": _same,
    "conjugate": _same,
    "true_divide": on_elements(sf.divide, 2),
    "floor_divide": _floor_divide,
    "remainder": _remainder,
    "fmod": on_elements(sf.fmod, 2),
    "power": on_elements(sf.power, 2),
    "float_power": on_elements(sf.power, 2),
    "square": on_elements(sf.square, 1),
    "reciprocal": on_elements(lambda x: sf.divide(1.0, x), 1),
    "absolute": on_elements(absolute, 1),
    "fabs": on_elements(absolute, 1),
    "sign": on_elements(sf.sign, 1),
    "copysign": on_elements(sf.copysign, 2),
    "signbit": on_elements(lambda x: less(x, 0.0), 1),
    "heaviside": on_elements(sf.heaviside, 2),
    "floor": _floor,
    "ceil": on_elements(sf.ceil, 1),
    "trunc": on_elements(sf.truncate, 1),
    "rint": on_elements(sf.rint, 1),
    "sqrt": on_elements(sqrt, 1),
    "cbrt": on_elements(sf.cbrt, 1),
    "exp": on_elements(exp, 1),
    "exp2": on_elements(sf.exp2, 1),
    "expm1": on_elements(sf.expm1, 1),
    "log": on_elements(log, 1),
    "log2": on_elements(sf.log2, 1),
    "log10": on_elements(sf.log10, 1),
    "log1p": on_elements(sf.log1p, 1),
    "logaddexp": on_elements(sf.logaddexp, 2),
    "logaddexp2": on_elements(sf.logaddexp2, 2),
    "sin": on_elements(sin, 1),
    "cos": on_elements(cos, 1),
    "tan": on_elements(sf.tan, 1),
    "arcsin": on_elements(sf.arcsin, 1),
    "arccos": on_elements(sf.arccos, 1),
    "arctan": on_elements(sf.arctan, 1),
    "arctan2": on_elements(atan2, 2),
    "sinh": on_elements(sf.sinh, 1),
    "cosh": on_elements(sf.cosh, 1),
    "tanh": on_elements(tanh, 1),
    "arcsinh": on_elements(sf.arcsinh, 1),
    "arccosh": on_elements(sf.arccosh, 1),
    "arctanh": on_elements(sf.arctanh, 1),
    "hypot": on_elements(sf.hypot, 2),
    "deg2rad": on_elements(lambda x: x * (math.pi / 180.0), 1),
    "rad2deg": on_elements(lambda x: x * (180.0 / math.pi), 1),
    "radians": on_elements(lambda x: x * (math.pi / 180.0), 1),
    "degrees": on_elements(lambda x: x * (180.0 / math.pi), 1),
    "maximum": _maximum,
    "minimum": _minimum,
    "fmax": on_elements(sf.fmax, 2),
    "fmin": on_elements(sf.fmin, 2),
    "less": on_elements(less, 2),
    "less_equal": on_elements(less_equal, 2),
    "greater": on_elements(lambda a, b: less(b, a), 2),
    "greater_equal": on_elements(lambda a, b: less_equal(b, a), 2),
    "equal": on_elements(equal, 2),
    "not_equal": _different,
    "isnan": on_elements(sf.is_nan, 1),
    "isfinite": on_elements(sf.is_finite, 1),
    "isinf": on_elements(sf.is_infinite, 1),
}
_ON_TRUTH: dict[str, _Elementwise] = {
    "logical_and": logical_and,
    "logical_or": on_elements(lambda a, b: select(a, 1.0, b), 2),
    "logical_xor": _different,
    "logical_not": _invert,
}
"""Functions of truth values; other operands are converted first."""
_ON_BOOLS: dict[str, _Elementwise] = {
    **_ON_TRUTH,
    "add": _ON_TRUTH["logical_or"],
    "multiply": logical_and,
    "bitwise_and": logical_and,
    "bitwise_or": _ON_TRUTH["logical_or"],
    "bitwise_xor": _different,
    "invert": _invert,
    "absolute": _same,
    "floor": _same,
    "ceil": _same,
    "trunc": _same,
    "isnan": on_elements(lambda x: 0.0 * x, 1),
}
"""NumPy's exceptions if all operands are booleans."""
_ON_INTS: dict[str, _Elementwise] = {
    "floor_divide": _int_floor_divide,
    "remainder": _int_remainder,
    "power": on_elements(sf.int_power, 2),
    "floor": _same,
    "ceil": _same,
    "trunc": _same,
    "rint": _same,
}
"""The exceptions if all operands are integers or booleans."""


@functools.lru_cache(maxsize=4096)
def _loop(ufunc: np.ufunc, kinds: tuple[Kind, ...]) -> tuple[_Elementwise, np.dtype[Any], bool]:
    """The function of elements, the dtype of its result, and whether its operands must become truth values first."""
    dtypes = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))
    dtype = closest(dtypes[-1])
    name = ufunc.__name__
    name = {"divide": "true_divide", "mod": "remainder", "conj": "conjugate", "abs": "absolute"}.get(name, name)
    concrete = [NP.dtype(k) for k in kinds]
    if all(k.kind == "b" for k in concrete) and name in _ON_BOOLS:
        return _ON_BOOLS[name], dtype, False
    if name in _ON_TRUTH:
        return _ON_TRUTH[name], dtype, True
    if all(k.kind in "iub" for k in concrete) and name in _ON_INTS:
        return _ON_INTS[name], dtype, False
    return _ON_FLOATS[name], dtype, False


def elementwise(ufunc: np.ufunc, *operands: Any) -> SymbolicArray:
    """NumPy's universal function of operands that broadcast."""
    pairs = [read(x) for x in operands]
    try:
        function, dtype, on_truth = _loop(ufunc, tuple([kind for _, kind in pairs]))
    except KeyError:
        refuse(f"{function_name(ufunc)} of integers has no rule for arrays of a program; it has one for booleans")
    except TypeError as error:
        refuse(f"{function_name(ufunc)}: {error}")
    elements = [x for x, _ in pairs]
    if on_truth:
        elements = [x if k == BOOL else truth_values(x) for x, k in pairs]
    return _applied(ufunc, function, dtype, elements)


def _applied(ufunc: np.ufunc, function: _Elementwise, dtype: np.dtype[Any], elements: Sequence[Any]) -> SymbolicArray:
    try:
        return made(function(*elements), dtype)
    except ValueError:
        shapes = tuple(np.shape(x) for x in elements)
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            misfit(function_name(ufunc), shapes, "these do not broadcast")
        raise


def _rule(ufunc: np.ufunc) -> Callable[..., SymbolicArray]:
    """The rule of a universal function: the usual case, double precision alone, without looking up the dtype."""
    general = functools.partial(elementwise, ufunc)
    try:
        function, dtype, on_truth = _loop(ufunc, (FLOAT64,) * ufunc.nin)
    except (KeyError, TypeError):
        return general
    if on_truth or ufunc.nin > 2:
        return general

    def unary(x: Any) -> SymbolicArray:
        if type(x) is SymbolicArray and x._dtype is FLOAT64:
            return made(function(x._elements), dtype)
        return general(x)

    def binary(x: Any, y: Any) -> SymbolicArray:
        if type(x) is SymbolicArray and x._dtype is FLOAT64:
            if type(y) is SymbolicArray and y._dtype is FLOAT64:
                return _applied(ufunc, function, dtype, (x._elements, y._elements))
            if isinstance(y, float | int):
                return made(function(x._elements, float(y)), dtype)
        elif isinstance(x, float | int) and type(y) is SymbolicArray and y._dtype is FLOAT64:
            return made(function(float(x), y._elements), dtype)
        return general(x, y)

    return unary if ufunc.nin == 1 else binary


def _modf(x: Any) -> tuple[SymbolicArray, SymbolicArray]:
    number = elementwise(NP.multiply, x, 1.0)
    whole = elementwise(NP.trunc, number)
    return elementwise(NP.subtract, number, whole), whole


def _divmod(x: Any, y: Any) -> tuple[SymbolicArray, SymbolicArray]:
    return elementwise(NP.floor_divide, x, y), elementwise(NP.remainder, x, y)


for _name in {**_ON_FLOATS, **_ON_BOOLS}:
    UFUNCS[getattr(NP, _name)] = _rule(getattr(NP, _name))
UFUNCS[NP.divmod] = _divmod
UFUNCS[NP.modf] = _modf
