"""Linear systems: Gaussian elimination in which `select` exchanges rows, so that the largest pivot is taken.

The result is as exact as LAPACK's for every matrix that is not singular. A singular one gives infinities or NaN when
the program runs, where NumPy raises an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.expr import Symbol, absolute, is_zero, less, log, select
from kinetree.symbolic.array import FLOAT32, FLOAT64, SymbolicArray, made
from kinetree.symbolic.operands import as_symbolic
from kinetree.symbolic.refusals import misfit, refuse
from kinetree.symbolic.registry import NP, rule
from kinetree.symbolic.scalar_functions import divide, sign

__all__ = ["matrices", "real_dtype", "square_matrices"]

_Row = list[Any]
_SINGULAR = "the matrix is singular, whatever the arguments of the program are"


def real_dtype(*arrays: SymbolicArray) -> np.dtype[Any]:
    """The dtype in which NumPy's linear algebra computes."""
    return FLOAT32 if all(a._dtype is FLOAT32 for a in arrays) else FLOAT64


def matrices(elements: NDArray[np.object_], function: Callable[[list[_Row]], Any]) -> NDArray[np.object_]:
    """A function of one matrix, applied to each matrix of a stack; its results, in an array of lists."""
    results = np.empty(elements.shape[:-2], object)
    for index in np.ndindex(results.shape):
        results[index] = function(elements[index].tolist())
    return results


def square_matrices(name: str, a: Any) -> SymbolicArray:
    """The argument of a function of square matrices."""
    array = as_symbolic(a)
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        misfit(name, (array.shape,), "the last two axes must be of one length")
    return array


def _eliminated(name: str, rows: list[_Row]) -> tuple[list[_Row], Any]:
    """The rows (of a matrix and right sides) with zeros below the diagonal, and the sign of the exchanges."""
    n, flips = len(rows), 1.0
    for k in range(n):
        for i in range(k + 1, n):
            flips = _exchange(rows, k, i) * flips
        pivot = rows[k][k]
        if is_zero(pivot):
            if name:
                refuse(f"{name}: {_SINGULAR}")
            return rows, 0.0
        reciprocal = divide(1.0, pivot)
        for i in range(k + 1, n):
            factor = rows[i][k] * reciprocal
            if not is_zero(factor):
                rows[i] = [
                    *rows[i][: k + 1],
                    *(x - factor * p for x, p in zip(rows[i][k + 1 :], rows[k][k + 1 :], strict=True)),
                ]
    return rows, flips


def _exchange(rows: list[_Row], k: int, i: int) -> Any:
    """Put the row of the larger element of column k into place k; return -1 where rows are exchanged, 1 otherwise."""
    pivot, x = rows[k][k], rows[i][k]
    if is_zero(x):
        return 1.0
    larger = 1.0 if is_zero(pivot) else less(absolute(pivot), absolute(x))
    if not isinstance(larger, Symbol):
        if larger:
            rows[k], rows[i] = rows[i], rows[k]
        return -1.0 if larger else 1.0
    a, b = rows[k], rows[i]
    rows[k] = [*a[:k], *(select(larger, y, x) for x, y in zip(a[k:], b[k:], strict=True))]
    rows[i] = [*b[:k], *(select(larger, x, y) for x, y in zip(a[k:], b[k:], strict=True))]
    return select(larger, -1.0, 1.0)


def _solved(name: str, rows: list[_Row], right: list[_Row]) -> list[_Row]:
    n = len(rows)
    upper, _ = _eliminated(name, [[*a, *b] for a, b in zip(rows, right, strict=True)])
    solution: list[_Row] = [[]] * n
    for k in reversed(range(n)):
        reciprocal = divide(1.0, upper[k][k])
        totals = upper[k][n:]
        for j in range(k + 1, n):
            u = upper[k][j]
            if not is_zero(u):
                totals = [t - u * x for t, x in zip(totals, solution[j], strict=True)]
        solution[k] = [t * reciprocal for t in totals]
    return solution


@rule(NP.linalg.solve)
def _solve(a: Any, b: Any) -> SymbolicArray:
    name = "np.linalg.solve"
    array, given = square_matrices(name, a), as_symbolic(b)
    n = array.shape[-1]
    is_vector = given.ndim == 1
    right = given._elements[:, None] if is_vector else given._elements
    if right.ndim < 2 or right.shape[-2] != n:
        misfit(name, (array.shape, given.shape), "b must have one row per row of the matrix")
    leading = np.broadcast_shapes(array.shape[:-2], right.shape[:-2])
    left = np.broadcast_to(array._elements, (*leading, n, n))
    right = np.broadcast_to(right, (*leading, *right.shape[-2:]))
    solution = np.empty(right.shape, object)
    for index in np.ndindex(leading):
        _fill(solution[index], _solved(name, left[index].tolist(), right[index].tolist()))
    return made(solution[..., 0] if is_vector else solution, real_dtype(array, given))


def _fill(place: NDArray[np.object_], rows: Sequence[_Row]) -> None:
    for k, row in enumerate(rows):
        place[k] = row


@rule(NP.linalg.inv)
def _inv(a: Any) -> SymbolicArray:
    array = square_matrices("np.linalg.inv", a)
    result = np.empty(array.shape, object)
    identity = np.eye(array.shape[-1]).tolist()
    for index in np.ndindex(array.shape[:-2]):
        _fill(result[index], _solved("np.linalg.inv", array._elements[index].tolist(), identity))
    return made(result, real_dtype(array))


def _determinant(rows: list[_Row]) -> Any:
    n = len(rows)
    if n == 0:
        return 1.0
    if n == 1:
        return rows[0][0]
    if n == 2:
        (a, b), (c, d) = rows
        return a * d - b * c
    if n == 3:
        (a, b, c), (d, e, f), (g, h, i) = rows
        return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    upper, result = _eliminated("", rows)
    for k in range(n):
        result = result * upper[k][k]
    return result


@rule(NP.linalg.det)
def _det(a: Any) -> SymbolicArray:
    array = square_matrices("np.linalg.det", a)
    return made(matrices(array._elements, _determinant), real_dtype(array))


@rule(NP.linalg.slogdet)
def _slogdet(a: Any) -> Any:
    array = square_matrices("np.linalg.slogdet", a)
    signs, logs = np.empty(array.shape[:-2], object), np.empty(array.shape[:-2], object)
    for index in np.ndindex(signs.shape):
        upper, flips = _eliminated("np.linalg.slogdet", array._elements[index].tolist())
        logs[index] = 0.0
        for k, row in enumerate(upper):
            flips, logs[index] = flips * sign(row[k]), logs[index] + log(absolute(row[k]))
        signs[index] = flips
    dtype = real_dtype(array)
    kind = type(np.linalg.slogdet(np.eye(1)))
    return kind(made(signs, dtype), made(logs, dtype))
