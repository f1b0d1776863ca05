"""Bodies drawn from their inertia: the ellipsoid with the same inertia, and rods to the joints of their children.

A solid ellipsoid of mass m with half axes a, b, c has the principal moments m (b² + c²) / 5, …, so that
a² = 5 (B + C - A) / (2 m).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.looks import Part, body_color
from kinetree.appearance.primitives import primitive
from kinetree.model import Body, Model

__all__ = ["stand_ins"]

_AROUND = 16
"""Corners of a circle."""
_THICKNESS = 0.06
"""Radius of a rod by its length."""
_LEAST = 0.3
"""The smallest half axis by the largest one, so that a rod or a disc can be seen."""
_POINT = 0.03
"""Radius of a body that is a point, by the largest distance between joints."""

Floats = NDArray[np.float64]


def stand_ins(robot: Model) -> Iterator[Part]:
    """The parts that stand for the bodies of a robot; a body without a mass has rods only."""
    rods: dict[str, list[Floats]] = {}
    for joint in robot.parts.joints:
        end = joint.placement.matrix[:3, 3]
        if joint.parent in robot.bodies and np.linalg.norm(end) > 0.0:
            rods.setdefault(joint.parent, []).append(end)
    reach = max((float(np.linalg.norm(end)) for ends in rods.values() for end in ends), default=0.0)
    for body in robot.bodies.values():
        shapes = [_rod(end) for end in rods.get(body.name, ())]
        if body.mass > 0.0:
            own = max((float(np.linalg.norm(end)) for end in rods.get(body.name, ())), default=0.25 * reach)
            shapes.append(_ellipsoid(body, reach, max(own, float(np.linalg.norm(body.center_of_mass)))))
        color = body_color(body.slot, is_fixed=body.is_fixed)
        for k, (shape, size, placement) in enumerate(shapes):
            surface = primitive(shape, size, color, _AROUND)
            yield Part(f"{body.name}[inertia {k}]", body.name, "stand_in", placement, surface)


def _rod(end: Floats) -> tuple[str, tuple[float, ...], Floats]:
    """A capsule from the origin of a body to a joint on it."""
    length = float(np.linalg.norm(end))
    placement = np.eye(4)
    placement[:3, :3], placement[:3, 3] = _along(end / length), 0.5 * end
    return "capsule", (_THICKNESS * length, length), placement


def _along(z: Floats) -> Floats:
    """Axes, as columns, whose third has a given direction."""
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _ellipsoid(body: Body, reach: float, room: float) -> tuple[str, tuple[float, ...], Floats]:
    """The ellipsoid with the body's inertia; it is made smaller where an inertia is not that of a solid so large."""
    moments, axes = np.linalg.eigh(body.rotational_inertia)
    if np.linalg.det(axes) < 0.0:
        axes = -axes
    squares = 2.5 * (moments.sum() - 2.0 * moments) / body.mass
    half = np.sqrt(np.maximum(squares, 0.0))
    largest = float(half.max())
    if not 1e-6 * (reach or 1.0) < largest < math.inf:
        half, largest = np.zeros(3), _POINT * (reach or 1.0)
    if largest > room > 0.0:
        half, largest = half * (room / largest), room
    half = np.maximum(half, _LEAST * largest if half.any() else largest)
    placement = np.eye(4)
    placement[:3, :3], placement[:3, 3] = axes, body.center_of_mass
    return "ellipsoid", tuple(map(float, half)), placement
