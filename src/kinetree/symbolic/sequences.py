"""Functions along a row of samples: running sums, differences, integrals, unwrapped angles, equal steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinetree.symbolic.array import BOOL, SymbolicArray, made
from kinetree.symbolic.elementwise import elementwise
from kinetree.symbolic.operands import as_symbolic
from kinetree.symbolic.reductions import check_options, chosen_dtype, one_axis, summed_dtype
from kinetree.symbolic.refusals import refuse
from kinetree.symbolic.registry import FUNCTIONS, NP, rule

__all__ = []


@rule(NP.cumsum)
def _cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> SymbolicArray:
    check_options(NP.cumsum, out)
    array, axis = one_axis(as_symbolic(a), axis)
    return made(NP.add.accumulate(array._elements, axis), chosen_dtype(dtype, summed_dtype(array._dtype)))


@rule(NP.cumprod)
def _cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> SymbolicArray:
    check_options(NP.cumprod, out)
    array, axis = one_axis(as_symbolic(a), axis)
    return made(NP.multiply.accumulate(array._elements, axis), chosen_dtype(dtype, summed_dtype(array._dtype)))


@rule(NP.diff)
def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> SymbolicArray:
    array = as_symbolic(a)
    ends = [None if x is None else as_symbolic(x) for x in (prepend, append)]
    shape = [1 if k == axis % array.ndim else m for k, m in enumerate(array.shape)]
    first, last = (x if x is None or x.ndim else NP.broadcast_to(x, shape) for x in ends)
    joined = [x for x in (first, array, last) if x is not None]
    if len(joined) > 1:
        array = NP.concatenate(joined, axis)
    for _ in range(n):
        rows = NP.moveaxis(array._elements, axis, 0)
        ufunc = NP.not_equal if array._dtype is BOOL else NP.subtract
        after, before = (made(NP.moveaxis(x, 0, axis), array._dtype) for x in (rows[1:], rows[:-1]))
        array = elementwise(ufunc, after, before)
    return array


@rule(NP.ediff1d)
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    parts = [x for x in (to_begin, _diff(as_symbolic(ary).ravel()), to_end) if x is not None]
    return NP.concatenate([as_symbolic(x).ravel() for x in parts])


@rule(NP.unwrap)
def _unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2.0 * math.pi) -> Any:
    array = as_symbolic(p)
    steps: Any = _diff(array, axis=axis)
    half = period / 2.0
    wrapped = (steps + half) % period - half
    wrapped = NP.where((wrapped == -half) & (steps > 0), half, wrapped)
    jump = half if discont is None else NP.maximum(discont, half)
    turns = NP.where(abs(steps) < jump, 0.0, wrapped - steps)
    first = NP.take(array, [0], axis=axis)
    rest = NP.take(array, range(1, array.shape[axis]), axis=axis)
    return NP.concatenate([first, rest + NP.cumsum(turns, axis=axis)], axis=axis)


@rule(NP.trapezoid)
def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    rows = NP.moveaxis(as_symbolic(y), axis, -1)
    steps = dx if x is None else NP.diff(x if NP.ndim(x) == 1 else NP.moveaxis(x, axis, -1), axis=-1)
    return ((rows[..., 1:] + rows[..., :-1]) / 2.0 * steps).sum(axis=-1)


@rule(NP.linspace)
def _linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    if retstep:
        refuse("np.linspace of arrays of a program takes no retstep=; divide (stop - start) by the number of steps")
    first, last = NP.broadcast_arrays(as_symbolic(start) * 1.0, as_symbolic(stop) * 1.0)
    steps = max(num - 1, 1) if endpoint else num
    rows = [first + (last - first) * (k / steps) for k in range(num)]
    if endpoint and num > 1:
        rows[-1] = last
    result = NP.stack(rows, axis) if rows else NP.zeros((0, *first.shape), like=first)
    return result if dtype is None else result.astype(dtype)


def _cumulative(ufunc: Any, numpy_function: Any) -> None:
    @rule(numpy_function)
    def cumulative(
        x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
    ) -> Any:
        if include_initial:
            refuse("np.cumulative_sum of arrays of a program takes no include_initial=; use np.concatenate")
        array = as_symbolic(x)
        return FUNCTIONS[ufunc](array, 0 if axis is None else axis, dtype, out)


if hasattr(np, "cumulative_sum"):  # NumPy 2.1
    _cumulative(NP.cumsum, NP.cumulative_sum)
    _cumulative(NP.cumprod, NP.cumulative_prod)
