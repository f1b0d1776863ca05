"""Functions that only move elements: NumPy's own, on arrays of dtype object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.symbolic.array import BOOL, INT64, SymbolicArray, made
from kinetree.symbolic.elementwise import elementwise, truth_values
from kinetree.symbolic.operands import as_symbolic, closest, common_dtype, contains_symbols, plain_floats
from kinetree.symbolic.refusals import refuse
from kinetree.symbolic.registry import FUNCTIONS, NP, rule

__all__ = []

_OF_ONE = [
    NP.reshape, NP.ravel, NP.transpose, NP.moveaxis, NP.swapaxes, NP.rollaxis, NP.expand_dims, NP.squeeze,
    NP.broadcast_to, NP.tile, NP.repeat, NP.roll, NP.flip, NP.fliplr, NP.flipud, NP.rot90, NP.diagonal, NP.delete,
    NP.permute_dims, NP.matrix_transpose, NP.linalg.matrix_transpose, NP.linalg.diagonal, NP.tril, NP.triu, NP.diag,
    NP.diagflat,
]  # fmt: skip
_TO_SEVERAL = [
    NP.split,
    NP.array_split,
    NP.hsplit,
    NP.vsplit,
    NP.dsplit,
    NP.unstack if hasattr(np, "unstack") else None,
]
_OF_SEVERAL = [
    NP.concatenate, NP.stack, NP.vstack, NP.hstack, NP.dstack, NP.column_stack, NP.block, NP.concat,
]  # fmt: skip


def _inside(x: Any) -> Any:
    """Arrays and numbers in nested lists, with the elements of each."""
    if isinstance(x, list | tuple):
        return type(x)(_inside(y) for y in x)
    return as_symbolic(x)._elements


def _dtypes(x: Any) -> set[np.dtype[Any]]:
    if isinstance(x, list | tuple):
        return set().union(*map(_dtypes, x))
    return {as_symbolic(x)._dtype}


def _clean(elements: Any) -> Any:
    """The elements, where NumPy has filled in integers."""
    if type(elements) is not NP.ndarray:
        return float(elements) if type(elements) is int else elements
    flat = elements.ravel()
    for k, x in enumerate(flat.tolist()):
        if type(x) is int or type(x) is bool:
            flat[k] = float(x)
    return flat.reshape(elements.shape)


_FILLING = (NP.tril, NP.triu, NP.diag, NP.diagflat)


def _of_one(function: Callable[..., Any]) -> Callable[..., Any]:
    def moved(a: Any, *args: Any, **options: Any) -> SymbolicArray:
        array = as_symbolic(a)
        elements = function(array._elements, *args, **options)
        return made(_clean(elements) if function in _FILLING else elements, array._dtype)

    return moved


def _to_several(function: Callable[..., Any]) -> Callable[..., Any]:
    def parts(a: Any, *args: Any, **options: Any) -> Any:
        array = as_symbolic(a)
        found = function(array._elements, *args, **options)
        return type(found)(made(x, array._dtype) for x in found)

    return parts


def _of_several(function: Callable[..., Any]) -> Callable[..., Any]:
    def joined(arrays: Any, *args: Any, dtype: Any = None, casting: Any = None, **options: Any) -> SymbolicArray:
        if type(arrays) is SymbolicArray:
            arrays = list(arrays)
        result = common_dtype(_dtypes(arrays)) if dtype is None else closest(NP.dtype(dtype))
        return made(function(_inside(arrays), *args, **options), result)

    return joined


for _function in _OF_ONE:
    FUNCTIONS[_function] = _of_one(_function)
for _function in filter(None, _TO_SEVERAL):
    FUNCTIONS[_function] = _to_several(_function)
for _function in _OF_SEVERAL:
    FUNCTIONS[_function] = _of_several(_function)


def _atleast(function: Callable[..., Any]) -> Callable[..., Any]:
    def atleast(*arrays: Any) -> Any:
        several = [as_symbolic(a) for a in arrays]
        found = tuple(made(function(a._elements), a._dtype) for a in several)
        return found if len(found) != 1 else found[0]

    return atleast


for _function in (NP.atleast_1d, NP.atleast_2d, NP.atleast_3d):
    FUNCTIONS[_function] = _atleast(_function)


@rule(NP.broadcast_arrays)
def _broadcast_arrays(*arrays: Any, subok: bool = False) -> tuple[SymbolicArray, ...]:
    several = [as_symbolic(a) for a in arrays]
    found = NP.broadcast_arrays(*(a._elements for a in several))
    return tuple(made(x, a._dtype) for x, a in zip(found, several, strict=True))


@rule(NP.meshgrid)
def _meshgrid(*arrays: Any, **options: Any) -> tuple[SymbolicArray, ...]:
    several = [as_symbolic(a) for a in arrays]
    found = NP.meshgrid(*(a._elements for a in several), **options)
    return tuple(made(x, a._dtype) for x, a in zip(found, several, strict=True))


@rule(NP.take)
def _take(a: Any, indices: Any, axis: int | None = None, mode: Any = None) -> SymbolicArray:
    array = as_symbolic(a)
    if contains_symbols(indices):
        indices = NP.asarray(indices)
    return made(NP.take(array._elements, indices, axis=axis, mode=mode or "raise"), array._dtype)


@rule(NP.take_along_axis)
def _take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> SymbolicArray:
    array = as_symbolic(arr)
    return made(NP.take_along_axis(array._elements, NP.asarray(indices), axis), array._dtype)


@rule(NP.append)
def _append(arr: Any, values: Any, axis: int | None = None) -> SymbolicArray:
    array, new = as_symbolic(arr), as_symbolic(values)
    return made(NP.append(array._elements, new._elements, axis), common_dtype((array._dtype, new._dtype)))


@rule(NP.insert)
def _insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> SymbolicArray:
    array, new = as_symbolic(arr), as_symbolic(values)
    return made(NP.insert(array._elements, obj, new._elements, axis), array._dtype)


@rule(NP.pad)
def _pad(array: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0.0) -> SymbolicArray:
    if mode not in ("constant", "edge", "wrap", "reflect", "symmetric"):
        refuse(f"np.pad has no mode {mode!r} for arrays of a program; it has constant, edge, wrap, reflect, symmetric")
    x = as_symbolic(array)
    options = {"constant_values": constant_values} if mode == "constant" else {}
    return made(_clean(NP.pad(x._elements, pad_width, mode, **options)), x._dtype)


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


@rule(NP.iscomplexobj)
def _iscomplexobj(x: Any) -> bool:
    return False


@rule(NP.isrealobj)
def _isrealobj(x: Any) -> bool:
    return True


# Arrays of constants, in the shape of a symbolic one or by like=.


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
