"""Forward dynamics with contacts, limits and dry friction: the convex problem at a state.

    a* = argmin ½ (a - a₀)ᵀ M (a - a₀) + Σ s(J a - a_ref),    M a₀ = τ - h

Sources: as convex_dynamics.py; M by crba.py, h by rnea.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.algorithms.convex_dynamics import Block, Effort, Minimum, minimum_acceleration
from kinetree.algorithms.crba import crba
from kinetree.algorithms.forward_dynamics import unbalanced
from kinetree.algorithms.restitution import dead, without_gain
from kinetree.algorithms.rigid_contact import has_rigid_contacts, rigid_acceleration
from kinetree.expr import Scalar, is_zero, slopes_of
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
) -> Minimum:
    """Accelerations due to joint forces tau and to the blocks' forces; `guess` is where the search may start.

    `more` are terms of the matrix in addition to M: x m mᵀ for each row m, in the order of v, and number x. Where
    blocks have softer versions, derivatives are those of the problem with these.
    """
    M = crba(tree, q).sparse(coupled=[*(_moved(block.J) for block in blocks), *(_moved([m]) for m, _ in more)])
    for m, x in more:
        M.add_square(m, x)
    left = tree.numbers(unbalanced(tree, q, qd, tau, f_ext)[1:], "forces")
    for block in blocks:
        if not is_zero(block.pull):
            left = [x - block.pull * j for x, j in zip(left, block.J[0], strict=True)]
    effort = effort or Effort()
    solve = rigid_acceleration if has_rigid_contacts(blocks) else minimum_acceleration
    found = solve(M, left, blocks, guess, effort)
    if any(block.bounce is not None for block in blocks):
        found = without_gain(blocks, found, solve(M, left, dead(blocks), guess, effort))
    if all(block.softer is None for block in blocks):
        return found
    softer = [block.softer or block for block in blocks]
    start = [slopes_of(x, 0.0) for x in found.acceleration]
    smooth = minimum_acceleration(M, left, softer, start, effort)
    a = [slopes_of(x, y) for x, y in zip(found.acceleration, smooth.acceleration, strict=True)]
    return found._replace(acceleration=a, softer=smooth)


def _moved(J: Sequence[Sequence[Scalar]]) -> list[int]:
    """The degrees of freedom, by their places in v, that rows have to do with."""
    return [k for k in range(len(J[0])) if any(not is_zero(row[k]) for row in J)]
