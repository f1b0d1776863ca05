"""Functions that only move elements: NumPy's own, on arrays of dtype object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.symbolic.array import SymbolicArray, made
from kinetree.symbolic.operands import as_symbolic, closest, common_dtype, contains_symbols
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
    NP.concatenate, NP.stack, NP.vstack, NP.hstack, NP.dstack, NP.column_stack, NP.concat,
]  # fmt: skip


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
        results = function(array._elements, *args, **options)
        return type(results)(made(x, array._dtype) for x in results)

    return parts


def _of_several(function: Callable[..., Any]) -> Callable[..., Any]:
    def joined(arrays: Any, *args: Any, dtype: Any = None, casting: Any = None, **options: Any) -> SymbolicArray:
        parts = [as_symbolic(x) for x in arrays]
        result = common_dtype(x._dtype for x in parts) if dtype is None else closest(NP.dtype(dtype))
        return made(function([x._elements for x in parts], *args, **options), result)

    return joined


@rule(NP.block)
def _block(arrays: Any) -> SymbolicArray:
    dtypes: set[np.dtype[Any]] = set()

    def inside(x: Any) -> Any:
        if isinstance(x, list):
            return [inside(y) for y in x]
        array = as_symbolic(x)
        dtypes.add(array._dtype)
        return array._elements

    return made(NP.block(inside(arrays)), common_dtype(dtypes))


for _function in _OF_ONE:
    FUNCTIONS[_function] = _of_one(_function)
for _function in filter(None, _TO_SEVERAL):
    FUNCTIONS[_function] = _to_several(_function)
for _function in _OF_SEVERAL:
    FUNCTIONS[_function] = _of_several(_function)


def _atleast(function: Callable[..., Any]) -> Callable[..., Any]:
    def atleast(*arrays: Any) -> Any:
        several = [as_symbolic(a) for a in arrays]
        parts = tuple(made(function(a._elements), a._dtype) for a in several)
        return parts if len(parts) != 1 else parts[0]

    return atleast


for _function in (NP.atleast_1d, NP.atleast_2d, NP.atleast_3d):
    FUNCTIONS[_function] = _atleast(_function)


@rule(NP.broadcast_arrays)
def _broadcast_arrays(*arrays: Any, subok: bool = False) -> tuple[SymbolicArray, ...]:
    several = [as_symbolic(a) for a in arrays]
    parts = NP.broadcast_arrays(*(a._elements for a in several))
    return tuple(made(x, a._dtype) for x, a in zip(parts, several, strict=True))


@rule(NP.meshgrid)
def _meshgrid(*arrays: Any, **options: Any) -> tuple[SymbolicArray, ...]:
    several = [as_symbolic(a) for a in arrays]
    parts = NP.meshgrid(*(a._elements for a in several), **options)
    return tuple(made(x, a._dtype) for x, a in zip(parts, several, strict=True))


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


@rule(NP.apply_along_axis)
def _apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> SymbolicArray:
    array = as_symbolic(arr)
    rows = NP.moveaxis(array._elements, axis, -1)
    found = {k: as_symbolic(func1d(made(rows[k], array._dtype), *args, **kwargs)) for k in np.ndindex(rows.shape[:-1])}
    first = next(iter(found.values()))
    result = np.empty((*rows.shape[:-1], *first.shape), object)
    for k, part in found.items():
        result[k] = part._elements if part.ndim else part._elements.item()
    at = axis % array.ndim
    return made(NP.moveaxis(result, range(rows.ndim - 1, result.ndim), range(at, at + first.ndim)), first._dtype)
