"""<link> and its <inertial>."""

from __future__ import annotations

from kinetree.io.document import Element
from kinetree.io.numbers import number, number_each
from kinetree.io.urdf.geometry import GeometryReader
from kinetree.io.urdf.placement import read_placement
from kinetree.model import ModelBuilder
from kinetree.model.problems import Problems
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3

__all__ = ["read_link"]

_ENTRIES = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_AXES = Mat3.identity()
_ORIGIN = Vec3.zero()
_ZERO = Sym3.zero()
_IDENTITY = Transform.identity()


def read_link(link: Element, builder: ModelBuilder, geometry: GeometryReader) -> None:
    """Add a link to the builder."""
    name = link.text("name")
    inertial = link.all("inertial")
    problems = builder.problems
    if len(inertial) > 1:
        sentence = f"{link!r} has a second <inertial> (the first is in line {inertial[0].line}); remove one"
        problems.add(inertial[1].error(sentence, "repeated-element", repair="the first one is used"))
    inertia = None
    if inertial:
        before = problems.fatal
        inertia = problems.attempt(None, _inertia, inertial[0], problems)
        if problems.fatal > before:
            inertia = None
            problems.doubt(name)
    described = [child for child in link.children if child.tag == "visual" or child.tag == "collision"]
    shapes = [problems.attempt(None, geometry.read, child, name, place) for place, child in enumerate(described)]
    builder.add_body(
        name,
        inertia,
        geometry=[shape for shape in shapes if shape is not None],
        where=inertial[0] if inertial else link,
    )


def _inertia(inertial: Element, problems: Problems) -> Inertia:
    """The inertia in the link's frame; the file gives it about the centre of mass, in the axes of <origin>."""
    parts = inertial.parts()
    mass = problems.attempt(0.0, _mass, inertial, parts.get("mass"))
    I = problems.attempt(_ZERO, _about_center, inertial, parts.get("inertia"))
    X = problems.attempt(_IDENTITY, read_placement, parts.get("origin"))
    if X.E == _AXES:
        if X.r == _ORIGIN:
            return Inertia(mass, _ORIGIN, I)
        return Inertia.from_com(mass, X.r, I)
    # Rotated about the centre of mass first and then moved: moving a rotated frame would lose a digit.
    return Inertia.from_com(mass, X.r, I.rotated(X.E.T))


def _mass(inertial: Element, mass: Element | None) -> float:
    return number(mass or inertial.lacks("mass"), "value")


def _about_center(inertial: Element, inertia: Element | None) -> Sym3:
    return Sym3(*number_each(inertia or inertial.lacks("inertia"), _ENTRIES))
