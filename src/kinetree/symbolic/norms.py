"""Norms of vectors and matrices. At zero their value is exact; the derivative of a root there is infinite."""

from __future__ import annotations

import math
from typing import Any

from kinetree.symbolic.array import FLOAT64, SymbolicArray, made
from kinetree.symbolic.operands import as_symbolic
from kinetree.symbolic.refusals import refuse
from kinetree.symbolic.registry import NP, rule

__all__ = []

_Axis = int | tuple[int, ...] | None


def _real(x: Any) -> SymbolicArray:
    array = as_symbolic(x)
    return array if array._dtype.kind == "f" else made(array._elements, FLOAT64)


def _root_of_squares(x: SymbolicArray, axis: _Axis, keepdims: bool) -> Any:
    if x.size == 1 and axis is None and not keepdims:
        return abs(x.reshape(()))  # as exact as √x², and smoother
    return NP.sqrt((x * x).sum(axis=axis, keepdims=keepdims))


def _of_vectors(x: SymbolicArray, order: Any, axis: _Axis, keepdims: bool) -> Any:
    if order is None or order == 2:
        return _root_of_squares(x, axis, keepdims)
    if order in (math.inf, -math.inf):
        return (NP.max if order > 0 else NP.min)(abs(x), axis=axis, keepdims=keepdims)
    if order == 0:
        return (x != 0.0).astype(x._dtype).sum(axis=axis, keepdims=keepdims)
    if order == 1:
        return abs(x).sum(axis=axis, keepdims=keepdims)
    if isinstance(order, str):
        raise ValueError(f"Invalid norm order '{order}' for vectors")
    return (abs(x) ** float(order)).sum(axis=axis, keepdims=keepdims) ** (1.0 / float(order))


def _of_matrices(x: SymbolicArray, order: Any, axes: tuple[int, int], keepdims: bool) -> Any:
    if order is None or order in ("fro", "f"):
        return _root_of_squares(x, axes, keepdims)
    if order in (1, -1, math.inf, -math.inf):
        summed, along = axes if abs(order) == 1 else axes[::-1]
        sums = abs(x).sum(axis=summed, keepdims=True)
        result = (NP.max if order > 0 else NP.min)(sums, axis=along, keepdims=True)
        return result if keepdims else result.squeeze(axes)
    if order in (2, -2, "nuc"):
        refuse(f"np.linalg.norm of order {order!r} needs singular values, which have no rule; use the order 'fro'")
    raise ValueError("Invalid norm order for matrices.")


@rule(NP.linalg.norm)
def _norm(x: Any, ord: Any = None, axis: _Axis = None, keepdims: bool = False) -> Any:
    array = _real(x)
    if axis is None:
        if ord is None or (ord in ("f", "fro") and array.ndim == 2) or (ord == 2 and array.ndim == 1):
            norm = _root_of_squares(array.ravel(), None, False)
            return norm.reshape((1,) * array.ndim) if keepdims else norm
        axes = tuple(range(array.ndim))
    else:
        axes = tuple(k % array.ndim for k in (axis if isinstance(axis, tuple) else (axis,)))
    if len(axes) == 1:
        return _of_vectors(array, ord, axes[0], keepdims)
    if len(axes) == 2:
        if axes[0] == axes[1]:
            raise ValueError("Duplicate axes given.")
        return _of_matrices(array, ord, (axes[0], axes[1]), keepdims)
    raise ValueError("Improper number of dimensions to norm.")


@rule(NP.linalg.vector_norm)
def _vector_norm(x: Any, /, *, axis: _Axis = None, keepdims: bool = False, ord: Any = 2) -> Any:
    return _of_vectors(_real(x), ord, axis, keepdims)


@rule(NP.linalg.matrix_norm)
def _matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    array = _real(x)
    return _of_matrices(array, ord, (array.ndim - 2, array.ndim - 1), keepdims)
