"""Rows of matrices whose length is a multiple of eight: the backward pass spends its time on these."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.codegen.loops.kinds import Floats

__all__ = ["Workspace", "accumulate", "multiply", "subtract"]


class Workspace(NamedTuple):
    """Arrays to work in; rows of matrices have a length of P ≥ n + m, a multiple of eight."""

    n: int
    m: int
    """The lengths of displacements of the state and of controls."""
    V: Floats
    """(n + 1, P), the last row is the gradient v."""
    F: Floats
    """(n, P)."""
    W: Floats
    """(max(n + 1, m), P), the last row is vᵀ F."""
    Q: Floats
    """(n + m, P)."""
    G: Floats
    """(m, P)."""
    L: Floats
    """(m, m)."""
    room: Floats
    """(2, m), how far controls may change."""
    q: Floats
    x: Floats
    g: Floats
    d: Floats
    moved: Floats
    free: Floats
    """(P,) each."""
    z: Floats
    """(2, P)."""

    @classmethod
    def of(cls, n: int, m: int) -> Workspace:
        P = (n + m + 7) // 8 * 8
        shapes = [(n + 1, P), (n, P), (max(n + 1, m), P), (n + m, P), (m, P), (m, m), (2, m), *[(P,)] * 6, (2, P)]
        return cls(n, m, *map(np.zeros, shapes))


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
