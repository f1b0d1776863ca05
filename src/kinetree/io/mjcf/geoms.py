"""<geom>: shapes with their sizes, placements, contact parameters and masses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.bodies import Part
from kinetree.io.mjcf.mesh_assets import MeshAssets
from kinetree.io.mjcf.placements import along_z, from_quaternion, orientation, placed
from kinetree.io.mjcf.settings import Settings
from kinetree.model import Geometry
from kinetree.model.extras import ContactParameters
from kinetree.records import record
from kinetree.solids.meshes import CompiledMesh, fitted
from kinetree.solids.primitives import primitive
from kinetree.spatial import Transform

__all__ = ["Geom", "kind_of", "read_geom", "shape_placement", "site_size"]

_SIZES = {
    "plane": 3, "hfield": 0, "sphere": 1, "capsule": 2, "ellipsoid": 3, "cylinder": 2, "box": 3, "mesh": 0, "sdf": 0,
}  # fmt: skip
"""How many numbers of `size` each type needs."""
_WITH_ENDS = ("capsule", "cylinder", "ellipsoid", "box")
_TINY = 1e-14
"""MuJoCo's threshold for masses and volumes."""
_GRAY = (0.5, 0.5, 0.5, 1.0)
_ORIGIN = (0.0, 0.0, 0.0)
_SITE = (0.005, 0.005, 0.005)


@record(slots=True)
class Geom:
    """A shape of a body."""

    part: Part
    type: str
    size: tuple[float, ...]
    """MuJoCo's three numbers: radii and half lengths."""
    placement: Transform
    """In the body; of a mesh that was opened, its principal axes at its centre."""
    group: int
    shown: Transform
    """The placement in the body of its own axes, or of the axes of its mesh's file."""
    mesh: CompiledMesh | None = None

    def solid(self) -> tuple[float, tuple[float, float, float]] | None:
        """Its mass and principal moments in its own axes; None if it weighs nothing."""
        a = self.part.attributes
        shell = a.flag("shellinertia")
        if self.mesh is not None:
            if shell:
                a.fail('the inertia of a mesh is chosen in its asset: <mesh inertia="shell">', "not-allowed-here")
            amount, moments = self.mesh.amount, tuple(map(float, self.mesh.moments))
        else:
            amount, moments = primitive(a.element, self.type, self.size, shell=shell)
        mass = a.number("mass") if "mass" in a else a.number("density", 1000.0) * amount
        if "mass" in a and amount <= _TINY:
            mass = 0.0
        if mass < 0.0:
            a.fail(f"its mass is negative: {mass:g} kg; give a positive mass or density, or zero", "negative-mass")
        if mass <= _TINY:
            return None
        return mass, (mass * moments[0], mass * moments[1], mass * moments[2])

    def geometry(self, placement: Transform, where: Path | None) -> Geometry:
        """The shape as viewers and contacts take it, at a placement in the body; `where` is its mesh on disk."""
        part, a = self.part, self.part.attributes
        contact = _contact(a)
        role = "collision" if contact.contype or contact.conaffinity else "visual"
        mesh = None
        if self.type in ("mesh", "sdf", "hfield"):
            kind = "heightfield" if self.type == "hfield" else "mesh"
            asset = part.scope.asset("hfield" if kind == "heightfield" else "mesh", a.text(kind_of(self.type)), *_at(a))
            mesh = asset.attributes.get("file") and part.scope.address(asset)
            size = (
                _extents(Attributes(asset).numbers("size", (0.0,) * 4))
                if kind == "heightfield"
                else part.scope.attributes(asset, "mesh").numbers("scale", (1.0, 1.0, 1.0))
            )
        else:
            kind, size = self.type, _lengths(self.type, self.size)
        return Geometry(role, kind, size, placement, part.name, mesh or None, where, _color(part), contact)


def kind_of(type_: str) -> str:
    """The attribute that names the asset of a type."""
    return "hfield" if type_ == "hfield" else "mesh"


def _at(a: Attributes) -> tuple[Element, str]:
    return a.element, kind_of(a.text("type", "sphere"))


def read_geom(part: Part, meshes: MeshAssets, *, weighs: bool) -> Geom:
    """A geom; its mesh is opened if the geom `weighs`, or if its size depends on it."""
    a, settings = part.attributes, part.scope.settings
    type_ = a.word("type", {word: word for word in _SIZES}, "sphere")
    size = a.numbers("size", (0.0, 0.0, 0.0), least=1)
    position = a.numbers("pos", _ORIGIN)
    mesh = None
    if "fromto" in a:
        size, X = _between(a, type_, size, position)
    else:
        X = placed(orientation(a, settings), position)
    placement_shown = X
    if type_ in ("mesh", "sdf") and "mesh" not in a:
        a.fail(
            f'a geom of the type {type_} needs the attribute "mesh", the name of a mesh in <asset>; add it',
            "missing-attribute",
        )
    if (type_ == "hfield") != ("hfield" in a):
        a.fail(
            'type="hfield" and the attribute "hfield", which names a height field in <asset>, go together', "conflict"
        )
    if type_ == "hfield":
        asset = part.scope.asset("hfield", a.text("hfield"), *_at(a))
        x, y, top, base = Attributes(asset).numbers("size", (0.0,) * 4)
        size = (x, y, 0.25 * top + 0.5 * base)  # the box that it weighs as much as
    if "mesh" in a:
        if "fromto" in a:
            a.fail("fromto has no meaning for a geom with a mesh; remove one of them", "conflict")
        asset = part.scope.asset("mesh", a.text("mesh"), a.element, "mesh")
        is_mesh = type_ in ("mesh", "sdf")
        if weighs or not is_mesh:
            mesh = meshes.compiled(part.scope, asset, collides=is_mesh and _collides(a))
            center = np.asarray(mesh.position)
            if not is_mesh:
                sizes, center = fitted(
                    a.element, mesh, type_, fitscale=a.number("fitscale", 1.0), fitaabb=settings.fit_boxes
                )
                size = tuple(map(float, sizes))
            X = placed(from_quaternion(tuple(map(float, mesh.quaternion))), tuple(map(float, center))) @ X
            mesh, placement_shown = (mesh, placement_shown) if is_mesh else (None, X)
    _check_size(a, type_, size)
    return Geom(part, type_, size, part.in_body(X), a.whole("group"), part.in_body(placement_shown), mesh)


def shape_placement(a: Attributes, settings: Settings) -> Transform:
    """The placement of a site or camera, by its ends if these are given."""
    position = a.numbers("pos", _ORIGIN)
    if "fromto" in a:
        return _between(a, a.text("type", "sphere"), (0.0, 0.0, 0.0), position)[1]
    return placed(orientation(a, settings), position)


def site_size(a: Attributes) -> tuple[float, ...]:
    """The three numbers of a site's size, some by its ends if these are given."""
    size = a.numbers("size", _SITE, least=1)
    return _between(a, a.text("type", "sphere"), size, _ORIGIN)[0] if "fromto" in a else size


def _between(
    a: Attributes, type_: str, size: tuple[float, ...], position: Sequence[float]
) -> tuple[tuple[float, ...], Transform]:
    """Sizes and placement by the two ends of an axis."""
    if type_ not in _WITH_ENDS:
        a.fail(
            f"fromto has no meaning for a geom of the type {type_}; it is for {', '.join(_WITH_ENDS)}",
            "not-allowed-here",
        )
    if any(position):
        a.fail("it has both pos and fromto, which give its place twice; remove one of them", "conflict")
    ends = a.numbers("fromto", (0.0,) * 6)
    start, end = ends[:3], ends[3:]
    direction = [p - q for p, q in zip(start, end, strict=True)]
    length = math.hypot(*direction)
    if length < 2.0 * _TINY or length * length < _TINY:
        a.fail("the two ends of its fromto are at one place; give it a length", "bad-shape")
    half = 0.5 * length
    sizes = (size[0], size[0], half) if type_ in ("ellipsoid", "box") else (size[0], half, size[2])
    middle = [0.5 * (p + q) for p, q in zip(start, end, strict=True)]
    return sizes, placed(along_z([x / length for x in direction]), middle)


def _check_size(a: Attributes, type_: str, size: Sequence[float]) -> None:
    if type_ == "plane":
        if size[2] <= 0.0:
            a.fail("the third number of a plane's size, the spacing of its grid, must be positive", "bad-shape")
        return
    for k in range(_SIZES[type_]):
        if size[k] <= 0.0:
            text = " ".join(f"{x:g}" for x in size[: _SIZES[type_]])
            a.fail(f"its size is {text}; a {type_} needs {_SIZES[type_]} positive numbers in size", "bad-shape")


def _collides(a: Attributes) -> bool:
    return bool(a.whole("contype", 1) or a.whole("conaffinity", 1))


def _contact(a: Attributes) -> ContactParameters:
    condim = a.whole("condim", 3)
    if condim not in (1, 3, 4, 6):
        a.fail(f"condim is {condim}, but it must be 1, 3, 4 or 6")
    mu, torsion, rolling = a.numbers("friction", (1.0, 0.005, 0.0001), least=1)
    ref = a.numbers("solref", (0.02, 1.0), least=1)
    imp = a.numbers("solimp", (0.9, 0.95, 0.001, 0.5, 2.0), least=1)
    return ContactParameters(
        a.whole("contype", 1),
        a.whole("conaffinity", 1),
        condim,
        a.whole("priority"),
        (mu, torsion, rolling),
        a.number("solmix", 1.0),
        (ref[0], ref[1]),
        (imp[0], imp[1], imp[2], imp[3], imp[4]),
        a.number("margin"),
        a.number("gap"),
        a.numbers("surfacevel", (0.0,) * 6, least=1) if "surfacevel" in a else (),
        (a.number("adhesion"),) if "adhesion" in a else (),
    )


def _lengths(type_: str, size: Sequence[float]) -> tuple[float, ...]:
    """Lengths as kinetree gives them, from MuJoCo's half lengths."""
    if type_ == "box":
        return tuple(2.0 * x for x in size)
    if type_ == "plane":
        return tuple(2.0 * x if x > 0.0 else math.inf for x in size[:2])
    if type_ == "sphere":
        return (size[0],)
    if type_ == "ellipsoid":
        return tuple(size)
    return size[0], 2.0 * size[1]


def _extents(size: Sequence[float]) -> tuple[float, ...]:
    """The lengths of a height field, whose size has half of two of them."""
    x, y, top, base = size
    return 2.0 * x, 2.0 * y, top, base


def _color(part: Part) -> tuple[float, float, float, float]:
    a, color = part.attributes, None
    if a.text("material"):
        material = part.scope.asset("material", a.text("material"), a.element, "material")
        color = part.scope.attributes(material, "material").numbers("rgba", (1.0, 1.0, 1.0, 1.0))
    r, g, b, alpha = a.numbers("rgba", _GRAY) if "rgba" in a or color is None else color
    return r, g, b, alpha
