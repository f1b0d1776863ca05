"""How hard a constraint pushes: from a violation to the reference acceleration and the regularisation of its row.

    a_ref = -B ẋ - K d(r) r,    R = (1 - d) / d · A,    D = 1 / R

r is the violation (negative where a limit or a surface is passed), ẋ its rate, A the approximate inverse inertia that
the row moves, and d the impedance, which rises from d₀ at r = 0 to d_w at the width w. K and B follow from a time
constant and a damping ratio, or are given.

A row that acts at the end of a step of h has ẋ + h J a and r + h ẋ + h² J a in place of ẋ and r:

    f = -D (1 + h B + h² K d) (J a - a_ref),    a_ref = -(B ẋ + K d (r + h ẋ)) / (1 + h B + h² K d)

Source: MuJoCo documentation, "Computation", section on the parameters of constraints; version 4.
"""

from __future__ import annotations

from dataclasses import replace

from kinetree.expr import Scalar, absolute, exp, is_zero, less, less_equal, log, maximum, select
from kinetree.records import record

__all__ = ["Softness"]

_LEAST = 1e-15
"""The smallest regularisation, and the smallest width and stiffness that count."""
_TINY = 1e-300
_HARDEST = 0.9999
"""The largest impedance of a row at the end of a step."""


@record(frozen=True, slots=True)
class Softness:
    """The parameters of a row."""

    reference: tuple[Scalar, Scalar]
    """Time constant (s) and damping ratio; or, both negative, stiffness and damping with the opposite sign."""
    impedance: tuple[Scalar, Scalar, Scalar, Scalar, Scalar]
    """d₀, d_w, w (the unit of the violation), midpoint, power."""
    inverse_inertia: Scalar
    """A."""
    period: Scalar = 0.0
    """The shortest time constant, s: twice the time step, where that is enforced."""
    step: Scalar = 0.0
    """The length of the step at whose end the row acts, s; 0: it acts at once."""

    def at_the_end_of(self, step: Scalar, gives_way: bool) -> Softness:
        """The row as it acts at the end of a step; one that gives way, of a contact or a limit, must not rebound.

        With T ζ = h, a body that entered within one step is out after the next one, and at rest.
        """
        ratio = self.reference[1]
        shortest: Scalar = 0.0
        if gives_way and not is_zero(self.period):
            has_time = less(0.0, ratio)
            shortest = select(has_time, step / select(has_time, ratio, 1.0), 0.0)
        return replace(self, period=shortest, step=step)

    def softer(self, times: float) -> Softness:
        """The same with a time constant and a width so many times as long, and so many times the regularisation."""
        time, ratio = self.reference
        d_0, d_w, width, midpoint, power = self.impedance
        reference = (
            select(less(0.0, time), time * times, time / (times * times)),
            select(less(0.0, ratio), ratio, ratio / times),
        )
        d_0, d_w = (d / (d + times * (1.0 - d)) for d in (d_0, d_w))
        return replace(self, reference=reference, impedance=(d_0, d_w, width * times, midpoint, power))

    def acts(self, r: Scalar) -> Scalar:
        """Whether a violation r counts."""
        there: Scalar = less(r, 0.0)
        return there

    def at(self, r: Scalar) -> Scalar:
        """The impedance d(r)."""
        d_0, d_w, width, midpoint, power = self.impedance
        narrow = less_equal(width, _LEAST)
        middle = 0.5 * (d_0 + d_w)
        if isinstance(d_0, float) and d_0 == d_w:
            return middle
        x = absolute(r) * (1.0 / select(narrow, 1.0, width))
        if isinstance(power, float) and power == 1.0:
            y = x
        else:
            rising = _power(x, power) * (1.0 / _power(midpoint, power - 1.0))
            falling = 1.0 - _power(maximum(1.0 - x, 0.0), power) * (1.0 / _power(1.0 - midpoint, power - 1.0))
            y = select(less_equal(x, midpoint), rising, falling)
        d: Scalar = select(narrow, middle, select(less(x, 1.0), d_0 + y * (d_w - d_0), d_w))
        return d

    def regularisation(self, d: Scalar, *, has_spring: bool = True) -> Scalar:
        """R, from the impedance."""
        R: Scalar = (1.0 - d) / d * self.inverse_inertia
        least: Scalar = _LEAST
        if not is_zero(self.step):
            R = R / self._lasting(d if has_spring else 0.0)
            least = (1.0 - _HARDEST) / _HARDEST * self.inverse_inertia
        result: Scalar = maximum(R, least)
        return result

    def acceleration(self, rate: Scalar, d: Scalar, r: Scalar) -> Scalar:
        """a_ref."""
        if is_zero(self.step):
            return -(self.damping * rate) - self.stiffness * d * r
        K = self.stiffness * d
        return -((self.damping + self.step * K) * rate + K * r) / self._lasting(d)

    def slowing(self, rate: Scalar) -> Scalar:
        """a_ref of a row that has no spring: of friction."""
        return -(self.damping * rate) if is_zero(self.step) else -(self.damping * rate) / self._lasting(0.0)

    def _lasting(self, d: Scalar) -> Scalar:
        """1 + h B + h² K d: how much more a row resists an acceleration that lasts for the step."""
        return 1.0 + self.step * (self.damping + self.step * (self.stiffness * d))

    @property
    def stiffness(self) -> Scalar:
        """K."""
        time, ratio = self.reference
        d_w = self.impedance[1]
        root = d_w * ratio * maximum(time, self.period)
        K: Scalar = select(less(0.0, time), 1.0 / maximum(root * root, _LEAST), -time / maximum(_LEAST, d_w * d_w))
        return K

    @property
    def damping(self) -> Scalar:
        """B."""
        time, ratio = self.reference
        d_w = self.impedance[1]
        by_time = 2.0 / maximum(d_w * maximum(time, self.period), _LEAST)
        B: Scalar = select(less(0.0, ratio), by_time, -ratio / maximum(_LEAST, d_w))
        return B


def _power(x: Scalar, power: Scalar) -> Scalar:
    """x to a power, for x from 0 on."""
    if isinstance(power, float) and power == int(power) and power <= 8.0:
        y: Scalar = 1.0
        for _ in range(int(power)):
            y = y * x
        return y
    result: Scalar = select(less(_TINY, x), exp(power * log(maximum(x, _TINY))), 0.0)
    return result
