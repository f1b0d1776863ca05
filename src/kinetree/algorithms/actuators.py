"""Actuators: from controls and activations to forces.

    f = gain(ℓ, ℓ̇) u + bias(ℓ, ℓ̇),    gain and bias  c0 + c1 ℓ + c2 ℓ̇

u is the control, or the activation w of an actuator that has dynamics: of an integrator ẇ = u, of a filter
ẇ = (u - w) / T. Controls and forces stay in their ranges.

Source: MuJoCo documentation, "Computation", section on actuation; version 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from kinetree.expr import Scalar, exp, floor, is_zero, less, less_equal, maximum, minimum, select
from kinetree.records import record

__all__ = [
    "ActuatorLaw",
    "activation_rate",
    "actuator_force",
    "actuator_slopes",
    "is_within",
    "next_activation",
    "remaining_slope",
    "shared_out",
    "within_range",
]

Range = tuple[Scalar, Scalar] | None
"""Smallest and largest value; None: unlimited."""
Three = tuple[Scalar, Scalar, Scalar]
Dynamics = Literal["none", "integrator", "filter", "filterexact", "muscle"]
"""How activations change; muscles.py has those of muscles."""

_SHORTEST = 1e-15
_EASIER = 4.0
"""How much more easily a length may move than in the reference configuration."""


@record(frozen=True, slots=True)
class ActuatorLaw:
    """How an actuator's force follows from its control, its activation, its length and velocity."""

    gain: Three = (1.0, 0.0, 0.0)
    """Constant, per length, per velocity."""
    bias: Three = (0.0, 0.0, 0.0)
    dynamics: Dynamics = "none"
    time_constant: float = 1.0
    """T of a filter, s."""
    control_range: Range = None
    activation_range: Range = None
    force_range: Range = None
    acts_early: bool = False
    """Whether the force follows from the activation at the end of a time step."""
    period: float = 0.0
    """Lengths that differ by it are the same place, so that a servo goes to the nearest; 0: not periodic."""


def within_range(x: Scalar, limits: Range) -> Scalar:
    """The nearest number within a range; NaN of NaN."""
    return x if limits is None else minimum(maximum(x, limits[0]), limits[1])


def activation_rate(law: ActuatorLaw, control: Scalar, activation: Scalar) -> Scalar:
    """ẇ; of an actuator without dynamics zero."""
    u = within_range(control, law.control_range)
    if law.dynamics == "none":
        return 0.0
    return u if law.dynamics == "integrator" else (u - activation) * (1.0 / max(law.time_constant, _SHORTEST))


def next_activation(law: ActuatorLaw, activation: Scalar, rate: Scalar, dt: Scalar) -> Scalar:
    """The activation after a time step, from its rate at the beginning; exact for an exact filter."""
    if law.dynamics == "filterexact":
        T = max(law.time_constant, _SHORTEST)
        later = activation + rate * (T * (1.0 - exp(-(dt * (1.0 / T)))))
    else:
        later = activation + rate * dt
    return within_range(later, law.activation_range)


def actuator_force(
    law: ActuatorLaw, control: Scalar, activation: Scalar, length: Scalar, velocity: Scalar, dt: Scalar
) -> Scalar:
    """The force along the length, before it is limited; dt is the time step of actuators that act early."""
    u = _input(law, control, activation, dt)
    if law.period:
        u = u - law.period * floor((u - length) * (1.0 / law.period) + 0.5)
    return _affine(law.gain, length, velocity) * u + _affine(law.bias, length, velocity)


def actuator_slopes(law: ActuatorLaw, control: Scalar, activation: Scalar, dt: Scalar) -> tuple[Scalar, Scalar]:
    """-∂f/∂ℓ̇ and -∂f/∂ℓ of the force along the length, before it is limited."""
    u = _input(law, control, activation, dt)
    damping, stiffness = (-law.bias[k] if is_zero(law.gain[k]) else -law.gain[k] * u - law.bias[k] for k in (2, 1))
    return damping, stiffness


def is_within(x: Scalar, limits: Range) -> Scalar:
    """1 for a number between the ends of a range, 0 at the ends and beyond."""
    return 1.0 if limits is None else less(limits[0], x) * less(x, limits[1])


def remaining_slope(unlimited: Scalar, limits: Range, inertia: Scalar, ease: Scalar) -> Scalar:
    """The part of its slopes that a force keeps in a step at whose end it acts: 1 within its limits.

    Beyond, it is that of the line to where the force is zero, limit / force, if the step may take the force below the
    limit, and otherwise 0: a force that stays at its limit for the whole step overshoots, without bound if its load is
    light. `inertia`: h times damping and h² times stiffness of the force; `ease`: accelerations per force.
    """
    if limits is None:
        return 1.0
    low, high = limits
    size: Scalar = 1.0
    brakes_below, brakes_above = less(low, 0.0), less(0.0, high)
    for limit, may_brake in ((low, brakes_below), (high, brakes_above)):
        if not is_zero(may_brake):
            size = maximum(size, select(may_brake, unlimited * (1.0 / select(may_brake, limit, 1.0)), 1.0))
    stays = less_equal(size, 1.0 + _EASIER * ease * inertia)
    if not is_zero(1.0 - brakes_below):
        stays = stays * select(brakes_below, 1.0, less(low, unlimited))
    if not is_zero(1.0 - brakes_above):
        stays = stays * select(brakes_above, 1.0, less(unlimited, high))
    part: Scalar = select(stays, 1.0 / size, 0.0)
    return part


def _input(law: ActuatorLaw, control: Scalar, activation: Scalar, dt: Scalar) -> Scalar:
    """u: the control, or the activation, at the end of the time step if the actuator acts early."""
    if law.dynamics == "none":
        return within_range(control, law.control_range)
    if law.acts_early:
        return next_activation(law, activation, activation_rate(law, control, activation), dt)
    return activation


def shared_out(forces: Sequence[Scalar], limits: Range) -> list[Scalar]:
    """Forces along one tendon, made smaller by a common factor where their sum is outside its range, which has zero."""
    if limits is None:
        return list(forces)
    total: Scalar = 0.0
    for f in forces:
        total = total + f
    low, high = less(total, limits[0]), less(limits[1], total)
    below, above = select(low, total, 1.0), select(high, total, 1.0)
    factor = select(low, limits[0] / below, select(high, limits[1] / above, 1.0))
    return [f * factor for f in forces]


def _affine(c: Three, length: Scalar, velocity: Scalar) -> Scalar:
    value: Scalar = c[0]
    for factor, x in ((c[1], length), (c[2], velocity)):
        if not is_zero(factor):
            value = value + factor * x
    return value
