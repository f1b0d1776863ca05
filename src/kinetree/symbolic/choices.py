"""Choices: where, select, clip, rounding to decimals, interpolation, comparison within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.expr import select
from kinetree.symbolic.array import BOOL, SymbolicArray, made
from kinetree.symbolic.elementwise import elementwise, on_elements, truth_values
from kinetree.symbolic.operands import Kind, as_symbolic, closest, contains_symbols, read
from kinetree.symbolic.refusals import misfit, no_rule, refuse, refuse_value
from kinetree.symbolic.registry import NP, rule

__all__ = []

_select = on_elements(select, 3)


def _common(*kinds: Kind) -> np.dtype[Any]:
    """The dtype of alternatives; Python's numbers take the dtype of the others."""
    return closest(NP.result_type(*(0.0 if k is float else 0 if k is int else k for k in kinds)))


def _chosen(condition: Any, x: Any, y: Any) -> SymbolicArray:
    c, kind = read(condition)
    if kind != BOOL:
        c = truth_values(c)
    (a, kind_a), (b, kind_b) = read(x), read(y)
    return made(_select(c, a, b), _common(kind_a, kind_b))


@rule(NP.where)
def _where(condition: Any, x: Any = None, y: Any = None, /) -> SymbolicArray:
    if x is None or y is None:
        no_rule("np.nonzero")
    return _chosen(condition, x, y)


@rule(NP.select)
def _select_of(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> SymbolicArray:
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError("list of cases must be same length as list of conditions, and not empty")
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = _chosen(condition, choice, result)
    return as_symbolic(result)


@rule(NP.piecewise)
def _piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> SymbolicArray:
    array = as_symbolic(x)
    conditions = list(condlist) if isinstance(condlist, list | tuple) else [condlist]
    values = [f(array, *args, **kw) if callable(f) else f for f in funclist]
    if len(values) not in (len(conditions), len(conditions) + 1):
        raise ValueError(f"with {len(conditions)} condition(s), as many or one more functions are expected")
    result: Any = values.pop() if len(values) > len(conditions) else 0.0
    for condition, value in zip(conditions, values, strict=True):  # NumPy's later conditions win
        result = _chosen(condition, value, result)
    return made(NP.broadcast_to(as_symbolic(result)._elements, array.shape), array._dtype)


@rule(NP.clip)
def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None,
          **options: Any) -> SymbolicArray:  # fmt: skip
    if out is not None:
        refuse_value("out")
    if options:
        refuse(f"np.clip of arrays of a program takes no {next(iter(options))}=")
    result = as_symbolic(a)
    low, high = a_min if min is None else min, a_max if max is None else max
    if low is not None:
        result = elementwise(NP.maximum, result, low)
    return result if high is None else elementwise(NP.minimum, result, high)


@rule(NP.round, NP.around)
def _round(a: Any, decimals: int = 0, out: Any = None) -> SymbolicArray:
    if out is not None:
        refuse_value("out")
    array = as_symbolic(a)
    if array._dtype.kind != "f" and decimals >= 0:
        return array
    if not decimals:
        return elementwise(NP.rint, array)
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        return elementwise(NP.rint, array * scale) / scale
    return made((elementwise(NP.rint, array / scale) * scale)._elements, array._dtype)


@rule(NP.fix)
def _fix(x: Any, out: Any = None) -> SymbolicArray:
    return elementwise(NP.trunc, x)


@rule(NP.sinc)
def _sinc(x: Any) -> SymbolicArray:
    array = as_symbolic(x) * math.pi
    safe = _chosen(elementwise(NP.equal, array, 0.0), 1.0, array)
    return _chosen(elementwise(NP.equal, array, 0.0), 1.0, elementwise(NP.sin, safe) / safe)


@rule(NP.nan_to_num)
def _nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: float | None = None, neginf: float | None = None
) -> SymbolicArray:
    array = as_symbolic(x)
    largest = float(NP.finfo(array._dtype).max) if array._dtype.kind == "f" else 0.0
    result = _chosen(elementwise(NP.isnan, array), nan, array)
    result = _chosen(elementwise(NP.equal, array, math.inf), largest if posinf is None else posinf, result)
    return _chosen(elementwise(NP.equal, array, -math.inf), -largest if neginf is None else neginf, result)


@rule(NP.interp)
def _interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None
) -> SymbolicArray:
    if period is not None:
        refuse("np.interp of arrays of a program takes no period=; use x % period and an xp that covers one period")
    if contains_symbols(xp):
        refuse("np.interp needs an xp of constants; write the segments with np.where")
    points, values = NP.asarray(xp, NP.float64), as_symbolic(fp)
    if points.ndim != 1 or values.shape != points.shape or not len(points):
        misfit("np.interp, its xp and fp", (points.shape, values.shape))
    array = as_symbolic(x) * 1.0
    result: Any = values[-1] if right is None else right
    result = _chosen(elementwise(NP.equal, array, points[-1]), values[-1], result) if right is not None else result
    for k in range(len(points) - 2, -1, -1):
        slope = (values[k + 1] - values[k]) / float(points[k + 1] - points[k])
        segment = slope * (array - float(points[k])) + values[k]
        result = _chosen(elementwise(NP.less, array, points[k + 1]), segment, result)
    result = _chosen(elementwise(NP.less, array, points[0]), values[0] if left is None else left, result)
    return made(NP.broadcast_to(as_symbolic(result)._elements, array.shape), values._dtype)


@rule(NP.isclose)
def _isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    x, y = as_symbolic(a), as_symbolic(b)
    near = elementwise(NP.absolute, x * 1.0 - y) <= atol + rtol * elementwise(NP.absolute, y)
    return near & elementwise(NP.isfinite, y) | (x == y)


@rule(NP.allclose)
def _allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    return NP.all(_isclose(a, b, rtol, atol))


@rule(NP.array_equal)
def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> SymbolicArray:
    x, y = as_symbolic(a1), as_symbolic(a2)
    return NP.all(x == y) if x.shape == y.shape else made(0.0, BOOL)


@rule(NP.polyval)
def _polyval(p: Any, x: Any) -> SymbolicArray:
    array, result = as_symbolic(x), as_symbolic(0.0)
    for c in as_symbolic(p):
        result = result * array + c
    return result
