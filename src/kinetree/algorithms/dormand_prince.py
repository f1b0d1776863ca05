"""The pair of Dormand and Prince: a step of order five, an estimate of its error, and its course in between.

    k_i = f(t + c_i h, y + h Σ a_ij k_j),    y⁺ = y + h Σ b_i k_i,    error = h Σ (b_i - b̂_i) k_i

with b̂ of order four. The last stage is at y⁺, so it is the first one of the next step. Within the step

    y(t + θ h) = y + h Σ b_i(θ) k_i

is of order four, and joins that of the next step with the same rate. On the configuration manifold y is a displacement
from the beginning of the step (displacements.py).

Sources: Dormand and Prince, "A family of embedded Runge-Kutta formulae", Journal of Computational and Applied
Mathematics 6 (1980), RK5(4)7M; Shampine, "Some practical Runge-Kutta formulas", Mathematics of Computation 46 (1986),
for b(θ).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

__all__ = ["DormandPrinceStep", "dormand_prince_between", "dormand_prince_step"]

Vector = Sequence[Any]
"""Numbers of any kind."""

_STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
"""a; the last row is b."""
_TIMES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
"""b - b̂."""
_BETWEEN = (
    (1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432),
    (0.0, 0.0, 0.0, 0.0),
    (0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799),
    (0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072),
    (0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632),
    (0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844),
    (0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423),
)
"""b_i(θ) is Σ [i][m] θ^(m + 1)."""


class DormandPrinceStep(NamedTuple):
    """A step of the pair."""

    y: Vector
    error: Vector
    rates: list[Vector]
    """k of each stage."""


def dormand_prince_step(
    rate: Callable[[float, Vector], Vector], y: Vector, h: Any, first: Vector | None = None
) -> DormandPrinceStep:
    """A step of h. `rate` gives ẏ at a fraction of the step; `first` is the one at its beginning, if it is known."""
    rates: list[Vector] = [rate(0.0, y) if first is None else first]
    at = y
    for c, row in zip(_TIMES[1:], _STAGES[1:], strict=True):
        at = [x + h * change for x, change in zip(y, _combined(row, rates), strict=True)]
        rates.append(rate(c, at))
    return DormandPrinceStep(at, [h * change for change in _combined(_ERROR, rates)], rates)


def dormand_prince_between(y: Vector, rates: Sequence[Vector], h: Any, theta: Any) -> Vector:
    """y at a fraction θ of a step from y."""
    row = [theta * (b[0] + theta * (b[1] + theta * (b[2] + theta * b[3]))) for b in _BETWEEN]
    row[1] = 0.0
    return [x + h * change for x, change in zip(y, _combined(row, rates), strict=True)]


def _combined(row: Sequence[Any], rates: Sequence[Vector]) -> list[Any]:
    """Σ row[j] rates[j]."""
    total: list[Any] = [row[0] * x for x in rates[0]]
    for c, rate in zip(row[1:], rates[1:], strict=True):
        if not isinstance(c, float) or c:
            total = [s + c * x for s, x in zip(total, rate, strict=True)]
    return total
