"""The active rows of a dual active-set method, and their factors.

Source: D. Goldfarb, A. Idnani, Mathematical Programming 27 (1983), with its names: H = L Lᵀ, J = L⁻ᵀ Q, N = the active
rows, R their triangular factor, z the direction of the primal step, r that of the dual one. Columns of J and R are rows
of `J` and `R` here, next to each other in memory; a reflection, not rotations, takes a new row in.
"""

from __future__ import annotations

from math import sqrt

from kinetree.codegen.loops.kinds import Floats, Indices

__all__ = ["directions", "dropped", "product", "restored", "slack_of", "taken_in"]


def product(count: int, J: Floats, row: int, v: Floats) -> float:
    """The first `count` terms of the product of a row and a vector, in four sums."""
    a, b, c, e = 0.0, 0.0, 0.0, 0.0
    whole = count - count % 4
    for k in range(0, whole, 4):
        a += J[row, k] * v[k]
        b += J[row, k + 1] * v[k + 1]
        c += J[row, k + 2] * v[k + 2]
        e += J[row, k + 3] * v[k + 3]
    for k in range(whole, count):
        a += J[row, k] * v[k]
    return (a + b) + (c + e)


def slack_of(n: int, m: int, x: Floats, C: Floats, base: Floats, slack: Floats) -> None:
    """The values of all rows, base + Cᵀ x."""
    for i in range(m):
        slack[i] = base[i]
    for k in range(n):
        for i in range(m):
            slack[i] += x[k] * C[k, i]


def directions(
    n: int, count: int, new: int, sign: float, C: Floats, J: Floats, R: Floats, d: Floats, z: Floats, r: Floats
) -> tuple[float, float]:  # fmt: skip
    """d = Jᵀ n, z = J₂ d₂ and r = R⁻¹ d₁; returns |d|² and |d₂|² = zᵀ n."""
    for k in range(n):
        r[k] = sign * C[k, new]
        z[k] = 0.0
    whole, outside = 0.0, 0.0
    for i in range(n):
        d[i] = product(n, J, i, r)
        whole += d[i] * d[i]
        if i >= count:
            outside += d[i] * d[i]
            for j in range(n):
                z[j] += d[i] * J[i, j]
    for k in range(count):
        r[k] = d[k]
    _back_substituted(count, R, r)
    return whole, outside


def _back_substituted(count: int, R: Floats, r: Floats) -> None:
    for back in range(count):
        k = count - 1 - back
        r[k] = r[k] / R[k, k]
        for i in range(k):
            r[i] -= r[k] * R[k, i]


def taken_in(n: int, count: int, J: Floats, R: Floats, d: Floats, z: Floats) -> None:
    """A new active row: a reflection turns the part d₂ of d into one number, which ends its column of R."""
    square = 0.0
    for i in range(count, n):
        square += d[i] * d[i]
    size = sqrt(square)
    end = -size if d[count] > 0.0 else size
    for i in range(count):
        R[count, i] = d[i]
    R[count, count] = end
    if square == d[count] * d[count]:  # nothing is left to turn
        for j in range(n):
            J[count, j] *= -1.0
        return
    scale = 1.0 / (end * (end - d[count]))  # 2 over the square of d₂ − end e₁
    for j in range(n):
        z[j] -= end * J[count, j]
    for i in range(count, n):
        factor = scale * (d[i] - end if i == count else d[i])
        for j in range(n):
            J[i, j] -= factor * z[j]


def dropped(n: int, count: int, which: int, J: Floats, R: Floats, u: Floats, active: Indices) -> None:
    """An active row less: rotations make R triangular again."""
    for k in range(which, count - 1):
        for i in range(k + 2):
            R[k, i] = R[k + 1, i]
        u[k] = u[k + 1]
        active[k] = int(active[k + 1])
    for k in range(which, count - 1):
        a, b = R[k, k], R[k, k + 1]
        size = sqrt(a * a + b * b)
        c, s = a / size, b / size
        R[k, k], R[k, k + 1] = size, 0.0
        for j in range(k + 1, count - 1):
            upper, lower = R[j, k], R[j, k + 1]
            R[j, k], R[j, k + 1] = c * upper + s * lower, c * lower - s * upper
        for j in range(n):
            first, second = J[k, j], J[k + 1, j]
            J[k, j], J[k + 1, j] = c * first + s * second, c * second - s * first


def restored(
    n: int, m: int, count: int, g: Floats, C: Floats, lower: Floats, upper: Floats, base: Floats,
    x: Floats, slack: Floats, J: Floats, R: Floats, d: Floats, z: Floats, u: Floats, active: Indices, side: Indices,
) -> int:  # fmt: skip
    """The minimum for another g where the rows that are active still are; those it would pull away from are dropped.

    With y = J⁻¹ x it is R₁ᵀ y₁ = the bounds, y₂ = −d₂, and R u = y₁ + d₁, where d = Jᵀ g. Returns how many rows are
    active then.
    """
    for i in range(n):
        d[i] = product(n, J, i, g)
    while True:
        for k in range(count):
            row = int(active[k])
            total = lower[row] - base[row] if int(side[row]) == 1 else base[row] - upper[row]
            for i in range(k):
                total -= R[k, i] * z[i]
            z[k] = total / R[k, k]
        for k in range(count):
            u[k] = z[k] + d[k]
        _back_substituted(count, R, u)
        least, which = 0.0, -1
        for k in range(count):
            if u[k] < least:
                least, which = u[k], k
        if which < 0:
            break
        side[int(active[which])] = 0
        dropped(n, count, which, J, R, u, active)
        count -= 1
        for i in range(which, count + 1):
            d[i] = product(n, J, i, g)
    for j in range(n):
        x[j] = 0.0
    for i in range(n):
        factor = z[i] if i < count else -d[i]
        for j in range(n):
            x[j] += factor * J[i, j]
    slack_of(n, m, x, C, base, slack)
    return count
