"""<link> and its <inertial>."""

from __future__ import annotations

from kinetree.io.document import Element
from kinetree.io.numbers import number, number_each
from kinetree.io.urdf.geometry import GeometryReader
from kinetree.io.urdf.placement import read_placement
from kinetree.model import ModelBuilder
from kinetree.spatial import Inertia, Mat3, Sym3, Vec3

__all__ = ["read_link"]

_ENTRIES = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_AXES = Mat3.identity()
_ORIGIN = Vec3.zero()


def read_link(link: Element, builder: ModelBuilder, geometry: GeometryReader) -> None:
    """Add a link to the builder."""
    name = link.text("name")
    inertial = link.all("inertial")
    if len(inertial) > 1:
        inertial[1].fail(f"{link!r} has a second <inertial> (the first is in line {inertial[0].line}); remove one")
    builder.add_body(
        name,
        _inertia(inertial[0]) if inertial else None,
        geometry=[
            geometry.read(child, name, place)
            for place, child in enumerate(
                child for child in link.children if child.tag == "visual" or child.tag == "collision"
            )
        ],
        where=inertial[0] if inertial else link,
    )


def _inertia(inertial: Element) -> Inertia:
    """The inertia in the link's frame; the file gives it about the centre of mass, in the axes of <origin>."""
    parts = inertial.parts()
    mass = number(parts.get("mass") or inertial.lacks("mass"), "value")
    I = Sym3(*number_each(parts.get("inertia") or inertial.lacks("inertia"), _ENTRIES))
    X = read_placement(parts.get("origin"))
    if X.E == _AXES:
        if X.r == _ORIGIN:
            return Inertia(mass, _ORIGIN, I)
        return Inertia.from_com(mass, X.r, I)
    # Rotated about the centre of mass first and then moved: moving a rotated frame would lose a digit.
    return Inertia.from_com(mass, X.r, I.rotated(X.E.T))
