"""Content without meaning for motion, kept as the file has it: assets, lights, pictures, plugins, user's data.

Actuators and sensors that are data which no function computes get notes that say where they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.bodies import IDENTITY, BodyPart, Part
from kinetree.io.mjcf.geoms import shape_placement, site_size
from kinetree.io.mjcf.placements import quaternion_of
from kinetree.io.mjcf.scopes import Namespace, Scope
from kinetree.io.notes import Notes
from kinetree.model.extras import Actuator, Sensor, Unused, image_address
from kinetree.problems import place_of
from kinetree.spatial import Vec3

__all__ = ["as_it_is", "note_actuator", "note_sensor", "read_leftovers"]

_SECTIONS = ("size", "statistic", "visual", "custom", "extension", "deformable")
_ASSETS = ("texture", "material", "mesh", "hfield", "skin")
_NAMING = ("name", "texture", "material")
_IN_BODIES = ("light", "flexcomp")
_TURNS = frozenset(("axisangle", "xyaxes", "zaxis", "euler", "fromto"))
"""Placements whose numbers depend on the settings of their file."""
_LAWS = ("dcmotor", "pid", "so3", "user")
_SENSORS = ("user", "plugin", "tactile", "camprojection")


def read_leftovers(scope: Scope, bodies: Sequence[BodyPart], frames: Mapping[int, str], notes: Notes) -> list[Unused]:
    """All of these, those of bodies in an element that names the body; `frames` lists the parts that have a frame."""
    records = [_addressed(as_it_is(one), scope) for tag in _SECTIONS for one in scope.sections(tag) if _holds(one)]
    records += [as_it_is(child) for section in scope.sections("compiler") for child in section.children]
    assets = [one for owner, space in scope.instances if not space.suffix for one in _assets(owner, space)]
    if assets:
        records.append(Unused("asset", (), tuple(dict.fromkeys(assets))))
    for body in bodies:
        parts = [_placed(part) for tag in _IN_BODIES for part in body.parts.get(tag, [])]
        parts += [
            _placed(part) for tag in ("site", "camera") for part in body.parts.get(tag, []) if id(part) not in frames
        ]
        if parts:
            records.append(Unused("body", (("name", body.name),), tuple(parts)))
        for part in body.parts.get("flexcomp", []):
            _warn_of_points(part, scope, notes)
    for section in scope.sections("deformable"):
        for flex in section.all("flex"):
            notes.add("the forces of flexes between bodies are not computed", flex.attributes.get("name", "flex"))
    for owner, _ in scope.instances:
        if owner is not scope and (owner.sections("option") or owner.sections("deformable")):
            notes.add("options and deformable bodies of attached models are left out", str(owner.path.name))
    return records


def _warn_of_points(part: Part, scope: Scope, notes: Notes) -> None:
    """Warn of points that move in MuJoCo."""
    element = part.element
    if part.attributes.flag("rigid"):
        notes.add("rigid flexcomps, which have no mass in MuJoCo, are kept as data", part.name or str(element))
        return
    if scope.settings.total_mass > 0.0:
        element.fail(
            "settotalmass shares the mass among all bodies and the points of this flexcomp, which kinetree does not "
            'have; remove settotalmass, or make it rigid="true"',
            "conflict",
        )
    sentence = (
        "MuJoCo gives the points of a flexcomp masses, joints and coordinates, but kinetree only keeps the element as "
        "data in robot.extras; its q, v and M(q) are those of the rest"
    )
    notes.suspect(element, sentence, "kept-as-data")


def _holds(element: Element) -> bool:
    return bool(element.attributes or element.children)


def _assets(scope: Scope, space: Namespace) -> Iterator[Unused]:
    for section in scope.sections("asset"):
        for element in section.children:
            if element.tag not in _ASSETS:
                continue
            has_defaults = element.tag in ("texture", "material", "mesh")
            one = _with_defaults(scope.attributes(element, element.tag)) if has_defaults else as_it_is(element)
            one = _addressed(one, scope)
            if space.prefix:
                named = tuple((key, space.of(text) if key in _NAMING else text) for key, text in one.attributes)
                one = replace(one, attributes=named)
            yield one


def _addressed(one: Unused, scope: Scope) -> Unused:
    """With the addresses of its files relative to the folder of the main file."""
    kind = "texture" if one.tag == "texture" else "mesh"
    attributes = tuple(
        (key, scope.address_of(text, kind) if key.startswith("file") else text) for key, text in one.attributes
    )
    children = tuple(_addressed(child, scope) for child in one.children) if one.tag == "deformable" else one.children
    one = replace(one, attributes=attributes, children=children)
    image = image_address(one) if one.tag == "texture" else ""
    return replace(one, path=scope.finder.image(image)) if image else one


def _placed(part: Part) -> Unused:
    """An element of a body with its placement in the body, not in a frame around it."""
    one = _addressed(_with_defaults(part.attributes), part.scope)
    attributes = dict(one.attributes)
    if one.tag in ("site", "camera", "flexcomp") and (part.frame is not IDENTITY or _TURNS.intersection(attributes)):
        X = part.in_body(shape_placement(part.attributes, part.scope.settings))
        if "fromto" in attributes and one.tag == "site":
            attributes["size"] = _text_of(site_size(part.attributes))
        for name in (*_TURNS, "quat"):
            attributes.pop(name, None)
        attributes["pos"] = _text_of([float(x) for x in X.r.components()])
        attributes["quat"] = _text_of(quaternion_of(X.E.T))
    if part.name:
        attributes["name"] = part.name
    if part.frame is not IDENTITY and one.tag == "light":
        a, R = part.attributes, part.frame.E.T
        position = part.frame.r + R @ Vec3(*a.numbers("pos", (0.0, 0.0, 0.0)))
        direction = R @ Vec3(*a.numbers("dir", (0.0, 0.0, -1.0)))
        attributes["pos"], attributes["dir"] = (
            _text_of([float(x) for x in vector.components()]) for vector in (position, direction)
        )
    return replace(one, attributes=tuple(attributes.items()))


def _text_of(numbers: Sequence[float]) -> str:
    return " ".join(f"{x:.17g}" for x in numbers)


def as_it_is(element: Element, keep: Sequence[str] | None = None) -> Unused:
    """An element with all in it; of its own attributes only those in `keep`, if it is given."""
    records: dict[int, Unused] = {}
    pending = [(element, False)]
    while pending:
        one, is_open = pending.pop()
        if not is_open:
            pending.append((one, True))
            pending += [(child, False) for child in one.children]
            continue
        keep_here = keep if one is element else None
        attributes = tuple((key, text) for key, text in one.attributes.items() if keep_here is None or key in keep_here)
        children = tuple(records[id(child)] for child in one.children)
        records[id(one)] = Unused(one.tag, attributes, children, one.content.strip(), place_of(one))
    return records[id(element)]


def _with_defaults(a: Attributes) -> Unused:
    """An element with the attributes that its default classes give it, which need not be kept then."""
    plain = as_it_is(a.element)
    attributes = {**a.texts(), **a.element.attributes}
    attributes.pop("class", None)
    return Unused(plain.tag, tuple(attributes.items()), plain.children, plain.text, plain.where)


def note_actuator(element: Element, actuator: Actuator, notes: Notes) -> None:
    """A note if the force of an actuator is not computed."""
    what = {word: f'"{word}"' for word in _LAWS if word in (actuator.dynamics, actuator.gain, actuator.bias)}
    if actuator.plugin is not None:
        what["plugin"] = "a plugin"
    if actuator.transmission == "body":
        what["body"] = "adhesion by contacts of a body"
    if actuator.delay:
        what["delay"] = "a delay"
    if what:
        sentence = "actuators whose forces are not computed, so that kt.dynamics.actuator_forces refuses the robot"
        notes.add(sentence, f"{element} ({', '.join(what.values())})")


def note_sensor(element: Element, sensor: Sensor, notes: Notes) -> None:
    """A note if a sensor is not computed."""
    if sensor.kind in _SENSORS:
        notes.add("sensors that are not computed, so that kt.dynamics.sensors needs the names of others", f"{element}")
    elif sensor.delay or any(sensor.interval):
        what = "a delay" if sensor.delay else "an interval"
        notes.add(
            "sensors that are not computed, so that kt.dynamics.sensors needs the names of others",
            f"{element} ({what})",
        )
