"""Settings of bodies, geoms, sites and cameras beyond inertia, shapes and frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.bodies import BodyPart, Part
from kinetree.io.mjcf.geoms import kind_of, site_size
from kinetree.io.mjcf.unused import as_it_is
from kinetree.io.mjcf.values import same, user_data, words
from kinetree.io.notes import Notes
from kinetree.model.extras import BodySettings, Camera, ShapeSettings, Site, Unused
from kinetree.spatial import Mat3, Vec3

__all__ = ["read_body_settings", "read_cameras", "read_shape_settings", "read_sites"]

_OF_BODIES = frozenset({"gravcomp", "mocap", "sleep", "simple", "user"})
_OF_SHAPES = frozenset({"group", "material", "fluidshape", "fluidcoef", "castshadow", "user"})
_FLUID = (0.5, 0.25, 1.5, 1.0, 1.0)
_GRAY = (0.5, 0.5, 0.5, 1.0)
_SHAPES = same("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
_MODES = same("fixed", "track", "trackcom", "targetbody", "targetbodycom")
_OUTPUTS = ("rgb", "depth", "distance", "normal", "segmentation")


def read_body_settings(
    bodies: Sequence[BodyPart], axes: Mapping[str, Mat3], centers: Mapping[str, Vec3], notes: Notes
) -> list[BodySettings]:
    """The settings of those bodies that have any.

    `axes` are the principal axes of bodies in a medium, `centers` the centres of massless bodies that sensors measure.
    """
    made = []
    for body in bodies[1:]:
        a = body.part.attributes
        own_axes = axes[body.name].components() if body.name in axes else ()
        center = centers[body.name].components() if body.name in centers else ()
        if not a.has_any(_OF_BODIES) and "plugin" not in body.parts and not own_axes and not center:
            continue
        plugin = _plugin([part.element for part in body.parts.get("plugin", [])])
        settings = BodySettings(
            body.name,
            a.number("gravcomp"),
            a.flag("mocap"),
            a.word("sleep", same("auto", "never", "allowed", "init"), "auto"),
            a.word("simple", same("auto", "false"), "auto"),
            tuple(float(x) for x in own_axes),
            user_data(a),
            plugin,
            tuple(float(x) for x in center),
        )
        if settings.gravity_compensation:
            notes.add(
                "the compensation of gravity is kept as data; kt.dynamics.gravity_compensation has its forces",
                body.name,
            )
        if settings.mocap:
            if body.joints:
                a.fail(
                    "a mocap body has no joints, since it is moved from outside; remove them, or mocap",
                    "not-allowed-here",
                )
            notes.add("mocap bodies, which are moved from outside in MuJoCo, are fixed to the world", body.name)
        if settings != BodySettings(body.name):
            made.append(settings)
    return made


def read_shape_settings(bodies: Sequence[BodyPart]) -> list[ShapeSettings]:
    """The settings of those shapes that have any."""
    made = []
    for body in bodies:
        for k, part in enumerate(body.parts.get("geom", [])):
            a = part.attributes
            asset = _made_in_file(part)
            if not a.has_any(_OF_SHAPES) and not part.element.children and not asset:
                continue
            settings = ShapeSettings(
                body.name,
                k,
                part.name,
                a.whole("group"),
                part.names.of_asset(a.text("material")),
                a.word("fluidshape", same("none", "ellipsoid"), "none"),
                a.numbers("fluidcoef", _FLUID, least=1),
                a.flag("castshadow", True),
                asset,
                user_data(a),
                _plugin(part.element.all("plugin")),
            )
            if settings != ShapeSettings(body.name, k, part.name):
                made.append(settings)
    return made


def _made_in_file(part: Part) -> str:
    """The name of the mesh or height field of a geom, if that is in no file of its own."""
    a = part.attributes
    if a.text("type") not in ("mesh", "sdf", "hfield"):
        return ""
    kind = kind_of(a.text("type"))
    asset = part.scope.asset(kind, a.text(kind), a.element, kind)
    return "" if "file" in asset.attributes else part.names.of_asset(a.text(kind))


def read_sites(bodies: Sequence[BodyPart], frames: Mapping[int, str]) -> list[Site]:
    """All sites; `frames` are the names of their frames by the identity of their parts."""
    made = []
    for body in bodies:
        for part in body.parts.get("site", []):
            if id(part) not in frames:
                continue
            a = part.attributes
            x, y, z = site_size(a)
            made.append(
                Site(
                    part.name,
                    body.name,
                    frames[id(part)],
                    a.word("type", _SHAPES, "sphere"),
                    (x, y, z),
                    part.names.of_asset(a.text("mesh")),
                    a.whole("group"),
                    part.names.of_asset(a.text("material")),
                    a.numbers("rgba", _GRAY),
                    user_data(a),
                )
            )
    return made


def read_cameras(bodies: Sequence[BodyPart], frames: Mapping[int, str], known: Mapping[str, BodyPart]) -> list[Camera]:
    """All cameras; `frames` are the names of their frames by the identity of their parts."""
    return [
        _camera(part, body, frames[id(part)], known)
        for body in bodies
        for part in body.parts.get("camera", [])
        if id(part) in frames
    ]


def _camera(part: Part, body: BodyPart, frame: str, known: Mapping[str, BodyPart]) -> Camera:
    a = part.attributes
    mode = a.word("mode", _MODES, "fixed")
    target = part.names.of(a.text("target"))
    if mode.startswith("target") and target not in known:
        a.fail(f'mode="{mode}" needs the name of a body in target, and {target!r} is none', "unknown-name")
    if "fovy" in a and "sensorsize" in a:
        a.fail("it has both fovy and sensorsize, which give its field of view twice; remove one of them", "conflict")
    width, height = a.numbers("resolution", (1.0, 1.0))
    return Camera(
        part.name,
        body.name,
        frame,
        mode,
        target,
        a.word("projection", same("perspective", "orthographic"), "perspective"),
        a.number("fovy", 45.0),
        a.number("ipd", 0.068),
        (int(width), int(height)),
        words(a, "output", _OUTPUTS, ("rgb",)),
        focal=_two(a, "focal"),
        focal_pixel=_two(a, "focalpixel"),
        principal=_two(a, "principal"),
        principal_pixel=_two(a, "principalpixel"),
        sensor_size=_two(a, "sensorsize"),
        user=user_data(a),
    )


def _two(a: Attributes, attribute: str) -> tuple[float, float]:
    x, y = a.numbers(attribute, (0.0, 0.0))
    return x, y


def _plugin(found: Sequence[Element]) -> Unused | None:
    return as_it_is(found[0]) if found else None
