"""More rows for a triangular matrix: the QR decomposition of [R; B], in loops.

Reflections by columns: each takes column k of B to zero. Rows are gone through in blocks that stay in the processor's
cache, and the innermost loops are over neighbours in memory.

Source: Golub and Van Loan, *Matrix Computations* (2013), algorithms 5.1.1 and 5.2.1.
"""

from __future__ import annotations

from math import sqrt

from kinetree.codegen.loops.compiled import compiled
from kinetree.codegen.loops.kinds import Floats

__all__ = ["reduce_rows"]

_BLOCK = 192


@compiled
def reduce_rows(R: Floats, B: Floats, w: Floats) -> None:
    """Replace R by the triangular factor of [R; B].

    Args:
        R: (n, n), upper triangular.
        B: (rows, n), overwritten.
        w: (n,), for intermediate results.
    """
    rows = len(B)
    n = len(R)
    for block in range((rows + _BLOCK - 1) // _BLOCK):
        first = block * _BLOCK
        last = min(first + _BLOCK, rows)
        for k in range(n):
            square = 0.0
            for i in range(first, last):
                square += B[i, k] * B[i, k]
            if square > 0.0:
                length = sqrt(R[k, k] * R[k, k] + square)
                end = length
                if R[k, k] > 0.0:
                    end = -length
                v = R[k, k] - end
                scale = 2.0 / (v * v + square)
                R[k, k] = end
                for j in range(k + 1, n):
                    w[j] = v * R[k, j]
                for i in range(first, last):
                    x = B[i, k]
                    for j in range(k + 1, n):
                        w[j] = w[j] + x * B[i, j]
                for j in range(k + 1, n):
                    w[j] = scale * w[j]
                    R[k, j] = R[k, j] - v * w[j]
                for i in range(first, last):
                    x = B[i, k]
                    for j in range(k + 1, n):
                        B[i, j] = B[i, j] - x * w[j]
