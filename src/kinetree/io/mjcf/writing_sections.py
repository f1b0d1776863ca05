"""The sections other than bodies and actuators: tendons, constraints, sensors, pairs of contacts, simulation options.

Tendons are weighted sums of joint coordinates, and strings through sites and around shapes; constraints are enforced
softly; sensors define measurements.
"""

from __future__ import annotations

from dataclasses import fields

from kinetree.io.losses import Losses
from kinetree.io.mjcf.grammar import SHAPES
from kinetree.io.mjcf.writing_values import Written, changed, limit, raw_numbers, raw_tag, trimmed
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.model.extras import (
    Equality,
    Extras,
    Pulley,
    Sensor,
    SimulationFlags,
    SimulationOptions,
    Tendon,
    TendonJoint,
    TendonShape,
    TendonSite,
)
from kinetree.model.extras.contacts import ContactExclusion, ContactPair
from kinetree.model.specs import Parts

__all__ = ["write_contacts", "write_equalities", "write_options", "write_sensors", "write_tendons"]

_TENDON_USUAL = Tendon("", "")
_TENDON_PLAIN = {
    "group": "group", "margin": "margin", "spring_yield": "springyield", "friction": "frictionloss",
    "armature": "armature", "solref_limit": "solreflimit", "solimp_limit": "solimplimit",
    "solref_friction": "solreffriction", "solimp_friction": "solimpfriction", "width": "width", "color": "rgba",
}  # fmt: skip
_EQUALITY_USUAL = Equality("", "", "", "")
_EQUALITY_PLAIN = {"active": "active", "solref": "solref", "solimp": "solimp"}
_SENSOR_USUAL = Sensor("", "")
_SENSOR_PLAIN = {
    "reduction": "reduce", "count": "num", "cutoff": "cutoff", "noise": "noise", "samples": "nsample",
    "interpolation": "interp", "delay": "delay", "size": "dim", "data_type": "datatype", "stage": "needstage",
}  # fmt: skip
_NUMBERED = ("distance", "normal", "fromto", "contact")
"""Sensors between two things, whose attributes end in 1 and 2."""
_GRAVITY = (0.0, 0.0, -9.81)
_NAMES = {
    "override_margin": "o_margin", "override_solref": "o_solref", "override_solimp": "o_solimp",
    "override_friction": "o_friction", "disabled_actuator_groups": "actuatorgroupdisable",
    "solref_friction": "solreffriction", "shape1": "geom1", "shape2": "geom2",
}  # fmt: skip
"""MJCF's names where they are others."""


def write_tendons(root: Tag, extras: Extras, written: Written, losses: Losses) -> None:
    """Add the section, if there are any."""
    section, classes = Tag("tendon"), _Classes()
    for tendon in extras.tendons:
        what = f"tendon {tendon.name!r}" if tendon.name else f"a {tendon.kind} tendon without a name"
        if not written.all_there(what, [end for step in tendon.path for end in _tendon_ends(step)], losses):
            continue
        element = Tag(tendon.kind)
        allowed = SHAPES[f"tendon/{tendon.kind}"].attributes
        attributes = _tendon_attributes(tendon, what, written, losses)
        element.attributes = {name: text for name, text in attributes.items() if name in allowed}
        others = {name: text for name, text in attributes.items() if name not in allowed}
        if others:
            element.attributes["class"] = classes.name(others)
        element.children = [_step(step) for step in tendon.path]
        section.children.append(element)
        written.add("tendon", tendon.name)
    if section.children:
        classes.write(root)
        root.children.append(section)


class _Classes:
    """Default classes, for attributes that only they can give to a fixed tendon."""

    def __init__(self) -> None:
        self._names: dict[tuple[tuple[str, str], ...], str] = {}

    def name(self, attributes: dict[str, str]) -> str:
        """The name of the class with these attributes."""
        return self._names.setdefault(tuple(attributes.items()), f"tendon_{len(self._names) + 1}")

    def write(self, root: Tag) -> None:
        """Add the section, if there are any."""
        if self._names:
            section = root.add("default")
            for attributes, name in self._names.items():
                section.add("default", class_=name).add("tendon").attributes = dict(attributes)


def _tendon_attributes(one: Tendon, what: str, written: Written, losses: Losses) -> dict[str, str]:
    attributes = {"name": one.name} if one.name else {}
    attributes |= limit("limited", "range", one.limited, one.range, losses, what)
    attributes |= limit("actuatorfrclimited", "actuatorfrcrange", one.force_limited, one.force_range, losses, what)
    for name, polynomial in (("stiffness", one.stiffness), ("damping", one.damping)):
        if any(polynomial):
            attributes[name] = trimmed(polynomial)
    if one.spring_length is not None:
        attributes["springlength"] = shown_numbers(one.spring_length)
    attributes |= changed(one, _TENDON_USUAL, _TENDON_PLAIN)
    if material := written.optional(what, "material", one.material, losses):
        attributes["material"] = material
    if user := raw_numbers(one.user):
        attributes["user"] = user
    return attributes


def _tendon_ends(step: TendonJoint | TendonSite | TendonShape | Pulley) -> list[tuple[str, str]]:
    """The object of a step of a path."""
    if isinstance(step, TendonJoint):
        return [("joint", step.joint)]
    if isinstance(step, TendonSite):
        return [("site", step.site)]
    return [("geom", step.shape), ("site", step.side_site)] if isinstance(step, TendonShape) else []


def _step(step: TendonJoint | TendonSite | TendonShape | Pulley) -> Tag:
    if isinstance(step, TendonJoint):
        return Tag("joint", joint=step.joint, coef=shown_number(step.coefficient))
    if isinstance(step, TendonSite):
        return Tag("site", site=step.site)
    if isinstance(step, TendonShape):
        return Tag("geom", geom=step.shape, sidesite=step.side_site or None)
    return Tag("pulley", divisor=shown_number(step.divisor))


def write_equalities(section: Tag, extras: Extras, written: Written, losses: Losses) -> None:
    """Add all constraints to the section."""
    for one in extras.equalities:
        what = f"equality constraint {one.name!r}" if one.name else f"a {one.kind} constraint of {one.first!r}"
        if written.all_there(what, [(one.between, one.first), (one.between, one.second)], losses):
            element = section.add(one.kind, name=one.name or None)
            element.attributes |= _equality_attributes(one) | changed(one, _EQUALITY_USUAL, _EQUALITY_PLAIN)


def _equality_attributes(one: Equality) -> dict[str, str]:
    """The objects it holds together, and how."""
    if one.between == "flex":
        return {"flex": one.first, **({"cell": shown_numbers(one.cell)} if one.cell else {})}
    attributes = {f"{one.between}1": one.first}
    if one.second and (one.between, one.second) != ("body", "world"):
        attributes[f"{one.between}2"] = one.second
    if one.between == "body" and (one.kind == "connect" or any(one.anchor)):
        attributes["anchor"] = shown_numbers(one.anchor)
    if one.relative_position is not None and one.relative_rotation is not None:
        x, y, z, w = one.relative_rotation
        attributes["relpose"] = shown_numbers([*one.relative_position, w, x, y, z])
    if one.torque_scale != _EQUALITY_USUAL.torque_scale:
        attributes["torquescale"] = shown_numbers([one.torque_scale])
    if one.coefficients != _EQUALITY_USUAL.coefficients:
        attributes["polycoef"] = trimmed(one.coefficients, _EQUALITY_USUAL.coefficients)
    return attributes


def write_sensors(root: Tag, extras: Extras, written: Written, losses: Losses) -> None:
    """Add the section, if there are any."""
    section = Tag("sensor")
    for sensor in extras.sensors:
        what = f"sensor {sensor.name!r}" if sensor.name else f"a sensor <{sensor.kind}> without a name"
        ends = [(sensor.object_type, sensor.object), (sensor.reference_type, sensor.reference)]
        if not written.all_there(what, ends, losses):
            continue
        attributes = _sensor_attributes(sensor)
        allowed = SHAPES[f"sensor/{sensor.kind}"].attributes
        if strange := [name for name in attributes if name not in allowed]:
            losses.lost.append(f"{what}: a <{sensor.kind}> of MJCF has no {', '.join(strange)}")
        element = section.add(sensor.kind)
        element.attributes = {name: text for name, text in attributes.items() if name in allowed}
        if sensor.plugin is not None:
            element.children = [raw_tag(child) for child in sensor.plugin.children]
        written.add("sensor", sensor.name)
    if section.children:
        root.children.append(section)


def _sensor_attributes(one: Sensor) -> dict[str, str]:
    attributes = {"name": one.name} if one.name else {}
    attributes |= _sensor_ends(one)
    if one.plugin is not None:
        attributes |= dict(one.plugin.attributes)
    if one.data and one.data != {"contact": ("found",), "rangefinder": ("dist",)}.get(one.kind):
        attributes["data"] = " ".join(one.data)
    attributes |= changed(one, _SENSOR_USUAL, _SENSOR_PLAIN)
    if one.kind == "user":
        attributes["dim"] = str(one.size)
    if any(one.interval):
        attributes["interval"] = trimmed(one.interval)
    if user := raw_numbers(one.user):
        attributes["user"] = user
    return attributes


def _sensor_ends(one: Sensor) -> dict[str, str]:
    """Its object, and the reference of the measurement, each under the attributes of its kind of sensor."""
    allowed = SHAPES[f"sensor/{one.kind}"].attributes
    attributes = {}
    for kind, name, number, word in (
        (one.object_type, one.object, "1", "obj"),
        (one.reference_type, one.reference, "2", "ref"),
    ):
        if not kind:
            continue
        if one.kind in _NUMBERED and kind != "site":
            attributes[f"{kind}{number}"] = name
        elif kind in allowed and (word == "ref" or f"{word}type" not in allowed):
            attributes[kind] = name
        else:
            attributes |= {f"{word}type": kind, f"{word}name": name}
    return attributes


def write_options(root: Tag, parts: Parts) -> None:
    """Add <option>, if anything in it differs from MuJoCo's defaults or the robot has options."""
    options = parts.extras.options
    if options is None:
        if parts.gravity != _GRAVITY:
            root.add("option", gravity=shown_numbers(parts.gravity))
        return
    element = root.add("option")
    element.attributes = _changed(options, SimulationOptions())
    pull = options.gravity if parts.gravity == (0.0, 0.0, 0.0) and not options.flags.gravity else parts.gravity
    element.attributes["gravity"] = shown_numbers(pull)
    flags = _changed(options.flags, SimulationFlags())
    if flags:
        element.add("flag").attributes = flags


def write_contacts(root: Tag, extras: Extras, written: Written, losses: Losses) -> None:
    """Add <contact>, if there are pairs or exclusions."""
    section = Tag("contact")
    for pair in extras.contact_pairs:
        what = (
            f"contact pair {pair.name!r}" if pair.name else f"the contact pair of {pair.shape1!r} and {pair.shape2!r}"
        )
        if written.all_there(what, [("geom", pair.shape1), ("geom", pair.shape2)], losses):
            section.add("pair").attributes = _changed(pair, ContactPair("", ""))
    for exclusion in extras.contact_exclusions:
        what = f"the exclusion of contacts between {exclusion.body1!r} and {exclusion.body2!r}"
        if written.all_there(what, [("body", exclusion.body1), ("body", exclusion.body2)], losses):
            section.add("exclude").attributes = _changed(exclusion, ContactExclusion("", ""))
    if section.children:
        root.children.append(section)


def _changed(record: object, usual: object) -> dict[str, str]:
    """The fields of a record that are not as usual, as attributes."""
    attributes: dict[str, str] = {}
    for entry in fields(record):  # type: ignore[arg-type]
        value = getattr(record, entry.name)
        if value == getattr(usual, entry.name) or isinstance(value, SimulationFlags):
            continue
        if isinstance(value, bool):
            text = "enable" if value else "disable"
        elif isinstance(value, str):
            text = value
        else:
            text = shown_numbers(value) if isinstance(value, tuple) else shown_number(value)
        attributes[_NAMES.get(entry.name, entry.name)] = text
    return attributes
