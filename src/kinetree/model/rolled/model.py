"""A robot in a trace with memory: what the functions on top of the algorithms see."""

from __future__ import annotations

from dataclasses import replace

from kinetree.expr import Recorder
from kinetree.model.aligned import aligned
from kinetree.model.elements import Frame, Named
from kinetree.model.model import Model
from kinetree.model.rolled.memory import Knowledge
from kinetree.model.rolled.results import NamedBodies, Rows
from kinetree.model.rolled.source import Source
from kinetree.model.rolled.tables import Columns
from kinetree.model.rolled.tree import RolledTree

__all__ = ["RolledModel", "RolledSource"]


class RolledSource:
    """A robot's constants for traces with loops, made once."""

    def __init__(self, model: Model, told_apart: frozenset[int] = frozenset()) -> None:
        """`told_apart`: slots that an algorithm treats in another way than the rest."""
        turned = aligned(model)
        self.model = model
        self.tree = Source(turned.tree, told_apart)
        bodies = list(turned.bodies.values())
        self.slots = [self.tree.number[body.slot] for body in bodies]
        self.placements = Columns([body.placement for body in bodies])
        self.frames = Named(
            "frame", {name: replace(f, slot=self.tree.number[f.slot]) for name, f in turned.frames.items()}
        )
        self.name = model.name
        self.mass = model.mass


class RolledModel:
    """Looks to the functions as a `Model` does."""

    def __init__(self, source: RolledSource, recorder: Recorder, knowledge: Knowledge) -> None:
        self._source = source
        self._recorder = recorder
        self.tree = RolledTree(source.tree, recorder, knowledge)
        self.name = source.name
        self.mass = source.mass
        self.frames: Named[Frame] = source.frames
        self.one_by_one = source.model

    def rows(self) -> Rows:
        return Rows(self._recorder)

    @property
    def numbered_bodies(self) -> NamedBodies:
        source = self._source
        return NamedBodies(self._recorder, source.slots, source.placements, source.tree.kind_of)
