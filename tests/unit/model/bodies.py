"""Bodies and robots that the tests of the model share."""

from __future__ import annotations

from collections.abc import Sequence

import kinetree as kt
from kinetree.joints import JointKind
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3

__all__ = ["ball", "chain", "point", "shift"]


def ball(mass: float = 1.0, radius: float = 0.1, com: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Inertia:
    """A solid ball."""
    return Inertia.from_com(mass, Vec3(*com), Sym3.scalar(0.4 * mass * radius**2))


def point(mass: float = 1.0, com: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Inertia:
    """A point mass."""
    return Inertia.from_com(mass, Vec3(*com), Sym3.zero())


def shift(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Transform:
    """A placement without rotation."""
    return Transform(Mat3.identity(), Vec3(x, y, z))


def chain(
    parts: Sequence[tuple[JointKind, Inertia]], *, offset: Transform | None = None, armature: float = 0.0
) -> kt.Model:
    """Joints j1, j2, … with the bodies b1, b2, … they move, each on the one before; b0 is the root."""
    builder = kt.ModelBuilder("chain")
    builder.add_body("b0")
    for i, (kind, inertia) in enumerate(parts, 1):
        builder.add_body(f"b{i}", inertia)
        builder.add_joint(f"j{i}", kind, f"b{i - 1}", f"b{i}", offset, armature=(armature,) * kind.nv)
    return builder.build()
