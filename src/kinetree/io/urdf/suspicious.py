"""Values in a URDF file that are possible, but hardly meant, and that cannot be seen in the robot any more."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kinetree.errors import ModelError
from kinetree.io.document import Element
from kinetree.io.numbers import numbers
from kinetree.problems import Problem, problem

__all__ = ["suspicious_elements"]

_TURN = 2.0 * math.pi * (1.0 + 1e-3)
_UNIT = 1e-3
"""How far from one the length of an axis may be: some files have three digits."""


def suspicious_elements(robot: Element) -> Iterator[Problem]:
    """Angles that seem to be in degrees, and axes that are not of length one."""
    pending = [robot]
    while pending:
        element = pending.pop()
        pending += element.children
        try:
            if element.tag == "origin" and "rpy" in element.attributes:
                yield from _angles(element)
            elif element.tag == "axis" and "xyz" in element.attributes:
                yield from _axis(element)
        except ModelError:  # which has been said already
            continue


def _angles(origin: Element) -> Iterator[Problem]:
    rpy = numbers(origin, "rpy", 3)
    if max(map(abs, rpy)) > _TURN:
        sentence = f'rpy="{origin.attributes["rpy"]:.60}" has an angle of more than a turn'
        yield problem(origin, f"{sentence}; give radians if these are degrees", "degrees", severity="warning")


def _axis(axis: Element) -> Iterator[Problem]:
    length = math.hypot(*numbers(axis, "xyz", 3))
    if length and abs(length - 1.0) > _UNIT:
        sentence = f'xyz="{axis.attributes["xyz"]:.60}" has the length {length:.4g}; only its direction is used'
        yield problem(axis, f"{sentence}, so give a unit vector", "axis-length", severity="warning")
