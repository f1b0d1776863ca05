"""Limits that leave a joint no room, no force or no speed, or that seem to be in degrees."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kinetree.checking.subject import Subject, warning
from kinetree.model.problems import Collected
from kinetree.model.specs import JointSpec
from kinetree.problems import Problem

__all__ = ["check_limits"]

_TURNS = 4.0 * math.pi
_UNLIMITED = 1000.0
"""Larger limits mean no limit."""


def check_limits(subject: Subject, problems: Collected) -> Iterator[Problem]:
    """The limits of all joints."""
    for joint in subject.parts.joints:
        if not problems.doubts(joint.name):
            yield from _of_joint(joint)


def _of_joint(joint: JointSpec) -> Iterator[Problem]:
    limits, kind = joint.limits, joint.kind
    if len(limits.lower) != kind.nq or len(limits.upper) != kind.nq:
        return
    for name, unit, low, high in zip(kind.q_names, kind.q_units, limits.lower, limits.upper, strict=True):
        which = f"joint {joint.name!r}" + (f", {name}," if name else "")
        if low == high:
            sentence = f"{which} cannot move: its lower and upper limits are both {low:g}"
            yield warning(joint.where, f"{sentence}; widen them, or make the joint fixed", "zero-range")
        elif unit == "rad" and any(_TURNS < abs(x) <= _UNLIMITED for x in (low, high)):
            sentence = f"{which} has the limits {low:g} … {high:g} rad, which are more than two turns"
            yield warning(joint.where, f"{sentence}; give radians if these are degrees", "degrees")
    for what, values in (("effort", limits.effort), ("velocity", limits.velocity)):
        if any(x == 0.0 for x in values) and joint.mimic is None:
            sentence = f"joint {joint.name!r} has the {what} limit 0"
            yield warning(joint.where, f"{sentence}; leave the limit out if there is none", "zero-limit")
