"""Where the moving bodies of a robot are."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kinetree.functions.kinematics import forward_kinematics
from kinetree.lie import convert
from kinetree.model import Model
from kinetree.pictures.given import Values

__all__ = ["MovingBodies", "positions_and_quaternions", "unused_name"]

Array = NDArray[np.float64]


class MovingBodies:
    """The rigid pieces: the root (0), which is fixed unless the base floats, and a body for each joint."""

    def __init__(self, robot: Model, parameters: Values | None = None) -> None:
        """`parameters`: one value of each, in the place of the robot's own."""
        self.robot = robot
        self._parameters = dict(parameters or {}) or None
        order = {name: k for k, name in enumerate(robot.bodies)}
        joints = sorted(robot.joints.values(), key=lambda one: one.slot)
        children = [robot.bodies[joint.child] for joint in joints]
        self._joints = [joint.name for joint in joints]
        self.names: tuple[str, ...] = _unique(
            ["world" if robot.floating_base else robot.root, *(b.name for b in children)]
        )
        """One per piece, made of its body's name; they are the names of nodes of the page."""
        self.bodies: tuple[str, ...] = ("" if robot.floating_base else robot.root, *(body.name for body in children))
        """The body that each piece is named after; "" for a world that has no body."""
        self._rows = np.array([order[body.name] for body in children], dtype=np.intp)
        self._to_piece = np.array([np.linalg.inv(np.asarray(body.placement)) for body in children]).reshape(-1, 4, 4)

    def __len__(self) -> int:
        return len(self.names)

    def about(self, piece: int) -> str:
        """A line about a piece: its name, its mass with all that is fixed to it, and the joint that moves it."""
        body = self.bodies[piece]
        if not body:
            return "the world"
        mass = f"{body}, {self.robot.rigid_inertia(body).mass:.3g} kg"
        return f"{mass}, on joint {self._joints[piece - 1]}" if piece else mass

    def place_on(self, body: str) -> tuple[int, Array]:
        """(the piece that a body is part of, its placement there (4, 4))."""
        place = self.robot.bodies[body]
        if self._parameters is None:
            return place.slot, np.asarray(place.placement, dtype=np.float64)
        return place.slot, self._placed[list(self.robot.bodies).index(body)]

    @cached_property
    def _placed(self) -> Array:
        """(bodies, 4, 4): where parameters place each body on its piece, in any configuration."""
        q = self.robot.neutral()
        pieces = self.placements(q)[[body.slot for body in self.robot.bodies.values()]]
        bodies = forward_kinematics(self.robot, q, parameters=self._parameters)
        return np.asarray(np.linalg.inv(pieces) @ bodies, dtype=np.float64)

    def placements(self, q: Array) -> Array:
        """Placements in the world (…, pieces, 4, 4) at q (…, nq), by one call of `kt.forward_kinematics`."""
        result = np.empty((*q.shape[:-1], len(self), 4, 4))
        result[..., 0, :, :] = np.eye(4)
        if len(self) > 1:
            bodies = forward_kinematics(self.robot, q, parameters=self._parameters)
            result[..., 1:, :, :] = bodies[..., self._rows, :, :] @ self._to_piece
        return result


def positions_and_quaternions(placements: Array) -> tuple[Array, Array]:
    """(…, 3) and w x y z (…, 4) of placements (…, 4, 4)."""
    return placements[..., :3, 3], convert(placements[..., :3, :3], "matrix", "quaternion_wxyz")


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    """Names of nodes: a slash would make a child of the text before it."""
    unique: dict[str, None] = {}
    for name in names:
        unique[unused_name(unique, name.replace("/", ":") or "body")] = None
    return tuple(unique)


def unused_name(taken: Container[str], name: str) -> str:
    """A name that is not taken yet: this one, or one with a number after it."""
    number, made = 1, name
    while made in taken:
        number += 1
        made = f"{name} ({number})"
    return made
