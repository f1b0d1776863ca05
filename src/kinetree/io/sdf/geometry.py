"""<visual> and <collision>: shapes, colours and the addresses of meshes. Nothing is opened."""

from __future__ import annotations

import math

from kinetree.io.document import Element
from kinetree.io.notes import Notes
from kinetree.io.sdf.files import Files
from kinetree.io.sdf.scopes import Node, between
from kinetree.io.sdf.values import child, number, number_in, numbers, read_pose, required, word
from kinetree.model import Geometry
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["placement_in_link", "read_geometry", "sizes"]

_KNOWN = ("box", "capsule", "cone", "cylinder", "ellipsoid", "heightmap", "mesh", "plane", "sphere", "empty")
_NAMES = {"heightmap": "heightfield"}
_WITHOUT_GEOMETRY = ("image", "polyline")


def read_geometry(element: Element, link: Node, files: Files, notes: Notes) -> Geometry | None:
    """The shape of a <visual> or <collision>; None if it is empty or of a kind that is only kept as data."""
    shape = shape_of(element)
    kind = shape.tag
    if kind in _WITHOUT_GEOMETRY:
        notes.add(f"shapes of the kind <{kind}> have no geometry here; they are in robot.extras.unused", link.full)
        return None
    if kind == "empty":
        return None
    placement = placement_in_link(element, link)
    size = sizes(shape)
    if kind == "plane":
        placement = _facing(shape) @ placement
        if element.tag == "collision":  # its size is that of its picture
            size = (math.inf, math.inf)
    name = element.attributes.get("name", "").strip()
    color = _color(child(element, "material"))
    if kind not in ("mesh", "heightmap"):
        return Geometry(element.tag, kind, size, placement, name, color=color)
    address = word(required(shape, "uri"))
    assert link.scope is not None
    path = files.find(address, link.scope.folder)
    return Geometry(element.tag, _NAMES.get(kind, kind), size, placement, name, address, path, color)


def shape_of(element: Element) -> Element:
    """The one shape in a <visual> or <collision>."""
    geometry = required(element, "geometry")
    shapes = [part for part in geometry.children if part.tag in _KNOWN or part.tag in _WITHOUT_GEOMETRY]
    if len(shapes) != 1:
        tags = ", ".join(f"<{part.tag}>" for part in shapes) or "none"
        geometry.fail(f"must hold one shape ({', '.join(_KNOWN[:-1])}); it holds {tags}", "missing-element")
    return shapes[0]


def placement_in_link(element: Element, link: Node) -> Transform:
    """The placement of a part of a link: a <visual>, a <collision> or an <inertial>."""
    pose = child(element, "pose")
    X = read_pose(pose)
    if pose is None:
        return X
    assert link.scope is not None
    frame = pose.attributes.get("relative_to", "").strip()
    old = pose.attributes.get("frame", "").strip()
    if old and link.scope.version >= 7:
        pose.fail("has the attribute frame; since SDF 1.7 it is called relative_to", "unknown-attribute")
    if not (frame or old):
        return X
    base = link.scope.find(frame or old, pose, "relative_to" if frame else "frame")
    return X @ between(link, base)


def sizes(shape: Element) -> tuple[float, ...]:
    """The lengths of a shape as `Geometry` has them, with SDF's defaults where they are not given."""
    kind = shape.tag
    if kind == "box":
        size = _three(shape, "size", 1.0)
    elif kind == "sphere":
        size = (number_in(shape, "radius", 1.0),)
    elif kind == "ellipsoid":
        size = _three(shape, "radii", 1.0)
    elif kind in ("capsule", "cone", "cylinder"):
        size = (number_in(shape, "radius", 0.5 if kind == "capsule" else 1.0), number_in(shape, "length", 1.0))
    elif kind == "plane":
        element = child(shape, "size")
        size = (1.0, 1.0) if element is None else numbers(element, 2)
    elif kind == "heightmap":
        size = (*_three(shape, "size", 1.0), 0.0)
    else:
        return _three(shape, "scale", 1.0)
    if min(size) < 0.0:
        shape.fail(f"a length is negative: {min(size):g}; give it as a positive number of metres", "bad-shape")
    return size


def _three(shape: Element, tag: str, default: float) -> tuple[float, ...]:
    element = child(shape, tag)
    return (default,) * 3 if element is None else numbers(element, 3)


def _facing(plane: Element) -> Transform:
    """The placement of a frame whose z axis is the plane's normal: by the shortest turn."""
    element = child(plane, "normal")
    x, y, z = (0.0, 0.0, 1.0) if element is None else numbers(element, 3)
    length = math.hypot(x, y, z)
    if element is not None and not 1e-100 < length < 1e100:
        element.fail("is not a direction; give a unit vector", "bad-axis")
    x, y, z = x / length, y / length, z / length
    if z < -1.0 + 1e-12:
        return Transform(Mat3(Vec3(1.0, 0.0, 0.0), Vec3(0.0, -1.0, 0.0), Vec3(0.0, 0.0, -1.0)), Vec3.zero())
    k = 1.0 / (1.0 + z)
    rows = Vec3(1.0 - k * x * x, -k * x * y, -x), Vec3(-k * x * y, 1.0 - k * y * y, -y), Vec3(x, y, z)
    return Transform(Mat3(*rows), Vec3.zero())


def _color(material: Element | None) -> tuple[float, float, float, float] | None:
    """The diffuse colour of a material, or else its ambient one."""
    if material is None:
        return None
    color = child(material, "diffuse") or child(material, "ambient")
    if color is None:
        return None
    count = len(color.content.split())
    red, green, blue, *alpha = numbers(color, 3 if count == 3 else 4)
    return red, green, blue, alpha[0] if alpha else 1.0


def density_in(element: Element) -> float | None:
    """The <density> of a <collision> or <inertial>."""
    density = child(element, "density")
    if density is None:
        return None
    value = number(density)
    if value <= 0.0:
        density.fail(f"is {value:g}; a density is positive, kg/m³", "bad-number")
    return value
