"""Functions along axes: sums, products, extremes, means, norms of all kinds, running sums, sorting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.expr import less, maximum, minimum, select
from kinetree.symbolic.array import BOOL, FLOAT64, INT64, SymbolicArray, made
from kinetree.symbolic.elementwise import elementwise, truth_values
from kinetree.symbolic.operands import as_symbolic, closest
from kinetree.symbolic.refusals import function_name, refuse
from kinetree.symbolic.registry import NP, rule

__all__ = ["check_options", "chosen_dtype", "one_axis", "sorted_by_a_network", "summed_dtype", "total"]

_maximum = NP.frompyfunc(maximum, 2, 1, identity=None)
_minimum = NP.frompyfunc(minimum, 2, 1, identity=None)
_or = NP.frompyfunc(lambda a, b: select(a, 1.0, b), 2, 1, identity=0.0)
_Axis = int | tuple[int, ...] | None


def _clean(elements: Any) -> Any:
    """The elements, where a sum or product of nothing is NumPy's integer 0 or 1."""
    if type(elements) is int or type(elements) is bool:
        return float(elements)
    if type(elements) is NP.ndarray and elements.size and type(elements.flat[0]) is int:
        return elements.astype(NP.float64).astype(object)
    return elements


def total(elements: NDArray[np.object_], axis: _Axis = None, keepdims: bool = False) -> Any:
    """The sum of elements along axes."""
    return _clean(NP.add.reduce(elements, axis=axis, keepdims=keepdims))


def check_options(function: Callable[..., Any], out: Any, where: Any = True) -> None:
    """Reject options that have no meaning for symbolic arrays."""
    if out is not None:
        refuse(f"{function_name(function)} of arrays of a program takes no out=; bind a name to its result")
    if where is not True:
        refuse(f"{function_name(function)} of arrays of a program takes no where=; use np.where on its argument")


def summed_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a sum or product of elements."""
    return INT64 if dtype is BOOL else dtype


def chosen_dtype(dtype: Any, otherwise: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that a caller asked for, if any."""
    return otherwise if dtype is None else closest(NP.dtype(dtype))


def _with_initial(ufunc: np.ufunc, array: SymbolicArray, initial: Any) -> SymbolicArray:
    return array if initial is None else elementwise(ufunc, array, initial)


@rule(NP.sum)
def _sum(
    a: Any, axis: _Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> SymbolicArray:  # fmt: skip
    check_options(NP.sum, out, where)
    array = as_symbolic(a)
    result = made(total(array._elements, axis, keepdims), chosen_dtype(dtype, summed_dtype(array._dtype)))
    return _with_initial(NP.add, result, initial)


@rule(NP.prod)
def _prod(
    a: Any, axis: _Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True,
) -> SymbolicArray:  # fmt: skip
    check_options(NP.prod, out, where)
    array = as_symbolic(a)
    elements = _clean(NP.multiply.reduce(array._elements, axis=axis, keepdims=keepdims))
    return _with_initial(NP.multiply, made(elements, chosen_dtype(dtype, summed_dtype(array._dtype))), initial)


def _count(array: SymbolicArray, axis: _Axis) -> int:
    if axis is None:
        return array.size
    return int(NP.prod([array.shape[k] for k in (axis if isinstance(axis, tuple) else (axis,))]))


def _averaged(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.kind == "f" else FLOAT64


@rule(NP.mean)
def _mean(
    a: Any, axis: _Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True
) -> SymbolicArray:
    check_options(NP.mean, out, where)
    array = as_symbolic(a)
    result = made(total(array._elements, axis, keepdims), chosen_dtype(dtype, _averaged(array._dtype)))
    return result / _count(array, axis)


@rule(NP.var)
def _var(
    a: Any, axis: _Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> SymbolicArray:  # fmt: skip
    check_options(NP.var, out, where)
    array = as_symbolic(a)
    d = array - (_mean(array, axis, keepdims=True) if mean is None else mean)
    free = _count(array, axis) - (ddof if correction is None else correction)
    return made(
        (_sum(d * d, axis, keepdims=keepdims) / float(free))._elements, chosen_dtype(dtype, _averaged(array._dtype))
    )


@rule(NP.std)
def _std(a: Any, *args: Any, **options: Any) -> SymbolicArray:
    return elementwise(NP.sqrt, _var(a, *args, **options))


@rule(NP.average)
def _average(a: Any, axis: _Axis = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    if returned:
        refuse("np.average of arrays of a program takes no returned=; use np.sum(weights)")
    array = as_symbolic(a)
    if weights is None:
        return _mean(array, axis, keepdims=keepdims)
    w = as_symbolic(weights)
    if w.shape != array.shape:
        if not isinstance(axis, int) or w.ndim != 1:
            raise ValueError("weights of another shape need one axis")
        w = w.reshape([-1 if k == axis % array.ndim else 1 for k in range(array.ndim)])
    scale = w if w.shape == array.shape else elementwise(NP.multiply, w, NP.ones(array.shape))
    return _sum(array * w, axis, keepdims=keepdims) / _sum(scale, axis, keepdims=keepdims)


def _extreme(function: Callable[..., Any], also: Any, ufunc: np.ufunc, own: Any) -> None:
    @rule(function, also)
    def extreme(
        a: Any, axis: _Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
    ) -> SymbolicArray:
        check_options(function, out, where)
        array = as_symbolic(a)
        if initial is not None and not array.size:
            initial = as_symbolic(initial)
            shape = NP.empty(array.shape).sum(axis, keepdims=keepdims).shape
            return made(NP.broadcast_to(initial._elements, shape), array._dtype)
        elements = own.reduce(array._elements, axis=axis, keepdims=keepdims)
        return _with_initial(ufunc, made(elements, array._dtype), initial)


_extreme(NP.max, NP.amax, NP.maximum, _maximum)
_extreme(NP.min, NP.amin, NP.minimum, _minimum)


@rule(NP.ptp)
def _ptp(a: Any, axis: _Axis = None, out: Any = None, keepdims: bool = False) -> Any:
    return NP.max(a, axis=axis, keepdims=keepdims) - NP.min(a, axis=axis, keepdims=keepdims)


def _truth(a: Any) -> NDArray[np.object_]:
    array = as_symbolic(a)
    return array._elements if array._dtype is BOOL else made(truth_values(array._elements), BOOL)._elements


@rule(NP.any)
def _any(a: Any, axis: _Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> SymbolicArray:
    check_options(NP.any, out, where)
    return made(_or.reduce(_truth(a), axis=axis, keepdims=keepdims), BOOL)


@rule(NP.all)
def _all(a: Any, axis: _Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> SymbolicArray:
    check_options(NP.all, out, where)
    return made(_clean(NP.multiply.reduce(_truth(a), axis=axis, keepdims=keepdims)), BOOL)


@rule(NP.count_nonzero)
def _count_nonzero(a: Any, axis: _Axis = None, *, keepdims: bool = False) -> SymbolicArray:
    return made(total(_truth(a), axis, keepdims), INT64)


def one_axis(array: SymbolicArray, axis: int | None) -> tuple[SymbolicArray, int]:
    """The array and an axis; all elements in one row for None."""
    return (array.ravel(), 0) if axis is None else (array, axis)


def _by_columns(array: SymbolicArray, axis: int, function: Callable[[list[Any]], list[Any]]) -> NDArray[np.object_]:
    """A function of the numbers along an axis, which returns a list that takes their place."""
    elements = np.moveaxis(array._elements, axis, -1)
    columns = [function(column) for column in elements.reshape(-1, elements.shape[-1]).tolist()]
    result = np.empty((len(columns), len(columns[0]) if columns else 0), object)
    for k, column in enumerate(columns):
        result[k] = column
    return np.moveaxis(result.reshape(*elements.shape[:-1], -1), -1, axis)


def _arg_extreme(function: Callable[..., Any], is_better: Callable[[Any, Any], Any]) -> None:
    def place(numbers: list[Any]) -> list[Any]:
        best, index = numbers[0], 0.0
        for k in range(1, len(numbers)):
            better = is_better(numbers[k], best)
            index, best = select(better, float(k), index), select(better, numbers[k], best)
        return [index]

    @rule(function)
    def arg_extreme(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> SymbolicArray:
        check_options(function, out)
        array = as_symbolic(a)
        rows, along = one_axis(array, axis)
        if not rows.shape[along]:
            raise ValueError("attempt to get the place of an extreme of an empty sequence")
        result = made(_by_columns(rows, along, place), INT64)
        if keepdims:
            return result.reshape((1,) * array.ndim) if axis is None else result
        squeezed: SymbolicArray = result.squeeze(along)
        return squeezed


_arg_extreme(NP.argmax, lambda new, best: less(best, new))
_arg_extreme(NP.argmin, lambda new, best: less(new, best))


def sorted_by_a_network(numbers: list[Any]) -> list[Any]:
    """The numbers in order, exchanged in place by minima and maxima."""
    for i, j in _batcher(len(numbers)):
        numbers[i], numbers[j] = minimum(numbers[i], numbers[j]), maximum(numbers[i], numbers[j])
    return numbers


@rule(NP.sort)
def _sort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> SymbolicArray:
    """By a network of minima and maxima (Batcher's odd-even merge sort), which takes the same way for all numbers."""
    array, along = one_axis(as_symbolic(a), axis)
    return made(_by_columns(array, along, sorted_by_a_network), array._dtype) if array.size else array


def _batcher(n: int) -> list[tuple[int, int]]:
    """The comparisons of Batcher's network for n numbers (Knuth, The Art of Computer Programming 3, 5.2.2 M)."""
    pairs = []
    top = 1 << max(0, n - 1).bit_length() >> 1
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while True:
            pairs += [(i, i + d) for i in range(n - d) if i & p == r]
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1
    return pairs
