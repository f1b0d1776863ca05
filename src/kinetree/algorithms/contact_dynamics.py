"""Forward dynamics with contacts, limits and dry friction: the convex problem at a state.

    a* = argmin ½ (a - a₀)ᵀ M (a - a₀) + Σ s(J a - a_ref),    M a₀ = τ - h

Sources: as convex_dynamics.py; M by crba.py, h by rnea.py.

Restitution that makes no energy.

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

from collections.abc import Mapping, Sequence
from functools import reduce
from math import inf

from kinetree.algorithms.convex_dynamics import Block, Effort, LoopedTable, Minimum, minimum_acceleration
from kinetree.algorithms.crba import crba
from kinetree.algorithms.forward_dynamics import unbalanced
from kinetree.algorithms.rigid_contact import has_rigid_contacts, rigid_acceleration
from kinetree.algorithms.sleeping_islands import Sleep
from kinetree.expr import Scalar, dot, is_zero, less_equal, maximum, select, slopes_of, sqrt
from kinetree.spatial import Force
from kinetree.tree import Tree

__all__ = ["contact_dynamics"]

Pieces = Sequence[Sequence[Scalar]]


def contact_dynamics(
    tree: Tree,
    q: Pieces,
    qd: Pieces,
    tau: Pieces,
    blocks: Sequence[Block],
    f_ext: Mapping[int, Force] | None = None,
    guess: Sequence[Scalar] | None = None,
    effort: Effort | None = None,
    more: Sequence[tuple[Sequence[Scalar], Scalar]] = (),
    looped: Sequence[LoopedTable] = (),
    sleep: Sleep | None = None,
) -> Minimum:
    """Accelerations due to joint forces tau and to the blocks' forces; `guess` is where the search may start.

    `looped` are the rows that are in loops of the program. `more` are terms of the matrix in addition to M: x m mᵀ
    for each row m, in the order of v, and number x. Where blocks have softer versions, derivatives are those of the
    problem with these. Bodies that sleep have no acceleration, and no row acts on them.
    """
    coupled: list[Sequence[int]] = [*(_moved(block.J) for block in blocks), *(_moved([m]) for m, _ in more)]
    coupled += [places for table in looped for places in table.coupled()]
    M = crba(tree.in_chains(coupled) if looped else tree, q).sparse(in_chains=bool(looped), coupled=coupled)
    for m, x in more:
        M.add_square(m, x)
    forces = unbalanced(tree, q, qd, tau, f_ext)
    given = left = tree.numbers((forces if sleep is None else sleep.still(forces))[1:], "forces")
    for block in blocks:
        if not is_zero(block.pull):
            left = [x - block.pull * j for x, j in zip(left, block.J[0], strict=True)]
    effort = effort or Effort()
    if looped:
        minimum = minimum_acceleration(M, left, blocks, guess, effort, looped, sleep)
        overflows = reduce(maximum, (table.overflows for table in looped))
        return minimum._replace(
            error=select(overflows, inf, minimum.error), system=minimum.system and (minimum.system[0], given)
        )
    solve = rigid_acceleration if has_rigid_contacts(blocks) else minimum_acceleration
    minimum = solve(M, left, blocks, guess, effort)
    if any(block.bounce is not None for block in blocks):
        minimum = without_gain(blocks, minimum, solve(M, left, dead(blocks), guess, effort))
    if all(block.softer is None for block in blocks):
        return minimum
    softer = [block.softer or block for block in blocks]
    start = [slopes_of(x, 0.0) for x in minimum.acceleration]
    smooth = minimum_acceleration(M, left, softer, start, effort)
    a = [slopes_of(x, y) for x, y in zip(minimum.acceleration, smooth.acceleration, strict=True)]
    return minimum._replace(acceleration=a, softer=smooth)


def _moved(J: Sequence[Sequence[Scalar]]) -> list[int]:
    """The degrees of freedom, by their places in v, that rows have to do with."""
    return [k for k in range(len(J[0])) if any(not is_zero(row[k]) for row in J)]


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
