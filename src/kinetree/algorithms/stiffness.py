"""One round of a search for the largest eigenvalue of M⁻¹ Gᵀ C G: how fast friction brakes, or springs swing.

C holds one number per degree of freedom of the joints: the damping that brakes as hard as friction does where it is
steepest, or the stiffness of springs. G gives the joints' rates. This is power iteration on the symmetric matrix C^½ G
M⁻¹ Gᵀ C^½, whose eigenvectors are C^½ G u for those u of M⁻¹ Gᵀ C G. M⁻¹ acts through forward dynamics from rest
without gravity, so a round costs as much as these do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.algorithms.forward_dynamics import forward_dynamics
from kinetree.expr import Scalar, less, maximum, select, sqrt
from kinetree.spatial import Motion
from kinetree.tree import Tree
from kinetree.tree.drive import Drive

__all__ = ["stiffest_round"]

Slots = Sequence[Sequence[Scalar]]


def stiffest_round(tree: Tree, q: Slots, u: Slots, seed: Slots, weights: Sequence[Scalar]) -> tuple[Any, Scalar]:
    """The next u, such that C^½ G u has the length 1, and the eigenvalue's estimate; both are zero if C is.

    The search begins with C^½ G u, plus the seed's rates where C is not zero. C is the sum of damping, of the slope of
    Coulomb friction at rest, and of stiffness, with these weights.
    """
    root, x, force = tree.pieces(3)
    squares = tree.scalars()
    squares[0] = 0.0
    for i, _ in tree.outward:
        root[i] = _roots(tree.drive[i], weights)
        x[i] = [c * rate + select(less(0.0, c), s, 0.0) for c, rate, s in zip(root[i], u[i], seed[i], strict=True)]
        for x_k in x[i]:
            squares[0] = squares[0] + x_k * x_k
    shorter = _inverse(sqrt(squares[0]))
    for i, _ in tree.outward:
        force[i] = [c * (x_k * shorter) for c, x_k in zip(root[i], x[i], strict=True)]

    still = tree.with_gravity(Motion.zero())
    response: Any = tree.in_slots(forward_dynamics(still, q, tree.at_rest(), force))

    following = tree.pieces()
    squares[0] = 0.0
    for i, _ in tree.outward:
        for c, rate in zip(root[i], response[i], strict=True):
            squares[0] = squares[0] + c * rate * (c * rate)
    value = sqrt(squares[0])
    shorter = _inverse(value)
    for i, _ in tree.outward:
        following[i] = [rate * shorter for rate in response[i]]
    return following[1:], value


def _roots(drive: Drive, weights: Sequence[Scalar]) -> list[Scalar]:
    """C^½ of one joint. Forces that feed energy in are not stiff, so they do not count."""
    damping, friction, spring = weights
    rows = zip(drive.damping, drive.friction, drive.friction_speed, drive.stiffness, strict=True)
    return [sqrt(maximum(damping * d + friction * (F / speed) + spring * k, 0.0)) for d, F, speed, k in rows]


def _inverse(x: Scalar) -> Scalar:
    """1 / x, or 0 for 0."""
    is_positive = less(0.0, x)
    inverse: Scalar = select(is_positive, 1.0 / select(is_positive, x, 1.0), 0.0)
    return inverse
