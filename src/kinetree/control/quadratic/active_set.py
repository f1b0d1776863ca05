"""The dual active-set method of Goldfarb and Idnani: a strictly convex quadratic program under inequalities.

Source: D. Goldfarb, A. Idnani, "A numerically stable dual method for solving strictly convex quadratic programs",
Mathematical Programming 27 (1983), with its names: H = L Lᵀ, J = L⁻ᵀ Q, N = the active rows, R their triangular factor,
z the direction of the primal step, r that of the dual one. It starts at the minimum without constraints, and adds
the one that is violated most until none is. Columns of J and R are rows of `J` and `R` here, next to each other in
memory; a reflection, not rotations, takes a new row in.
"""

from __future__ import annotations

from math import sqrt

from kinetree.codegen.loops.kinds import Floats, Indices

__all__ = ["FLAT", "INFEASIBLE", "SOLVED", "TOO_MANY", "active_set"]

SOLVED, INFEASIBLE, TOO_MANY, FLAT = 0, 1, 2, 3
"""What it ends with: FLAT is a matrix H that is not positive definite."""

_INFINITE = float("inf")
_FLAT = 1e-11
"""A pivot of the factorisation, relative to the largest of the diagonal, that counts as zero."""
_DEPENDENT = 1e-14
"""The part, squared, of a row outside the active ones that counts as zero."""
_VIOLATED = 1e-11
"""The violation, relative to the bound, below which a row is satisfied."""
_TOLERATED = 1e-7
"""The same for rows that nothing can satisfy better: rounding leaves as much where rows depend on each other."""


def active_set(
    n: int, m: int, H: Floats, g: Floats, C: Floats, lower: Floats, upper: Floats,
    x: Floats, multipliers: Floats, slack: Floats, J: Floats, R: Floats, d: Floats, z: Floats, r: Floats, u: Floats,
    active: Indices, side: Indices,
) -> tuple[int, int]:  # fmt: skip
    """Minimise ½ xᵀ H x + gᵀ x where lower ≤ Cᵀ x ≤ upper; returns what it ended with, and the number of steps.

    Args:
        n, m: how many unknowns and rows there are; arrays may be larger.
        H: (n, n), overwritten by its factor.
        g: (n,).
        C: (n, m), a column per row, of length 1.
        lower, upper: (m,), infinite where there is no bound.
        x: (n,), result.
        multipliers: (m,), result: positive at upper bounds, negative at lower ones.
        slack, J, R, d, z, r, u, active, side: (m,), (n, n) twice, (n,) five times, (m,), for what is in between.
    """
    if not _factored(n, H, J):
        return FLAT, 0
    for i in range(n):
        d[i] = _product(i + 1, J, i, g)
        x[i] = 0.0
    for i in range(n):
        for j in range(i + 1):
            x[j] -= d[i] * J[i, j]
    for i in range(m):
        slack[i] = 0.0
        side[i] = 0
        multipliers[i] = 0.0
    for k in range(n):
        for i in range(m):
            slack[i] += x[k] * C[k, i]
    count, steps, most, ended = 0, 0, 10 * (n + m) + 50, -1
    while ended < 0:
        new, is_lower, violation = _most_violated(m, slack, lower, upper, side)
        if new < 0:
            ended = SOLVED
            break
        sign = 1.0 if is_lower else -1.0
        given = 0.0  # the new row's multiplier
        while True:
            steps += 1
            if steps > most:
                ended = TOO_MANY
                break
            whole, outside = _directions(n, count, new, sign, C, J, R, d, z, r)
            can_move = outside > _DEPENDENT * whole and count < n
            length, blocking = _INFINITE, -1
            for k in range(count):
                if r[k] > 0.0 and u[k] < length * r[k]:
                    length, blocking = u[k] / r[k], k
            if can_move and violation <= length * outside:
                length, blocking = violation / outside, -1
            elif blocking < 0:
                bound = lower[new] if is_lower else upper[new]
                if violation <= _TOLERATED * (1.0 + abs(bound)):
                    side[new] = 2
                else:
                    ended = INFEASIBLE
                break
            for k in range(count):
                u[k] -= length * r[k]
            given += length
            if can_move:
                violation -= length * outside
                for k in range(n):
                    x[k] += length * z[k]
                for k in range(n):
                    for i in range(m):
                        slack[i] += length * z[k] * C[k, i]
            if blocking < 0:
                _taken_in(n, count, J, R, d, z)
                u[count] = given
                active[count] = new
                side[new] = 1 if is_lower else -1
                count += 1
                break
            side[int(active[blocking])] = 0
            _dropped(n, count, blocking, J, R, u, active)
            count -= 1
    for k in range(count):
        i = int(active[k])
        multipliers[i] = -u[k] if int(side[i]) == 1 else u[k]
    return ended, steps


def _product(count: int, J: Floats, row: int, v: Floats) -> float:
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


def _factored(n: int, H: Floats, J: Floats) -> bool:
    """H = Uᵀ U, with U in its place, and U⁻ᵀ in J; False if it is not positive definite."""
    largest = 0.0
    for k in range(n):
        largest = max(largest, H[k, k])
    for k in range(n):
        pivot = H[k, k]
        if not pivot > _FLAT * largest:
            return False
        scale = 1.0 / sqrt(pivot)
        for j in range(k, n):
            H[k, j] *= scale
        for i in range(k + 1, n):
            factor = H[k, i]
            for j in range(i, n):
                H[i, j] -= factor * H[k, j]
    for i in range(n):
        for j in range(n):
            J[i, j] = 0.0
        J[i, i] = 1.0
        for k in range(i):
            factor = H[k, i]
            for j in range(k + 1):
                J[i, j] -= factor * J[k, j]
        scale = 1.0 / H[i, i]
        for j in range(i + 1):
            J[i, j] *= scale
    return True


def _most_violated(
    m: int, slack: Floats, lower: Floats, upper: Floats, side: Indices
) -> tuple[int, bool, float]:  # fmt: skip
    """The row that is violated most, relative to its bound: its index (−1 for none), at which bound, by how much."""
    row, is_lower, violation, worst = -1, False, 0.0, _VIOLATED
    for i in range(m):
        if int(side[i]) == 0:
            below, above = lower[i] - slack[i], slack[i] - upper[i]
            if below > worst * (1.0 + abs(lower[i])):
                row, is_lower, violation, worst = i, True, below, below / (1.0 + abs(lower[i]))
            if above > worst * (1.0 + abs(upper[i])):
                row, is_lower, violation, worst = i, False, above, above / (1.0 + abs(upper[i]))
    return row, is_lower, violation


def _directions(
    n: int, count: int, new: int, sign: float, C: Floats, J: Floats, R: Floats, d: Floats, z: Floats, r: Floats
) -> tuple[float, float]:  # fmt: skip
    """d = Jᵀ n, z = J₂ d₂ and r = R⁻¹ d₁; returns |d|² and |d₂|² = zᵀ n."""
    for k in range(n):
        r[k] = sign * C[k, new]
        z[k] = 0.0
    whole, outside = 0.0, 0.0
    for i in range(n):
        d[i] = _product(n, J, i, r)
        whole += d[i] * d[i]
        if i >= count:
            outside += d[i] * d[i]
            for j in range(n):
                z[j] += d[i] * J[i, j]
    for k in range(count):
        r[k] = d[k]
    for back in range(count):
        k = count - 1 - back
        r[k] = r[k] / R[k, k]
        for i in range(k):
            r[i] -= r[k] * R[k, i]
    return whole, outside


def _taken_in(n: int, count: int, J: Floats, R: Floats, d: Floats, z: Floats) -> None:
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


def _dropped(n: int, count: int, which: int, J: Floats, R: Floats, u: Floats, active: Indices) -> None:
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
