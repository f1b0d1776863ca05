"""How hard a contact pushes at the end of a step of length h, in physical units.

A contact pushes by its remaining violation φ' = φ + h v' and by its rate v' then, as a spring and damper:

    γ = h max(0, -k φ' - τ_d k v') = max(0, (v̂ - v') / R),    v̂ = -φ / (h + τ_d),    1 / R = h k (h + τ_d)

for the impulse γ = h f. With v' = v + h J a that is a row of the convex problem (convex_dynamics.py), whose
regularisation is the same R:

    f = -x / R,    x = J a - a_ref,    a_ref = (v̂ - v) / h

The bound R ≥ β² w / 4π², with w the approximate inverse inertia that the row moves, leaves a contact no shorter a
period than β h, which a step can resolve. Other rows of such a robot are near-rigid (near_rigid.py).

Source: Castro, Permenter and Han, "An Unconstrained Convex Formulation of Compliant Contact", IEEE Transactions on
Robotics 39 (2023), arXiv 2110.10107, sections IV and V; σ and β as there.
"""

from __future__ import annotations

from math import pi

from kinetree.expr import Scalar, less, maximum
from kinetree.records import record

__all__ = ["Compliance", "step_of"]

SIGMA = 1e-3
"""σ: R across a normal, relative to w. Sticking bodies creep at about σ h g."""
BETA = 1.0
"""β: the shortest period of a compliant contact, in steps."""
_LEAST = 1e-15
_SHORTEST = 1e-9
"""The shortest step, s: a step of no time then has a finite acceleration, and moves nothing."""


def step_of(dt: Scalar) -> Scalar:
    """The length of a step as rows take it."""
    h: Scalar = maximum(dt, _SHORTEST)
    return h


@record(frozen=True, slots=True)
class Compliance:
    """A contact of stiffness k and dissipation time τ_d."""

    step: Scalar
    """h, s."""
    stiffness: float
    """k, N/m."""
    dissipation: float
    """τ_d, s: k τ_d is a damper's coefficient."""
    inverse_inertia: Scalar
    """w."""

    def acts(self, r: Scalar) -> Scalar:
        """Whether a violation r counts."""
        there: Scalar = less(r, 0.0)
        return there

    def at(self, _: Scalar) -> Scalar:
        """A row of this kind has no impedance."""
        return 1.0

    def regularisation(self, _: Scalar, *, has_spring: bool = True) -> Scalar:  # noqa: ARG002
        """R."""
        h = self.step
        soft = 1.0 / (h * self.stiffness * (h + self.dissipation))
        R: Scalar = maximum(soft, maximum(BETA * BETA / (4.0 * pi * pi) * self.inverse_inertia, _LEAST))
        return R

    @property
    def friction_ratio(self) -> Scalar:
        """R along the normal, relative to σ w."""
        ratio: Scalar = self.regularisation(1.0) * (1.0 / maximum(SIGMA * self.inverse_inertia, _LEAST))
        return ratio

    def acceleration(self, rate: Scalar, _: Scalar, r: Scalar) -> Scalar:
        """a_ref, from the rate v and the violation φ before the step."""
        return (-r / (self.step + self.dissipation) - rate) / self.step

    @property
    def damping(self) -> Scalar:
        """The decrease of a_ref per unit of the rate."""
        return 1.0 / self.step

    def slowing(self, rate: Scalar) -> Scalar:
        """a_ref of a row that has no spring: of friction."""
        return -(self.damping * rate)
