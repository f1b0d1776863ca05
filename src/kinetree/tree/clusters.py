"""Clusters: joints that can only be eliminated together, because they share coordinates.

A cluster contains all joints between the bodies that shared coordinates move and the nearest body that carries them
all, its base. Clusters that would have a joint in common are merged.

Source: Jain, "Multibody graph transformations and analysis, part II: closed-chain constraint embedding", Nonlinear
Dynamics 67 (2012).
"""

from __future__ import annotations

from collections.abc import Iterable

from kinetree.records import record
from kinetree.tree.coordinate_map import Row
from kinetree.tree.topology import Topology

__all__ = ["Cluster", "clusters"]


@record(frozen=True, slots=True)
class Cluster:
    """Joints that are eliminated together."""

    base: int
    """The body that carries them."""
    bodies: tuple[int, ...]
    """The bodies that they move, each after its parent if that is one of them."""
    parent: dict[int, int]
    """The parent of each of these bodies: another of them, or the base."""
    rows: dict[int, tuple[Row, ...]]
    """G by body: one row per degree of freedom of its joint; columns are numbered within the cluster, tips first."""
    size: int
    """Number of degrees of freedom."""


def clusters(tree: Topology) -> tuple[Cluster, ...]:
    """The clusters of all joints that share coordinates."""
    if tree.coordinates is None:
        return ()
    rows, starts = tree.coordinates.v_rows, tree.v_starts
    users: dict[int, set[int]] = {}
    for i in range(1, tree.size):
        for row in rows[starts[i] : starts[i + 1]]:
            for column, _ in row:
                users.setdefault(column, set()).add(i)
    place = {i: n for n, (i, _) in enumerate(tree.outward)}
    result: list[Cluster] = []
    for base, joints in _closed(tree, [joints for joints in users.values() if len(joints) > 1]):
        bodies = tuple(sorted(joints, key=place.__getitem__))
        own = {i: rows[starts[i] : starts[i + 1]] for i in bodies}
        columns = dict.fromkeys(column for i in reversed(bodies) for row in reversed(own[i]) for column, _ in row)
        number = {column: n for n, column in enumerate(columns)}
        local = {i: tuple(tuple((number[k], x) for k, x in row) for row in own[i]) for i in bodies}
        result.append(Cluster(base, bodies, {i: tree.parent[i] for i in bodies}, local, len(columns)))
    return tuple(result)


def _closed(tree: Topology, groups: Iterable[set[int]]) -> list[tuple[int, set[int]]]:
    """(base, joints) of each cluster: joints between those of a group are added, and overlapping groups merged."""
    result: list[tuple[int, set[int]]] = []
    for group in groups:
        base, joints = _spanned(tree, group)
        while overlapping := [other for other in result if other[1] & joints]:
            result = [other for other in result if other not in overlapping]
            base, joints = _spanned(tree, joints.union(*(other[1] for other in overlapping)))
        result.append((base, joints))
    return result


def _spanned(tree: Topology, group: Iterable[int]) -> tuple[int, set[int]]:
    """The nearest body that carries all of these joints, and all joints from there to them."""
    paths = [tree.supports(i) for i in group]
    shared = 0
    while all(len(path) > shared + 1 for path in paths) and len({path[shared] for path in paths}) == 1:
        shared += 1
    base = paths[0][shared - 1] if shared else 0
    return base, {i for path in paths for i in path[shared:]}
