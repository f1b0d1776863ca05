"""<joint>."""

from __future__ import annotations

import math
from collections.abc import Mapping

from kinetree import joints
from kinetree.errors import nearest_names
from kinetree.io.document import Element
from kinetree.io.notes import Notes
from kinetree.io.numbers import bound, number, numbers
from kinetree.io.urdf.controllers import ControllerReader
from kinetree.io.urdf.geometry import read_placement
from kinetree.io.urdf.version import Version
from kinetree.joints import Continuous, Fixed, JointKind, Prismatic, Revolute
from kinetree.model import Limits, Mimic, ModelBuilder
from kinetree.model.problems import Problems, coded
from kinetree.spatial import Transform

__all__ = ["read_joint"]

_ON_AXIS = {"revolute": Revolute, "continuous": Continuous, "prismatic": Prismatic}
_UNKNOWN = Fixed()
_X: tuple[float, ...] = (1.0, 0.0, 0.0)
_IDENTITY = Transform.identity()
_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")


def read_joint(
    joint: Element, builder: ModelBuilder, notes: Notes, controllers: ControllerReader, version: Version, *, mimic: bool
) -> None:
    """Add a joint to the builder."""
    name = joint.text("name")
    parts = joint.parts()
    problems = builder.problems
    before = problems.fatal
    parent = problems.attempt("", _end, joint, parts, "parent")
    child = problems.attempt("", _end, joint, parts, "child")
    kind = problems.attempt(_UNKNOWN, _kind, joint, name, parts.get("axis"), notes, problems)
    placement = problems.attempt(_IDENTITY, read_placement, parts.get("origin"))
    limits = None
    if kind is not _UNKNOWN:
        limits = problems.attempt(None, _limits, joint, name, kind, parts.get("limit"), builder, notes, version)
    damping = friction = None
    dynamics = parts.get("dynamics")
    if dynamics is not None and kind.nv:
        # The file gives one number; a free joint has it on each of its degrees of freedom.
        damping = (problems.attempt(0.0, number, dynamics, "damping", 0.0),) * kind.nv
        friction = (problems.attempt(0.0, number, dynamics, "friction", 0.0),) * kind.nv
    follows = problems.attempt(None, _mimic, parts.get("mimic"), name, kind, notes, enforced=mimic)
    if problems.fatal > before:
        problems.doubt(name)
        if not parent or not child:
            problems.leave_out(name)
            return
    builder.add_joint(
        name,
        kind,
        parent,
        child,
        placement,
        limits=limits,
        damping=damping,
        friction=friction,
        mimic=follows,
        where=joint,
    )
    if "safety_controller" in parts or "calibration" in parts or "limit" in parts:
        controllers.read(name, parts, moves=kind.nv > 0)


def _end(joint: Element, parts: Mapping[str, Element], role: str) -> str:
    """The link at one end of a joint."""
    return (parts.get(role) or joint.lacks(role)).text("link")


def _kind(joint: Element, name: str, axis: Element | None, notes: Notes, problems: Problems) -> JointKind:
    word = joint.text("type")
    if word not in _TYPES:
        joint.fail(f'type="{word:.40}" is not a joint type: {nearest_names(word[:40], _TYPES)}')
    if word == "fixed":
        return Fixed()
    if word == "floating":
        return joints.Free()
    if word == "planar":
        normal = problems.attempt(_X, _axis, axis, name, notes)
        if normal != (0.0, 0.0, 1.0):
            notes.add(
                "the two directions of planar joints whose axis is not z are chosen as kt.joints.Planar does", name
            )
        return joints.Planar(normal)
    return _ON_AXIS[word](problems.attempt(_X, _axis, axis, name, notes))


def _axis(axis: Element | None, name: str, notes: Notes) -> tuple[float, ...]:
    if axis is None:
        notes.add("joints without <axis> turn about or move along x, URDF's default", name)
        return _X
    xyz = numbers(axis, "xyz", 3)
    length = math.hypot(*xyz)
    if length == 0.0:
        axis.fail(
            f'xyz="{axis.attributes["xyz"]:.40}" has length zero, which is not a direction; give a unit vector',
            "bad-axis",
        )
    if not math.isfinite(length):
        axis.fail(f'xyz="{axis.attributes["xyz"]:.40}" is too large for a direction; give a unit vector', "bad-axis")
    if not 1e-100 < length < 1e100:
        xyz = tuple(x / length for x in xyz)  # otherwise their squares would overflow or underflow
    # Files commonly have seven digits; a larger difference was not rounding.
    if abs(length - 1.0) > 1e-6:
        notes.add("joint axes that were not of length one were normalised", name)
    return xyz


def _limits(
    joint: Element,
    name: str,
    kind: JointKind,
    limit: Element | None,
    builder: ModelBuilder,
    notes: Notes,
    version: Version,
) -> Limits | None:
    if not isinstance(kind, Revolute | Prismatic):
        if limit is not None:
            notes.add("<limit> on fixed, floating and planar joints was not kept", name)
        return None
    bounded = not isinstance(kind, Continuous)
    if limit is None:
        if bounded:
            builder.suspect(
                joint,
                f"joint {name!r} is {joint.attributes['type']} but has no <limit>, so it has no limits",
                "missing-limits",
                repair="it has no limits",
            )
        return None
    lower, upper = -math.inf, math.inf
    if bounded:
        lower, upper = bound(limit, "lower", 0.0), bound(limit, "upper", 0.0)
        if "lower" not in limit.attributes or "upper" not in limit.attributes:
            if version >= (1, 2):
                limit.fail("needs both lower and upper on a joint of this type, from version 1.2 of URDF on; add them")
            notes.add("joints whose <limit> has no lower or no upper have zero there, URDF's default", name)
    elif any(math.isfinite(x) and x for x in (bound(limit, "lower", 0.0), bound(limit, "upper", 0.0))):
        notes.add("lower and upper limits on continuous joints have no meaning and were not kept", name)
    if lower > upper:
        sentence = f"lower={lower:g} is above upper={upper:g}; exchange them"
        builder.problems.add(limit.error(sentence, "bad-limits", repair=f"they are exchanged: {upper:g} … {lower:g}"))
        lower, upper = upper, lower
    if math.isinf(lower) and lower == upper:
        sentence = f"lower and upper are both {lower:g}; a joint without limits has lower=-inf and upper=inf"
        limit.fail(sentence, "bad-limits")
    velocity, effort = (
        _bound(limit, attribute, name, notes, version, builder.problems) for attribute in ("velocity", "effort")
    )
    return Limits((lower,), (upper,), (velocity,), (effort,))


def _bound(limit: Element, attribute: str, name: str, notes: Notes, version: Version, problems: Problems) -> float:
    if attribute not in limit.attributes:
        if version >= (1, 2):  # where this is the default
            return math.inf
        notes.add(f"joints whose <limit> has no {attribute} are taken as unlimited in it", name)
        return math.inf
    value = bound(limit, attribute)
    if value < 0.0:
        sentence = f"{attribute}={value:g} is negative; give its magnitude"
        problems.add(limit.error(sentence, "bad-limits", repair=f"it is {-value:g}"))
        return -value
    return value


def _mimic(mimic: Element | None, name: str, kind: JointKind, notes: Notes, *, enforced: bool) -> Mimic | None:
    if mimic is None:
        return None
    if not kind.nv:
        notes.add("<mimic> has no meaning on fixed joints and was not kept", name)
        return None
    if not enforced:
        notes.add("<mimic> was left out, as asked: these joints move on their own", name)
        return None
    notes.add("joints that mimic another follow it and have no place in q and v", name)
    with coded("bad-mimic"):
        return Mimic(mimic.text("joint"), number(mimic, "multiplier", 1.0), number(mimic, "offset", 0.0))
