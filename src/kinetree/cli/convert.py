"""`kinetree convert`: a robot file in another format, and the parts that the format cannot hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kinetree.cli import options
from kinetree.cli.output import print_json, print_lines
from kinetree.cli.robots import Loading, load_robot, takes_loading_options

if TYPE_CHECKING:
    from kinetree.model import Model

__all__ = ["convert"]

_SHOWN = 200


@takes_loading_options()
def convert(
    model: options.FirstModel,
    target: options.ConvertedFile,
    format: options.Format = None,
    lossy: options.Lossy = False,
    as_json: options.Json = False,
    *,
    loading: Loading,
) -> None:
    """Write a robot in another format: URDF (.urdf), SDF (.sdf), MJCF (.xml) or kinetree's own text form (.json).

    If the format has no place for something that a simulation needs, this ends with a list of it, unless --lossy is
    given. Anything that no simulation of that format computes with is left out, and listed.
    """
    from kinetree.io.save import is_same_file, write_text_file
    from kinetree.io.texts import written

    format_name = _format(target, format)
    if is_same_file(model, target):
        raise typer.BadParameter(
            f"{target} is the robot file itself, which is not overwritten; name another", param_hint="FILE"
        )
    robot = load_robot(model, loading)
    text, losses = written(robot, format_name, target.parent)
    if losses.impossible or (losses.lost and not lossy):
        losses.settle(robot.name, lossy=False)
    write_text_file(target, text)
    assumed, left_out = [*robot.notes, *_meshes(robot, target)], losses.left_out()
    if as_json:
        print_json(
            {"file": target, "robot": robot.name, "format": losses.format, "lost": losses.lost, "left_out": left_out,
             "changed": losses.changed, "assumed": assumed}
        )  # fmt: skip
        return
    print_lines(
        f"{target}: {robot.name}, written as {losses.format}",
        *_listed("lost", losses.lost),
        *_listed(f"left out, as no simulation of {losses.format} computes with it", left_out),
        *_listed("in another form, with the same motion", losses.changed),
        *_listed("assumed about the robot", assumed),
    )


def _format(target: Path, name: str | None) -> str:
    """The format to write; wrong usage if it is not known."""
    from kinetree.io import FORMATS
    from kinetree.io.save import format_for, has_known_suffix
    from kinetree.io.texts import format_of

    if name is not None:
        return format_of(name)
    if not has_known_suffix(target):
        raise typer.BadParameter(
            f"{target} has no suffix that says in which format; add "
            f"{', '.join(f'{known.suffixes[0]} ({known.title})' for known in FORMATS.values())}, or give "
            f"--format ({', '.join(FORMATS)})",
            param_hint="FILE",
        )
    return format_for(target)


def _meshes(robot: Model, target: Path) -> list[str]:
    """A sentence if meshes are at addresses that were relative to another folder."""
    shapes = [shape for body in robot.bodies.values() for shape in body.geometry]
    relative = [shape.mesh for shape in shapes if shape.mesh and not re.match(r"/|\w+:", shape.mesh)]
    if not relative or not robot.source or Path(robot.source).resolve().parent == target.resolve().parent:
        return []
    return [f"addresses of meshes are as before, and relative to the file: copy the meshes along ({relative[0]}, …)"]


def _listed(heading: str, sentences: list[str]) -> list[str]:
    lines = [f"{heading}:"] if sentences else []
    lines += [f"  {sentence}" for sentence in sentences[:_SHOWN]]
    return [*lines, f"  … and {len(sentences) - _SHOWN} more"] if len(sentences) > _SHOWN else lines
