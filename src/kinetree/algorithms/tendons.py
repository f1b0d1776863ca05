"""Springs and dampers along tendons.

    f = -k(x) x - d(|ℓ̇|) ℓ̇,    k(x) = k1 + k2 x + k3 x²,    d(s) = d1 + d2 s + d3 s²

x is how far the length ℓ is outside the lengths at which the spring is slack.

Source: MuJoCo documentation, "XML Reference", section on tendons; version 4.
"""

from __future__ import annotations

from kinetree.expr import Scalar, absolute, less, maximum, minimum
from kinetree.records import record

__all__ = ["TendonLaw", "tendon_energy", "tendon_force", "tendon_slopes"]

Cubic = tuple[float, float, float]


@record(frozen=True, slots=True)
class TendonLaw:
    """The spring and the damper of a tendon."""

    stiffness: Cubic = (0.0, 0.0, 0.0)
    slack: tuple[float, float] = (0.0, 0.0)
    """The smallest and the largest length at which the spring exerts no force."""
    damping: Cubic = (0.0, 0.0, 0.0)


def tendon_force(law: TendonLaw, length: Scalar, velocity: Scalar) -> Scalar:
    """The force along the length."""
    force: Scalar = 0.0
    if any(law.stiffness):
        x = _stretch(law, length)
        force = force - _cubic(law.stiffness, x) * x
    if any(law.damping):
        force = force - _cubic(law.damping, absolute(velocity)) * velocity
    return force


def tendon_energy(law: TendonLaw, length: Scalar) -> Scalar:
    """The energy of the spring, k1 x²/2 + k2 x³/3 + k3 x⁴/4."""
    if not any(law.stiffness):
        return 0.0
    x = _stretch(law, length)
    a, b, c = law.stiffness
    return _cubic((a / 2.0, b / 3.0, c / 4.0), x) * x * x


def _stretch(law: TendonLaw, length: Scalar) -> Scalar:
    """How far the length is outside the lengths at which the spring is slack."""
    stretch: Scalar = maximum(length - law.slack[1], 0.0) + minimum(length - law.slack[0], 0.0)
    return stretch


def tendon_slopes(law: TendonLaw, length: Scalar, velocity: Scalar) -> tuple[Scalar, Scalar]:
    """-∂f/∂ℓ̇ and -∂f/∂ℓ."""
    damping: Scalar = 0.0
    stiffness: Scalar = 0.0
    if any(law.damping):
        d1, d2, d3 = law.damping
        damping = _cubic((d1, 2.0 * d2, 3.0 * d3), absolute(velocity))
    if any(law.stiffness):
        low, high = law.slack
        k1, k2, k3 = law.stiffness
        is_out = maximum(less(length, low), less(high, length))
        stiffness = is_out * _cubic((k1, 2.0 * k2, 3.0 * k3), _stretch(law, length))
    return damping, stiffness


def _cubic(c: Cubic, x: Scalar) -> Scalar:
    value: Scalar = c[0]
    if c[1] or c[2]:
        value = value + (c[1] + c[2] * x) * x
    return value
