"""Settings of bodies, joints, geoms, sites and cameras beyond inertia, shapes, frames and places in the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.bodies import BodyPart, Part
from kinetree.io.mjcf.geoms import kind_of, site_size
from kinetree.io.mjcf.joints import MovingJoint
from kinetree.io.mjcf.leftovers import as_it_is
from kinetree.io.mjcf.values import chosen, limited, polynomial, same, solimp, solref, user_data, words
from kinetree.io.notes import Notes
from kinetree.model.extras import BodySettings, Camera, JointSettings, ShapeSettings, Site, Unused
from kinetree.spatial import Mat3, Vec3

__all__ = ["read_body_settings", "read_cameras", "read_joint_settings", "read_shape_settings", "read_sites"]

_OF_BODIES = frozenset({"gravcomp", "mocap", "sleep", "simple", "user"})
_OF_SHAPES = frozenset({"group", "material", "fluidshape", "fluidcoef", "castshadow", "user"})
_FLUID = (0.5, 0.25, 1.5, 1.0, 1.0)
_GRAY = (0.5, 0.5, 0.5, 1.0)
_SHAPES = same("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
_MODES = same("fixed", "track", "trackcom", "targetbody", "targetbodycom")
_OUTPUTS = ("rgb", "depth", "distance", "normal", "segmentation")
_OWN = frozenset({
    "margin", "solreflimit", "solimplimit", "solreffriction", "solimpfriction", "springdamper", "stiffness",
    "springyield", "damping", "actuatorfrcrange", "actuatorfrclimited", "actuatorgravcomp", "group", "user",
})  # fmt: skip
"""Attributes from which settings come."""


def read_body_settings(
    bodies: Sequence[BodyPart], axes: Mapping[str, Mat3], centers: Mapping[str, Vec3], notes: Notes
) -> list[BodySettings]:
    """The settings of those bodies that have any.

    `axes` are the principal axes of bodies in a medium, `centers` the centres of massless bodies that sensors measure.
    """
    records = []
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
            records.append(settings)
    return records


def read_shape_settings(bodies: Sequence[BodyPart]) -> list[ShapeSettings]:
    """The settings of those shapes that have any."""
    records = []
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
                records.append(settings)
    return records


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
    sites = []
    for body in bodies:
        for part in body.parts.get("site", []):
            if id(part) not in frames:
                continue
            a = part.attributes
            x, y, z = site_size(a)
            sites.append(
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
    return sites


def read_cameras(bodies: Sequence[BodyPart], frames: Mapping[int, str], known: Mapping[str, BodyPart]) -> list[Camera]:
    """All cameras; `frames` are the names of their frames by the identity of their parts."""
    return [
        _camera(part, body, frames[id(part)], known)
        for body in bodies
        for part in body.parts.get("camera", [])
        if id(part) in frames
    ]


def _camera(part: Part, body: BodyPart, frame: str, bodies: Mapping[str, BodyPart]) -> Camera:
    a = part.attributes
    mode = a.word("mode", _MODES, "fixed")
    target = part.names.of(a.text("target"))
    if mode.startswith("target") and target not in bodies:
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


def _plugin(plugins: Sequence[Element]) -> Unused | None:
    return as_it_is(plugins[0]) if plugins else None


def read_joint_settings(
    joints: Iterable[Part], names: Mapping[int, str], made_of: Mapping[str, MovingJoint], notes: Notes
) -> list[JointSettings]:
    """The settings of those joints that have any; `names` are the joints' names by the identity of their parts;
    those left out have none. `made_of` are the joints by name."""
    records = []
    for part in joints:
        if id(part) not in names or not (part.attributes.has_any(_OWN) or _may_be_limited(part)):
            continue
        settings = _settings(part, names[id(part)], made_of, notes)
        if settings != JointSettings(settings.joint):
            records.append(settings)
    return records


def _may_be_limited(part: Part) -> bool:
    """Whether it is a ball joint with a range."""
    a = part.attributes
    return a.text("type") == "ball" and ("range" in a or "limited" in a)


def _settings(part: Part, name: str, made_of: Mapping[str, MovingJoint], notes: Notes) -> JointSettings:
    a = part.attributes
    if part.element.tag == "freejoint":
        return JointSettings(name, group=a.whole("group"))
    kind = a.text("type", "hinge")
    is_turning = kind in ("hinge", "ball")
    stiffness, damping = polynomial(a, "stiffness"), polynomial(a, "damping")
    force_limited, force_range = False, (0.0, 0.0)
    if kind in ("hinge", "slide"):
        force_limited, force_range = limited(a, part.scope.settings, "actuatorfrclimited", "actuatorfrcrange")
    is_limited, bounds = _range(part) if kind == "ball" else (False, (0.0, 0.0))
    spring_yield = a.number("springyield")
    joint = made_of[name]
    if joint.spring is not None:
        stiffness, damping = (joint.spring[0], *stiffness[1:]), (joint.spring[1], *damping[1:])
        notes.add(
            "stiffness and damping are those that springdamper gives with the inertia in the reference configuration",
            name,
        )
    if any(stiffness[1:]) or any(damping[1:]):
        notes.add("quadratic and cubic terms of springs and dampers are forces of kt.dynamics.tendon_forces", name)
    if spring_yield:
        notes.add("springs that yield are elastic here; their thresholds are kept as data", name)
    if kind == "free" and any(stiffness):
        notes.add("springs of free joints are kept as data", name)
    if is_limited:
        notes.add("the largest angles of ball joints are kept as data", name)
    if force_limited and force_range[0] != -force_range[1]:
        notes.add("ranges of forces that are not alike in both directions are kept as data", name)
    is_plain = not any(stiffness[1:]) and kind in ("hinge", "slide")
    return JointSettings(
        name,
        limited=is_limited,
        range=bounds,
        margin=a.number("margin"),
        solref_limit=solref(a, "solreflimit"),
        solimp_limit=solimp(a, "solimplimit"),
        solref_friction=solref(a, "solreffriction"),
        solimp_friction=solimp(a, "solimpfriction"),
        spring_damper=joint.spring_damper,
        stiffness=(0.0, 0.0, 0.0) if is_plain else stiffness,
        spring_yield=part.scope.settings.radians(spring_yield) if is_turning else spring_yield,
        damping=damping if any(damping[1:]) else (0.0, 0.0, 0.0),
        actuator_force_limited=force_limited and force_range[0] != -force_range[1],
        actuator_force_range=force_range if force_range[0] != -force_range[1] else (0.0, 0.0),
        actuators_carry_gravity=a.flag("actuatorgravcomp"),
        group=a.whole("group"),
        user=user_data(a),
    )


def _range(part: Part) -> tuple[bool, tuple[float, float]]:
    """Zero and the largest angle of a ball joint, rad, and whether it is limited to that."""
    a, settings = part.attributes, part.scope.settings
    low, high = a.numbers("range", (0.0, 0.0))
    is_limited = chosen(a, settings, "limited", "range", (low, high))
    return is_limited, (settings.radians(low), settings.radians(high))
