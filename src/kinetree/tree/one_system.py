"""The tree for algorithms that solve the equations of motion as one system, by the mass matrix."""

from __future__ import annotations

from dataclasses import fields

from kinetree.records import record
from kinetree.tree.clusters import Cluster
from kinetree.tree.unrolled import UnrolledTree

__all__ = ["OneSystemTree"]


@record(frozen=True, slots=True, kw_only=True)
class OneSystemTree(UnrolledTree):
    """An `UnrolledTree` whose joints are never eliminated one by one or in clusters, where there is a choice."""

    @staticmethod
    def of(tree: UnrolledTree) -> OneSystemTree:
        """The same tree, to be solved as one system."""
        return OneSystemTree(**{field.name: getattr(tree, field.name) for field in fields(UnrolledTree)})

    @property
    def is_one_system(self) -> bool:
        return True

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        return ()
