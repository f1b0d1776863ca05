"""Operands of symbolic arrays, as elements and dtypes: numbers, plain arrays, lists, dtype object."""

from __future__ import annotations

import functools
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from kinetree.expr import Symbol
from kinetree.inputs import is_masked, takes_symbols
from kinetree.symbolic.array import BOOL, FLOAT32, FLOAT64, INT64, SymbolicArray, made
from kinetree.symbolic.refusals import misfit, refuse

__all__ = ["Kind", "as_symbolic", "closest", "common_dtype", "contains_symbols", "plain_floats", "read", "symbolic"]

Kind = np.dtype[Any] | type[float] | type[int]
"""The dtype of an operand; float or int for Python's numbers, which take the dtype of the other operand."""


def symbolic(x: ArrayLike | SymbolicArray, dtype: DTypeLike | None = None) -> SymbolicArray:
    """Numbers, symbolic numbers, lists and arrays of both, as a symbolic array.

    >>> symbolic([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    array = as_symbolic(x)
    return array if dtype is None else made(array._elements, closest(np.dtype(dtype)))


@takes_symbols
def as_symbolic(x: Any) -> SymbolicArray:
    """The value as a symbolic array, with the dtype that NumPy would give."""
    if type(x) is SymbolicArray:
        return x
    elements, kind = read(x)
    if not isinstance(kind, np.dtype):
        kind = FLOAT64 if kind is float else INT64
    return made(elements, closest(kind))


def read(x: Any) -> tuple[Any, Kind]:
    """The elements and the kind of an operand; the elements of a number are the number."""
    if type(x) is SymbolicArray:
        return x._elements, x._dtype
    if type(x) is float:
        return x, float
    if type(x) is int:
        return float(x), int
    if type(x) is bool:
        return float(x), BOOL
    if isinstance(x, list | tuple):
        return _read_list(x)
    if isinstance(x, Symbol):
        return made(x, FLOAT64)._elements, FLOAT64
    if is_masked(x):
        refuse("a masked array has no place in a program; use x.filled(number), or x.data if nothing in it is masked")
    if not hasattr(x, "__array__"):
        if isinstance(x, Real):
            return float(x), float
        refuse(f"an object of the type {type(x).__name__} has no place in a program, which has real numbers alone")
    return _read_array(np.asarray(x))


def _read_array(array: NDArray[Any]) -> tuple[Any, Kind]:
    if array.dtype == object:
        return _read_objects(array)
    if array.dtype.kind not in "fiub":
        refuse(f"an array of dtype {array.dtype} has no place in a program, which has real numbers alone")
    return plain_floats(array), array.dtype


def plain_floats(array: NDArray[Any]) -> NDArray[np.object_]:
    """The numbers of a plain array as Python's floats."""
    return array.astype(np.float64).astype(object)


def _read_list(x: list[Any] | tuple[Any, ...]) -> tuple[Any, Kind]:
    if not contains_symbols(x):
        try:
            array = np.asarray(x)
        except ValueError as error:
            misfit("a list of numbers", (), error)
        return _read_array(array)
    parts = [as_symbolic(y) for y in x]
    if len({p.shape for p in parts}) > 1:
        misfit("a list of arrays", tuple(p.shape for p in parts), "its entries must be of one shape")
    return np.stack([p._elements for p in parts]), common_dtype(p._dtype for p in parts)


def contains_symbols(x: Any, depth: int = 8) -> bool:
    """Whether this is a symbolic array, or a list that contains one."""
    if type(x) is SymbolicArray:
        return True
    if isinstance(x, list | tuple):
        return depth > 0 and any(contains_symbols(y, depth - 1) for y in x)
    return isinstance(x, np.ndarray) and x.dtype == object


def _read_objects(array: NDArray[np.object_]) -> tuple[Any, Kind]:
    """An array of dtype object, as `np.array([a, 2.0 * b])` makes of symbolic numbers."""
    parts = [as_symbolic(None if isinstance(x, np.ndarray) else x) for x in array.ravel().tolist()]
    if any(p.ndim for p in parts):
        refuse("an array of dtype object holds whole arrays; join them with np.stack or np.concatenate")
    elements = np.empty(array.size, object)
    elements[:] = [p._elements.item() for p in parts]
    return elements.reshape(array.shape), common_dtype(p._dtype for p in parts)


def common_dtype(dtypes: Any) -> np.dtype[Any]:
    """The dtype of arrays that are joined."""
    several = set(dtypes)
    return several.pop() if len(several) == 1 else closest(np.result_type(*several)) if several else FLOAT64


@functools.cache
def closest(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype among those of programs that can hold the numbers of another."""
    if dtype.kind == "b":
        return BOOL
    if dtype.kind in "iu":
        return INT64
    if dtype.kind != "f":
        refuse(f"programs have real numbers alone, not {dtype}")
    return FLOAT32 if dtype.itemsize == 4 else FLOAT64
