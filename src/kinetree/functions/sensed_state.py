"""A robot in a state, as its sensors see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from kinetree import algorithms
from kinetree.algorithms.convex_dynamics import Block
from kinetree.algorithms.sensors import FrameMotion
from kinetree.algorithms.soft_rows import Sight, seen
from kinetree.algorithms.transmissions import View, viewed
from kinetree.collision import ContactPoint
from kinetree.compiler.definition import Slots
from kinetree.compiler.forms.form import Form
from kinetree.contact_model import SoftConstraints, TendonLimit, TouchSpec
from kinetree.expr import Scalar
from kinetree.functions.contact_forces import check_exerted, exerted
from kinetree.functions.contact_laws import ahead, timed_laws
from kinetree.functions.contact_options import check_whose, touching_blocks, touching_points
from kinetree.functions.sensor_specs import Place
from kinetree.model import Model
from kinetree.spatial import Transform
from kinetree.tree import Tree

__all__ = ["SensedState"]


class SensedState:
    """Placements, motions and contact forces; each is computed when a sensor needs it."""

    def __init__(self, model: Form, q: Slots, v: Slots, qdd: Slots, constraints: SoftConstraints | None) -> None:
        self.robot: Model = model.one_by_one
        self.tree: Tree = model.tree
        self.q = q
        self.v = v
        self._qdd = qdd
        self.constraints: SoftConstraints | None = (
            None if constraints is None else _with_laws(model.one_by_one, constraints)
        )
        moving = algorithms.motions(model.tree, q, v, qdd, -model.tree.gravity)
        self._touching: dict[int, list[tuple[ContactPoint, list[Scalar]]]] = {}
        self._velocities, self._accelerations = moving.v, moving.a  # the latter less gravity

    @cached_property
    def view(self) -> View:
        return viewed(self.tree, self.q)

    @cached_property
    def sight(self) -> Sight:
        return seen(self.tree, self.q, self.v)

    @property
    def touches(self) -> Sequence[TouchSpec]:
        """The pairs of shapes that may touch."""
        return () if self.constraints is None else self.constraints.touches

    def frame(self, place: Place) -> FrameMotion:
        """A frame and its motion."""
        if place.frame:
            frame = self.robot.frames[place.frame]
            slot, X = frame.slot, frame.placement
        else:
            body = self.robot.bodies[place.body]
            offset = place.offset
            if place.is_center and body.inertia.mass != 0.0:
                offset = Transform(offset.E, body.inertia.h * (1.0 / body.inertia.mass))
            slot, X = body.slot, offset @ body.placement
        return FrameMotion(X @ self.view.X_0[slot], X @ self._velocities[slot], X @ self._accelerations[slot])

    def touching(self, touch: TouchSpec) -> list[tuple[ContactPoint, list[Scalar]]]:
        """The points of a pair of shapes, and the forces along the rows of each."""
        assert self.constraints is not None
        if id(touch) not in self._touching:
            points = touching_points(self.robot, touch, self.sight)
            check_exerted("sensors", self.constraints)
            blocks = touching_blocks(self.robot, self.constraints, touch, self.sight, points)
            self._touching[id(touch)] = [(x, self.forces(block)) for x, block in zip(points, blocks, strict=True)]
        return self._touching[id(touch)]

    def forces(self, block: Block) -> list[Scalar]:
        """The forces of the rows of a soft constraint at these accelerations."""
        return exerted(block, self.tree.numbers(self._qdd[1:], "nv"))


def _with_laws(robot: Model, constraints: SoftConstraints) -> SoftConstraints:
    """The constraints with limits and connections as hard as their setting says."""
    check_whose(robot, constraints)
    timed = timed_laws(constraints.setting, 0.0)

    def of(one: Any, *, gives_way: bool) -> Any:
        law = timed(one.softness, gives_way)
        return replace(one, softness=ahead(law) if gives_way else law)

    return replace(
        constraints,
        limits=tuple(of(limit, gives_way=True) for limit in constraints.limits),
        connections=tuple(of(connection, gives_way=False) for connection in constraints.connections),
        tendons=tuple(of(x, gives_way=True) if isinstance(x, TendonLimit) else x for x in constraints.tendons),
    )
