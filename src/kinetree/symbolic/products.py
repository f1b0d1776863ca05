"""Products of vectors and matrices: @, dot, inner, outer, cross, kron, tensordot, powers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.expr import MixedTracesError
from kinetree.symbolic.array import BOOL, SymbolicArray, made
from kinetree.symbolic.operands import as_symbolic, common_dtype
from kinetree.symbolic.refusals import misfit, refuse_value
from kinetree.symbolic.registry import NP, UFUNCS, rule

__all__ = ["matmul", "product"]


def _joined(a: SymbolicArray, b: SymbolicArray) -> np.dtype[Any]:
    return common_dtype((a._dtype, b._dtype))


def product(a: NDArray[np.object_], b: NDArray[np.object_]) -> Any:
    """The product of matrices of dtype object."""
    result = NP.matmul(a, b)
    if a.shape[-1] == 0:
        return NP.zeros(NP.shape(result)).astype(object)
    return result


def matmul(a: Any, b: Any) -> SymbolicArray:
    """a @ b."""
    x, y = as_symbolic(a), as_symbolic(b)
    dtype = _joined(x, y)
    try:
        elements = product(x._elements, y._elements)
    except MixedTracesError:
        raise
    except ValueError as error:
        misfit("a @ b", (x.shape, y.shape), _shorter(error))
    if dtype is BOOL:
        return made(elements, dtype) != 0.0
    return made(elements, dtype)


def _shorter(error: ValueError) -> str:
    """NumPy's message without the signature of its inner loop."""
    text = str(error)
    if "mismatch" in text or "does not have enough dimensions" in text:
        return "the last axis of a and the last but one of b must be of one length"
    return text


def _vecdot(a: Any, b: Any) -> Any:
    return (as_symbolic(a) * b).sum(axis=-1)


def _matvec(a: Any, b: Any) -> Any:
    return matmul(a, as_symbolic(b)[..., None])[..., 0]


def _vecmat(a: Any, b: Any) -> Any:
    return matmul(as_symbolic(a)[..., None, :], b)[..., 0, :]


UFUNCS[NP.matmul] = matmul
UFUNCS[NP.vecdot] = _vecdot
if hasattr(np, "matvec"):  # NumPy 2.2
    UFUNCS[NP.matvec] = _matvec
    UFUNCS[NP.vecmat] = _vecmat


@rule(NP.linalg.vecdot)
def _linalg_vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return (as_symbolic(x1) * x2).sum(axis=axis)


@rule(NP.linalg.matmul)
def _linalg_matmul(x1: Any, x2: Any, /) -> SymbolicArray:
    return matmul(x1, x2)


@rule(NP.dot)
def _dot(a: Any, b: Any, out: Any = None) -> SymbolicArray:
    if out is not None:
        refuse_value("out")
    x, y = as_symbolic(a), as_symbolic(b)
    if not x.ndim or not y.ndim:
        return x * y
    if x.ndim <= 2 and y.ndim <= 2:
        return matmul(x, y)
    axes = ([x.ndim - 1], [max(0, y.ndim - 2)])
    return _tensordot(x, y, axes)


@rule(NP.vdot)
def _vdot(a: Any, b: Any, /) -> SymbolicArray:
    return matmul(as_symbolic(a).ravel(), as_symbolic(b).ravel())


@rule(NP.inner)
def _inner(a: Any, b: Any, /) -> SymbolicArray:
    x, y = as_symbolic(a), as_symbolic(b)
    return _tensordot(x, y, ([-1], [-1])) if x.ndim and y.ndim else x * y


@rule(NP.outer)
def _outer(a: Any, b: Any, out: Any = None) -> SymbolicArray:
    return as_symbolic(a).ravel()[:, None] * as_symbolic(b).ravel()


@rule(NP.linalg.outer)
def _linalg_outer(x1: Any, x2: Any, /) -> SymbolicArray:
    return _outer(x1, x2)


@rule(NP.tensordot)
def _tensordot(a: Any, b: Any, axes: Any = 2) -> SymbolicArray:
    x, y = as_symbolic(a), as_symbolic(b)
    of_a, of_b = (range(x.ndim - axes, x.ndim), range(axes)) if isinstance(axes, int) else axes
    first, second = (
        [k % n if n else k for k in ([of] if isinstance(of, int) else of)] for of, n in ((of_a, x.ndim), (of_b, y.ndim))
    )
    if [x.shape[k] for k in first] != [y.shape[k] for k in second]:
        misfit("np.tensordot", (x.shape, y.shape), "the summed axes must be of the same lengths")
    left = [k for k in range(x.ndim) if k not in first]
    right = [k for k in range(y.ndim) if k not in second]
    summed = int(NP.prod([x.shape[k] for k in first]))
    rows, columns = [x.shape[k] for k in left], [y.shape[k] for k in right]
    matrix = x.transpose(*left, *first).reshape(int(NP.prod(rows)), summed) if x.ndim else x.reshape(1, 1)
    other = y.transpose(*second, *right).reshape(summed, int(NP.prod(columns))) if y.ndim else y.reshape(1, 1)
    return matmul(matrix, other).reshape((*rows, *columns))


@rule(NP.linalg.tensordot)
def _linalg_tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> SymbolicArray:
    return _tensordot(x1, x2, axes)


@rule(NP.kron)
def _kron(a: Any, b: Any) -> SymbolicArray:
    x, y = as_symbolic(a), as_symbolic(b)
    return made(NP.kron(x._elements, y._elements), _joined(x, y))


@rule(NP.cross)
def _cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = NP.moveaxis(as_symbolic(a), axisa, -1), NP.moveaxis(as_symbolic(b), axisb, -1)
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        misfit("np.cross", (x.shape, y.shape), "the vectors must have 2 or 3 elements")
    if x.shape[-1] == y.shape[-1] == 2:
        return x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
    (ax, ay, az), (bx, by, bz) = _parts(x), _parts(y)
    c = NP.broadcast_arrays(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)
    return NP.stack(c, axisc)


def _parts(x: SymbolicArray) -> list[Any]:
    return [x[..., k] for k in range(x.shape[-1])] + [0.0] * (3 - x.shape[-1])


@rule(NP.linalg.cross)
def _linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return _cross(x1, x2, axis=axis)


@rule(NP.convolve)
def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    x, y = as_symbolic(a).ravel(), as_symbolic(v).ravel()
    n, m = len(x), len(y)
    terms: list[list[SymbolicArray]] = [[] for _ in range(n + m - 1)]
    for i in range(n):
        for j in range(m):
            terms[i + j].append(x[i] * y[j])
    full = NP.stack([sum(t[1:], t[0]) for t in terms])
    longest, shortest = max(n, m), min(n, m)
    if mode == "same":
        start = (shortest - 1) // 2
        return full[start : start + longest]
    return full if mode == "full" else full[shortest - 1 : longest]


@rule(NP.trace)
def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    if out is not None:
        refuse_value("out")
    diagonal: Any = NP.diagonal(as_symbolic(a), offset, axis1, axis2)
    return diagonal.sum(axis=-1, dtype=dtype)


@rule(NP.linalg.trace)
def _linalg_trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return _trace(x, offset, -2, -1, dtype)


@rule(NP.linalg.multi_dot)
def _multi_dot(arrays: Sequence[Any], *, out: Any = None) -> SymbolicArray:
    parts = [as_symbolic(x) for x in arrays]
    if parts[-1].ndim == 1:  # a vector at the end: products of a matrix and a vector alone
        result = parts.pop()
        while parts:
            result = matmul(parts.pop(), result)
        return result
    result = parts[0]
    for part in parts[1:]:
        result = matmul(result, part)
    return result


@rule(NP.linalg.matrix_power)
def _matrix_power(a: Any, n: int) -> SymbolicArray:
    matrix = as_symbolic(a)
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2]:
        misfit("np.linalg.matrix_power", (matrix.shape,), "the last two axes must be of one length")
    if n < 0:
        matrix, n = NP.linalg.inv(matrix), -n
    result: SymbolicArray | None = None
    while n:
        if n & 1:
            result = matrix if result is None else matmul(result, matrix)
        n >>= 1
        if n:
            matrix = matmul(matrix, matrix)
    if result is not None:
        return result
    return as_symbolic(NP.broadcast_to(NP.eye(matrix.shape[-1]), matrix.shape))
