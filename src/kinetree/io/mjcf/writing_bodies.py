"""Contents of bodies: shapes as <geom> with the assets they name, <inertial> if MuJoCo takes it, sites and cameras."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from pathlib import PurePosixPath

import numpy as np

from kinetree.io.chains import free_name
from kinetree.io.fit_inertias import moments_of
from kinetree.io.losses import Losses
from kinetree.io.mjcf.writing_values import Written, changed, pose, raw_numbers, trimmed, vector
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.model.elements import Geometry
from kinetree.model.extras import Camera, ContactParameters, Site
from kinetree.model.specs import FrameSpec
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3

__all__ = ["LEAST", "Assets", "Fitness", "fitness_of", "write_camera", "write_geom", "write_inertia", "write_site"]

_MESHES = (".obj", ".stl", ".msh")
_USUAL_CONTACT = ContactParameters()
_HALVED = {
    "box": (0, 1, 2), "capsule": (1,), "cylinder": (1,), "ellipsoid": (), "heightfield": (0, 1), "sphere": (),
}  # fmt: skip
"""The entries of a shape's size that MuJoCo gives as half lengths."""
LEAST = 2e-15
"""The mass and the principal moments of a body that moves without any, kg and kg·m²: MuJoCo demands more than 1e-15."""
_MINIMUM = 1e-15
_SMALLEST_FULL = 1e-13
"""The smallest moment with which the matrix is written: MuJoCo rejects those below 1e-14."""
_TOLERANCE = 1e-9
"""How far, relative to the largest, principal moments may violate the conditions of a body: rounding."""
_NOISE = 1e-14
"""How far they may violate it relative to the entries about the origin, and of the mass times 1 m²: rounding, too."""
_EXACT = 1e-12
"""How near, relative to the largest, one moment is to the sum of the other two if MuJoCo may find it larger."""
_SITE = Site("", "", "")
_OF_SITES = {"shape": "type", "group": "group", "color": "rgba"}
_CAMERA = Camera("", "", "")
_OF_CAMERAS = {
    "mode": "mode", "projection": "projection", "eye_distance": "ipd", "resolution": "resolution", "output": "output",
    "focal": "focal", "focal_pixel": "focalpixel", "principal": "principal", "principal_pixel": "principalpixel",
    "sensor_size": "sensorsize",
}  # fmt: skip


class Assets:
    """Meshes and height fields by name, each with the numbers it is written with: a scale, or MuJoCo's size."""

    def __init__(self, names: Mapping[tuple[str, str, tuple[float, ...]], str]) -> None:
        self._known = names
        self._names: dict[tuple[str, str, tuple[float, ...]], str] = {}
        self._taken = set(names.values())

    def known(self, tag: str, address: str, size: tuple[float, ...]) -> str:
        """The name of an asset that is written otherwise; "" for anything else."""
        return self._known.get((tag, address, size), "")

    def name(self, tag: str, address: str, size: tuple[float, ...]) -> str:
        """The name of an asset, which is made when it is first asked for."""
        key = tag, address, size
        if key not in self._names:
            name = self._names[key] = free_name(f"{tag}_{len(self._names) + 1}", self._taken)
            self._taken.add(name)
        return self._names[key]

    def write(self, root: Tag, others: list[Tag]) -> None:
        """Add the section with these and others, if there are any."""
        if not self._names and not others:
            return
        section = root.add("asset")
        section.children += others
        for (tag, address, size), name in self._names.items():
            if tag == "hfield":
                section.add(tag, name=name, file=address, size=shown_numbers(size))
            else:
                scale = None if size == (1.0, 1.0, 1.0) else shown_numbers(size)
                # Bodies have inertias of their own, and a flat mesh has none but that of its surface.
                section.add(tag, name=name, file=address, scale=scale, inertia="shell")


def write_geom(body: Tag, shape: Geometry, owner: str, assets: Assets, losses: Losses, asset: str = "") -> Tag | None:
    """Add a shape to a body, and return its element; `asset` is the mesh or height field that it names."""
    kind = shape.shape
    what = f"body {owner!r}: the {shape.role} shape{f' {shape.name!r}' if shape.name else ''}"
    attributes: dict[str, str | None] = {"name": shape.name or None, "type": kind}
    tag = {"mesh": "mesh", "heightfield": "hfield"}.get(kind, "")
    address = shape.mesh or ""
    asset = asset or assets.known(tag, address, shape.size)
    if not asset and losses.lose_unfit(shape, what):
        return None
    size = _half_lengths(kind, shape.size)
    if size is None and not asset and kind != "mesh":
        if shape.may_touch:
            losses.lost.append(f"{what} is of kind {kind!r} and the size {shape.size}, which MJCF does not have")
        else:
            losses.leave_out("visual shapes of kinds that MJCF does not have", f"{kind} of {owner!r}")
        return None
    if tag:
        plain = asset or (
            "://" not in address and address.lower().endswith(_MESHES if tag == "mesh" else (".png", ".bin"))
        )
        if not plain:
            if shape.may_touch:
                why = f"{what} is in {address!r}, and MuJoCo opens only {', '.join(_MESHES)} at plain paths"
                losses.lost.append(why)
            else:
                losses.leave_out("visual shapes in files that MuJoCo does not open", repr(PurePosixPath(address).name))
            return None
        attributes |= {"type": tag, tag: asset or assets.name(tag, address, size or shape.size)}
    elif size is not None:
        attributes["size"] = shown_numbers(size)
    attributes |= pose(shape.placement)
    contact = shape.contact
    if contact is None and shape.role == "visual":
        contact = ContactParameters(contype=0, conaffinity=0)
    attributes |= _contact_attributes(contact or _USUAL_CONTACT)
    if shape.color is not None:
        attributes["rgba"] = shown_numbers(shape.color)
    geom = body.add("geom")
    geom.attributes = {name: value for name, value in attributes.items() if value is not None}
    return geom


def _half_lengths(kind: str, size: tuple[float, ...]) -> tuple[float, ...] | None:
    """MuJoCo's size of a shape; None if it has none, or not all of it would be positive."""
    if kind == "plane":  # 0 is without bounds
        halves = [0.5 * x for x in size]
        return (*(0.0 if x == math.inf else x for x in halves), 1.0) if all(x > 0.0 for x in halves) else None
    halved = _HALVED.get(kind)
    if halved is None:
        return None
    lengths = tuple(0.5 * x if k in halved else x for k, x in enumerate(size))
    return lengths if all(0.0 < x < math.inf for x in lengths) else None


def _contact_attributes(contact: ContactParameters) -> dict[str, str]:
    """The attributes that are not MuJoCo's defaults."""
    written: dict[str, str] = {}
    for name in ("contype", "conaffinity", "condim", "priority", "solmix", "margin", "gap"):
        if getattr(contact, name) != getattr(_USUAL_CONTACT, name):
            written[name] = shown_number(getattr(contact, name))
    for name in ("friction", "solref", "solimp"):
        if getattr(contact, name) != getattr(_USUAL_CONTACT, name):
            written[name] = shown_numbers(getattr(contact, name))
    if contact.surface_velocity:
        written["surfacevel"] = shown_numbers(contact.surface_velocity)
    if contact.adhesion:
        written["adhesion"] = shown_numbers(contact.adhesion)
    return written


class Fitness(Enum):
    """MuJoCo's judgement of an inertia."""

    FIT = "fit"
    NOTHING = "without mass or without a moment of inertia, so that it cannot move by itself"
    UNBALANCED = "one principal moment is larger than the other two together"
    INDEFINITE = "one principal moment is negative"

    @property
    def is_refused(self) -> bool:
        """Whether MuJoCo rejects it on any body."""
        return self in (Fitness.UNBALANCED, Fitness.INDEFINITE)


def fitness_of(inertia: Inertia) -> Fitness:
    """Whether MuJoCo takes it; moments that may be the rounding of a point mass count as nothing."""
    a, b, c = moments_of(inertia)
    mass = float(inertia.mass)
    noise = _NOISE * (max(abs(float(x)) for x in inertia.I.components()) + mass) if mass else 0.0
    allowed = _TOLERANCE * max(abs(a), abs(c)) + noise
    if a < -allowed:
        return Fitness.INDEFINITE
    if c > a + b + allowed:
        return Fitness.UNBALANCED
    return Fitness.NOTHING if mass < _MINIMUM or a < max(_MINIMUM, noise) else Fitness.FIT


def write_inertia(body: Tag, inertia: Inertia, com: Vec3, I: Sym3, *, least: float = 0.0) -> None:
    """Add the element; in principal axes only where MuJoCo could find fault with the matrix.

    Mass and moments are at least `least`, and one moment is at most the sum of the others.
    """
    xx, yy, zz, *off = map(float, I.components())
    entries = np.array([[xx, off[0], off[1]], [off[0], yy, off[2]], [off[1], off[2], zz]])
    element = body.add("inertial", pos=vector(com), mass=shown_number(max(least, float(inertia.mass))))
    moments, axes = np.linalg.eigh(entries)
    a, b, c = map(float, moments)
    is_sound = a >= least and a + b >= c * (1.0 + _EXACT)
    if is_sound and a > _SMALLEST_FULL and any(off):
        element.attributes["fullinertia"] = shown_numbers([xx, yy, zz, *off])
        return
    if not any(off):
        element.attributes["diaginertia"] = shown_numbers(_sound([xx, yy, zz], least))
        return
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    E = Mat3(*(Vec3(*map(float, axis)) for axis in axes.T))
    element.attributes |= {"diaginertia": shown_numbers(_sound([a, b, c], least))}
    element.attributes |= pose(Transform(E, Vec3.zero()))


def _sound(moments: list[float], least: float) -> list[float]:
    """Moments that MuJoCo takes: none too small, and the largest at most the sum of the others."""
    sound = [max(least, 0.0, moment) for moment in moments]
    largest = sound.index(max(sound))
    others = sum(moment for k, moment in enumerate(sound) if k != largest)
    if sound[largest] > others:
        sound[largest] = others
    return sound


def write_site(body: Tag, frame: FrameSpec, site: Site | None, written: Written, losses: Losses) -> None:
    """Add a frame as a site, with the shape of the site that it was, if it was one."""
    element = body.add("site", name=frame.name if site is None else site.name)
    written.add("site", element.attributes["name"])
    element.attributes |= pose(frame.placement)
    if site is None:
        return
    what = f"site {site.name!r}"
    added = changed(site, _SITE, _OF_SITES)
    if site.size != _SITE.size:
        added["size"] = trimmed(site.size, _SITE.size)
    if mesh := written.optional(what, "mesh", site.mesh, losses):
        added["mesh"] = mesh
    elif site.shape == "mesh":
        del added["type"]
    if material := written.optional(what, "material", site.material, losses):
        added["material"] = material
    if user := raw_numbers(site.user):
        added["user"] = user
    element.attributes |= added


def write_camera(body: Tag, frame: FrameSpec, camera: Camera, written: Written, losses: Losses) -> None:
    """Add a frame as the camera that it was."""
    element = body.add("camera", name=camera.name, **pose(frame.placement))
    written.add("camera", camera.name)
    added = changed(camera, _CAMERA, _OF_CAMERAS)
    if camera.field_of_view != _CAMERA.field_of_view:
        if any(camera.sensor_size):
            losses.lost.append(
                f"camera {camera.name!r} has a field of view as well as the size of its sensor, from which it follows"
            )
        else:
            added["fovy"] = shown_number(camera.field_of_view)
    if camera.target:
        added["target"] = camera.target
    if user := raw_numbers(camera.user):
        added["user"] = user
    element.attributes |= added
