"""The table of pairs of shapes: which function finds their contacts, and how many slots it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree.collision.box_box import box_box
from kinetree.collision.capsule_box import capsule_box
from kinetree.collision.capsules import capsule_capsule
from kinetree.collision.contact_point import ContactPoint
from kinetree.collision.convex import convex_convex
from kinetree.collision.height_fields import (
    field_box,
    field_capsule,
    field_cylinder,
    field_ellipsoid,
    field_hull,
    field_sphere,
)
from kinetree.collision.manifold import face_face, face_line
from kinetree.collision.plane_box import plane_box
from kinetree.collision.plane_hull import plane_hull
from kinetree.collision.planes import plane_capsule, plane_cylinder, plane_ellipsoid, plane_sphere
from kinetree.collision.shapes import KINDS, Shape
from kinetree.collision.sphere_box import sphere_box
from kinetree.collision.spheres import sphere_capsule, sphere_cylinder, sphere_sphere
from kinetree.errors import OptionError
from kinetree.expr import Scalar
from kinetree.records import record
from kinetree.spatial import Transform

__all__ = ["ITERATIVE", "PAIRS", "contacts", "has_loops", "in_order", "is_supported", "slots", "unsupported"]


@record(frozen=True, slots=True)
class Pair:
    """A row of the table."""

    slots: int
    find: Callable[[Any, Transform, Any, Transform, Scalar], tuple[ContactPoint, ...]]
    """find(a, X_a, b, X_b, margin): `slots` points."""


PAIRS: dict[tuple[str, str], Pair] = {
    ("plane", "sphere"): Pair(1, plane_sphere),
    ("plane", "capsule"): Pair(2, plane_capsule),
    ("plane", "ellipsoid"): Pair(1, plane_ellipsoid),
    ("plane", "cylinder"): Pair(4, plane_cylinder),
    ("plane", "box"): Pair(4, plane_box),
    ("plane", "hull"): Pair(4, plane_hull),
    ("heightfield", "sphere"): Pair(1, field_sphere),
    ("heightfield", "capsule"): Pair(2, field_capsule),
    ("heightfield", "ellipsoid"): Pair(1, field_ellipsoid),
    ("heightfield", "cylinder"): Pair(4, field_cylinder),
    ("heightfield", "box"): Pair(4, field_box),
    ("heightfield", "hull"): Pair(4, field_hull),
    ("sphere", "sphere"): Pair(1, sphere_sphere),
    ("sphere", "capsule"): Pair(1, sphere_capsule),
    ("sphere", "cylinder"): Pair(1, sphere_cylinder),
    ("sphere", "box"): Pair(1, sphere_box),
    ("capsule", "capsule"): Pair(2, capsule_capsule),
    ("capsule", "box"): Pair(2, capsule_box),
    ("box", "box"): Pair(8, box_box),
}
ITERATIVE = (
    ("sphere", "ellipsoid"), ("sphere", "hull"),
    ("capsule", "ellipsoid"), ("capsule", "cylinder"), ("capsule", "hull"),
    ("ellipsoid", "ellipsoid"), ("ellipsoid", "cylinder"), ("ellipsoid", "box"), ("ellipsoid", "hull"),
    ("cylinder", "cylinder"), ("cylinder", "box"), ("cylinder", "hull"),
    ("box", "hull"), ("hull", "hull"),
)  # fmt: skip
_WITH_FACES = ("cylinder", "box", "hull")


def _iterative(a: str, b: str) -> Pair:
    """One point, or several where both shapes have faces or lines to touch with."""
    if b not in _WITH_FACES or a not in ("capsule", *_WITH_FACES):
        return Pair(1, convex_convex)
    return Pair(2, face_line) if a == "capsule" else Pair(4, face_face)


PAIRS.update((pair, _iterative(*pair)) for pair in ITERATIVE)


def in_order(kind_a: str, kind_b: str) -> bool:
    """Whether the first kind of a pair comes first in the table, as in MuJoCo."""
    return KINDS.index(kind_a) <= KINDS.index(kind_b)


def is_supported(kind_a: str, kind_b: str) -> bool:
    """Whether there are contacts between two kinds of shapes."""
    return _key(kind_a, kind_b) in PAIRS


def has_loops(kind_a: str, kind_b: str) -> bool:
    """Whether a pair's contacts are found in loops, which a trace with a recorder keeps and any other writes out."""
    return not {"hull", "heightfield"}.isdisjoint((kind_a, kind_b)) or _key(kind_a, kind_b) in ITERATIVE


def slots(kind_a: str, kind_b: str) -> int:
    """How many contact points a pair of shapes has; a pair that is not in the table is rejected."""
    return _row(kind_a, kind_b).slots


def contacts(a: Shape, X_a: Transform, b: Shape, X_b: Transform, margin: Scalar = 0.0) -> tuple[ContactPoint, ...]:
    """The contact points of two shapes, placed in the world by X_a and X_b, with normals from a to b.

    There are always `slots(a.kind, b.kind)` of them; those that do not exist are `FAR` away. Points may be farther
    apart than the margin: it only decides which ones are returned where there are more candidates than slots.
    """
    row = _row(a.kind, b.kind)
    if in_order(a.kind, b.kind):
        return row.find(a, X_a, b, X_b, margin)
    return tuple(point.flipped() for point in row.find(b, X_b, a, X_a, margin))


def unsupported(kind_a: str, kind_b: str) -> str:
    """A message about a pair that is not in the table."""
    with_first = [name for name in KINDS if _key(kind_a, name) in PAIRS]
    return (
        f"there are no contacts between a {kind_a} and a {kind_b} yet; "
        f"a {kind_a} has them with {', '.join(with_first) or 'nothing'}"
    )


def _key(kind_a: str, kind_b: str) -> tuple[str, str]:
    return (kind_a, kind_b) if in_order(kind_a, kind_b) else (kind_b, kind_a)


def _row(kind_a: str, kind_b: str) -> Pair:
    row = PAIRS.get(_key(kind_a, kind_b))
    if row is None:
        raise OptionError(unsupported(kind_a, kind_b))
    return row
