"""How hard a constraint pushes at the end of a step of length h, if it gives way as little as a solver allows.

    f = -x / R,    x = J a - a_ref,    a_ref = (v̂ - v) / h,    R = w / 1000

with w the approximate inverse inertia that the row moves: at the end of the step the row has the velocity v̂, to a
thousandth of the free motion. It takes back violations, in the time τ_d and at most at some speed:

    v̂ = -φ / (h + τ_d)

A row that pushes to one side may look ahead as well: a body that would pass its place within the step arrives there,
with v̂ = -φ / h, or bounces by Newton's law, with v̂ = -e v. Rigid contacts are such rows, whose R then vanishes in
rounds (rigid_contact.py), as are the limits, dry friction and couplings together with compliant ones.

Source: Castro, Permenter and Han, "An Unconstrained Convex Formulation of Compliant Contact", IEEE Transactions on
Robotics 39 (2023), arXiv 2110.10107, section V, for rows with a regularisation that is a part of w.
"""

from __future__ import annotations

from kinetree.expr import Scalar, less, maximum, minimum, select
from kinetree.records import record

__all__ = ["SHARE", "NearRigid"]

SHARE = 1e-3
"""R of a near-rigid row, relative to w."""
_LEAST = 1e-15


@record(frozen=True, slots=True)
class NearRigid:
    """A row that gives way by no more than a thousandth of the free motion."""

    step: Scalar
    dissipation: float
    inverse_inertia: Scalar
    fastest: float
    """The largest speed at which a violation is corrected, m/s or rad/s."""
    restitution: float = 0.0
    """e."""
    reach: float = 0.0
    """How far it looks ahead."""
    rounds: int = 0
    """How often friction is found at most (rigid_contact.py); 0 if the row is not a rigid contact."""
    tolerance: float = 0.0
    """The residual at which that ends, m/s."""

    def acts(self, r: Scalar) -> Scalar:
        """Whether a violation r counts, or is near enough to be looked at."""
        there: Scalar = less(r, self.reach)
        return there

    def at(self, _: Scalar) -> Scalar:
        """A row of this kind has no impedance."""
        return 1.0

    def regularisation(self, _: Scalar, *, has_spring: bool = True) -> Scalar:  # noqa: ARG002
        """R."""
        R: Scalar = maximum(SHARE * self.inverse_inertia, _LEAST)
        return R

    def acceleration(self, rate: Scalar, _: Scalar, r: Scalar) -> Scalar:
        """a_ref, from the rate v and the violation φ before the step."""
        h = self.step
        target = -r / (h + self.dissipation)
        target = maximum(minimum(target, self.fastest), -self.fastest)
        if self.reach:
            target = select(less(0.0, r), -r / h, target)
        if self.restitution:
            meets = less(r + h * rate, 0.0)
            target = select(meets, maximum(target, -(self.restitution * rate)), target)
        a_ref: Scalar = (target - rate) / h
        return a_ref

    @property
    def damping(self) -> Scalar:
        """The decrease of a_ref per unit of the rate."""
        return 1.0 / self.step

    def slowing(self, rate: Scalar) -> Scalar:
        """a_ref of a row that has no spring: of friction."""
        return -(self.damping * rate)
