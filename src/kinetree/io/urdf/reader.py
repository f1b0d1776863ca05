"""Builds a model from a URDF document."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetree.io.document import MAX_RAW, Document, Element, read_document
from kinetree.io.meshes import MeshFinder
from kinetree.io.notes import Notes
from kinetree.io.skipped import skipped_parts
from kinetree.io.urdf.controllers import ControllerReader
from kinetree.io.urdf.geometry import GeometryReader
from kinetree.io.urdf.joints import read_joint
from kinetree.io.urdf.links import read_link
from kinetree.io.urdf.raw import as_written
from kinetree.io.urdf.shapes import SHAPES
from kinetree.io.urdf.suspicious import suspicious_elements
from kinetree.io.urdf.transmissions import read_transmission
from kinetree.io.urdf.version import read_version
from kinetree.model import Model, ModelBuilder
from kinetree.model.extras import NO_EXTRAS, Extras

if TYPE_CHECKING:
    from kinetree.model.extras import Transmission, Unused
from kinetree.model.problems import STRICT, Problems

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
