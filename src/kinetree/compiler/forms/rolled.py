"""A robot in a trace with memory, as seen by the functions on top of the algorithms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import cast

from kinetree.compiler.forms.aligned import aligned
from kinetree.expr import Index, Recorder
from kinetree.model.by_identity import ByIdentity
from kinetree.model.elements import Body, Frame, Named
from kinetree.model.model import Model
from kinetree.spatial import Transform
from kinetree.tree import Tree
from kinetree.tree.rolled.memory import Knowledge, Slot
from kinetree.tree.rolled.results import BodyColumns, BodyRow, CarriedBodies, NamedBodies, Rows
from kinetree.tree.rolled.source import Source
from kinetree.tree.rolled.tables import Columns, QuantityTable
from kinetree.tree.rolled.tree import RolledTree

__all__ = ["RolledModel", "RolledSource"]


_SOURCES: ByIdentity[dict[frozenset[int], tuple[Model, Source]]] = ByIdentity()
"""Robots in the axes of loops, and their constants, which all functions of a robot share."""


class RolledSource:
    """A robot's constants for traces with loops, made once."""

    def __init__(self, model: Model, distinguished: frozenset[int] = frozenset()) -> None:
        """`distinguished`: slots that an algorithm treats differently from the rest."""
        if model not in _SOURCES:
            _SOURCES[model] = {}
        if distinguished not in _SOURCES[model]:
            turned = aligned(model)
            _SOURCES[model][distinguished] = turned, Source(turned.tree, distinguished)
        self.model = model
        self.tree: Source
        turned, self.tree = _SOURCES[model][distinguished]
        self.bodies: Named[Body] = turned.bodies
        bodies = list(turned.bodies.values())
        self.slots: list[int] = [self.tree.number[body.slot] for body in bodies]
        self.placements: Columns = Columns([body.placement for body in bodies])
        self._moved = [turned.bodies[joint.child] for joint in turned.joints.values()]
        self.number_of: dict[str, int] = {body.name: k for k, body in enumerate(bodies)}
        self.floating_base: bool = model.floating_base
        self.driven_nv: int = model.driven_nv
        self.frames: Named[Frame] = Named(
            "frame", {name: replace(f, slot=self.tree.number[f.slot]) for name, f in turned.frames.items()}
        )
        self.name: str = model.name
        self.mass: float = model.mass

    @cached_property
    def joint_slots(self) -> list[int]:
        """The numbers of the bodies that joints move, joint by joint."""
        return [self.tree.number[body.slot] for body in self._moved]

    @cached_property
    def joint_placements(self) -> Columns:
        """Where the frames of these bodies are, joint by joint."""
        return Columns([body.placement for body in self._moved])

    @cached_property
    def moved_frames(self) -> Columns:
        """The same by the bodies' numbers; the identity for the root."""
        by_slot = {body.slot: body.placement for body in self._moved}
        return Columns([by_slot.get(slot, Transform.identity()) for slot in self.tree.number])


class RolledModel:
    """A robot whose bodies are looped over, as a `Form`."""

    def __init__(self, source: RolledSource, recorder: Recorder, knowledge: Knowledge) -> None:
        self._source = source
        self._recorder = recorder
        self._tree = RolledTree(source.tree, recorder, knowledge)
        self.name: str = source.name
        self.mass: float = source.mass
        self.driven_nv: int = source.driven_nv
        self.frames: Named[Frame] = source.frames
        self.bodies: Named[Body] = source.bodies
        self._carried: dict[tuple[str, ...], CarriedBodies] = {}
        self.one_by_one: Model = source.model

    @property
    def tree(self) -> Tree:
        """Its slots and loop variables take the places of an algorithm's numbers, which their types do not say."""
        return cast(Tree, self._tree)

    def rows(self) -> Rows:
        return Rows(self._recorder)

    def body_columns(self) -> BodyColumns:
        return BodyColumns(self._recorder, len(self._source.slots))

    def numbered_bodies(self) -> NamedBodies:
        source = self._source
        return NamedBodies(self._recorder, source.slots, source.placements, source.tree.kind_of)

    def numbered_frames(self, frames: Sequence[Frame]) -> NamedBodies:
        """Some of its frames, as the rows of a result."""
        slots, placements = [frame.slot for frame in frames], Columns([frame.placement for frame in frames])
        return NamedBodies(self._recorder, slots, placements, self._source.tree.kind_of)

    def numbered_joints(self) -> Iterable[tuple[Index, BodyRow]]:
        source = self._source
        if not source.joint_slots:
            return ()
        return NamedBodies(self._recorder, source.joint_slots, source.joint_placements, source.tree.kind_of)

    def moved_frames(self) -> QuantityTable:
        return self._tree.table(self._source.moved_frames)

    def numbered_drives(self) -> Iterator[tuple[Index, Slot]]:
        # A floating base is alone on the root, and thus the first body.
        source = self._source
        base = source.tree.total("nv") - source.driven_nv
        for i, _ in self._tree.outward_from(1 + source.floating_base):
            yield self._tree.start("nv", i) - base, i

    def bodies_behind(self, j: int | Slot, names: Sequence[str]) -> Iterator[tuple[Index, BodyRow]]:
        assert isinstance(j, Slot)  # the algorithm's loops run over slots
        names = tuple(names)
        if names not in self._carried:
            source = self._source
            numbers = [source.number_of[name] for name in names]
            slots = [source.slots[k] for k in numbers]
            placements = [source.placements.quantity(k) for k in numbers]
            self._carried[names] = CarriedBodies(self._recorder, source.tree, slots, placements)
        return self._carried[names].by(j)
