"""Builds a model from a URDF document."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetree.errors import ModelError
from kinetree.io.document import MAX_RAW, Document, Element, Unknown, read_document, shown
from kinetree.io.meshes import MeshFinder
from kinetree.io.notes import Notes
from kinetree.io.numbers import number, number_each, numbers
from kinetree.io.urdf.controllers import ControllerReader
from kinetree.io.urdf.geometry import GeometryReader, read_placement
from kinetree.io.urdf.joints import read_joint
from kinetree.io.urdf.raw import as_written
from kinetree.io.urdf.shapes import SHAPES
from kinetree.io.urdf.version import read_version
from kinetree.model import Model, ModelBuilder, extras
from kinetree.model.extras import NO_EXTRAS, Extras
from kinetree.model.problems import STRICT, Problems
from kinetree.problems import Problem, problem
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3

if TYPE_CHECKING:
    from kinetree.model.extras import Transmission, Unused

__all__ = ["read_file", "read_urdf"]

MAX_PARTS = 220_000
MAX_SHAPES = 150_000
MAX_TURNED = 60_000
_RAW = frozenset({"transmission", "gazebo", "sensor", "ros2_control"})


def read_file(
    data: bytes, path: Path, *, floating_base: bool | None = None, problems: Problems = STRICT, **settings: Any
) -> Model:
    """The model of a file's contents; the settings are those of `read_urdf`."""
    document = read_document(path, SHAPES, data, problems=problems)
    return read_urdf(document, path, floating_base=bool(floating_base), problems=problems, **settings)


def read_urdf(
    document: Document,
    path: Path,
    *,
    floating_base: bool = False,
    mimic: bool = True,
    package_roots: Sequence[str | os.PathLike[str]] = (),
    ros_packages: bool = False,
    problems: Problems = STRICT,
) -> Model:
    """The model of a document whose root is <robot>.

    Joints keep the order of the file; fixed ones are merged and their frames kept. Joints that mimic others follow
    them, unless `mimic` is False. Meshes are only located, and only inside `package_roots`: a root holds packages as
    `root/NAME` or is one itself; without roots, the file's folder is used and those above it that have a package's
    name.
    """
    robot = document.root
    _refuse_macros(document)
    version = read_version(robot)
    parts = sum(child.tag in ("link", "joint") for child in robot.children)
    if parts > MAX_PARTS:
        robot.fail(f"there are {parts:,} links and joints; the limit is {MAX_PARTS:,}", "too-large")
    _refuse_what_takes_too_long(robot)
    notes = Notes()
    builder = ModelBuilder(robot.attributes.get("name", "").strip() or path.stem, source=str(path), problems=problems)
    meshes = MeshFinder(path, package_roots, ros_packages=ros_packages)
    geometry = GeometryReader(robot, meshes, notes, problems)
    controllers = ControllerReader(version, notes)
    for element in robot.children:
        with problems.of(element.attributes.get("name", "")):
            if element.tag == "link":
                read_link(element, builder, geometry)
            elif element.tag == "joint":
                read_joint(element, builder, notes, controllers, version, mimic=mimic)
    with problems.of():
        builder.extras = _extras(robot, geometry, controllers, notes)
    if problems.collects:
        problems.suspect(skipped_parts(document))
        problems.suspect(suspicious_elements(robot))
    if "name" not in robot.attributes:
        builder.note("<robot> has no name; the file's is used")
    for sentence in (*notes.sentences(), *filter(None, [meshes.note()]), *_notes(builder.extras), *_skipped(document)):
        builder.note(sentence)
    return builder.build(floating_base=floating_base)


def _refuse_what_takes_too_long(robot: Element) -> None:
    within = [part for child in robot.children for part in child.children]
    turned = sum(map(_is_turned, within)) + sum(_is_turned(p) for part in within for p in part.children)
    if turned > MAX_TURNED:
        robot.fail(f"there are {turned:,} elements <origin> with a rotation; the limit is {MAX_TURNED:,}", "too-large")
    shapes = sum(part.tag in ("visual", "collision") for part in within)
    if shapes > MAX_SHAPES:
        robot.fail(f"there are {shapes:,} shapes; the limit is {MAX_SHAPES:,}", "too-large")


def _extras(robot: Element, geometry: GeometryReader, controllers: ControllerReader, notes: Notes) -> Extras:
    """The file's contents beyond the rigid bodies."""
    raw = [child for child in robot.children if child.tag in _RAW]
    if not raw and not controllers.found and not geometry.textures:
        return NO_EXTRAS
    if len(raw) > MAX_RAW:
        robot.fail(f"there are {len(raw):,} elements for simulators; the limit is {MAX_RAW:,}", "too-large")
    joints = {joint.attributes.get("name", "") for joint in robot.all("joint")}
    transmissions: list[Transmission] = []
    unused: list[Unused] = []
    for element in raw:
        transmission = read_transmission(element, joints) if element.tag == "transmission" else None
        if transmission is not None:
            transmissions.append(transmission)
            continue
        unused.append(as_written(element))
        if element.tag == "transmission":
            notes.add(
                "transmissions that name joints which the robot does not have are in extras.unused",
                element.attributes.get("name", ""),
            )
    return Extras(
        unused=tuple(unused),
        motion_limits=tuple(controllers.motion_limits),
        safety_limits=tuple(controllers.safety_limits),
        calibrations=tuple(controllers.calibrations),
        transmissions=tuple(transmissions),
        textures=tuple(geometry.textures),
    )


def _notes(extras: Extras) -> list[str]:
    """A note of elements kept as data."""
    counts = [
        f"{entry.name.replace('_', ' ')} ({len(getattr(extras, entry.name))})"
        for entry in fields(extras)
        if entry.name != "unused" and getattr(extras, entry.name)
    ]
    counts += [f"<{tag}> ({number})" for tag, number in Counter(part.tag for part in extras.unused).most_common()]
    return [f"kept as data in robot.extras, without effect on the motion: {', '.join(counts)}"] if counts else []


def _is_turned(element: Element) -> bool:
    return element.tag == "origin" and element.attributes.get("rpy", "").strip(" 0.") != ""


def _refuse_macros(document: Document) -> None:
    macros = [what for what in document.skipped if what.rpartition("/")[2].startswith("xacro:")]
    if macros:
        document.root.fail(
            f"<{macros[0].rpartition('/')[2]}> is a macro of xacro, which has not been expanded; "
            "load it with xacro=True, or --xacro on the command line, if you trust it: a xacro file is a program",
            "unexpanded-macro",
        )


def _skipped(document: Document) -> list[str]:
    kinds = (
        ("elements that do not concern the robot's motion were skipped", document.skipped),
        ("attributes that URDF does not define were skipped", document.skipped_attributes),
    )
    sentences = []
    for sentence, counter in kinds:
        if counter:
            counts = ", ".join(f"{what} ({count})" for what, count in counter.most_common(12))
            more = f" and {len(counter) - 12} kinds more" if len(counter) > 12 else ""
            sentences.append(f"{sentence}: {counts}{more}")
    return sentences


_ALIKE = 0.8
"""Likeness to a known name above which an unknown one counts as misspelt."""


def skipped_parts(document: Document) -> Iterator[Problem]:
    """A warning for each kind of unknown name that may be misspelt, and a note for each other."""
    kinds: dict[tuple[str, str], list[Unknown]] = {}
    for unknown in document.unknown:
        around = unknown.place.parent
        if unknown.attribute is None:
            key = ("" if around is None else around.tag, unknown.place.tag)
        else:
            key = (f"{unknown.place.tag} ", unknown.attribute)
        kinds.setdefault(key, []).append(unknown)
    for (_, name), all_of_kind in kinds.items():
        yield _problem(all_of_kind[0], name, len(all_of_kind))


def _problem(unknown: Unknown, name: str, count: int) -> Problem:
    is_element = unknown.attribute is None
    more = f" ({count} times in this file)" if count > 1 else ""
    what = f"<{shown(name)}>" if is_element else f'"{shown(name)}"'
    from difflib import get_close_matches  # files without such names do not need it

    near = get_close_matches(name[:60].lower(), sorted(unknown.known), n=1, cutoff=_ALIKE)
    if near:
        code = "unknown-element" if is_element else "unknown-attribute"
        sentence = f"{'the element' if is_element else 'the attribute'} {what} is unknown and was skipped{more}"
        return problem(unknown.place, f"{sentence}: did you mean {near[0]!r}?", code, severity="warning")
    sentence = f"{what} does not concern the robot's motion and was skipped{more}"
    return problem(unknown.place, sentence, "skipped", severity="note")


_ENTRIES = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_AXES = Mat3.identity()
_ORIGIN = Vec3.zero()
_ZERO = Sym3.zero()
_IDENTITY = Transform.identity()


def read_link(link: Element, builder: ModelBuilder, geometry: GeometryReader) -> None:
    """Add a link to the builder."""
    name = link.text("name")
    inertial = link.all("inertial")
    problems = builder.problems
    if len(inertial) > 1:
        sentence = f"{link!r} has a second <inertial> (the first is in line {inertial[0].line}); remove one"
        problems.add(inertial[1].error(sentence, "repeated-element", repair="the first one is used"))
    inertia = None
    if inertial:
        before = problems.fatal
        inertia = problems.attempt(None, _inertia, inertial[0], problems)
        if problems.fatal > before:
            inertia = None
            problems.doubt(name)
    described = [child for child in link.children if child.tag == "visual" or child.tag == "collision"]
    shapes = [problems.attempt(None, geometry.read, child, name, place) for place, child in enumerate(described)]
    builder.add_body(
        name,
        inertia,
        geometry=[shape for shape in shapes if shape is not None],
        where=inertial[0] if inertial else link,
    )


def _inertia(inertial: Element, problems: Problems) -> Inertia:
    """The inertia in the link's frame; the file gives it about the centre of mass, in the axes of <origin>."""
    parts = inertial.parts()
    mass = problems.attempt(0.0, _mass, inertial, parts.get("mass"))
    I = problems.attempt(_ZERO, _about_center, inertial, parts.get("inertia"))
    X = problems.attempt(_IDENTITY, read_placement, parts.get("origin"))
    if X.E == _AXES:
        if X.r == _ORIGIN:
            return Inertia(mass, _ORIGIN, I)
        return Inertia.from_com(mass, X.r, I)
    # Rotated about the centre of mass first and then moved: moving a rotated frame would lose a digit.
    return Inertia.from_com(mass, X.r, I.rotated(X.E.T))


def _mass(inertial: Element, mass: Element | None) -> float:
    return number(mass or inertial.lacks("mass"), "value")


def _about_center(inertial: Element, inertia: Element | None) -> Sym3:
    return Sym3(*number_each(inertia or inertial.lacks("inertia"), _ENTRIES))


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


def read_transmission(element: Element, joints: Container[str]) -> extras.Transmission | None:
    """The transmission; None if it names a joint that the robot does not have."""
    other = []
    movers, moved = [], []
    type_, reduction = element.attributes.get("type", ""), None
    for child in element.children:
        if child.tag == "joint":
            moved.append(_joint(child))
        elif child.tag == "actuator":
            movers.append(_actuator(child))
        elif child.tag == "type" and not type_ and child.content.strip():
            type_ = child.content.strip()
        elif child.tag == "mechanicalReduction" and reduction is None:
            reduction = _number(child)
        else:
            other.append(as_written(child))
    if any(part.joint not in joints for part in moved):
        return None
    name = element.attributes.get("name", "").strip()
    return extras.Transmission(name, type_, tuple(moved), tuple(movers), reduction, tuple(other))


def _joint(element: Element) -> extras.TransmissionJoint:
    interfaces, reduction, offset, role, other = [], None, None, "", []
    for child in element.children:
        if child.tag == "hardwareInterface" and not child.children:
            interfaces.append(child.content.strip())
        elif child.tag == "mechanicalReduction" and reduction is None:
            reduction = _number(child)
        elif child.tag == "offset" and offset is None:
            offset = _number(child)
        elif child.tag == "role" and not role:
            role = child.content.strip()
        else:
            other.append(as_written(child))
    return extras.TransmissionJoint(element.text("name"), tuple(interfaces), reduction, offset, role, tuple(other))


def _actuator(element: Element) -> extras.TransmissionActuator:
    part = _joint(element)
    other = part.other
    if part.offset is not None:
        other += tuple(as_written(child) for child in element.all("offset"))
    return extras.TransmissionActuator(part.joint, part.reduction, part.interfaces, part.role, other)


def _number(element: Element) -> float:
    """The number that is the text of an element."""
    text = element.content.strip()
    if not text:
        element.fail("is empty; expected a number")
    stand_in = Element(element.tag, {element.tag: text}, element.line, element.parent, element.file)
    try:
        return number(stand_in, element.tag)
    except ValueError:
        return element.fail(f"holds {shown(text, 40)!r}, which is not a number")
