"""The machines whose motion is known in closed form."""

from __future__ import annotations

import kinetree as kt
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3

__all__ = ["GRAVITY", "at", "free_body", "hanging_body", "pendulum", "point", "rod", "two_link_arm"]

GRAVITY = 9.81


def at(x: float, y: float, z: float) -> Transform:
    """A placement that is moved, not turned."""
    return Transform(Mat3.identity(), Vec3(x, y, z))


def point(mass: float, x: float, y: float, z: float) -> Inertia:
    """Of a mass at a point."""
    return Inertia.from_com(mass, Vec3(x, y, z), Sym3.zero())


def rod(mass: float, length: float) -> Inertia:
    """Of a thin uniform rod from the origin along x."""
    across = mass * length**2 / 12.0
    return Inertia.from_com(mass, Vec3(0.5 * length, 0.0, 0.0), Sym3(0.0, across, across, 0.0, 0.0, 0.0))


def two_link_arm(first: Inertia, second: Inertia, length: float) -> kt.Model:
    """Two links along x at q = 0, hinged about y; a positive angle lowers the tip."""
    builder = kt.ModelBuilder("two-link arm", gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body("base")
    builder.add_body("upper", first)
    builder.add_body("lower", second)
    builder.add_joint("shoulder", kt.Revolute([0, 1, 0]), "base", "upper")
    builder.add_joint("elbow", kt.Revolute([0, 1, 0]), "upper", "lower", at(length, 0.0, 0.0))
    return builder.build()


def pendulum(mass: float, length: float, inertia: float) -> kt.Model:
    """A body that hangs down from a hinge about y at q = 0, with its own inertia about its centre of mass."""
    builder = kt.ModelBuilder("pendulum", gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body("base")
    builder.add_body("bob", Inertia.from_com(mass, Vec3(0.0, 0.0, -length), Sym3.scalar(inertia)))
    builder.add_joint("hinge", kt.joints.Continuous([0, 1, 0]), "base", "bob")
    return builder.build()


def free_body(inertia: Inertia, gravity: float = 0.0) -> kt.Model:
    """One body that floats or falls."""
    builder = kt.ModelBuilder("free body", gravity=(0.0, 0.0, -gravity))
    builder.add_body("body", inertia)
    return builder.build(floating_base=True)


def hanging_body() -> kt.Model:
    """A body on a ball joint, with its centre of mass and its principal axes away from the joint's."""
    builder = kt.ModelBuilder("hanging body", gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body("base")
    central = Sym3(0.05, 0.09, 0.12, 0.01, -0.02, 0.015)
    builder.add_body("body", Inertia.from_com(1.3, Vec3(0.1, -0.2, 0.3), central))
    builder.add_joint("joint", kt.joints.Spherical(), "base", "body")
    return builder.build()
