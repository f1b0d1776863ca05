"""Muscles: an activation that follows the control at its own pace, and a force that depends on length and velocity.

    f = -F (w F_L(L) F_V(V) + F_P(L)),    ẇ = (u - w) / τ(u - w, w)

Length and velocity are relative to the length L₀ at which the muscle is strongest. F_L is a bump of half parabolas from
L_min to L_max with the value 1 at L = 1; F_V rises from 0 at V = -1 to 1 at V = 0 and on to its maximum; F_P is the
passive force of a stretched muscle. The time constants of a growing and of a falling activation are τ_a (½ + 3/2 w) and
τ_d / (½ + 3/2 w) (Millard and others, "Flexing computational muscle", J. Biomech. Eng. 2013).

Source: MuJoCo documentation, "Modeling", section on muscles; version 4.
"""

from __future__ import annotations

from kinetree.expr import Scalar, less, less_equal, maximum, minimum, select
from kinetree.records import record

__all__ = ["Muscle", "muscle_force", "muscle_rate"]

_TINY = 1e-15


@record(frozen=True, slots=True)
class Muscle:
    """The parameters of a muscle."""

    force: float
    """F, N."""
    lengths: tuple[float, float]
    """The smallest and the largest length of its transmission."""
    operating: tuple[float, float]
    """The same relative to L₀."""
    least: float
    """L_min"""
    most: float
    """L_max"""
    fastest: float
    """The velocity at which it has no force, in L₀ per second."""
    passive: float
    """F_P at L_max."""
    eccentric: float
    """The maximum of F_V."""
    times: tuple[float, float] = (0.01, 0.04)
    """τ_a and τ_d, s."""
    smoothing: float = 0.0
    """The width of u - w within which one time constant becomes the other."""

    @property
    def optimum(self) -> float:
        """L₀"""
        return (self.lengths[1] - self.lengths[0]) / max(self.operating[1] - self.operating[0], _TINY)


def muscle_force(muscle: Muscle, activation: Scalar, length: Scalar, velocity: Scalar) -> Scalar:
    """The force along the length, which muscles make smaller."""
    L_0 = max(muscle.optimum, _TINY)
    L = muscle.operating[0] + (length - muscle.lengths[0]) * (1.0 / L_0)
    V = velocity * (1.0 / max(muscle.optimum * muscle.fastest, _TINY))
    return -muscle.force * (activation * _bump(muscle, L) * _by_velocity(muscle, V) + _stretched(muscle, L))


def muscle_rate(muscle: Muscle, control: Scalar, activation: Scalar) -> Scalar:
    """ẇ"""
    u, w = (minimum(maximum(x, 0.0), 1.0) for x in (control, activation))
    pace = 0.5 + 1.5 * w
    rising, falling = muscle.times[0] * pace, muscle.times[1] / pace
    excess = u - activation
    if muscle.smoothing < _TINY:
        tau = select(less(0.0, excess), rising, falling)
    else:
        tau = falling + (rising - falling) * _sigmoid(excess * (1.0 / muscle.smoothing) + 0.5)
    rate: Scalar = excess / maximum(tau, _TINY)
    return rate


def _bump(muscle: Muscle, L: Scalar) -> Scalar:
    """F_L"""
    a, b = 0.5 * (muscle.least + 1.0), 0.5 * (1.0 + muscle.most)
    rising, before = _half(L - muscle.least, a - muscle.least), 1.0 - _half(1.0 - L, 1.0 - a)
    after, falling = 1.0 - _half(L - 1.0, b - 1.0), _half(muscle.most - L, muscle.most - b)
    bump = select(
        less_equal(L, a), rising, select(less_equal(L, 1.0), before, select(less_equal(L, b), after, falling))
    )
    inside: Scalar = select(less_equal(muscle.least, L) * less_equal(L, muscle.most), bump, 0.0)
    return inside


def _by_velocity(muscle: Muscle, V: Scalar) -> Scalar:
    """F_V"""
    most = muscle.eccentric
    y = most - 1.0
    lengthening = select(less_equal(V, y), most - (y - V) * (y - V) * (1.0 / max(y, _TINY)), most)
    value: Scalar = select(less_equal(V, -1.0), 0.0, select(less_equal(V, 0.0), (V + 1.0) * (V + 1.0), lengthening))
    return value


def _stretched(muscle: Muscle, L: Scalar) -> Scalar:
    """F_P: half a parabola up to (1 + L_max) / 2, and its tangent beyond."""
    width = max(0.5 * (1.0 + muscle.most) - 1.0, _TINY)
    x = (L - 1.0) * (1.0 / width)
    beyond = select(less_equal(x, 1.0), 0.5 * x * x, x - 0.5)
    force: Scalar = muscle.passive * select(less_equal(L, 1.0), 0.0, beyond)
    return force


def _half(x: Scalar, width: float) -> Scalar:
    """Half a parabola: ½ at x = width."""
    scaled = x * (1.0 / max(width, _TINY))
    return 0.5 * scaled * scaled


def _sigmoid(x: Scalar) -> Scalar:
    """From 0 at x = 0 to 1 at x = 1, with two continuous derivatives."""
    t: Scalar = minimum(maximum(x, 0.0), 1.0)
    return t * t * t * (3.0 * t * (2.0 * t - 5.0) + 10.0)
