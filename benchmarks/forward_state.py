"""A state's quantities in MuJoCo and in kinetree: for the table of mujoco_forward.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.algorithms.convex_dynamics import Block
from kinetree.collision import ContactPoint

__all__ = ["Array", "Motion", "State", "Touching", "add_wrench", "relative"]

Array = NDArray[Any]


class State(NamedTuple):
    """A state in kinetree's layout, and what MuJoCo has there."""

    q: Array
    v: Array
    ctrl: Array
    act: Array
    qdd: Array
    passive: Array
    """Joint forces of springs, dampers, the medium, and what carries weights."""
    actuators: Array
    """The force of each actuator."""
    driven: Array
    """Joint forces of all actuators."""
    smooth: Array
    """The same, less what motion needs."""
    constraint: Array
    """Joint forces of contacts, limits and all other rows."""
    sensors: Array
    time: float
    points: tuple[tuple[int, int, ContactPoint], ...]
    """The numbers of two shapes, and where they touch."""
    wrenches: Mapping[tuple[int, int], Array]
    """Forces and moments about the world's origin, in pairs of bodies, on the second one."""
    is_analytic: bool
    """Whether all points are from analytic colliders."""


class Touching(NamedTuple):
    """A contact, and its rows."""

    point: ContactPoint
    bodies: tuple[int, int]
    block: Block
    forces: Sequence[float]

    def wrench(self, forces: Sequence[float]) -> Array:
        """Forces along the rows as a force and a moment about the world's origin."""
        point, f = self.point, np.zeros(6)
        f[: len(forces)] = forces
        frame = np.array([x.components() for x in (point.normal, point.tangent, point.normal.cross(point.tangent))])
        force = frame.T @ f[:3]
        return np.concatenate([force, frame.T @ f[3:] + np.cross(point.position.components(), force)])


class Motion(NamedTuple):
    """The motion that kinetree finds in a state."""

    qdd: Array
    constraint: Array
    blocks: Sequence[Block]
    contacts: Sequence[Touching]

    @property
    def wrenches(self) -> dict[tuple[int, int], Array]:
        found: dict[tuple[int, int], Array] = {}
        for one in self.contacts:
            add_wrench(found, one.bodies, one.wrench([one.forces[0] - float(one.block.pull), *one.forces[1:]]))
        return found


def add_wrench(wrenches: dict[Any, Array], bodies: Any, wrench: Array) -> None:
    """Add a wrench to those on the second of two bodies, in the order of their numbers."""
    i, j = (int(x) for x in bodies)
    key, sign = ((i, j), 1.0) if i < j else ((j, i), -1.0)
    wrenches[key] = wrenches.get(key, np.zeros(6)) + sign * wrench


def relative(ours: Array, theirs: Array) -> float:
    """The largest difference relative to the largest number."""
    if not theirs.size:
        return 0.0
    scale = float(np.abs(theirs).max()) or 1.0
    return float(np.abs(ours - theirs).max()) / max(scale, 1e-9)
