"""`kt.check`: every problem of a robot file at once."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields

import numpy as np

from kinetree.checking.extents import extents, reach, shape_corners
from kinetree.checking.masses import check_masses
from kinetree.checking.motions import check_motions
from kinetree.checking.report import Report
from kinetree.checking.subject import Subject, warning
from kinetree.errors import listed
from kinetree.io.load import collect, settled
from kinetree.joints import JointKind
from kinetree.model import Model
from kinetree.model.extras import Unused
from kinetree.model.problems import Collected
from kinetree.model.specs import JointSpec
from kinetree.problems import Problem, problem

__all__ = ["check"]

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


def list_extras(subject: Subject, _: Collected) -> Iterator[Problem]:
    """One note for each kind of part that is kept as data."""
    extras = subject.parts.extras
    for entry in fields(extras):
        held = getattr(extras, entry.name)
        if not held:
            continue
        if entry.name == "unused":
            yield from _unused(held)
            continue
        what = entry.name.replace("_", " ")
        count = f"{len(held)} " if isinstance(held, tuple | dict) else ""
        names = [str(each.name) for each in held if getattr(each, "name", "")] if isinstance(held, tuple) else []
        shown = f" ({listed(names)})" if names else ""
        yield _note(held[0] if isinstance(held, tuple) else held, f"{count}{what}{shown}", entry.name)


def _unused(held: Sequence[Unused]) -> Iterator[Problem]:
    """One note for each tag."""
    kinds: dict[str, list[Unused]] = {}
    for part in held:
        kinds.setdefault(part.tag, []).append(part)
    for tag, parts in kinds.items():
        yield _note(parts[0], f"<{tag}>" + (f" ({len(parts)} times)" if len(parts) > 1 else ""), "unused")


def _note(part: object, what: str, entry: str) -> Problem:
    sentence = f"{what}: kept as data in robot.extras.{entry}, without effect on the motion"
    return problem(getattr(part, "where", ""), sentence, "kept-as-data", severity="note")


def list_assumptions(subject: Subject, problems: Collected) -> Iterator[Problem]:
    """One note for each assumption of the reader's, unless a problem says it already."""
    sentences = {found.sentence for found in problems.found}
    for note in subject.parts.notes:
        if not any(sentence in note for sentence in sentences) and not _is_listed_otherwise(note):
            yield problem(subject.parts.source, note, "assumption", severity="note")


def _is_listed_otherwise(note: str) -> bool:
    return "were skipped: " in note or "kept as data in robot.extras" in note or "meshes have no file here" in note


def check_names(subject: Subject, _: Collected) -> Iterator[Problem]:
    """Names of bodies, or of joints, that differ only in case or in blanks; shapes of a body with one name."""
    for what, parts in (("bodies", subject.parts.links), ("joints", subject.parts.joints)):
        names: dict[str, str] = {}
        for part in parts:
            other = names.setdefault("".join(part.name.split()).casefold(), part.name)
            if other != part.name:
                sentence = f"the names of the {what} {other!r} and {part.name!r} differ only in case or in blanks"
                yield warning(part.where, f"{sentence}; choose names that cannot be confused", "similar-names")
    for link in subject.parts.links:
        taken: set[tuple[str, str]] = set()
        for shape in link.geometry:
            if shape.name and (shape.role, shape.name) in taken:
                sentence = f"body {link.name!r} has two {shape.role} shapes named {shape.name!r}; rename one of them"
                yield warning(link.where, sentence, "repeated-shape-name")
            taken.add((shape.role, shape.name))


_FAR = 100.0
"""Metres: no part of a robot is so large, but a mesh in millimetres is."""
_RATIO = 50.0
"""The largest ratio of a mesh's length to the longest offset of a joint, for meshes longer than five metres."""
_SMALL = 1e-4
"""Metres: a mesh whose scale was applied twice is not larger."""


def check_shapes(subject: Subject, problems: Collected) -> Iterator[Problem]:
    """All shapes."""
    sentences = {found.sentence for found in problems.found if found.code == "missing-mesh"}
    shapes = [(link, shape) for link in subject.parts.links for shape in link.geometry]
    offsets = [math.hypot(*map(float, joint.placement.r.components())) for joint in subject.parts.joints]
    longest = max(offsets, default=0.0)
    for link, shape in shapes:
        if shape.mesh is None:
            continue
        if shape.mesh_path is None:
            if not any(repr(shape.mesh)[:50] in sentence for sentence in sentences):
                sentence = f"the mesh {shape.mesh!r:.120} of body {link.name!r} is not found"
                yield warning(link.where, f"{sentence}; correct its address", "missing-mesh")
            continue
        corners = shape_corners(shape)
        if corners is None:
            continue
        size = float(np.ptp(corners, axis=0).max())
        if size > _FAR or (longest > 0.0 and size > max(_RATIO * longest, 5.0)):
            sentence = f"the mesh {shape.mesh!r:.120} of body {link.name!r} is {size:.3g} m large"
            yield warning(link.where, f'{sentence}; give scale="0.001 0.001 0.001" if it is in mm', "mesh-units")
        elif 0.0 < size < _SMALL:
            sentence = f"the mesh {shape.mesh!r:.120} of body {link.name!r} is only {size:.3g} m large"
            yield warning(link.where, f"{sentence}; correct its scale", "mesh-units")
    roles = {shape.role for _, shape in shapes}
    if subject.parts.links and "collision" not in roles and not problems.fatal:
        yield problem(subject.parts.source, "no body has a collision shape", "no-collision-shapes", severity="note")


_RULES: tuple[Callable[[Subject, Collected], Iterator[Problem]], ...] = (
    check_names,
    check_limits,
    check_masses,
    check_shapes,
    check_motions,
    list_extras,
    list_assumptions,
)


def check(
    path: str | os.PathLike[str],
    *,
    floating_base: bool | None = None,
    mimic: bool = True,
    gravity: Sequence[float] | None = None,
    package_roots: Sequence[str | os.PathLike[str]] = (),
    ros_packages: bool = False,
    kinds: Sequence[type[JointKind]] = (),
    srdf: str | os.PathLike[str] | None = None,
    source: str | None = None,
    xacro: bool = False,
    xacro_args: Mapping[str, str | float | bool] | None = None,
) -> Report:
    """Check a robot file, and return all its problems: faults, suspicious values and notes.

    The options are those of `load`; with `srdf`, an SRDF file is checked with the robot. Errors keep `load` from
    loading the file; if one is mended by `load(path, repair=True)`, it says how. Meshes that are found are opened for
    their sizes.

    >>> import kinetree as kt
    >>> report = kt.check(kt.zoo.path("double_pendulum"))
    >>> report.ok, report.errors
    (True, ())

    Raises `OptionError` or `ModelError` for options that are not possible, and as `load` does for names of robots that
    are not there; never for the contents of the file.
    """
    path, settings = settled(
        "check", path, source, srdf, xacro, xacro_args,
        floating_base=floating_base, mimic=mimic, package_roots=package_roots, ros_packages=ros_packages,
        gravity=gravity, kinds=kinds,
    )  # fmt: skip
    problems = Collected()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = collect(path, problems, kinds=kinds, gravity=gravity, **settings)
    everything = list(problems.found)
    if problems.parts is not None:
        everything += _suspicious(problems, robot)
    file = str(path)
    placed = (each if each.file else each._replace(file=file) for each in everything)
    return Report.of(file, list(dict.fromkeys(placed)), "" if robot is None else robot.name, problems.left_out)


def _suspicious(problems: Collected, robot: Model | None) -> Iterator[Problem]:
    parts = problems.parts if robot is None else robot.parts
    assert parts is not None
    boxes = extents(parts)
    subject = Subject(parts, robot, {link.name: link for link in parts.links}, boxes, reach(parts, boxes))
    for rule in _RULES:
        yield from rule(subject, problems)
