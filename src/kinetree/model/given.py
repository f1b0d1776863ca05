"""Arguments of a builder: names, numbers and records of the right types, as plain tuples of Python's floats."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from numbers import Real
from typing import Any

import numpy as np

from kinetree.errors import ModelError, visible
from kinetree.inputs import is_masked, plain
from kinetree.model.elements import Geometry, Mimic, Rotor
from kinetree.model.extras import ContactParameters
from kinetree.model.specs import at, fault
from kinetree.spatial.plain import plain_transform
from kinetree.spatial.poses import pose
from kinetree.tree.drive import Limits

__all__ = [
    "body_name",
    "flags",
    "floats",
    "gravity_of",
    "name_of",
    "names",
    "plain_limits",
    "plain_mimic",
    "plain_rotor",
    "sentence_of",
    "shapes",
]

_TEXT = (str, bytes)
_NO_SEQUENCES = (str, bytes, bytearray, Mapping, Set)
"""Iterable, but not a list of numbers."""


def name_of(what: str, name: str, where: object) -> str:
    if not isinstance(name, str) or not name.strip():
        raise fault(where, f"the name of a {what} must be a string with something in it, not {name!r:.60}")
    if not name.isprintable() and (visible(name) != name or "\n" in name):
        raise fault(
            where,
            f"the name of a {what} has characters that control the output instead of being shown, such as line ends: "
            f"{name!r:.120}; name it without them",
            "bad-name",
        )
    return str.__str__(name)


def floats(what: str, values: Sequence[float], where: object) -> tuple[float, ...]:
    try:
        if type(values) is not list and type(values) is not tuple and isinstance(values, _NO_SEQUENCES):
            raise TypeError
        if is_masked(values):
            raise TypeError
        given = tuple(values)
        for value in given:
            if type(value) is not float and isinstance(value, _TEXT):  # a string that float would parse
                raise TypeError
        return tuple(map(float, given))
    except (TypeError, ValueError, OverflowError):
        raise fault(where, f"{what} must be a sequence of numbers, not {values!r:.60}") from None


def gravity_of(given: Sequence[float]) -> tuple[float, float, float]:
    """An acceleration of free fall, m/s²."""
    numbers = floats("gravity", given, "")
    if len(numbers) != 3 or not all(map(math.isfinite, numbers)):
        raise ModelError(f"gravity must be three finite numbers, such as (0, 0, -9.81), not {numbers!r:.60}")
    return numbers[0], numbers[1], numbers[2]


def flags(what: str, given: bool | Sequence[bool], count: int, where: object) -> tuple[bool, ...]:
    """One flag for all, or one per degree of freedom."""
    if isinstance(given, bool | np.bool_):
        return (bool(given),) * count
    try:
        values = None if isinstance(given, _NO_SEQUENCES) else tuple(given)
    except TypeError:
        values = None
    if values is None or not all(isinstance(flag, bool | np.bool_) for flag in values):
        raise fault(
            where, f"{what} must be True, False or one of them per degree of freedom ({count}), not {given!r:.60}"
        )
    if len(values) != count:
        raise fault(where, f"{what} needs one flag per degree of freedom ({count}), not {len(values)}")
    return tuple(map(bool, values))


def names(what: str, given: Sequence[str], where: object) -> tuple[str, ...]:
    try:
        texts = None if isinstance(given, _NO_SEQUENCES) else tuple(given)
    except TypeError:
        texts = None
    if texts is None or not all(isinstance(name, str) for name in texts):
        raise fault(where, f"{what} must be a list of names, such as ['left', 'right'], not {given!r:.60}")
    return tuple(map(plain, texts))


def body_name(what: str, name: str, where: object) -> str:
    if not isinstance(name, str):
        raise fault(where, f"{what} must be the name of a body, not {name!r:.60}")
    return str.__str__(name)


def sentence_of(what: str, sentence: str, where: object) -> str:
    if not isinstance(sentence, str):
        raise fault(where, f"{what} must be a sentence, a string, not {sentence!r:.60}")
    return str.__str__(sentence)


def shapes(geometry: Sequence[Geometry], body: str, where: object) -> tuple[Geometry, ...]:
    try:
        several = tuple(geometry)
    except TypeError:
        several = None
    if several is None or (several and not all(isinstance(shape, Geometry) for shape in several)):
        raise fault(where, f"body {body!r}: its geometry must be a list of Geometry, not {geometry!r:.60}")
    return tuple(_shape(shape, body, where) for shape in several)


def _shape(shape: Geometry, body: str, where: object) -> Geometry:
    """The same shape with Python's floats and strings."""
    for word, text in (("role", shape.role), ("shape", shape.shape), ("name", shape.name), ("mesh", shape.mesh)):
        if not isinstance(text, str) and (word, text) != ("mesh", None):
            raise fault(where, f"body {body!r}: the {word} of a Geometry must be a string, not {text!r:.60}")
    placement = pose(at(where, f"body {body!r}: the placement of a Geometry"), shape.placement, ModelError)
    size = floats(f"body {body!r}: the size of a Geometry", shape.size, where)
    color = None if shape.color is None else floats(f"body {body!r}: the color of a Geometry", shape.color, where)
    if color is not None and not (len(color) == 4 and all(map(math.isfinite, color))):
        raise fault(where, f"body {body!r}: the color of a Geometry is four finite numbers, not {color}")
    if shape.contact is not None:
        _check_contact(shape.contact, body, where)
    return Geometry(
        plain(shape.role), plain(shape.shape), size, plain_transform(placement), plain(shape.name),
        plain(shape.mesh), shape.mesh_path, color, shape.contact,
    )  # fmt: skip


def _check_contact(contact: ContactParameters, body: str, where: object) -> None:
    if not isinstance(contact, ContactParameters):
        sentence = f"the contact of a Geometry must be ContactParameters, not {contact!r:.60}"
        raise fault(where, f"body {body!r}: {sentence}")
    if contact.condim not in (1, 3, 4, 6):
        raise fault(where, f"body {body!r}: condim of a contact must be 1, 3, 4 or 6, not {contact.condim!r:.60}")
    for word in ("contype", "conaffinity", "priority"):
        number = getattr(contact, word)
        if not isinstance(number, int | np.integer) or not -(2**31) <= number < 2**31:
            sentence = f"{word} of a contact must be an integer of 32 bits, not {number!r:.60}"
            raise fault(where, f"body {body!r}: {sentence}", "bad-number")
    for word, count in (("friction", 3), ("solref", 2), ("solimp", 5)):
        numbers = floats(f"body {body!r}: {word} of a contact", getattr(contact, word), where)
        if len(numbers) != count or not all(map(math.isfinite, numbers)):
            sentence = f"{word} of a contact must be {count} finite numbers, not {getattr(contact, word)!r:.60}"
            raise fault(where, f"body {body!r}: {sentence}", "bad-number")
    for word in ("solmix", "margin", "gap"):
        (number,) = floats(f"body {body!r}: {word} of a contact", [getattr(contact, word)], where)
        if not math.isfinite(number):
            raise fault(
                where, f"body {body!r}: {word} of a contact must be a finite number, not {number}", "bad-number"
            )


def plain_limits(limits: Limits, joint: str, where: object) -> Limits:
    """The same limits as tuples of Python's floats; entries that are not numbers are left for the checks to reject."""
    if not isinstance(limits, Limits):
        raise fault(
            where, f"joint {joint!r}: its limits must be Limits(lower, upper, velocity, effort), not {limits!r:.60}"
        )
    values = (limits.lower, limits.upper, limits.velocity, limits.effort)
    if all(type(row) is tuple and all(type(x) is float for x in row) for row in values):
        return limits
    rows: list[tuple[Any, ...]] = []
    for word, row in zip(("lower", "upper", "velocity", "effort"), values, strict=True):
        try:
            if isinstance(row, _NO_SEQUENCES):
                raise TypeError
            rows.append(tuple(map(plain, row)))
        except TypeError:
            sentence = f"joint {joint!r}: its {word} limits must be a sequence of numbers, not {row!r:.60}"
            raise fault(where, sentence) from None
    return Limits(*rows)


def plain_rotor(rotor: Rotor) -> Rotor:
    """The same rotor with Python's floats; anything that is not a number is left for the checks to reject."""
    if not isinstance(rotor, Rotor):
        return rotor
    axis: Any = rotor.axis
    if isinstance(axis, list | tuple) or (isinstance(axis, np.ndarray) and axis.ndim):
        axis = tuple(map(plain, axis))
    return Rotor(plain(rotor.inertia), plain(rotor.ratio), axis)


def plain_mimic(mimic: Mimic, joint: str, where: object) -> Mimic:
    """The same mimic with Python's floats."""

    def fail(sentence: str) -> ModelError:
        return fault(where, f"joint {joint!r}: {sentence}")

    if isinstance(mimic, str):
        raise fail(f"to follow the joint {mimic!r:.60} it needs mimic=kinetree.model.Mimic({mimic!r:.60})")
    if not isinstance(mimic, Mimic):
        raise fail(f"its mimic must be a Mimic, such as kinetree.model.Mimic('lead'), not {mimic!r:.60}")
    if not isinstance(mimic.joint, str):
        raise fail(f"its mimic must name the joint that it follows, not {mimic.joint!r:.60}")
    for word, value in (("multiplier", mimic.multiplier), ("offset", mimic.offset)):
        if not isinstance(value, Real):
            raise fail(f"the {word} of its mimic must be a number, not {value!r:.60}")
    return Mimic(plain(mimic.joint), plain(mimic.multiplier), plain(mimic.offset))
