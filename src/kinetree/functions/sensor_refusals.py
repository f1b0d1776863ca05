"""Which sensors are computed: how many numbers each kind has, and why others are rejected."""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.model import Geometry, Model
from kinetree.model.extras import Sensor, Tendon

__all__ = ["AXES", "CONTACT_SIZES", "OF_AXES", "RAY_SIZES", "SIZES", "not_computed", "rays_meet"]

AXES = {"framexaxis": 0, "frameyaxis": 1, "framezaxis": 2}
OF_AXES = ("framequat", *AXES)
SIZES = {
    **dict.fromkeys(
        ("jointpos", "jointvel", "jointactuatorfrc", "jointlimitpos", "jointlimitvel", "jointlimitfrc", "tendonpos",
         "tendonvel", "tendonactuatorfrc", "tendonlimitpos", "tendonlimitvel", "tendonlimitfrc", "actuatorpos",
         "actuatorvel", "actuatorfrc", "touch", "insidesite", "distance", "e_potential", "e_kinetic",
         "clock"), 1),
    **dict.fromkeys(
        ("ballangvel", "framepos", *AXES, "framelinvel", "frameangvel", "framelinacc", "frameangacc", "gyro",
         "velocimeter", "accelerometer", "magnetometer", "force", "torque", "subtreecom", "subtreelinvel",
         "subtreeangmom", "normal"), 3),
    "ballquat": 4, "framequat": 4, "fromto": 6,
}  # fmt: skip
"""The numbers of each kind; those of contacts and rays depend on their outputs."""
CONTACT_SIZES = {"found": 1, "force": 3, "torque": 3, "dist": 1, "pos": 3, "normal": 3, "tangent": 3}
RAY_SIZES = {"dist": 1, "dir": 3, "origin": 3, "point": 3, "depth": 1}
_ROUND = ("sphere", "capsule", "cylinder", "box", "ellipsoid", "plane")
_WHY = {
    "user": "is computed by the user's own program",
    "plugin": "is computed by a plugin",
    "tactile": "is made of the places of a mesh, which are not computed",
    "camprojection": "is where a camera sees a site, which is not computed",
}


def not_computed(model: Model, one: Sensor) -> Iterator[str]:
    """Why a sensor is not computed."""
    if one.kind in _WHY:
        yield _WHY[one.kind]
        return
    if one.kind not in SIZES and one.kind not in ("contact", "rangefinder"):
        yield "is of a kind that is not computed"
        return
    if one.delay or any(one.interval):
        yield "has a delay or an interval, which is not computed"
    if one.object_type == "tendon":
        tendon: Tendon = model.extras.tendons[one.object]  # type: ignore[call-overload]
        if tendon.kind != "fixed" and not one.kind.startswith("tendonlimit"):
            yield "is on a spatial tendon, which is not computed"
    yield from _of_frames(model, one)
    if one.kind == "rangefinder":
        yield from _of_rays(model, one)
    if one.kind in ("distance", "normal", "fromto"):
        yield from _of_distances(model, one)
    zones = {"touch": one.object, "insidesite": one.reference}
    zone = one.object if one.kind == "contact" and one.object_type == "site" else zones.get(one.kind)
    if zone is not None and _site_shape(model, zone) not in _ROUND:
        yield "is about the inside of a site without a simple shape, which is not computed"


def rays_meet(model: Model, body: str) -> Iterator[tuple[str, Geometry]]:
    """The shapes that rays from a body meet: all visible ones except its own."""
    for other in model.bodies.values():
        if other.name != body:
            for shape in other.geometry:
                if shape.color is None or shape.color[3] != 0.0:
                    yield other.name, shape


def _of_frames(model: Model, one: Sensor) -> Iterator[str]:
    if (one.object_type == "body" and one.kind in OF_AXES) or (
        one.reference_type == "body" and one.reference and (one.kind.startswith("frame"))
    ):
        yield "measures by the principal axes of a body, which are not computed; name an xbody or a site in its place"
    for kind, name in ((one.object_type, one.object), (one.reference_type, one.reference)):
        if kind == "camera" and name and model.extras.cameras[name].mode != "fixed":  # type: ignore[call-overload]
            yield "is on a camera that moves by itself, which is not computed"
        if kind == "geom" and name and one.kind != "contact" and _shape(model, name) not in _ROUND:
            yield "is on a mesh or another shape whose frame is not computed; name a body or a site in its place"


def _of_rays(model: Model, one: Sensor) -> Iterator[str]:
    if one.object_type != "site":
        yield "is a camera's image of depths, which is not computed"
        return
    if "normal" in one.data:
        yield "tells the normal of what a ray meets, which is not computed"
    body = next((site.body for site in model.extras.sites if site.name == one.object), "")
    for other, shape in rays_meet(model, body):
        if shape.shape not in _ROUND:
            yield f"meets shapes of all kinds, and rays are not computed for the {shape.shape} of {other!r}"
            return


def _of_distances(model: Model, one: Sensor) -> Iterator[str]:
    for kind, name in ((one.object_type, one.object), (one.reference_type, one.reference)):
        if kind == "body" and any(shape.shape not in _ROUND for shape in model.bodies[name].geometry):
            yield f"is about the distance of meshes of {name!r}, which is not computed"


def _shape(model: Model, name: str) -> str:
    for body in model.bodies.values():
        for shape in body.geometry:
            if shape.name == name:
                return shape.shape
    return ""


def _site_shape(model: Model, name: str) -> str:
    return next((site.shape for site in model.extras.sites if site.name == name), "")
