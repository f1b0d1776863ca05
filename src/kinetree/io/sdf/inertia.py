"""<inertial>: the inertia of a link, given or computed from its collision shapes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from kinetree.errors import KinetreeError, ModelError
from kinetree.io.document import Element
from kinetree.io.notes import Notes
from kinetree.io.sdf.files import Files
from kinetree.io.sdf.geometry import density_in, placement_in_link, shape_of, sizes
from kinetree.io.sdf.scopes import Node
from kinetree.io.sdf.values import child, flag_of, number, number_in, required, word
from kinetree.model import ModelBuilder
from kinetree.solids import box, capsule, cylinder, ellipsoid, mesh_file, sphere
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


_WATER = 1000.0
"""SDF's default density, kg/m³."""
_SOLIDS: dict[str, Callable[..., Inertia]] = {
    "box": box,
    "sphere": sphere,
    "cylinder": cylinder,
    "capsule": capsule,
    "ellipsoid": ellipsoid,
}


def automatic_inertia(inertial: Element, link: Node, files: Files, notes: Notes) -> Inertia:
    """The sum over the collision shapes, where they overlap twice; scaled to <mass> if that is given.

    The density of a shape is its own, or else that of <inertial>, or else that of water.
    """
    collisions = link.element.all("collision")
    if not collisions:
        inertial.fail(
            'auto="true" needs a <collision> in the link, from which the inertia is computed; add one',
            "missing-element",
        )
    usual = density_in(inertial)
    mass = child(inertial, "mass")
    total = Inertia.zero()
    for collision in collisions:
        density = density_in(collision) or usual
        if density is None:
            density = _WATER
            if mass is None:
                notes.add('shapes without <density> have that of water in <inertial auto="true">', link.full)
        total = total + placement_in_link(collision, link).back(_uniform(collision, link, density, files))
    if mass is None:
        return total
    stated_mass = number(mass)
    if stated_mass <= 0.0:
        mass.fail(f"is {stated_mass:g} kg; a mass is positive", "negative-mass")
    s = stated_mass / total.mass
    return Inertia(stated_mass, total.h * s, Sym3(*(x * s for x in total.I.components())))


def _uniform(collision: Element, link: Node, density: float, files: Files) -> Inertia:
    """The inertia of one shape in its own frame."""
    shape = shape_of(collision)
    size = sizes(shape) if shape.tag not in ("image", "polyline", "empty") else ()
    try:
        if shape.tag in _SOLIDS:
            return _SOLIDS[shape.tag](*size, density=density)
        if shape.tag == "cone":
            return cone(*size, density=density)
        if shape.tag == "mesh":
            return _mesh(shape, link, size, density, files)
    except KinetreeError as error:
        if isinstance(error, ModelError) and error.problems:
            raise
        return shape.fail(f'its inertia cannot be computed for <inertial auto="true">: {error}', "bad-shape")
    return shape.fail(
        f'a <{shape.tag}> encloses no volume, so <inertial auto="true"> cannot be computed from it; '
        "give <mass> and <inertia> instead",
        "bad-shape",
    )


def cone(radius: float, length: float, *, density: float) -> Inertia:
    """A solid cone about z with its apex up; its frame is at half its height, as SDF has it."""
    if not (radius > 0.0 and length > 0.0):
        from kinetree.errors import OptionError

        raise OptionError(f"cone: its radius and length must be positive, not {radius:g} and {length:g}")
    mass = density * math.pi * radius * radius * length / 3.0
    across = mass * (12.0 * radius * radius + 3.0 * length * length) / 80.0
    central = Sym3(across, across, 0.3 * mass * radius * radius, 0.0, 0.0, 0.0)
    return Inertia.from_com(mass, Vec3(0.0, 0.0, -0.25 * length), central)


def _mesh(shape: Element, link: Node, scale: tuple[float, ...], density: float, files: Files) -> Inertia:
    """The inertia of the solid inside a mesh, stretched along its axes."""
    uri = required(shape, "uri")
    assert link.scope is not None
    path = files.find(word(uri), link.scope.folder)
    if path is None:
        uri.fail(
            f"the mesh {word(uri):.60} is not inside the folder of the file or package_roots, and its inertia is "
            "needed; name its folder in package_roots (--package-roots)",
            "missing-mesh",
        )
    if child(shape, "submesh") is not None:
        shape.fail(
            '<inertial auto="true"> of a <submesh> is not computed; give <mass> and <inertia> instead',
            "not-allowed-here",
        )
    solid = mesh_file(path, density=density)
    if scale == (1.0, 1.0, 1.0):
        return solid
    a, b, c = scale
    volume = abs(a * b * c)
    if volume == 0.0:
        shape.fail("its scale has a zero in it, so it encloses no volume", "bad-shape")
    # In terms of ∫ x xᵀ dm, whose trace is half that of the inertia, each entry is multiplied by two scales.
    I = solid.I
    half = 0.5 * (I.xx + I.yy + I.zz)
    xx, yy, zz = (volume * s * s * (half - own) for s, own in ((a, I.xx), (b, I.yy), (c, I.zz)))
    products = (volume * s * own for s, own in ((a * b, I.xy), (a * c, I.xz), (b * c, I.yz)))
    h = Vec3(*(volume * s * x for s, x in zip(scale, solid.h.components(), strict=True)))
    return Inertia(volume * solid.mass, h, Sym3(yy + zz, xx + zz, xx + yy, *products))
