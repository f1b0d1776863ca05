"""Which sensors of a robot are asked for, what each needs, and what is not computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from kinetree.actuation import Actuation
from kinetree.errors import NameNotFoundError, OptionError, listed, nearest_names, quoted
from kinetree.functions.actuators import actuation_of_robot
from kinetree.model import Model
from kinetree.model.extras import Sensor, SimulationOptions, Tendon, TendonJoint
from kinetree.records import record
from kinetree.spatial import Transform

__all__ = ["AXES", "Place", "SensorChoice", "SensorSpec", "names_option", "needing", "numbers_of"]

AXES = {"framexaxis": 0, "frameyaxis": 1, "framezaxis": 2}
_SIZES = {
    "jointpos": 1, "jointvel": 1, "tendonpos": 1, "tendonvel": 1, "actuatorpos": 1, "actuatorvel": 1, "actuatorfrc": 1,
    "jointactuatorfrc": 1, "tendonactuatorfrc": 1, "ballquat": 4, "ballangvel": 3, "framepos": 3, "framequat": 4,
    "framexaxis": 3, "frameyaxis": 3, "framezaxis": 3, "framelinvel": 3, "frameangvel": 3, "framelinacc": 3,
    "frameangacc": 3, "gyro": 3, "velocimeter": 3, "accelerometer": 3, "magnetometer": 3, "subtreecom": 3,
    "subtreelinvel": 3,
}  # fmt: skip
_OF_ACCELERATIONS = ("accelerometer", "framelinacc", "frameangacc")
_OF_ACTUATORS = ("actuatorpos", "actuatorvel")
_OF_FORCES = ("actuatorfrc", "jointactuatorfrc", "tendonactuatorfrc")
_OF_AXES = ("framequat", *AXES)
_ROUND = ("sphere", "capsule", "cylinder", "box", "ellipsoid", "plane")


@record(frozen=True, slots=True)
class Place:
    """The place of a frame on a body, or by its own name."""

    body: str = ""
    frame: str = ""
    offset: Transform = Transform.identity()
    """From the body's frame."""
    is_center: bool = False
    """Whether it is at the body's centre of mass."""


@record(frozen=True, slots=True)
class SensorSpec:
    """All that a sensor's numbers depend on besides the rigid bodies."""

    kind: str
    cutoff: float = 0.0
    joint: str = ""
    terms: tuple[tuple[str, float], ...] = ()
    """The joints and factors of a tendon."""
    actuators: tuple[int, ...] = ()
    """The numbers of the actuators that it is about."""
    place: Place = Place()
    reference: Place | None = None
    bodies: tuple[str, ...] = ()
    """The bodies whose centre of mass it is about."""
    field: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """The magnetic field, in the world."""


@record(frozen=True, slots=True)
class SensorChoice:
    """Sensors of a robot, by their numbers in its file."""

    numbers: tuple[int, ...]
    specs: tuple[SensorSpec, ...]
    actuation: Actuation = Actuation()
    """The actuators, if a sensor is on one."""


def numbers_of(sensor: Sensor | SensorSpec) -> int:
    """How many numbers a sensor gives."""
    return _SIZES[sensor.kind]


def names_option(model: Model, value: Any) -> SensorChoice:
    """The sensors of these names, in the order given; all of the robot's for None."""
    if isinstance(value, SensorChoice):
        return value
    sensors = model.extras.sensors
    if not sensors:
        raise OptionError(f"{model.name!r} has no sensors; those of an MJCF file are in robot.extras.sensors")
    chosen = range(len(sensors)) if value is None else _by_name(model, value)
    for k in chosen:
        for reason in _not_computed(model, sensors[k]):
            able = [one.name for one in sensors if one.name and not any(_not_computed(model, one))]
            hint = f"choose others by names=, among {listed(map(repr, able), most=8)}" if able else "no other one is"
            who = quoted(sensors[k].name) if sensors[k].name else f"number {k}"
            raise OptionError(f"{model.name!r}: the sensor {who} ({sensors[k].kind}) {reason}; {hint}")
    kinds = {sensors[k].kind for k in chosen}
    return SensorChoice(
        tuple(chosen),
        tuple(_spec(model, sensors[k]) for k in chosen),
        actuation_of_robot(model) if kinds & {*_OF_ACTUATORS, *_OF_FORCES} else Actuation(),
    )


def needing(model: Model, choice: SensorChoice, what: str) -> str | None:
    """The first sensor that needs accelerations ("qdd") or controls ("ctrl"), as messages name it."""
    kinds = _OF_ACCELERATIONS if what == "qdd" else _OF_FORCES
    for k in choice.numbers:
        one = model.extras.sensors[k]
        if one.kind in kinds:
            return f"the sensor {quoted(one.name) if one.name else f'number {k}'} ({one.kind})"
    return None


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


def _not_computed(model: Model, one: Sensor) -> Iterator[str]:
    """Why a sensor is not computed."""
    if one.kind not in _SIZES:
        yield "is of a kind that is not computed"
        return
    if one.delay or any(one.interval):
        yield "has a delay or an interval, which is not computed"
    if one.object_type == "tendon":
        tendon: Tendon = model.extras.tendons[one.object]  # type: ignore[call-overload]
        if tendon.kind != "fixed":
            yield "is on a spatial tendon, which is not computed"
    if (one.object_type == "body" and one.kind in _OF_AXES) or (one.reference_type == "body" and one.reference):
        yield "measures by the principal axes of a body, which are not computed; name an xbody or a site in its place"
    for kind, name in ((one.object_type, one.object), (one.reference_type, one.reference)):
        if kind == "camera" and name and model.extras.cameras[name].mode != "fixed":  # type: ignore[call-overload]
            yield "is on a camera that moves by itself, which is not computed"
        if kind == "geom" and name and _shape(model, name) not in _ROUND:
            yield "is on a mesh or another shape whose frame is not computed; name a body or a site in its place"


def _shape(model: Model, name: str) -> str:
    for body in model.bodies.values():
        for shape in body.geometry:
            if shape.name == name:
                return shape.shape
    return ""


def _spec(model: Model, one: Sensor) -> SensorSpec:
    spec = SensorSpec(one.kind, one.cutoff)
    extras = model.extras
    if one.object_type == "joint":
        return replace(spec, joint=one.object)
    if one.object_type == "tendon":
        tendon = next(tendon for tendon in extras.tendons if tendon.name == one.object)
        terms = tuple((part.joint, part.coefficient) for part in tendon.path if isinstance(part, TendonJoint))
        acting = [x.transmission == "tendon" and x.target == one.object for x in extras.actuators]
        return replace(spec, terms=terms, actuators=tuple(k for k, is_so in enumerate(acting) if is_so))
    if one.object_type == "actuator":
        return replace(spec, actuators=tuple(k for k, x in enumerate(extras.actuators) if x.name == one.object))
    if one.kind in ("subtreecom", "subtreelinvel"):
        return replace(spec, bodies=_carried(model, one.object), place=Place(body=one.object))
    options = extras.options or SimulationOptions()
    reference = _place(model, one.reference_type, one.reference) if one.reference else None
    place = _place(model, one.object_type, one.object)
    return replace(spec, place=place, reference=reference, field=options.magnetic)


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
    if kind in ("xbody", "body"):
        return Place(body=name, is_center=kind == "body")
    if kind == "geom":
        for body in model.bodies.values():
            for shape in body.geometry:
                if shape.name == name:
                    return Place(body=body.name, offset=shape.placement)
    held = model.extras.sites if kind == "site" else model.extras.cameras
    return Place(frame=next((one.frame for one in held if one.name == name), name))
