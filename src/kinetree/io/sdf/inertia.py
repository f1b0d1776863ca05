"""<inertial>: the inertia of a link, given or computed from its collision shapes."""

from __future__ import annotations

import numpy as np

from kinetree.io.document import Element
from kinetree.io.notes import Notes
from kinetree.io.sdf.auto_inertia import automatic_inertia
from kinetree.io.sdf.files import Files
from kinetree.io.sdf.geometry import placement_in_link
from kinetree.io.sdf.scopes import Node
from kinetree.io.sdf.values import child, flag_of, number, number_in
from kinetree.model import ModelBuilder
from kinetree.spatial import Inertia, Mat3, Sym3, Vec3

__all__ = ["read_inertia"]

_ENTRIES = {"ixx": 1.0, "iyy": 1.0, "izz": 1.0, "ixy": 0.0, "ixz": 0.0, "iyz": 0.0}
_AXES = Mat3.identity()
_ORIGIN = Vec3.zero()
_TOLERANCE = 1e-6


def read_inertia(link: Node, builder: ModelBuilder, files: Files, notes: Notes, *, moves: bool) -> Inertia:
    """The inertia in the link's frame. Missing values are SDF's defaults: 1 kg, and 1 kg·m² about each axis."""
    inertial = child(link.element, "inertial")
    if inertial is None:
        if moves:
            builder.suspect(
                link.element,
                f"link {link.full!r} has no <inertial>, which in SDF means 1 kg and 1 kg·m² about each axis",
                "assumption",
            )
        return Inertia(1.0, _ORIGIN, Sym3.scalar(1.0))
    if any(part.tag == "fluid_added_mass" for part in inertial.children):
        builder.suspect(
            inertial,
            f"link {link.full!r} has <fluid_added_mass>, which is kept in robot.extras.unused and not part of its "
            "inertia",
            "kept-as-data",
        )
    if flag_of(inertial, "auto"):
        tags = [tag for tag in ("pose", "inertia") if child(inertial, tag) is not None]
        if tags:
            notes.add(f'<{"> and <".join(tags)}> in <inertial auto="true"> have no effect', link.full)
        return automatic_inertia(inertial, link, files, notes)
    return _stated_inertia(inertial, link, builder, moves=moves)


def _stated_inertia(inertial: Element, link: Node, builder: ModelBuilder, *, moves: bool) -> Inertia:
    """The inertia that is given about the centre of mass, in the axes of <pose>."""
    mass_element, matrix = child(inertial, "mass"), child(inertial, "inertia")
    mass = 1.0 if mass_element is None else number(mass_element)
    entries = [default if matrix is None else number_in(matrix, tag, default) for tag, default in _ENTRIES.items()]
    if moves and (mass_element is None or matrix is None):
        missing = "mass" if mass_element is None else "inertia"
        builder.suspect(
            inertial,
            f"link {link.full!r} has no <{missing}>, which in SDF means 1 {'kg' if mass_element is None else 'kg·m²'}"
            + ("" if mass_element is None else " about each axis"),
            "assumption",
        )
    I = Sym3(*entries)
    _check(inertial if matrix is None else matrix, mass, I)
    X = placement_in_link(inertial, link)
    if X.E == _AXES:
        return Inertia(mass, _ORIGIN, I) if X.r == _ORIGIN else Inertia.from_com(mass, X.r, I)
    return Inertia.from_com(mass, X.r, I.rotated(X.E.T))


def _check(element: Element, mass: float, I: Sym3) -> None:
    """Reject inertias that SDF calls invalid."""
    if mass < 0.0:
        element.fail(f"belongs to the negative mass {mass:g} kg; a mass is positive or zero", "negative-mass")
    xx, yy, zz, xy, xz, yz = map(float, I.components())
    scale = max(map(abs, (xx, yy, zz, xy, xz, yz)))
    if scale == 0.0:
        return
    a, b, c = np.linalg.eigvalsh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) / scale) * scale
    if a < -_TOLERANCE * scale or c > a + b + _TOLERANCE * scale:
        wrong = "one is negative" if a < -_TOLERANCE * scale else "one is larger than the other two together"
        element.fail(
            f"is the inertia of no body: its principal moments are {a:.4g}, {b:.4g} and {c:.4g} kg·m², and {wrong}; "
            "SDF calls that invalid; check the signs and the order of its entries",
            "inconsistent-inertia",
        )
