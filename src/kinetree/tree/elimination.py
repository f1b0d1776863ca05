"""The order in which degrees of freedom are eliminated from the mass matrix, and the entries that this can fill in.

The elimination tree of a symmetric matrix (Liu, "The role of elimination trees in sparse factorization", SIAM J. Matrix
Anal. 11, 1990). If joints share no coordinates and parents come before their children, it is the expanded tree of the
robot (RBDA section 6.5), without fill-in.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kinetree.expr import Scalar
from kinetree.records import record
from kinetree.tree.topology import Topology

__all__ = ["Elimination", "elimination"]


@record(frozen=True, slots=True)
class Elimination:
    """Degrees of freedom are numbered 1 … n here, and eliminated from the last to the first."""

    order: tuple[int, ...]
    """order[k] is the place of number k in v; order[0] is never read."""
    parent: tuple[int, ...]
    """λ(k) < k, or 0. The nonzeros of row k of the factor left of the diagonal are among λ(k), λ(λ(k)), …"""

    @property
    def n(self) -> int:
        return len(self.order) - 1

    def as_in_v(self, x: Sequence[Scalar]) -> list[Scalar]:
        """Convert numbers from elimination order to the order of v."""
        result: list[Scalar] = [0.0] * self.n
        for place, x_k in zip(self.order[1:], x, strict=True):
            result[place] = x_k
        return result


def elimination(tree: Topology, *, as_numbered: bool = False, coupled: Sequence[Collection[int]] = ()) -> Elimination:
    """Tips first, which has no fill-in if joints share no coordinates; or the reverse order of v.

    `coupled`: sets of degrees of freedom, by their places in v, that share further entries with each other.
    """
    below, order = _pattern(tree)
    for places in coupled:
        for a in places:
            below[a].update(places)
    if as_numbered:
        order = sorted(order)
    number = {place: k for k, place in enumerate(order, 1)}
    row: list[set[int]] = [set() for _ in range(len(order) + 1)]
    for a, others in enumerate(below):
        for b in others:
            k, i = number[a], number[b]
            row[max(k, i)].add(min(k, i))
    parent = [0] * len(row)
    for k in reversed(range(1, len(row))):
        row[k].discard(k)
        if row[k]:
            parent[k] = max(row[k])
            row[parent[k]] |= row[k]
    return Elimination((0, *order), tuple(parent))


def _pattern(tree: Topology) -> tuple[list[set[int]], list[int]]:
    """For each degree of freedom, those toward the root that share a mass matrix entry; and all of them, root first."""
    starts, shared = tree.v_starts, tree.coordinates
    n = starts[-1] if shared is None else shared.nv

    def places(i: int) -> list[int]:
        own = range(starts[i], starts[i + 1])
        return [*own] if shared is None else sorted({place for k in own for place, _ in shared.v_rows[k]})

    below: list[set[int]] = [set() for _ in range(n)]
    order: dict[int, None] = {}
    for i, _ in tree.outward:
        own = places(i)
        order.update(dict.fromkeys(own))
        above = [b for j, _ in tree.toward_root(i) for b in places(j)]
        for a in own:
            below[a].update(above)
    return below, list(order)
