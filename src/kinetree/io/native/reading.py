"""From text to a robot. Nothing in the text is run, opened or repaired; its contents are checked like a file's."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from kinetree.errors import DTypeError, ModelError
from kinetree.io.meshes import MeshFinder
from kinetree.io.native import MARK
from kinetree.io.native.kinds import Kinds, known_kinds
from kinetree.io.native.nodes import Node, lines_of, parsed
from kinetree.io.native.parts import BODY, COUPLING, FRAME, joint_fields
from kinetree.io.native.records import read_fields
from kinetree.io.native.writing import FORMAT, NEEDED, VERSION
from kinetree.joints import JointKind
from kinetree.model.builder import ModelBuilder
from kinetree.model.elements import Geometry
from kinetree.model.extras import Extras, with_images
from kinetree.model.model import Model
from kinetree.model.problems import STRICT, Problems, placed
from kinetree.problems import problem

__all__ = ["from_text", "read_native", "read_text"]


def from_text(text: str, *, kinds: Sequence[type[JointKind]] = ()) -> Model:
    """The robot of a text that `to_text` made, or a person.

    Args:
        text: the text form, of version 1 or 2.
        kinds: the classes of joints in it that are not kinetree's own; the text names them by their `__name__`.

    Returns:
        The robot. It is checked as one from a file is: `ModelWarning` reports suspicious values.

    Raises:
        ModelError: it is not JSON, of a newer version, or not a robot; the message names the place, such as
            `joints[3].placement`.
        OptionError: something in `kinds` is not a class of joints, or two have one name.
        DTypeError: `text` is not a string.

    >>> import kinetree as kt
    >>> kt.from_text(kt.to_text(kt.zoo.load("arm6"))).nq
    6
    """
    if not isinstance(text, str):
        raise DTypeError(f"from_text takes a string, not {type(text).__name__}; kinetree.load reads files")
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        raise ModelError("from_text takes kinetree's own text form, and this is XML; write it to a file and load that")
    return read_text(text, kinds=kinds)


def read_text(
    text: str,
    *,
    kinds: Sequence[type[JointKind]] = (),
    file: str = "",
    floating_base: bool | None = None,
    mimic: bool = True,
    find_mesh: Callable[[str], Path | None] | None = None,
    find_image: Callable[[str], Path | None] | None = None,
    problems: Problems = STRICT,
) -> Model:
    """The robot of a text form.

    `file` is the file the robot was read from and begins the places in messages; without it, the source is the text's.
    `floating_base` makes the base float, or fixes it, regardless of the text; with `mimic` False, joints that mimic
    others move independently. `find_mesh` maps a mesh's address to a path on this disk, and `find_image` an image's.

    Raises `ModelError`, with its place, for anything that is not a robot's text form; `OptionError` for invalid kinds.
    """
    table = Kinds(known_kinds(kinds))
    root = parsed(text, file)
    try:
        _check_version(root)
        root.record(NEEDED, ("source", "notes", "frames", "couplings", "extras"))
        builder = _builder(root, file, problems)
        for key, fields, add in (
            ("bodies", BODY, builder.add_body),
            ("joints", joint_fields(table), builder.add_joint),
            ("frames", FRAME, builder.add_frame),
            ("couplings", COUPLING, builder.add_coupling),
        ):
            for node in root.each(key):
                with problems.of(_name_of(node)):
                    values = fields.read(node)
                    if key == "bodies":
                        _check_contacts(node, root)
                        objects, present = values.pop("alternatives"), values.pop("present")
                        if find_mesh is not None:
                            values["geometry"] = _located(values["geometry"], find_mesh)
                            objects = [replace(one, geometry=_located(one.geometry, find_mesh)) for one in objects]
                        add(**values, where=node)
                        if objects:
                            builder.add_alternatives(values["name"], objects, present, where=node)
                        continue
                    if key == "joints" and not mimic:
                        values["mimic"] = None
                    add(**values, where=node)
        if "extras" in root:
            with problems.of():
                _check_since("extras", root["extras"], root, 2)
                extras = read_fields(root["extras"], Extras)
                builder.extras = with_images(extras, find_image) if find_image else extras
        for note in root.each("notes"):
            builder.note(note.text())
        floats = root["floating_base"].flag()
        return builder.build(floating_base=floats if floating_base is None else floating_base)
    except RecursionError:
        root.fail("values are nested too deep for a robot", "too-large")


def read_native(
    data: bytes,
    path: Path,
    *,
    package_roots: Sequence[str | os.PathLike[str]] = (),
    ros_packages: bool = False,
    problems: Problems = STRICT,
    **options: Any,
) -> Model:
    """The robot in such a file. Meshes are located as for a URDF file in the same place, and not opened.

    `options` are those of `read_text`. Raises `ModelError`, which names the file and the place in it.
    """
    try:
        text = data.removeprefix(MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        sentence = f"the text is not UTF-8: {error.reason}"
        found = problem("", sentence, "encoding")._replace(file=str(path), line=line)
        raise ModelError(f"{path}:{line}: {sentence}", problems=(found,)) from None
    meshes = MeshFinder(path, package_roots, ros_packages=ros_packages)
    problems.find_lines(partial(lines_of, text))
    try:
        return read_text(
            text, file=str(path), find_mesh=meshes.find, find_image=meshes.image, problems=problems, **options
        )
    except ModelError as error:
        has_lines = all(found.line for found in error.problems)
        lines = {} if has_lines else lines_of(text)
        error.problems = tuple(placed(found, str(path), lines) for found in error.problems)
        raise


def _check_version(root: Node) -> None:
    """Check the version before anything else: a newer version may have fields unknown to this one."""
    if type(root.value) is not dict or "kinetree" not in root:
        root.fail(
            f'this is not a robot: its text begins with {{"kinetree": "{FORMAT}", "version": {VERSION}, …',
            "unknown-format",
        )
    if root["kinetree"].value != FORMAT:
        root["kinetree"].fail(f'is {root["kinetree"].value!r:.60}; a robot has "{FORMAT}" there', "unknown-format")
    if "version" not in root:
        root.fail('has no field "version"; add it', "missing-attribute")
    version = root["version"]
    if type(version.value) is not int or version.value < 1:
        version.fail(f"must be a whole number from 1 on, not {version.value!r:.60}")
    if version.value > VERSION:
        version.fail(
            f"is {version.value}, but this kinetree reads versions up to {VERSION}; use a newer one, or write the "
            "robot again with this one"
        )


def _builder(root: Node, file: str, problems: Problems) -> ModelBuilder:
    name, gravity = root["name"].text(), root["gravity"].numbers(3)
    source = root["source"].text() if "source" in root else ""
    try:
        return ModelBuilder(name, gravity=gravity, source=file or source, problems=problems)
    except ModelError as error:
        root.fail(str(error))


def _check_contacts(body: Node, root: Node) -> None:
    if "alternatives" in body:
        _check_since("alternatives", body["alternatives"], root, 3)
    for shape in body.each("geometry"):
        if "contact" in shape:
            _check_since("contact", shape["contact"], root, 2)


def _check_since(name: str, node: Node, root: Node, version: int) -> None:
    """Reject features of a version in a text of an earlier one."""
    if root["version"].value < version:
        node.fail(f'"{name}" came with version {version} of this format; write "version": {version} at the top')


def _located(shapes: Sequence[Geometry], find_mesh: Callable[[str], Path | None]) -> tuple[Geometry, ...]:
    return tuple(replace(shape, mesh_path=find_mesh(shape.mesh)) if shape.mesh else shape for shape in shapes)


def _name_of(node: Node) -> str:
    """The name of a part, if it has one."""
    name = node.value.get("name") if type(node.value) is dict else None
    return name.strip() if type(name) is str else ""
