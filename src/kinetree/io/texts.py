"""Robots as text in any of the formats that are written."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kinetree.errors import ModelError, OptionError, nearest_names
from kinetree.inputs import flag
from kinetree.io import FORMATS
from kinetree.io.losses import Losses
from kinetree.io.mjcf.writing import write_mjcf
from kinetree.io.native.writing import write_text
from kinetree.io.sdf.writing import write_sdf
from kinetree.io.urdf.writing import write_urdf
from kinetree.model import Model
from kinetree.model.elements import Geometry
from kinetree.model.equality import is_as_built
from kinetree.model.specs import Parts

__all__ = ["format_of", "to_text", "written"]

_MEANT = {
    word.removeprefix("."): name for name, known in FORMATS.items() for word in (name, known.root, *known.suffixes)
}
"""Probable meanings of other words for a format."""
_WRITERS: dict[str, Callable[[Parts, Losses], str]] = {"urdf": write_urdf, "sdf": write_sdf, "mjcf": write_mjcf}


def to_text(robot: Model, format: str = "native", *, lossy: bool = False) -> str:
    """The robot as text: by default the JSON text that `from_text` takes back, with the same numbers to the last bit.

    No other format can hold everything that a robot can have; `kinetree docs writing_files` describes the limits of
    each and which numbers come back exactly. An error lists everything that cannot be written, unless `lossy` is True;
    then it is left out, or written in another form, and a `ModelWarning` lists it. Where meshes lie on this disk is not
    part of any text; their addresses are.

    Args:
        robot: the robot.
        format: "native", "urdf", "sdf" or "mjcf".
        lossy: whether data that the format cannot hold may be lost.

    Raises:
        ModelError: it is not a Model, something would be lost, or a joint's kind holds something that has no text form,
            such as a function.
        OptionError: the format is unknown.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm6")
    >>> kt.from_text(kt.to_text(robot)) == robot
    True
    >>> print(kt.to_text(kt.zoo.load("double_pendulum"), "urdf")[:69])
    <?xml version="1.0" encoding="utf-8"?>
    <robot name="double_pendulum">
    """
    if not isinstance(robot, Model):
        raise ModelError(f"to_text takes a Model, such as kinetree.load returns, not {robot!r:.60}")
    lossy = flag("lossy", lossy)
    text, losses = written(robot, format_of(format))
    losses.settle(robot.name, lossy=lossy)
    return text


def written(robot: Model, format: str, folder: Path | None = None) -> tuple[str, Losses]:
    """The text of a robot in one of `FORMATS`, and its losses, which the caller must `settle`.

    In MJCF, which has plain paths only, meshes at other addresses are named relative to `folder`, that of the file.
    """
    losses = Losses(FORMATS[format].title)
    if format == "native":
        return write_text(robot), losses
    if not is_as_built(robot):
        raise ModelError(
            f"{robot.name!r} has other numbers than the parts it was built from, and only those are written; build a "
            "robot with those numbers"
        )
    parts = robot.parts
    losses.lose_alternatives(parts.links)
    if format == "mjcf" and folder is not None:
        parts = _with_mesh_paths(parts, folder, losses)
    return _WRITERS[format](parts, losses), losses


def _with_mesh_paths(parts: Parts, folder: Path, losses: Losses) -> Parts:
    """The parts with paths in place of addresses such as package://…, where the file is known."""
    paths: dict[str, str] = {}

    def at_path(shape: Geometry) -> Geometry:
        if shape.mesh is None or shape.mesh_path is None or "://" not in shape.mesh:
            return shape
        if shape.mesh not in paths:
            paths[shape.mesh] = Path(os.path.relpath(shape.mesh_path, folder)).as_posix()
        return replace(shape, mesh=paths[shape.mesh])

    links = tuple(replace(link, geometry=tuple(map(at_path, link.geometry))) for link in parts.links)
    if not paths:
        return parts
    address, path = next(iter(paths.items()))
    losses.changed.append(
        f"{len(paths)} meshes are named by their paths on this disk, relative to the file: {path!r} for {address!r}"
    )
    return replace(parts, links=links)


def format_of(name: object) -> str:
    """The name of a format, checked."""
    if not isinstance(name, str) or name not in FORMATS:
        meant = _MEANT.get(str(name).strip().lower().removeprefix("."))
        advice = f"did you mean {meant!r}?" if meant else nearest_names(str(name)[:40], FORMATS)
        raise OptionError(f"there is no format {name!r:.40}: {advice}")
    return name
