"""Bodies that move as one: between them, and between neighbours along the tree, nothing touches.

A massless body without shapes between two joints is part of the joint: it has no neighbours.
"""

from __future__ import annotations

from kinetree.model import Model

__all__ = ["FREE", "WORLD", "Groups"]

WORLD = ""
"""The group of the world and of all that is fixed to it."""
FREE = 6
"""Degrees of freedom of a joint that joins nothing."""


class Groups:
    """Groups of bodies that move as one, by the name of one of their bodies."""

    def __init__(self, robot: Model) -> None:
        self._robot = robot
        self._above = {joint.slot: joint for joint in robot.joints.values()}
        self._shaped = {body.slot for body in robot.bodies.values() if body.geometry}
        self._carrier = {spec.child: spec.parent for spec in robot.parts.joints}
        self._moved = {one.body for one in robot.extras.bodies if one.mocap}
        self._of: dict[str, str] = {}

    def of(self, body: str) -> str:
        """The group of a body; bodies that are moved from outside have their own, in which nothing accelerates."""
        if body not in self._of:
            self._of[body] = self._group(body)
        return self._of[body]

    def above(self, body: str) -> str:
        """The group that carries the group of a body."""
        slot = self._robot.bodies[body].slot
        if slot == 0:
            return WORLD
        parent = self._above[slot].parent
        while parent and (slot := self._robot.bodies[parent].slot) and self._is_between(slot):
            parent = self._above[slot].parent
        return self.of(parent) if parent else WORLD

    def joined_to_root(self, body: str) -> str | None:
        """The body fixed to the root that a joint, not a free one, joins to the group of this one; None if none is."""
        slot = self._robot.bodies[body].slot
        free = False
        parent: str | None = body
        while parent and slot:
            joint = self._above[slot]
            free |= joint.kind.nv == FREE
            parent = joint.parent
            slot = self._robot.bodies[parent].slot if parent else 0
            if slot and not self._is_between(slot):
                return None
        return None if free else parent

    def _group(self, body: str) -> str:
        slot = self._robot.bodies[body].slot
        if slot:
            return self._above[slot].child
        name = body
        while name and name not in self._moved:
            name = self._carrier.get(name, "")
        return name

    def _is_between(self, slot: int) -> bool:
        return slot not in self._shaped and self._robot.tree.I[slot].mass == 0.0
