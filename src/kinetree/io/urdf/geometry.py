"""<visual> and <collision>: shapes, materials and the addresses of meshes. Nothing is opened."""

from __future__ import annotations

import math

from kinetree.io.document import Element
from kinetree.io.meshes import MeshFinder
from kinetree.io.notes import Notes
from kinetree.io.numbers import number, numbers
from kinetree.io.urdf.version import read_version, version_around
from kinetree.model import Geometry, extras
from kinetree.model.problems import STRICT, Problems
from kinetree.spatial import Mat3, Transform, Vec3
from kinetree.spatial.rotations import from_quaternion, from_rpy

__all__ = ["Color", "GeometryReader", "read_placement"]

Color = tuple[float, float, float, float]


class GeometryReader:
    """Reads the shapes of all links; materials may be defined at the top or inside the first shape that uses them."""

    def __init__(self, robot: Element, meshes: MeshFinder, notes: Notes, problems: Problems = STRICT) -> None:
        self._version = read_version(robot)
        self._meshes = meshes
        self._problems = problems
        self._notes = notes
        self._colors: dict[str, Color | None] = {}
        self._images: dict[str, str] = {}
        self.textures: list[extras.Texture] = []
        for material in robot.all("material"):
            with problems.of():
                self._define(material)
        for link in robot.all("link"):
            for shape in link.children:
                for material in shape.all("material"):
                    if material.children and "name" in material.attributes:
                        with problems.of():
                            self._define(material, again=True)

    def read(self, element: Element, link: str, place: int) -> Geometry:
        """Read a <visual> or <collision> of the link with that name; `place` counts them."""
        parts = element.parts()
        shape = self._shape(parts.get("geometry") or element.lacks("geometry"))
        kind = shape.tag
        placement = read_placement(parts.get("origin"))
        name = element.attributes.get("name", "")
        material = parts.get("material")
        color = self._color_of(material, link)
        if material is not None:
            self._note_texture(material, link, place)
        if kind == "capsule" and self._version < (1, 1):
            self._notes.add("capsules came with version 1.1 of URDF and were kept all the same, on links", link)
        if kind != "mesh":
            return Geometry(element.tag, kind, self._size(shape), placement, name, color=color)
        address = shape.text("filename")
        path = self._meshes.find(address)
        if path is None and self._problems.collects:
            self._problems.suspect([self._meshes.missing(shape, address)])
        return Geometry(element.tag, kind, self._scale(shape), placement, name, address, path, color)

    def _shape(self, geometry: Element) -> Element:
        if len(geometry.children) != 1:
            tags = ", ".join(f"<{child.tag}>" for child in geometry.children) or "none that is known"
            geometry.fail(f"must hold one shape (box, cylinder, sphere, capsule or mesh); it holds {tags}", "bad-shape")
        return geometry.children[0]

    def _size(self, shape: Element) -> tuple[float, ...]:
        if shape.tag == "box":
            size = numbers(shape, "size", 3)
        elif shape.tag == "sphere":
            size = (number(shape, "radius"),)
        else:
            size = (number(shape, "radius"), number(shape, "length"))
        if min(size) < 0.0:
            shape.fail(f"a length is negative: {min(size):g}; give it as a positive number of metres", "bad-shape")
        return size

    def _scale(self, mesh: Element) -> tuple[float, ...]:
        text = mesh.attributes.get("scale", "1 1 1")
        if len(text.split()) == 1:  # one factor for all three axes
            return (number(mesh, "scale"),) * 3
        return numbers(mesh, "scale", 3, (1.0, 1.0, 1.0))

    def _define(self, material: Element, *, again: bool = False) -> None:
        """Remember a material; `again` is for those inside shapes, which may define one where others only use it."""
        name = material.attributes["name"] if again else material.text("name")
        color = self._color(material)
        if image := _image(material):
            self._images.setdefault(name, image)
        if not again and name in self._colors and self._colors[name] != color:
            self._notes.add("materials defined twice in different colours have the first one", name)
        self._colors.setdefault(name, color)

    def _color_of(self, material: Element | None, link: str) -> Color | None:
        if material is None:
            return None
        if material.children:
            return self._color(material)
        name = material.attributes.get("name", "")
        if name and name not in self._colors:
            self._notes.add(
                "materials that are used but not defined leave the shape without a colour", f"{name} on {link}"
            )
        return self._colors.get(name)

    def _note_texture(self, material: Element, link: str, place: int) -> None:
        name = material.attributes.get("name", "")
        if image := _image(material) if material.children else self._images.get(name):
            self.textures.append(extras.Texture(link, place, image, name, self._meshes.image(image)))

    def _color(self, material: Element) -> Color | None:
        color = material.parts().get("color")
        if color is None:
            return None
        r, g, b, a = numbers(color, "rgba", 4)
        return r, g, b, a


def _image(material: Element) -> str:
    """The address of a material's image; empty without one."""
    texture = material.parts().get("texture")
    return "" if texture is None else texture.attributes.get("filename", "").strip()


_ZERO = (0.0, 0.0, 0.0)
_AXES = Mat3.identity()
_IDENTITY = Transform.identity()
_ROUNDED = 1e-4
"""Files commonly have five digits and more; a quaternion whose length is further from one was not rounded."""


def read_placement(origin: Element | None) -> Transform:
    """The placement of an element by its <origin>, in the frame of the link around; by default the identity."""
    if origin is None:
        return _IDENTITY
    xyz = numbers(origin, "xyz", 3, _ZERO)
    if "quat_xyzw" in origin.attributes:
        return Transform(_turned(origin), Vec3(*xyz))
    rpy = numbers(origin, "rpy", 3, _ZERO)
    E = _AXES if rpy == _ZERO else from_rpy(*rpy).T
    return Transform(E, Vec3(*xyz))


def _turned(origin: Element) -> Mat3:
    """The axes that a quaternion gives."""
    if "rpy" in origin.attributes:
        origin.fail("has both rpy and quat_xyzw; remove one of them")
    if version_around(origin) < (1, 1):
        origin.fail('quat_xyzw came with version 1.1 of URDF; write version="1.1" on <robot>, or give rpy instead')
    x, y, z, w = numbers(origin, "quat_xyzw", 4)
    length = math.hypot(x, y, z, w)
    if not abs(length - 1.0) <= _ROUNDED:
        origin.fail(f"quat_xyzw has length {length:.6g}, but a rotation is a quaternion x y z w of length one")
    return from_quaternion(x / length, y / length, z / length, w / length).T
