"""Shapes as their collisions see them: records of lengths, which are numbers of any kind, in the shape's own axes.

Where MuJoCo has the same shape, its axes, its origin and its lengths (radii and half lengths) are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import ClassVar

from kinetree.expr import Scalar
from kinetree.records import record

__all__ = [
    "KINDS",
    "Box",
    "Capsule",
    "Cylinder",
    "Ellipsoid",
    "HeightField",
    "Hull",
    "Mesh",
    "MinkowskiSum",
    "Plane",
    "Shape",
    "Sphere",
    "of_kind",
    "simple_shape",
    "sum_of",
]

KINDS = ("plane", "heightfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "hull")
"""The kinds of shapes in MuJoCo's order: of a pair, the first one is that which comes first here."""


_HASHED = 16
"""How many parts of a large table its hash is made of."""


@record(frozen=True, slots=True)
class Plane:
    """Everything below z = 0 is inside."""

    kind: ClassVar[str] = "plane"
    half_x: float = inf
    half_y: float = inf
    """How far it goes on for rays; whatever touches it touches it everywhere."""


@record(frozen=True, slots=True)
class HeightField:
    """Everything below a surface over the rectangle |x| <= half_x, |y| <= half_y.

    Heights are constants on a regular grid, row by row from y = -half_y, each row from x = -half_x. Each cell is two
    triangles, which meet at the diagonal from its corner at (low x, low y) to that at (high x, high y), as in MuJoCo.
    """

    kind: ClassVar[str] = "heightfield"
    heights: tuple[tuple[float, ...], ...]
    half_x: float
    half_y: float
    base: float = 0.0
    """How far the ground goes down below z = 0, which rays meet from aside and from below."""
    is_smooth: bool = False
    """Whether things touch a surface with continuous slopes through the heights, instead of triangles."""

    def __hash__(self) -> int:
        return hash((len(self.heights), self.heights[0][:_HASHED], self.half_x, self.half_y, self.is_smooth))


@record(frozen=True, slots=True)
class Sphere:
    """A ball about the origin."""

    kind: ClassVar[str] = "sphere"
    radius: Scalar


@record(frozen=True, slots=True)
class Capsule:
    """All points at most `radius` from the segment from z = -half_length to z = half_length."""

    kind: ClassVar[str] = "capsule"
    radius: Scalar
    half_length: Scalar


@record(frozen=True, slots=True)
class Ellipsoid:
    """An ellipsoid about the origin, by its half axes."""

    kind: ClassVar[str] = "ellipsoid"
    x: Scalar
    y: Scalar
    z: Scalar


@record(frozen=True, slots=True)
class Cylinder:
    """A cylinder about z, from z = -half_length to z = half_length."""

    kind: ClassVar[str] = "cylinder"
    radius: Scalar
    half_length: Scalar


@record(frozen=True, slots=True)
class Box:
    """A box about the origin, by its half lengths."""

    kind: ClassVar[str] = "box"
    x: Scalar
    y: Scalar
    z: Scalar


@record(frozen=True, slots=True)
class Hull:
    """The convex hull of points, which are constants."""

    kind: ClassVar[str] = "hull"
    vertices: tuple[tuple[float, float, float], ...]
    faces: tuple[tuple[int, ...], ...] = ()
    """The corners of each face, counter-clockwise seen from outside, by their places in `vertices`; () if not known."""


@record(frozen=True, slots=True)
class MinkowskiSum:
    """The sums of a point of a ball, one of a box and one of an ellipsoid, all about the origin.

    Spheres, capsules, ellipsoids, cylinders and boxes are such sums (`sum_of`): a cylinder is one of a line and a disc.
    """

    kind: ClassVar[str] = "sum"
    radius: Scalar = 0.0
    half_x: Scalar = 0.0
    half_y: Scalar = 0.0
    half_z: Scalar = 0.0
    """The half lengths of the box."""
    x: Scalar = 0.0
    y: Scalar = 0.0
    z: Scalar = 0.0
    """The half axes of the ellipsoid."""


@record(frozen=True, slots=True)
class Mesh:
    """Triangles, by their corners' places in `vertices`, all constants; rays meet them from both sides."""

    kind: ClassVar[str] = "mesh"
    vertices: tuple[tuple[float, float, float], ...]
    faces: tuple[tuple[int, int, int], ...]

    def __hash__(self) -> int:
        return hash((len(self.vertices), *self.faces[:_HASHED]))


Shape = Plane | HeightField | Sphere | Capsule | Ellipsoid | Cylinder | Box | Hull | MinkowskiSum | Mesh


def sum_of(shape: Shape) -> MinkowskiSum:
    """A shape as a sum; other shapes are rejected.

    >>> sum_of(Capsule(0.05, 0.2))
    MinkowskiSum(radius=0.05, half_x=0.0, half_y=0.0, half_z=0.2, x=0.0, y=0.0, z=0.0)
    """
    if isinstance(shape, MinkowskiSum):
        return shape
    if isinstance(shape, Sphere):
        return MinkowskiSum(shape.radius)
    if isinstance(shape, Capsule):
        return MinkowskiSum(shape.radius, half_z=shape.half_length)
    if isinstance(shape, Ellipsoid):
        return MinkowskiSum(x=shape.x, y=shape.y, z=shape.z)
    if isinstance(shape, Cylinder):
        return MinkowskiSum(half_z=shape.half_length, x=shape.radius, y=shape.radius)
    if isinstance(shape, Box):
        return MinkowskiSum(0.0, shape.x, shape.y, shape.z)
    raise TypeError(f"a {shape.kind} is not a sum of a ball, a box and an ellipsoid")


def of_kind(kind: str, shape: MinkowskiSum) -> Shape:
    """The shape of a kind that has faces or lines, from the sum that it is."""
    match kind:
        case "capsule":
            return Capsule(shape.radius, shape.half_z)
        case "cylinder":
            return Cylinder(shape.x, shape.half_z)
        case "box":
            return Box(shape.half_x, shape.half_y, shape.half_z)
    return shape


def simple_shape(kind: str, size: Sequence[Scalar]) -> Shape | None:
    """The shape of a robot's geometry of a kind and lengths; None for kinds that need more than lengths.

    >>> simple_shape("capsule", (0.05, 0.4))
    Capsule(radius=0.05, half_length=0.2)
    """
    match kind:
        case "plane":
            return Plane()
        case "sphere":
            return Sphere(size[0])
        case "capsule":
            return Capsule(size[0], 0.5 * size[1])
        case "cylinder":
            return Cylinder(size[0], 0.5 * size[1])
        case "ellipsoid":
            return Ellipsoid(*size[:3])
        case "box":
            return Box(*(0.5 * x for x in size[:3]))
    return None
