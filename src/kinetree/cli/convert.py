"""`kinetree convert`: a robot file in another format, and what that format could not hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinetree.cli.options import optional
from kinetree.cli.output import output_console
from kinetree.cli.robots import Loading, load_robot, takes_loading_options

if TYPE_CHECKING:
    from rich.console import Console

    from kinetree.model import Model

__all__ = ["convert"]

_SHOWN = 200


@takes_loading_options()
def convert(
    model: Annotated[str, typer.Argument(metavar="A", help="A robot file, or a robot of the zoo.")],
    target: Annotated[Path, typer.Argument(metavar="B", help="The file to write; its suffix says in which format.")],
    format: Annotated[
        str | None,
        optional("--format", help="The format, if the suffix does not say it."),
    ] = None,
    lossy: Annotated[
        bool, typer.Option("--lossy", help="Leave out what the format has no place for, and list it.")
    ] = False,
    *,
    loading: Loading,
) -> None:
    """Write a robot in another format: URDF (.urdf), SDF (.sdf), MJCF (.xml) or kinetree's own text form (.json).

    If the format has no place for something that a simulation needs, this ends with a list of it, unless --lossy is
    given. Anything that no simulation of that format computes with is left out, and listed.
    """
    from kinetree.io.save import is_same_file, write_text_file
    from kinetree.io.texts import FORMATS, written

    chosen = _format(target, format)
    if is_same_file(model, target):
        raise typer.BadParameter(
            f"{target} is the robot file itself, which is not overwritten; name another", param_hint="B"
        )
    robot = load_robot(model, loading)
    text, losses = written(robot, chosen, target.parent)
    if losses.impossible or (losses.lost and not lossy):
        losses.settle(robot.name, lossy=False)
    write_text_file(target, text)
    console = output_console()
    console.print(f"{target}: {robot.name}, written as {FORMATS[chosen]}", markup=False, soft_wrap=True)
    _print(console, "lost", losses.lost)
    _print(console, f"left out, as no simulation of {FORMATS[chosen]} computes with it", losses.left_out())
    _print(console, "in another form, with the same motion", losses.changed)
    _print(console, "assumed about the robot", [*robot.notes, *_meshes(robot, target)])


def _format(target: Path, given: str | None) -> str:
    """The format to write; wrong usage if it is not known."""
    from kinetree.errors import OptionError
    from kinetree.io.save import format_for, has_known_suffix
    from kinetree.io.texts import FORMATS, format_of

    try:
        if given is not None:
            return format_of(given)
        if not has_known_suffix(target):
            known = ", ".join(FORMATS)
            raise OptionError(
                f"{target} has no suffix that says in which format; add .urdf, .sdf, .xml (MJCF) or .json, or give "
                f"--format ({known})"
            )
        return format_for(target)
    except OptionError as error:
        raise typer.BadParameter(str(error)) from None


def _meshes(robot: Model, target: Path) -> list[str]:
    """A sentence if meshes are at addresses that were relative to another folder."""
    shapes = [shape for body in robot.bodies.values() for shape in body.geometry]
    relative = [shape.mesh for shape in shapes if shape.mesh and not re.match(r"/|\w+:", shape.mesh)]
    if not relative or not robot.source or Path(robot.source).resolve().parent == target.resolve().parent:
        return []
    return [f"addresses of meshes are as before, and relative to the file: copy the meshes along ({relative[0]}, …)"]


def _print(console: Console, heading: str, sentences: list[str]) -> None:
    if sentences:
        console.print(f"{heading}:", markup=False, soft_wrap=True)
    for sentence in sentences[:_SHOWN]:
        console.print(f"  {sentence}", markup=False, soft_wrap=True)
    if len(sentences) > _SHOWN:
        console.print(f"  … and {len(sentences) - _SHOWN} more", soft_wrap=True)
