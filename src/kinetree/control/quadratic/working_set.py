"""The active rows of a dual active-set method, and their factors.

Source: D. Goldfarb, A. Idnani, Mathematical Programming 27 (1983), with its names: H = L Lᵀ, J = L⁻ᵀ Q, N = the active
rows, R their triangular factor, z the direction of the primal step, r that of the dual one. Columns of J and R are rows
of `J` and `R` here, next to each other in memory; a reflection, not rotations, takes a new row in.
"""

from __future__ import annotations

from math import sqrt

from kinetree.codegen.loops.kinds import Floats
from kinetree.control.quadratic.workspace import Workspace

__all__ = ["directions", "dropped", "restored", "taken_in"]


def _product(count: int, J: Floats, row: int, v: Floats) -> float:
    """The first `count` terms of the product of a row and a vector, in four sums."""
    a, b, c, e = 0.0, 0.0, 0.0, 0.0
    in_fours = count - count % 4
    for k in range(0, in_fours, 4):
        a += J[row, k] * v[k]
        b += J[row, k + 1] * v[k + 1]
        c += J[row, k + 2] * v[k + 2]
        e += J[row, k + 3] * v[k + 3]
    for k in range(in_fours, count):
        a += J[row, k] * v[k]
    return (a + b) + (c + e)


def directions(n: int, count: int, new: int, sign: float, w: Workspace) -> tuple[float, float]:
    """d = Jᵀ n, z = J₂ d₂ and r = R⁻¹ d₁; returns |d|² and |d₂|² = zᵀ n."""
    for k in range(n):
        w.r[k] = sign * w.C[k, new]
        w.z[k] = 0.0
    squared, outside = 0.0, 0.0
    for i in range(n):
        w.d[i] = _product(n, w.J, i, w.r)
        squared += w.d[i] * w.d[i]
        if i >= count:
            outside += w.d[i] * w.d[i]
            for j in range(n):
                w.z[j] += w.d[i] * w.J[i, j]
    for k in range(count):
        w.r[k] = w.d[k]
    _back_substituted(count, w.R, w.r)
    return squared, outside


def _back_substituted(count: int, R: Floats, r: Floats) -> None:
    for back in range(count):
        k = count - 1 - back
        r[k] = r[k] / R[k, k]
        for i in range(k):
            r[i] -= r[k] * R[k, i]


def taken_in(n: int, count: int, w: Workspace) -> None:
    """A new active row: a reflection turns the part d₂ of d into one number, which ends its column of R."""
    square = 0.0
    for i in range(count, n):
        square += w.d[i] * w.d[i]
    size = sqrt(square)
    end = -size if w.d[count] > 0.0 else size
    for i in range(count):
        w.R[count, i] = w.d[i]
    w.R[count, count] = end
    if square == w.d[count] * w.d[count]:  # nothing is left to turn
        for j in range(n):
            w.J[count, j] *= -1.0
        return
    scale = 1.0 / (end * (end - w.d[count]))  # 2 over the square of d₂ − end e₁
    for j in range(n):
        w.z[j] -= end * w.J[count, j]
    for i in range(count, n):
        factor = scale * (w.d[i] - end if i == count else w.d[i])
        for j in range(n):
            w.J[i, j] -= factor * w.z[j]


def dropped(n: int, count: int, which: int, w: Workspace) -> None:
    """An active row less: rotations make R triangular again."""
    for k in range(which, count - 1):
        for i in range(k + 2):
            w.R[k, i] = w.R[k + 1, i]
        w.u[k] = w.u[k + 1]
        w.active[k] = int(w.active[k + 1])
    for k in range(which, count - 1):
        a, b = w.R[k, k], w.R[k, k + 1]
        size = sqrt(a * a + b * b)
        c, s = a / size, b / size
        w.R[k, k], w.R[k, k + 1] = size, 0.0
        for j in range(k + 1, count - 1):
            upper, lower = w.R[j, k], w.R[j, k + 1]
            w.R[j, k], w.R[j, k + 1] = c * upper + s * lower, c * lower - s * upper
        for j in range(n):
            first, second = w.J[k, j], w.J[k + 1, j]
            w.J[k, j], w.J[k + 1, j] = c * first + s * second, c * second - s * first


def restored(n: int, m: int, count: int, g: Floats, w: Workspace) -> int:
    """The minimum for another g where the rows that are active still are; those it would pull away from are dropped.

    With y = J⁻¹ x it is R₁ᵀ y₁ = the bounds, y₂ = −d₂, and R u = y₁ + d₁, where d = Jᵀ g. Returns how many rows are
    active then.
    """
    for i in range(n):
        w.d[i] = _product(n, w.J, i, g)
    while True:
        for k in range(count):
            row = int(w.active[k])
            total = w.lower[row] - w.base[row] if int(w.side[row]) == 1 else w.base[row] - w.upper[row]
            for i in range(k):
                total -= w.R[k, i] * w.z[i]
            w.z[k] = total / w.R[k, k]
        for k in range(count):
            w.u[k] = w.z[k] + w.d[k]
        _back_substituted(count, w.R, w.u)
        least, which = 0.0, -1
        for k in range(count):
            if w.u[k] < least:
                least, which = w.u[k], k
        if which < 0:
            break
        w.side[int(w.active[which])] = 0
        dropped(n, count, which, w)
        count -= 1
        for i in range(which, count + 1):
            w.d[i] = _product(n, w.J, i, g)
    for j in range(n):
        w.x[j] = 0.0
    for i in range(n):
        factor = w.z[i] if i < count else -w.d[i]
        for j in range(n):
            w.x[j] += factor * w.J[i, j]
    for i in range(m):
        w.slack[i] = w.base[i]
    for k in range(n):
        for i in range(m):
            w.slack[i] += w.x[k] * w.C[k, i]
    return count
