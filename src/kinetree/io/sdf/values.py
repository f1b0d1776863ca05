"""Reading the text of SDF's elements: numbers, words, flags and poses."""

from __future__ import annotations

import math
import re

from kinetree.io.document import Element, shown
from kinetree.io.numbers import numbers_of
from kinetree.spatial import Mat3, Transform, Vec3
from kinetree.spatial.rotations import from_quaternion, from_rpy

__all__ = ["bound", "child", "flag", "flag_of", "number", "number_in", "numbers", "read_pose", "required", "word"]

_AXES = Mat3.identity()
_IDENTITY = Transform.identity()
_INFINITE = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE)
_NO_BOUND = 1e16
"""SDF's value for an absent bound, other than infinity."""
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def child(element: Element, tag: str) -> Element | None:
    """The only child with this tag, if there is one."""
    parts = element.all(tag)
    if len(parts) > 1:
        parts[1].fail(
            f"{element!r} has a second <{tag}> (the first is in line {parts[0].line}); remove one",
            "repeated-element",
        )
    return parts[0] if parts else None


def required(element: Element, tag: str) -> Element:
    """The only child with this tag, which must be there."""
    part = child(element, tag)
    return element.lacks(tag) if part is None else part


def word(element: Element) -> str:
    """The text in an element, which must not be empty."""
    text = element.content.strip()
    if not text:
        element.fail("is empty; write its value between its tags", "missing-element")
    return text


def numbers(element: Element, count: int) -> tuple[float, ...]:
    """The numbers in an element."""
    return numbers_of(element, element.content, count)


def number(element: Element) -> float:
    """The number in an element."""
    return numbers_of(element, element.content, 1)[0]


def number_in(element: Element, tag: str, default: float) -> float:
    """The number in the child with this tag; the default, which is that of SDF, without such a child."""
    part = child(element, tag)
    return default if part is None else number(part)


def bound(element: Element, tag: str, default: float) -> float:
    """As `number_in`; an infinity and numbers of 1e16 and more mean that the bound is absent."""
    part = child(element, tag)
    if part is None:
        return default
    infinite = _INFINITE.fullmatch(part.content.strip())
    if infinite:
        return -math.inf if infinite[1] == "-" else math.inf
    value = number(part)
    return math.copysign(math.inf, value) if abs(value) >= _NO_BOUND else value


def flag(element: Element, tag: str, *, default: bool = False) -> bool:
    """The truth value in the child with this tag."""
    part = child(element, tag)
    return default if part is None else _truth(part, part.content)


def flag_of(element: Element, attribute: str) -> bool:
    """The truth value of an attribute; False if it is missing."""
    text = element.attributes.get(attribute)
    return False if text is None else _truth(element, text, attribute)


def _truth(element: Element, text: str, attribute: str | None = None) -> bool:
    value = _FLAGS.get(text.strip().lower())
    if value is None:
        quoted = f'"{shown(text.strip(), 40)}"' if attribute is None else f'{attribute}="{shown(text, 40)}"'
        element.fail(f"{quoted} is neither true nor false; write one of them")
    return value


def read_pose(pose: Element | None) -> Transform:
    """The pose in a <pose>; the identity if it is missing or empty."""
    if pose is None or not pose.content.strip():
        return _IDENTITY
    form = pose.attributes.get("rotation_format", "euler_rpy").strip()
    degrees = flag_of(pose, "degrees")
    if form == "quat_xyzw":
        if degrees:
            pose.fail('degrees="true" has no meaning for a quaternion; remove it', "conflict")
        x, y, z, *quaternion = numbers(pose, 7)
        length = math.hypot(*quaternion)
        if not (math.isfinite(length) and length > 1e-100):
            pose.fail(
                "has a quaternion of length zero, which is not an orientation; the identity is 0 0 0 1", "bad-placement"
            )
        if abs(length - 1.0) > 1e-4:
            pose.fail(
                f"has a quaternion of length {length:g}; give one of length one: x y z qx qy qz qw", "bad-placement"
            )
        return Transform(from_quaternion(*(e / length for e in quaternion)).T, Vec3(x, y, z))
    if form != "euler_rpy":
        pose.fail(f'rotation_format="{shown(form, 40)}" is unknown; it is euler_rpy or quat_xyzw')
    x, y, z, *angles = numbers(pose, 6)
    if degrees:
        angles = [math.radians(angle) for angle in angles]
    return Transform(from_rpy(*angles).T if any(angles) else _AXES, Vec3(x, y, z))
