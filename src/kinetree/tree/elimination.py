"""The order in which degrees of freedom are eliminated from the mass matrix, and the entries that this can fill in.

The elimination tree of a symmetric matrix (Liu, "The role of elimination trees in sparse factorization", SIAM J. Matrix
Anal. 11, 1990). If joints share no coordinates and parents come before their children, it is the expanded tree of the
robot (RBDA section 6.5), without fill-in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from kinetree.expr import Scalar
from kinetree.records import record
from kinetree.tree.topology import Topology

__all__ = ["WIDTH", "Chains", "Elimination", "chains", "elimination", "row_parents"]

WIDTH = 6
"""Degrees of freedom in a row of a chain, as many as a free body has."""


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


@record(frozen=True, slots=True)
class Chains:
    """Degrees of freedom in rows of `WIDTH` places, each carried by the one before; a row's last places may be empty.

    Rows are numbered from 1, and places from `WIDTH`; place 0 is the world.
    """

    place: tuple[int, ...]
    """The place of each degree of freedom, in the order of v."""
    parent: tuple[int, ...]
    """By row, the place that carries its first one; entry 0 is never read."""
    of_slot: tuple[int, ...]
    """By slot, the last place that moves its body."""

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.parent) - 1


def chains(tree: Topology) -> Chains:
    """The degrees of freedom of joints that share no coordinates, those of a limb one after the other."""
    starts = tree.v_starts
    place, parent, of_slot = [0] * starts[-1], [0], [0] * tree.size
    end = WIDTH
    for i in _by_limbs(tree):
        carrier, n = of_slot[tree.parent[i]], starts[i + 1] - starts[i]
        if n and (carrier != end - 1 or end % WIDTH == 0 or end % WIDTH + n > WIDTH):
            end = len(parent) * WIDTH
            parent.append(carrier)
        place[starts[i] : starts[i + 1]] = range(end, end + n)
        end += n
        of_slot[i] = end - 1 if n else carrier
    return Chains(tuple(place), tuple(parent), tuple(of_slot))


def row_parents(rows: Chains, coupled: Iterable[Collection[int]]) -> list[int]:
    """λ of each row where rows are eliminated from the last to the first, in sets of six degrees of freedom; `coupled`
    are sets of degrees of freedom, by their places in v, that share further entries with each other."""
    above: list[set[int]] = [set() for _ in rows.parent]
    for k, carrier in enumerate(rows.parent[1:], 1):
        i = carrier // WIDTH
        above[k] = {i, *above[i]} if i else set()
    for places in coupled:
        together = sorted({rows.place[k] // WIDTH for k in places})
        for n, k in enumerate(together):
            above[k].update(together[:n])
    return _parents(above)


def _by_limbs(tree: Topology) -> list[int]:
    return sorted((i for i, _ in tree.outward), key=tree.supports)


def elimination(
    tree: Topology, *, as_numbered: bool = False, in_chains: bool = False, coupled: Sequence[Collection[int]] = ()
) -> Elimination:
    """Tips first, which has no fill-in if joints share no coordinates; or the reverse order of v.

    `in_chains`: the joints of a limb follow each other. `coupled`: sets of degrees of freedom, by their places in v,
    that share further entries with each other.
    """
    below, order = _pattern(tree, _by_limbs(tree) if in_chains else [i for i, _ in tree.outward])
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
    return Elimination((0, *order), tuple(_parents(row)))


def _parents(row: list[set[int]]) -> list[int]:
    """λ of each number, from the columns up to the diagonal that are not zero in each row, where others fill in."""
    parent = [0] * len(row)
    for k in reversed(range(1, len(row))):
        row[k].discard(k)
        if row[k]:
            parent[k] = max(row[k])
            row[parent[k]] |= row[k]
    return parent


def _pattern(tree: Topology, outward: Sequence[int]) -> tuple[list[set[int]], list[int]]:
    """For each degree of freedom, those toward the root that share a mass matrix entry; and all of them, root first."""
    starts, shared = tree.v_starts, tree.coordinates
    n = starts[-1] if shared is None else shared.nv

    def places(i: int) -> list[int]:
        own = range(starts[i], starts[i + 1])
        return [*own] if shared is None else sorted({place for k in own for place, _ in shared.v_rows[k]})

    below: list[set[int]] = [set() for _ in range(n)]
    order: dict[int, None] = {}
    for i in outward:
        own = places(i)
        order.update(dict.fromkeys(own))
        above = [b for j, _ in tree.toward_root(i) for b in places(j)]
        for a in own:
            below[a].update(above)
    return below, list(order)
