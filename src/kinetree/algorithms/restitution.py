"""Restitution that makes no energy.

Newton's law asks a contact for v⁺ = -e v⁻ along its normal. With friction, and several contacts or an eccentric one,
the impulses that this takes can do positive work: friction stops or turns sliding bodies, while the normal impulse
gives back all that it took. Without restitution they never do. So of the steps between the one without restitution and
the one with all of it, the highest bounce counts whose contact forces do no work:

    a = a₀ + λ (a₁ - a₀),  f = f₀ + λ (f₁ - f₀),    W(λ) = ½ Σ f (v⁻ + v⁺) ≤ max(W(0), 0),    0 ≤ λ ≤ 1

with the velocities of the contacts' points. Forces stay in their cones, points do not enter the surface, and bounces
are λ times as high. W is convex, so λ = 1 wherever the whole bounce makes no energy.

Sources: Kane and Levinson, *Dynamics: Theory and Applications* (1985), section 5.8, for energy that Newton's law makes;
Stronge, "Rigid body collisions with friction", Proceedings of the Royal Society A 431 (1990).
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.convex_dynamics import Block, Minimum
from kinetree.algorithms.dot import dot
from kinetree.expr import Scalar, less_equal, maximum, select, sqrt

__all__ = ["dead", "without_gain"]

_TINY = 1e-300


def dead(blocks: Sequence[Block]) -> list[Block]:
    """The same without restitution."""
    return [
        block if block.bounce is None else block._replace(reference=[block.bounce.dead, *block.reference[1:]])
        for block in blocks
    ]


def without_gain(blocks: Sequence[Block], whole: Minimum, none: Minimum) -> Minimum:
    """The solution with as much restitution as makes no energy, from those with all of it and with none."""
    apart = [x - y for x, y in zip(whole.acceleration, none.acceleration, strict=True)]
    first: Scalar = 0.0  # 2 W(λ) / h, by powers of λ
    linear: Scalar = 0.0
    square: Scalar = 0.0
    for block, f_1, f_0 in zip(blocks, whole.forces, none.forces, strict=True):
        if block.bounce is None:
            continue
        step = block.bounce.step
        numbers = zip(block.J, block.bounce.rates, block.bounce.still, f_1, f_0, strict=True)
        for row, rate, still, all_of_it, f in numbers:
            more, faster = all_of_it - f, step * dot(row, apart)
            both = rate + step * (dot(row, none.acceleration) - still)
            first = first + f * both
            linear = linear + f * faster + more * both
            square = square + more * faster
    room = maximum(0.0, first) - first
    rises = linear + sqrt(maximum(0.0, linear * linear + 4.0 * square * room))
    part: Scalar = select(less_equal(linear + square, room), 1.0, 2.0 * room / maximum(rises, _TINY))
    return Minimum(
        [x + part * d for x, d in zip(none.acceleration, apart, strict=True)],
        [
            [x + part * (y - x) for x, y in zip(*rows, strict=True)]
            for rows in zip(none.forces, whole.forces, strict=True)
        ],
        maximum(whole.error, none.error),
        whole.iterations + none.iterations,
    )
