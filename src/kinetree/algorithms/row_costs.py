"""Costs of soft constraints: convex functions s(x) of x = J a - a_ref, whose negative slope is the constraint's force.

    row                          s(x)                                        force -s'(x)
    equality                     ½ D x²                                      -D x
    limit, contact               ½ D x² where x < 0, else 0                  -D x where x < 0, else 0
    dry friction up to f₀        ½ D x² where |x| < f₀/D, else linear        -D x, no larger than f₀
    pyramid of friction          ½ D_e (x₀ ± μ_k x_k)² for each edge with a negative value
    elliptic cone of friction    ½ Σ D_j x_j² while it sticks; ½ D_m (N - μ T)² while it slips; 0 apart

with N = μ x₀ and T² = Σ (μ_j x_j)² of the tangential rows j, and D_m = D₀ / (μ² (1 + μ²)). A row with D = 0 is not
there. All of them have continuous slopes, so that Newton's method on their sum is exact once no row changes its branch.

Source: Todorov, "Convex and analytically-invertible dynamics with contacts and constraints", ICRA 2014; MuJoCo
documentation, "Computation", section on the constraint model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from kinetree.expr import Scalar, absolute, less, maximum, minimum, select, sqrt
from kinetree.records import record

__all__ = ["DryFriction", "EllipticCone", "Equality", "OneSided", "Pyramid", "Response", "RowCost"]

_TINY = 1e-30
"""Below this, a squared tangential value counts as none."""


class Response(NamedTuple):
    """A cost, its force, and its curvature, the lower triangle row by row."""

    cost: Scalar
    force: Sequence[Scalar]
    weight: Sequence[Sequence[Scalar]]


class RowCost(Protocol):
    """The cost of a block of rows."""

    @property
    def size(self) -> int:
        """The number of rows."""
        ...

    @property
    def pattern(self) -> Sequence[tuple[int, int]]:
        """The entries of the curvature's lower triangle that may differ from zero."""
        ...

    def at(self, x: Sequence[Scalar]) -> Response:
        """Cost, force and curvature at x."""
        ...


@record(frozen=True, slots=True)
class Equality:
    """Rows that are held at their reference from both sides, each with its own D."""

    D: Sequence[Scalar]

    @property
    def size(self) -> int:
        return len(self.D)

    @property
    def pattern(self) -> Sequence[tuple[int, int]]:
        return [(k, k) for k in range(self.size)]

    def at(self, x: Sequence[Scalar]) -> Response:
        force = [-(d * x_k) for d, x_k in zip(self.D, x, strict=True)]
        cost: Scalar = 0.0
        for f, x_k in zip(force, x, strict=True):
            cost = cost - 0.5 * (f * x_k)
        return Response(cost, force, [[0.0] * k + [d] for k, d in enumerate(self.D)])


@record(frozen=True, slots=True)
class OneSided:
    """A row that only pushes: a limit, or a contact without friction."""

    D: Scalar

    @property
    def size(self) -> int:
        return 1

    @property
    def pattern(self) -> Sequence[tuple[int, int]]:
        return [(0, 0)]

    def at(self, x: Sequence[Scalar]) -> Response:
        d = select(less(x[0], 0.0), self.D, 0.0)
        force = -(d * x[0])
        return Response(-0.5 * (force * x[0]), [force], [[d]])


@record(frozen=True, slots=True)
class DryFriction:
    """A row whose force is limited to ±`loss`."""

    D: Scalar
    loss: Scalar

    @property
    def size(self) -> int:
        return 1

    @property
    def pattern(self) -> Sequence[tuple[int, int]]:
        return [(0, 0)]

    def at(self, x: Sequence[Scalar]) -> Response:
        f = self.D * x[0]
        held = less(absolute(f), self.loss)
        force = -maximum(-self.loss, minimum(f, self.loss))
        # ½ D x² where it is held, and f₀ |x| - ½ f₀² / D beyond: in both, |force| |x| less half of force² / D
        there = select(less(0.0, self.D), 1.0 / select(less(0.0, self.D), self.D, 1.0), 0.0)
        cost = absolute(force * x[0]) - 0.5 * (force * force) * there
        return Response(cost, [force], [[select(held, self.D, 0.0)]])


@record(frozen=True, slots=True)
class Pyramid:
    """A contact with friction: one row along the normal and some across it, held by the edges x₀ ± μ_k x_k."""

    D: Scalar
    """The same for each edge."""
    friction: Sequence[Scalar]
    """μ_k of each row after the first."""

    @property
    def size(self) -> int:
        return 1 + len(self.friction)

    @property
    def pattern(self) -> Sequence[tuple[int, int]]:
        return [(0, 0), *((k, j) for k in range(1, self.size) for j in (0, k))]

    def at(self, x: Sequence[Scalar]) -> Response:
        normal, *across = x
        force: list[Scalar] = [0.0]
        weight: list[list[Scalar]] = [[0.0]]
        cost: Scalar = 0.0
        for k, (mu, x_k) in enumerate(zip(self.friction, across, strict=True), 1):
            y = mu * x_k
            one, other = normal + y, normal - y
            d_one, d_other = (select(less(z, 0.0), self.D, 0.0) for z in (one, other))
            f_one, f_other = d_one * one, d_other * other
            cost = cost + 0.5 * (f_one * one + f_other * other)
            force[0] = force[0] - (f_one + f_other)
            force.append(-(mu * (f_one - f_other)))
            total = d_one + d_other
            weight[0][0] = weight[0][0] + total
            weight.append([mu * (d_one - d_other), *([0.0] * (k - 1)), mu * (mu * total)])
        return Response(cost, force, weight)


@record(frozen=True, slots=True)
class EllipticCone:
    """A contact with friction: one row along the normal and some across it, whose force stays in an elliptic cone."""

    D: Sequence[Scalar]
    """D₀, and for each row across the normal D_j = D₀ μ_j² / μ²."""
    friction: Sequence[Scalar]
    """μ_j of each row after the first."""
    slope: Scalar
    """μ: that of the cone in scaled rows, μ₁ √(D₀ / D₁)."""

    @property
    def size(self) -> int:
        return len(self.D)

    @property
    def pattern(self) -> Sequence[tuple[int, int]]:
        return [(k, j) for k in range(self.size) for j in range(k + 1)]

    def at(self, x: Sequence[Scalar]) -> Response:
        mu, scale = self.slope, [self.slope, *self.friction]
        N, *U = (s * x_k for s, x_k in zip(scale, x, strict=True))
        squared: Scalar = 0.0
        for u in U:
            squared = squared + u * u
        slides = less(_TINY, squared)
        T = select(slides, sqrt(select(slides, squared, 1.0)), 0.0)
        over_T = select(slides, 1.0 / select(slides, T, 1.0), 0.0)
        apart, sticks = less(mu * T, N), less(mu * N + T, 0.0)
        D_m = self.D[0] * (1.0 / (mu * mu * (1.0 + mu * mu)))
        gap = N - mu * T
        f = D_m * gap
        direction = [u * over_T for u in U]
        slip = [-(f * mu), *(f * mu * u * s for u, s in zip(direction, self.friction, strict=True))]
        stick = [-(d * x_k) for d, x_k in zip(self.D, x, strict=True)]
        cost_stick: Scalar = 0.0
        for f_k, x_k in zip(stick, x, strict=True):
            cost_stick = cost_stick - 0.5 * (f_k * x_k)

        def chosen(stuck: Scalar, slipping: Scalar) -> Scalar:
            x: Scalar = select(sticks, stuck, select(apart, 0.0, slipping))
            return x

        # D_m S (g gᵀ - μ gap / T (0 ⊕ (1 - Û Ûᵀ))) S, with g = (1, -μ Û) and S the scales
        bend = mu * gap * over_T
        weight = [[chosen(self.D[0], D_m * mu * mu)]]
        for j, (u, s_u) in enumerate(zip(direction, self.friction, strict=True)):
            row = [chosen(0.0, -(D_m * mu * (mu * s_u) * u))]
            for k in range(j + 1):
                w, s_w = direction[k], self.friction[k]
                across = (mu * mu + bend) * u * w - (bend if j == k else 0.0)
                row.append(chosen(self.D[1 + j] if j == k else 0.0, D_m * (s_u * s_w) * across))
            weight.append(row)
        return Response(
            chosen(cost_stick, 0.5 * (f * gap)),
            [chosen(a, b) for a, b in zip(stick, slip, strict=True)],
            weight,
        )
