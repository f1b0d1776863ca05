"""Arrays of constants in the shape of a symbolic one or by `like=`, conversions, and NumPy's queries of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.symbolic.array import BOOL, INT64, SymbolicArray, made
from kinetree.symbolic.elementwise import elementwise, truth_values
from kinetree.symbolic.operands import as_symbolic, closest, plain_floats
from kinetree.symbolic.registry import FUNCTIONS, NP, rule

__all__ = []


@rule(NP.astype)
def _astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> SymbolicArray:
    new = closest(NP.dtype(dtype))
    array = as_symbolic(x)
    if new is array._dtype:
        return array
    if new is BOOL:
        return made(truth_values(array._elements), new)
    if new is INT64 and array._dtype.kind == "f":
        return made(elementwise(NP.trunc, array)._elements, new)
    return made(array._elements, new)


@rule(NP.copy)
def _copy(a: Any, order: str = "K", subok: bool = False) -> SymbolicArray:
    return as_symbolic(a)


@rule(NP.real)
def _real(val: Any) -> SymbolicArray:
    return as_symbolic(val)


@rule(NP.shape)
def _shape(a: Any) -> tuple[int, ...]:
    return as_symbolic(a).shape


@rule(NP.ndim)
def _ndim(a: Any) -> int:
    return as_symbolic(a).ndim


@rule(NP.size)
def _size(a: Any, axis: int | None = None) -> int:
    array = as_symbolic(a)
    return array.size if axis is None else array.shape[axis]


@rule(NP.result_type)
def _result_type(*arrays_and_dtypes: Any) -> Any:
    return NP.result_type(*(x._dtype if type(x) is SymbolicArray else x for x in arrays_and_dtypes))


@rule(NP.triu_indices_from)
def _triu_indices_from(arr: Any, k: int = 0) -> Any:
    rows, columns = arr.shape
    return NP.triu_indices(rows, k, columns)


@rule(NP.tril_indices_from)
def _tril_indices_from(arr: Any, k: int = 0) -> Any:
    rows, columns = arr.shape
    return NP.tril_indices(rows, k, columns)


@rule(NP.diag_indices_from)
def _diag_indices_from(arr: Any) -> Any:
    if len(set(arr.shape)) != 1:
        raise ValueError("all axes must be of one length")
    return NP.diag_indices(arr.shape[0], arr.ndim)


@rule(NP.iscomplexobj)
def _iscomplexobj(x: Any) -> bool:
    return False


@rule(NP.isrealobj)
def _isrealobj(x: Any) -> bool:
    return True


def _constant(array: NDArray[Any]) -> SymbolicArray:
    return made(plain_floats(array), closest(array.dtype))


def _model(a: Any, dtype: Any, shape: Any) -> tuple[Any, np.dtype[Any]]:
    array = as_symbolic(a)
    return array.shape if shape is None else shape, array._dtype if dtype is None else NP.dtype(dtype)


@rule(NP.zeros_like, NP.empty_like)
def _zeros_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> SymbolicArray:
    return _constant(NP.zeros(*_model(a, dtype, shape)))


@rule(NP.ones_like)
def _ones_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> SymbolicArray:
    return _constant(NP.ones(*_model(a, dtype, shape)))


@rule(NP.full_like)
def _full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None
) -> SymbolicArray:
    shape, result = _model(a, dtype, shape)
    value = as_symbolic(fill_value)
    return made(NP.broadcast_to(_astype(value, result)._elements, shape), closest(result))


@rule(NP.array, NP.asarray, NP.asanyarray, NP.ascontiguousarray)
def _array(object: Any, dtype: Any = None, *, ndmin: int = 0, **_: Any) -> SymbolicArray:
    """`np.array(…, like=q)`, which NumPy hands over."""
    array = as_symbolic(object)
    if ndmin > array.ndim:
        array = array[(None,) * (ndmin - array.ndim)]
    return array if dtype is None else _astype(array, dtype)


@rule(NP.full)
def _full(shape: Any, fill_value: Any, dtype: Any = None, **_: Any) -> SymbolicArray:
    value = as_symbolic(fill_value)
    return made(NP.broadcast_to(value._elements, shape), value._dtype if dtype is None else closest(NP.dtype(dtype)))


def _made_like(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **options: _constant(function(*args, **options))


for _function in (NP.zeros, NP.ones, NP.empty, NP.eye, NP.identity, NP.arange):
    FUNCTIONS[_function] = _made_like(NP.zeros if _function is NP.empty else _function)
