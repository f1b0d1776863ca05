"""<sensor>: measurements, as data."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.io.document import Element
from kinetree.io.mjcf.attributes import Attributes
from kinetree.io.mjcf.leftovers import as_it_is, note_sensor
from kinetree.io.mjcf.names import Names, Reference, read_sections
from kinetree.io.mjcf.scopes import Scope
from kinetree.io.mjcf.values import INTERPOLATIONS, same, user_data, words
from kinetree.io.notes import Notes
from kinetree.model.extras import Sensor
from kinetree.model.problems import Problems

__all__ = ["read_sensors"]

_OF_ONE = {
    "site": ("touch", "accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer"),
    "joint": (
        "jointpos", "jointvel", "jointactuatorfrc", "ballquat", "ballangvel", "jointlimitpos", "jointlimitvel",
        "jointlimitfrc",
    ),
    "tendon": (
        "tendonpos", "tendonvel", "tendonactuatorfrc", "tendonlimitpos", "tendonlimitvel", "tendonlimitfrc",
    ),
    "actuator": ("actuatorpos", "actuatorvel", "actuatorfrc"),
    "body": ("subtreecom", "subtreelinvel", "subtreeangmom"),
}  # fmt: skip
_TARGET = {tag: target for target, tags in _OF_ONE.items() for tag in tags}
"""The kind of object of each tag's sensor, if it is always the same."""
_FRAME_KINDS = same("body", "xbody", "geom", "site", "camera")
_ANY_KIND = same("body", "xbody", "geom", "site", "camera", "joint", "tendon", "actuator", "mesh", "sensor", "")
_CONTACT_DATA = ("found", "force", "torque", "dist", "pos", "normal", "tangent")
_RAY_DATA = ("dist", "dir", "origin", "point", "normal", "depth")
_ONLY_BALL = ("ballquat", "ballangvel")
_ONLY_SCALAR = tuple(tag for tag in _OF_ONE["joint"] if tag not in _ONLY_BALL)

Ends = tuple[str, str, str, str]
"""Kind and name of the object, and of the reference."""


def read_sensors(scope: Scope, names: Names, notes: Notes, problems: Problems) -> list[Sensor]:
    """All sensors, in their order."""

    def read(element: Element, reference: Reference) -> Sensor:
        sensor = _sensor(element, reference)
        note_sensor(element, sensor, notes)
        return sensor

    return read_sections(scope, "sensor", names, notes, read, problems)


def _sensor(element: Element, reference: Reference) -> Sensor:
    a, tag = Attributes(element), element.tag
    kind, name, other_kind, other = _ends(a, reference)
    data: tuple[str, ...] = ()
    if tag == "contact":
        data = words(a, "data", _CONTACT_DATA, ("found",))
    elif tag == "rangefinder":
        data = words(a, "data", _RAY_DATA, ("dist",))
    if tag == "contact" and a.whole("num", 1) < 1:
        a.fail(f"num is {a.whole('num')}, but it must be positive", "bad-number")
    samples, delay = a.whole("nsample"), a.number("delay")
    if delay > 0.0 and samples <= 0:
        a.fail(
            'it has a delay, which needs a buffer; add nsample="…", the number of samples that it holds',
            "missing-attribute",
        )
    if a.number("cutoff") < 0.0 or a.number("noise") < 0.0:
        a.fail("cutoff and noise cannot be negative", "bad-number")
    if tag == "user" and "dim" not in a:
        a.fail('it does not say how many numbers it has; add dim="…"', "missing-attribute")
    period, phase = a.numbers("interval", (0.0, 0.0), least=1)
    if period < 0.0 or phase > 0.0 or (phase and phase <= -period):
        a.fail(
            f"its interval is {period:g} {phase:g} s; the period is positive, and the phase between -period and zero",
            "bad-number",
        )
    own = reference.space.of(element.attributes.get("name", ""))
    reference.names.add("sensor", own, element)
    return Sensor(
        own,
        tag,
        kind,
        name,
        other_kind,
        other,
        data,
        a.word("reduce", same("none", "mindist", "maxforce", "netforce"), "none"),
        a.whole("num", 1),
        a.number("cutoff"),
        a.number("noise"),
        samples,
        a.word("interp", INTERPOLATIONS, "zoh"),
        delay,
        (period, phase),
        a.whole("dim"),
        a.word("datatype", same("real", "positive", "axis", "quaternion"), "real"),
        a.word("needstage", same("none", "pos", "vel", "acc"), "acc"),
        user_data(a),
        as_it_is(element, keep=("plugin", "instance")) if tag == "plugin" else None,
    )


def _ends(a: Attributes, reference: Reference) -> Ends:
    tag = a.element.tag
    if tag in _TARGET:
        return _on_one(a, reference, _TARGET[tag])
    if tag == "camprojection":
        if "camera" not in a:
            a.fail('it names no camera; add camera="…"', "missing-attribute")
        return *_on_one(a, reference, "site")[:2], "camera", reference(a, "camera", "camera")
    if tag == "rangefinder":
        return *_one_of(a, reference, ("site", "camera")), "", ""
    if tag in ("distance", "normal", "fromto"):
        return *_one_of(a, reference, ("body1", "geom1")), *_one_of(a, reference, ("body2", "geom2"))
    if tag == "contact":
        first = _one_of(a, reference, ("site", "body1", "subtree1", "geom1"), is_needed=False)
        return *first, *_one_of(a, reference, ("body2", "subtree2", "geom2"), is_needed=False)
    if tag == "tactile":
        for needed in ("geom", "mesh"):
            if needed not in a:
                a.fail(f'it names no {needed}; add {needed}="…"', "missing-attribute")
        mesh = a.text("mesh")
        reference.scope.asset("mesh", mesh, a.element, "mesh")
        return "mesh", reference.space.of_asset(mesh), "geom", reference(a, "geom", "geom")
    if tag == "insidesite":
        if "site" not in a:
            a.fail('it names no site; add site="…"', "missing-attribute")
        return *_by_type(a, reference, "obj", is_needed=True), "site", reference(a, "site", "site")
    if tag in ("e_potential", "e_kinetic", "clock"):
        return "", "", "", ""
    is_frame = tag not in ("user", "plugin")
    return *_by_type(a, reference, "obj", is_needed=is_frame), *_by_type(a, reference, "ref", is_needed=False)


def _on_one(a: Attributes, reference: Reference, kind: str) -> Ends:
    if kind not in a:
        a.fail(f'it names no {kind}; add {kind}="…"', "missing-attribute")
    name = reference(a, kind, kind)
    if kind == "joint":
        part = reference.names.joints[name][0]
        type_ = "free" if part.element.tag == "freejoint" else part.attributes.text("type", "hinge")
        tag = a.element.tag
        if tag in _ONLY_BALL and type_ != "ball":
            a.fail(f"<{tag}> is for ball joints, and {name!r} is a {type_} joint", "wrong-kind")
        if tag in ("jointpos", "jointvel", "jointactuatorfrc") and type_ not in ("hinge", "slide"):
            a.fail(f"<{tag}> is for hinge and slide joints, and {name!r} is a {type_} joint", "wrong-kind")
    return kind, name, "", ""


def _one_of(
    a: Attributes, reference: Reference, attributes: Sequence[str], *, is_needed: bool = True
) -> tuple[str, str]:
    """The kind and name of the object that one of these attributes names."""
    names = [name for name in attributes if name in a]
    if len(names) > 1:
        a.fail(f"it has both {names[0]} and {names[1]}; remove one of them", "conflict")
    if not names:
        if is_needed:
            a.fail(f"it is on nothing; give one of {', '.join(attributes)}", "missing-attribute")
        return "", ""
    kind = names[0].rstrip("12")
    return kind, reference(a, names[0], kind)


def _by_type(a: Attributes, reference: Reference, which: str, *, is_needed: bool) -> tuple[str, str]:
    """The kind and name that objtype and objname, or reftype and refname, give."""
    type_, name = f"{which}type", f"{which}name"
    if (type_ in a) != (name in a):
        a.fail(f"{type_} and {name} go together; add the one that is missing, or remove the other", "conflict")
    if type_ not in a:
        if is_needed:
            a.fail(f'it is on nothing; add {type_}="…" and {name}="…"', "missing-attribute")
        return "", ""
    kinds = _ANY_KIND if a.element.tag in ("user", "plugin") else _FRAME_KINDS
    kind = a.word(type_, kinds, "")
    if kind == "mesh":
        return kind, reference.space.of_asset(a.text(name))
    return kind, reference(a, name, kind)
