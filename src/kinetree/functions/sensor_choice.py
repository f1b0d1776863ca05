"""The selected sensors of a robot, and the needs of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from kinetree.actuation import Actuation
from kinetree.actuation.tendons import pulled_tendons
from kinetree.collision import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from kinetree.collision.shapes import simple_shape
from kinetree.errors import (
    MissingPackageError,
    ModelError,
    NameNotFoundError,
    OptionError,
    listed,
    nearest_names,
    quoted,
)
from kinetree.functions.actuators import actuation_of_robot
from kinetree.functions.sensor_specs import ContactSensing, Place, PlacedShape, SensorChoice, SensorSpec, Side
from kinetree.model import Geometry, Model
from kinetree.model.by_identity import ByIdentity
from kinetree.model.extras import Sensor, SimulationOptions, Site, Tendon, TendonJoint
from kinetree.spatial import Mat3, Transform, Vec3

__all__ = ["AXES", "chosen_sensors", "computed_sensors", "names_option", "needing", "numbers_of", "who_is"]

_OF_ACCELERATIONS = (
    "accelerometer", "framelinacc", "frameangacc", "force", "torque", "touch", "jointlimitfrc", "tendonlimitfrc",
)  # fmt: skip
_OF_ACTUATORS = ("actuatorpos", "actuatorvel")
_OF_FORCES = ("actuatorfrc", "jointactuatorfrc", "tendonactuatorfrc")
_LIMITS = tuple(f"{what}limit{value}" for what in ("joint", "tendon") for value in ("pos", "vel", "frc"))
_OF_CONTACTS = ("touch", "contact", *_LIMITS)
_OF_SUBTREES = ("subtreecom", "subtreelinvel", "subtreeangmom")
_DISTANCES = ("distance", "normal", "fromto")


def numbers_of(sensor: Sensor | SensorSpec) -> int:
    """How many numbers a sensor gives."""
    if sensor.kind == "rangefinder":
        return sum(RAY_SIZES[name] for name in sensor.data)
    if isinstance(sensor, Sensor) and sensor.kind == "contact":
        return sensor.count * sum(CONTACT_SIZES[name] for name in sensor.data)
    if isinstance(sensor, SensorSpec) and sensor.contact is not None:
        return sensor.contact.count * sum(CONTACT_SIZES[name] for name in sensor.contact.data)
    return SIZES[sensor.kind]


def names_option(model: Model, value: Any) -> SensorChoice:
    """The sensors of these names, in the order given; all of the robot's for None."""
    if isinstance(value, SensorChoice):
        return value
    sensors = model.extras.sensors
    if not sensors:
        raise OptionError(f"{model.name!r} has no sensors; those of an MJCF file are in robot.extras.sensors")
    numbers = tuple(range(len(sensors)) if value is None else _by_name(model, value))
    if model not in _KNOWN:
        _KNOWN[model] = {}
    known = _KNOWN[model]
    if numbers not in known:
        for k in numbers:
            for reason in not_computed(model, sensors[k]):
                able = [sensor.name for sensor in sensors if sensor.name and not any(not_computed(model, sensor))]
                hint = (
                    f"choose others by names=, among {listed(map(repr, able), most=8)}" if able else "no other one is"
                )
                raise OptionError(f"{model.name!r}: {who_is(model, k)} {reason}; {hint}")
        known[numbers] = chosen_sensors(model, numbers)
    return known[numbers]


_KNOWN: ByIdentity[dict[tuple[int, ...], SensorChoice]] = ByIdentity()
"""The choices that were made of each robot's sensors, by their numbers."""


def chosen_sensors(model: Model, numbers: Sequence[int]) -> SensorChoice:
    """The sensors of these numbers, all of which are computed."""
    kinds = {model.extras.sensors[k].kind for k in numbers}
    return SensorChoice(
        tuple(numbers),
        tuple(_spec(model, model.extras.sensors[k]) for k in numbers),
        actuation_of_robot(model) if kinds & {*_OF_ACTUATORS, *_OF_FORCES} else Actuation(),
    )


def computed_sensors(model: Model) -> dict[int, bool]:
    """The numbers of all sensors that are computed, and whether contacts count in each."""
    of_contacts = {*_OF_CONTACTS, "force", "torque"}
    return {
        k: one.kind in of_contacts
        for k, one in enumerate(model.extras.sensors)
        if not any(not_computed(model, one))
    }  # fmt: skip


def needing(model: Model, choice: SensorChoice, what: str) -> str | None:
    """The first sensor that needs accelerations ("qdd"), controls ("ctrl"), "time" or "contact", as messages say it."""
    kinds = {"qdd": _OF_ACCELERATIONS, "ctrl": _OF_FORCES, "time": ("clock",), "contact": _OF_CONTACTS}[what]
    for k in choice.numbers:
        one = model.extras.sensors[k]
        measures_forces = one.kind == "contact" and (
            one.reduction in ("maxforce", "netforce") or {"force", "torque"} & {*one.data}
        )
        if one.kind in kinds or (what == "qdd" and measures_forces):
            return who_is(model, k)
    return None


def who_is(model: Model, number: int) -> str:
    """A sensor as messages name it."""
    one = model.extras.sensors[number]
    return f"the sensor {quoted(one.name) if one.name else f'number {number}'} ({one.kind})"


def _by_name(model: Model, value: Any) -> Sequence[int]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        hint = f", such as [{value!r}]" if isinstance(value, str) else ""
        raise OptionError(f"names must be a list of names of sensors{hint}, or None for all, not {value!r:.60}")
    known = {one.name: k for k, one in enumerate(model.extras.sensors) if one.name}
    for name in value:
        if name not in known:
            raise NameNotFoundError(
                f"{quoted(model.name)} has no sensor {quoted(str(name))}: {nearest_names(str(name), list(known))}"
            )
    if not value:
        raise OptionError("names is empty, so there would be no result; name at least one, or leave it out for all")
    return [known[name] for name in value]


def _spec(model: Model, one: Sensor) -> SensorSpec:
    spec = SensorSpec(one.kind, one.cutoff)
    if one.kind == "clock":
        return spec
    extras = model.extras
    options = extras.options or SimulationOptions()
    if one.kind == "contact":
        zone = _zone(model, one.object) if one.object_type == "site" else None
        sides = _side(model, one.object_type, one.object), _side(model, one.reference_type, one.reference)
        return replace(spec, zone=zone, contact=ContactSensing(sides, one.data, one.reduction, one.count))
    if one.kind == "e_potential":
        has_springs = options.flags.spring
        springs = tuple(x for x in pulled_tendons(model, dampers=False)) if has_springs else ()
        return replace(spec, springs=springs, has_springs=has_springs)
    if one.object_type == "joint":
        return replace(spec, joint=one.object)
    if one.object_type == "tendon":
        tendon = next(tendon for tendon in extras.tendons if tendon.name == one.object)
        terms = tuple((part.joint, part.coefficient) for part in tendon.path if isinstance(part, TendonJoint))
        acting = [x.transmission == "tendon" and x.target == one.object for x in extras.actuators]
        return replace(
            spec, tendon=one.object, terms=terms, actuators=tuple(k for k, is_so in enumerate(acting) if is_so)
        )
    if one.object_type == "actuator":
        return replace(spec, actuators=tuple(k for k, x in enumerate(extras.actuators) if x.name == one.object))
    if one.kind in _OF_SUBTREES:
        return replace(spec, bodies=_carried(model, one.object), place=_center(model, one.object))
    if one.kind in _DISTANCES:
        ends = (one.object_type, one.object), (one.reference_type, one.reference)
        first, second = (_placed_shapes(model, kind, name) for kind, name in ends)
        return replace(spec, shapes=(first, second))
    return _on_frame(model, one, replace(spec, field=options.magnetic))


def _on_frame(model: Model, one: Sensor, spec: SensorSpec) -> SensorSpec:
    place = _place(model, one.object_type, one.object) if one.object else Place()
    spec = replace(spec, place=place)
    if one.kind == "insidesite":
        return replace(spec, zone=_zone(model, one.reference))
    if one.kind in ("force", "torque", "touch"):
        body = next(site.body for site in model.extras.sites if site.name == one.object)
        if one.kind == "touch":
            return replace(spec, bodies=(body,), zone=_zone(model, one.object))
        held = [name for name in _carried(model, body) if name != model.root]  # which nothing holds
        return replace(spec, bodies=tuple(held))
    if one.kind == "rangefinder":
        body = next(site.body for site in model.extras.sites if site.name == one.object)
        return replace(spec, shapes=(tuple(rays_meet(model, body)), ()), data=one.data)
    reference = _place(model, one.reference_type, one.reference) if one.reference else None
    return replace(spec, reference=reference)


def _side(model: Model, kind: str, name: str) -> Side:
    match kind:
        case "geom":
            return Side(shape=name)
        case "body":
            return Side((name,))
        case "subtree":
            return Side(_carried(model, name))
    return Side()


def _carried(model: Model, body: str) -> tuple[str, ...]:
    """A body and all that it carries."""
    children: dict[str, list[str]] = {}
    for joint in model.parts.joints:
        children.setdefault(joint.parent, []).append(joint.child)
    names = [body]
    for name in names:
        names += children.get(name, [])
    return tuple(names)


def _place(model: Model, kind: str, name: str) -> Place:
    if kind == "xbody":
        return Place(body=name)
    if kind == "body":
        return _center(model, name)
    if kind == "geom":
        for body in model.bodies.values():
            for shape in body.geometry:
                if shape.name == name:
                    return Place(body=body.name, offset=shape.placement)
    held = model.extras.sites if kind == "site" else model.extras.cameras
    return Place(frame=next((one.frame for one in held if one.name == name), name))


def _center(model: Model, body: str) -> Place:
    """The centre of mass of a body, or of one without mass the point that its file has instead."""
    given = next((one.massless_center for one in model.extras.bodies if one.body == body), ())
    return Place(body, offset=Transform(Mat3.identity(), Vec3(*(given or (0.0, 0.0, 0.0)))), is_center=True)


def _placed_shapes(model: Model, kind: str, name: str) -> tuple[PlacedShape, ...]:
    return tuple(
        _placed(body.name, shape)
        for body in model.bodies.values()
        for shape in body.geometry
        if (body.name if kind == "body" else shape.name) == name
    )


def _placed(body: str, geometry: Geometry) -> PlacedShape:
    shape = simple_shape(geometry.shape, geometry.size)
    assert shape is not None
    return PlacedShape(shape, Place(body=body, offset=geometry.placement))


def _zone(model: Model, name: str) -> PlacedShape:
    site = next(site for site in model.extras.sites if site.name == name)
    return PlacedShape(_shape_of_site(site), Place(frame=site.frame))


def _shape_of_site(site: Site) -> Shape:
    a, b, c = site.size
    match site.shape:
        case "sphere":
            return Sphere(a)
        case "capsule":
            return Capsule(a, b)
        case "cylinder":
            return Cylinder(a, b)
        case "ellipsoid":
            return Ellipsoid(a, b, c)
    return Box(a, b, c)


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


def rays_meet(model: Model, body: str) -> Iterator[PlacedShape]:
    """The shapes that rays from a body meet: all visible ones except its own.

    Raises:
        ModelError, MissingPackageError: as `Shapes.surface`.
    """
    from kinetree.contact_model.shapes import Shapes

    shapes = Shapes(model)
    for other in model.bodies.values():
        for k, shape in enumerate(other.geometry if other.name != body else ()):
            if shape.color is None or shape.color[3] != 0.0:
                try:
                    placed = shapes.surface(other.name, k, shape)
                except ModelError as error:
                    raise ModelError(f"{shape.name or other.name!r}: {error}") from None
                yield PlacedShape(placed.shape, Place(body=other.name, offset=placed.placement))


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
        yield "measures the normal of what a ray meets, which is not computed"
    body = next((site.body for site in model.extras.sites if site.name == one.object), "")
    try:
        list(rays_meet(model, body))
    except (ModelError, MissingPackageError) as error:
        yield f"may meet a shape that cannot be used: {error}"


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
