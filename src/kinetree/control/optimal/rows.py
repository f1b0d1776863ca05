"""Rows of matrices whose length is a multiple of eight: what the backward pass spends its time on."""

from __future__ import annotations

from kinetree.codegen.loops.kinds import Floats

__all__ = ["accumulate", "multiply", "subtract"]


def accumulate(C: Floats, r: int, x: Floats, B: Floats, count: int, start: int, stop: int) -> None:
    """Row r of C += xᵀ B over the first rows of B, from one column to another; eight sums stay in registers."""
    for c in range(start, stop, 8):
        s0, s1, s2, s3 = C[r, c], C[r, c + 1], C[r, c + 2], C[r, c + 3]
        s4, s5, s6, s7 = C[r, c + 4], C[r, c + 5], C[r, c + 6], C[r, c + 7]
        for s in range(count):
            f = x[s]
            s0 += f * B[s, c]
            s1 += f * B[s, c + 1]
            s2 += f * B[s, c + 2]
            s3 += f * B[s, c + 3]
            s4 += f * B[s, c + 4]
            s5 += f * B[s, c + 5]
            s6 += f * B[s, c + 6]
            s7 += f * B[s, c + 7]
        C[r, c], C[r, c + 1], C[r, c + 2], C[r, c + 3] = s0, s1, s2, s3
        C[r, c + 4], C[r, c + 5], C[r, c + 6], C[r, c + 7] = s4, s5, s6, s7


def subtract(C: Floats, r: int, f: float, s: int, width: int) -> None:
    """Row r of C −= f times row s."""
    for c in range(width):
        C[r, c] -= f * C[s, c]


def multiply(C: Floats, r: int, f: float, width: int) -> None:
    """Row r of C times f."""
    for c in range(width):
        C[r, c] = f * C[r, c]
