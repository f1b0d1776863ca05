"""One entry point for every format: the file's contents decide, not its suffix."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from kinetree.errors import DTypeError, ModelError
from kinetree.io.collector import collector_paused
from kinetree.io.document import read_bytes, read_document
from kinetree.io.native.from_file import is_native, read_native
from kinetree.io.urdf import SHAPES, read_urdf
from kinetree.joints import JointKind
from kinetree.model import Model

__all__ = ["load"]

_OTHER_FORMATS = {
    "mujoco": "this is an MJCF file; that format is not read yet, so save the model as URDF",
    "sdf": "this is an SDF file; that format is not read yet, so save the model as URDF",
}


def load(
    path: str | os.PathLike[str],
    *,
    floating_base: bool = False,
    mimic: bool = True,
    gravity: Sequence[float] | None = None,
    package_roots: Sequence[str | os.PathLike[str]] = (),
    kinds: Sequence[type[JointKind]] = (),
) -> Model:
    """Read a robot file: URDF, or the text form that `kt.save` writes. The contents tell which.

    `floating_base` puts a free joint under the root body; without it, the root of a URDF file is fixed to the world,
    and that of a text form is as the text says. Joints that mimic others follow them and have no coordinates of
    their own in q and v; with `mimic` False they move independently. `gravity` (3,), m/s², takes the place of that of
    the file, which is (0, 0, -9.81) in a URDF file. `package_roots` are the folders in which meshes may be looked up,
    see `load_urdf`. `kinds` are the joint classes in a text form that are not kinetree's own.

    Raises `ModelError`, which names file, line and element, if the file is not a robot; warns with `ModelWarning`
    about anything suspicious but possible.
    """
    if not isinstance(path, str | os.PathLike):
        raise DTypeError(f"load takes the path of a robot file, not {type(path).__name__}")
    path = Path(path)
    if path.suffix.lower() == ".xacro":
        raise ModelError(
            f"{path}: this is a xacro file, a macro that makes a URDF file; expand it first "
            f"(xacro {path.name} > {path.stem.removesuffix('.urdf')}.urdf) and load the result"
        )
    with collector_paused():
        robot = _read(path, floating_base, mimic, package_roots, kinds)
        return robot if gravity is None else robot.with_gravity(gravity)


def _read(
    path: Path,
    floating_base: bool,
    mimic: bool,
    package_roots: Sequence[str | os.PathLike[str]],
    kinds: Sequence[type[JointKind]],
) -> Model:
    data = read_bytes(path)
    if is_native(data):
        return read_native(
            data, path, floating_base=floating_base, mimic=mimic, package_roots=package_roots, kinds=kinds
        )
    document = read_document(path, SHAPES, data)
    root = document.root
    if root.tag != "robot":
        unknown = "this is no robot file that kinetree knows; a URDF file begins with <robot>"
        root.fail(_OTHER_FORMATS.get(root.tag, unknown))
    return read_urdf(document, path, floating_base=floating_base, mimic=mimic, package_roots=package_roots)
