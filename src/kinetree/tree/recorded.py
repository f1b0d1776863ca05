"""The tree whose bodies are written out in a trace with memory, where dense linear algebra is done in loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from kinetree import expr
from kinetree.expr import Grid, Recorder, Scalar, Shared
from kinetree.records import record
from kinetree.tree.clusters import Cluster
from kinetree.tree.matrices import JointBlocks
from kinetree.tree.unrolled import UnrolledTree

__all__ = ["OneSystemTree", "RecordedTree"]


@record(frozen=True, slots=True, kw_only=True)
class RecordedTree(UnrolledTree):
    """An `UnrolledTree` with the recorder of a trace."""

    recorder: Recorder

    @staticmethod
    def of(tree: UnrolledTree, recorder: Recorder) -> RecordedTree:
        """The same tree in a trace."""
        return RecordedTree(
            recorder=recorder, **{field.name: getattr(tree, field.name) for field in fields(UnrolledTree)}
        )

    def blocks(self) -> JointBlocks:
        return JointBlocks(self, self.recorder)

    def grid(self, rows: int, columns: int, /, *, clear: bool = True, is_scratch: bool = False) -> Grid:
        return Grid(rows, columns, self.recorder, clear=clear, is_scratch=is_scratch)

    def shared(self, function: Shared, numbers: Sequence[Scalar]) -> Sequence[Scalar]:
        return expr.call_shared(self.recorder, function, numbers)


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
