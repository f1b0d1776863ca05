"""Conditions of rigid contacts with Coulomb's friction, and how well forces satisfy them.

    K ∋ f  ⊥  y + Φ(y) ∈ K*,    y = J a - a_ref,    K = {f: ‖f_j / μ_j‖ ≤ f_n},    Φ(y) = ‖μ_j y_j‖ along the normal

Without De Saxcé's shift Φ these are the conditions of a convex problem, in which contacts that slide at y_t lift off at
y_n = ‖μ_j y_j‖. With it they slide along the surface. Other rows have their own sets K and no shift. The residual is
measured apart for the normal and across it, with the inverse inertias w as units, so that no friction hides a velocity
into the surface:

    h |min(y_n, w f_n)|,    h |w_j f_j - Π(w_j f_j - y_j)|,  m/s or rad/s

where Π makes w_j f_j no longer than friction allows, ‖f_j / μ_j‖ ≤ f_n. Other rows have h |w f - Π_K(w f - y)|. The
natural map of K itself shrinks as 1 / μ for a body that falls through the surface.

Sources: Alart and Curnier, "A mixed formulation for frictional contact problems prone to Newton like solution methods",
Computer Methods in Applied Mechanics and Engineering 92 (1991); De Saxcé and Feng, "The bipotential method",
Mathematical and Computer Modelling 28 (1998); Acary, Cadoux, Lemaréchal and Malick, "A formulation of the linear
discrete Coulomb friction problem via convex optimization", ZAMM 91 (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kinetree.algorithms.convex_dynamics import Block
from kinetree.algorithms.near_rigid import SHARE
from kinetree.algorithms.row_costs import DryFriction, EllipticCone, Equality, OneSided, Response, RowCost
from kinetree.expr import Scalar, absolute, less, maximum, minimum, select, sqrt
from kinetree.records import record

__all__ = [
    "Numbers",
    "RigidContact",
    "away",
    "flat",
    "inertias",
    "inverse",
    "projected",
    "residual",
    "shift",
    "split",
    "weights",
    "yielding",
]

Numbers = Sequence[Sequence[Scalar]]
"""One per row of each block."""

_TINY = 1e-30
"""Below this, a squared tangential value counts as none."""


@record(frozen=True, slots=True)
class RigidContact:
    """A contact that gives way only as a solver needs it, with Coulomb's friction if its cost has friction."""

    cost: EllipticCone | OneSided
    """With D = 1 / (SHARE w)."""
    step: Scalar
    """h, s."""
    rounds: int
    """How often the shift is found at most."""
    tolerance: float
    """The residual at which that ends, m/s."""

    @property
    def size(self) -> int:
        return self.cost.size

    @property
    def pattern(self) -> Sequence[tuple[int, int]]:
        return self.cost.pattern

    def at(self, x: Sequence[Scalar]) -> Response:
        return self.cost.at(x)


def away(blocks: Sequence[Block], a: Sequence[Scalar], f: Numbers | None = None) -> list[list[Scalar]]:
    """y = J a - a_ref; and R f more for rows that give way, which are all but those of rigid contacts."""
    values = []
    for k, block in enumerate(blocks):
        rows = []
        R = yielding(block.cost)
        for r, (row, reference) in enumerate(zip(block.J, block.reference, strict=True)):
            total: Scalar = -reference if f is None else R[r] * f[k][r] - reference
            for j, a_k in zip(row, a, strict=True):
                total = total + j * a_k
            rows.append(total)
        values.append(rows)
    return values


def shift(cost: RowCost, y: Sequence[Scalar], f: Sequence[Scalar] | None = None) -> Scalar:
    """Φ(y) along the first row, for rigid contacts with friction; with forces, as friction brakes it."""
    if not isinstance(cost, RigidContact) or isinstance(cost.cost, OneSided):
        return 0.0
    squared: Scalar = 0.0
    for mu, y_j in zip(cost.cost.friction, y[1:], strict=True):
        squared = squared + (mu * y_j) * (mu * y_j)
    slides = less(_TINY, squared)
    value: Scalar = select(slides, sqrt(select(slides, squared, 1.0)), 0.0)
    if f is not None:
        value = maximum(0.0, value + cost.cost.friction[0] * cost.cost.friction[0] * _unmet_normal(cost, y, f))
    return value


def weights(cost: RowCost) -> Sequence[Scalar]:
    """D of each row."""
    if isinstance(cost, RigidContact):
        return weights(cost.cost)
    if isinstance(cost, EllipticCone | Equality):
        return cost.D
    assert isinstance(cost, OneSided | DryFriction), "near-rigid rows have no pyramids"
    return [cost.D]


def yielding(cost: RowCost) -> list[Scalar]:
    """R of each row, 0 for rigid contacts."""
    if isinstance(cost, RigidContact):
        return [0.0] * cost.size
    return [inverse(d) for d in weights(cost)]


def inertias(cost: RowCost) -> list[Scalar]:
    """w of each row, 0 for absent rows."""
    return [inverse(SHARE * d) for d in weights(cost)]


def projected(cost: RowCost, x: Sequence[Scalar]) -> Sequence[Scalar]:
    """Π_K(-x / w)."""
    if isinstance(cost, RigidContact):
        return projected(cost.cost, x)
    D = [SHARE * d for d in weights(cost)]
    if isinstance(cost, EllipticCone | Equality):
        return replace(cost, D=D).at(x).force
    assert isinstance(cost, OneSided | DryFriction)
    return replace(cost, D=D[0]).at(x).force


def residual(blocks: Sequence[Block], f: Numbers, y: Numbers) -> Scalar:
    """The largest violation of the conditions, as an acceleration."""
    worst: Scalar = 0.0
    for block, f_b, y_b in zip(blocks, f, y, strict=True):
        for violation in _unmet(block.cost, f_b, y_b):
            worst = maximum(worst, absolute(violation))
    return worst


def _unmet(cost: RowCost, f: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
    """w (f - Π(f - y / w)) of each row."""
    w = inertias(cost)
    freed = [w_k * f_k - y_k for w_k, f_k, y_k in zip(w, f, y, strict=True)]
    if not isinstance(cost, RigidContact):
        allowed = projected(cost, [-x for x in freed])
        return [w_k * (f_k - g_k) for w_k, f_k, g_k in zip(w, f, allowed, strict=True)]
    residuals = [_unmet_normal(cost, y, f)]
    if isinstance(cost.cost, EllipticCone):
        mu = cost.cost.friction
        squared: Scalar = _TINY
        for mu_k, x in zip(mu, freed[1:], strict=True):
            squared = squared + (mu_k * x) * (mu_k * x)
        part = minimum(1.0, maximum(0.0, w[0] * f[0]) * (mu[0] * mu[0]) / sqrt(squared))
        residuals += [w_k * f_k - part * x for w_k, f_k, x in zip(w[1:], f[1:], freed[1:], strict=True)]
    return residuals


def _unmet_normal(cost: RowCost, y: Sequence[Scalar], f: Sequence[Scalar]) -> Scalar:
    """min(y, w f) along the normal: a velocity into the surface, or a force without touching."""
    residual: Scalar = minimum(y[0], inertias(cost)[0] * f[0])
    return residual


def inverse(d: Scalar) -> Scalar:
    """1 / d, or 0 for a row that is not there."""
    there = less(0.0, d)
    result: Scalar = select(there, 1.0 / select(there, d, 1.0), 0.0)
    return result


def split(blocks: Sequence[Block], numbers: Sequence[Scalar]) -> list[list[Scalar]]:
    """Numbers one after the other, per block."""
    given = iter(numbers)
    return [[next(given) for _ in block.J] for block in blocks]


def flat(numbers: Numbers) -> list[Scalar]:
    """The inverse of `split`."""
    return [x for rows in numbers for x in rows]
