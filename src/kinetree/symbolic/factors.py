"""Factors of matrices: Cholesky's, and the orthogonal ones by Householder's reflections."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.expr import equal, is_zero, less, select, sqrt
from kinetree.symbolic.array import SymbolicArray, made
from kinetree.symbolic.elimination import real_dtype, square_matrices
from kinetree.symbolic.operands import as_symbolic
from kinetree.symbolic.refusals import misfit, refuse
from kinetree.symbolic.registry import NP, rule
from kinetree.symbolic.scalar_functions import divide

__all__ = []

_Row = list[Any]


@rule(NP.linalg.cholesky)
def _cholesky(a: Any, /, *, upper: bool = False) -> SymbolicArray:
    """The lower triangle is read, as by NumPy. A matrix that is not positive definite gives NaN in the program."""
    array = square_matrices("np.linalg.cholesky", a)
    result = np.empty(array.shape, object)
    for index in np.ndindex(array.shape[:-2]):
        matrix = array._elements[index]
        for k, row in enumerate(_lower(matrix.T.tolist() if upper else matrix.tolist())):
            result[index][k] = row
    return made(result.swapaxes(-1, -2) if upper else result, real_dtype(array))


def _lower(a: list[_Row]) -> list[_Row]:
    n = len(a)
    rows: list[_Row] = [[0.0] * n for _ in range(n)]
    reciprocals: list[Any] = []
    for i in range(n):
        for j in range(i + 1):
            rest = a[i][j]
            for x, y in zip(rows[i][:j], rows[j][:j], strict=True):
                rest = rest - x * y
            if j < i:
                rows[i][j] = rest * reciprocals[j]
        rows[i][i] = sqrt(rest)
        if is_zero(rows[i][i]):
            refuse("np.linalg.cholesky: the matrix is not positive definite, whatever the arguments of the program are")
        reciprocals.append(divide(1.0, rows[i][i]))
    return rows


@rule(NP.linalg.qr)
def _qr(a: Any, mode: str = "reduced") -> Any:
    """Householder's reflections with LAPACK's signs (Golub and Van Loan, Matrix Computations, 5.2)."""
    array = as_symbolic(a)
    if array.ndim < 2:
        misfit("np.linalg.qr", (array.shape,), "it needs a matrix")
    if mode not in ("reduced", "complete", "r"):
        refuse(f"np.linalg.qr has no mode {mode!r} for arrays of a program; it has 'reduced', 'complete' and 'r'")
    leading, (m, n) = array.shape[:-2], array.shape[-2:]
    columns = m if mode == "complete" else min(m, n)
    q, r = np.empty((*leading, m, columns), object), np.empty((*leading, columns, n), object)
    for index in np.ndindex(leading):
        rows, reflections = _reflected(array._elements[index].tolist(), m, n)
        for k in range(columns):
            r[index][k] = [0.0] * min(k, n) + rows[k][k:]
        for k, row in enumerate(_orthogonal(reflections, m, columns)):
            q[index][k] = row
    dtype = real_dtype(array)
    if mode == "r":
        return made(r, dtype)
    kind: Any = type(np.linalg.qr(np.eye(1)))
    return kind(made(q, dtype), made(r, dtype))


def _reflected(rows: list[_Row], m: int, n: int) -> tuple[list[_Row], list[tuple[int, _Row, Any]]]:
    """The triangular factor, and the reflections I - τ u uᵀ that made it: (first row, u from there on, τ)."""
    reflections = []
    for k in range(min(m - 1, n)):
        alpha, below = rows[k][k], [rows[i][k] for i in range(k + 1, m)]
        squares: Any = 0.0
        for x in below:
            squares = squares + x * x
        if is_zero(squares):
            continue
        nothing = equal(squares, 0.0)
        size = sqrt(alpha * alpha + squares)
        beta = select(less(alpha, 0.0), size, -size)
        scale = divide(1.0, select(nothing, 1.0, alpha - beta))
        u = [1.0, *(x * scale for x in below)]
        tau = select(nothing, 0.0, divide(beta - alpha, select(nothing, 1.0, beta)))
        reflections.append((k, u, tau))
        _reflect(rows, k, u, tau, k + 1)
        rows[k][k] = select(nothing, alpha, beta)
    return rows, reflections


def _reflect(rows: list[_Row], k: int, u: _Row, tau: Any, first: int) -> None:
    for j in range(first, len(rows[0])):
        along: Any = 0.0
        for i, x in enumerate(u):
            along = along + x * rows[k + i][j]
        along = tau * along
        for i, x in enumerate(u):
            rows[k + i][j] = rows[k + i][j] - x * along


def _orthogonal(reflections: list[tuple[int, _Row, Any]], m: int, columns: int) -> list[_Row]:
    rows: list[_Row] = np.eye(m, columns).tolist()
    for k, u, tau in reversed(reflections):
        _reflect(rows, k, u, tau, 0)
    return rows
