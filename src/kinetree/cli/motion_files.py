"""The files of a motion: the names that are asked for, and how they are written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kinetree.cli.output import error_console
from kinetree.errors import OptionError, SaveError
from kinetree.files import check_target, file_path, reason

if TYPE_CHECKING:
    from kinetree.cli.interruption import Interruption
    from kinetree.sim import Trajectory

__all__ = ["STRIP_SIZE", "check_writable", "files_of", "make_folder", "prefix_of", "write"]

STRIP_SIZE = (1600, 400)
"""Pixels of the picture of the robot at some moments."""


def prefix_of(out: Path | None, output_dir: Path | None, name: str) -> Path:
    """Output path without its suffix; the folder exists when this returns."""
    prefix = (output_dir or Path()) / (out or Path(re.sub(r"[^\w.-]+", "_", name).strip(".") or "robot"))
    if prefix.suffix in (".npz", ".png"):
        prefix = prefix.with_suffix("")
    if not prefix.name:
        raise typer.BadParameter(f"{out} names no file", param_hint="--out")
    try:
        if out is not None:
            file_path("it", prefix, ".npz")
    except OptionError as error:
        raise typer.BadParameter(str(error), param_hint="--out") from None
    return prefix


def files_of(prefix: Path) -> tuple[Path, Path, Path]:
    """The numbers, the plots, and the robot at some moments."""
    npz, png, motion = (prefix.with_name(prefix.name + ending) for ending in (".npz", ".png", ".motion.png"))
    return npz, png, motion


def make_folder(folder: Path, quiet: bool) -> None:
    if folder.is_dir():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SaveError(f"the folder {folder} cannot be made: {reason(error)}") from None
    if not quiet:
        error_console().print(f"note: made the folder {folder}", markup=False, soft_wrap=True)


def check_writable(prefix: Path) -> None:
    """Check the targets before a long motion is computed, not after it."""
    for path in files_of(prefix):
        check_target(path)


def write(trajectory: Trajectory, prefix: Path, interruption: Interruption) -> tuple[list[Path], SaveError | None]:
    """Write the numbers and the pictures; the robot at some moments is that of the first of several motions.

    Returns the files written, and the error if there is no picture.
    """
    from kinetree.errors import KinetreeError, MissingPackageError
    from kinetree.sim import plot

    shown = trajectory[0] if trajectory.shape else trajectory

    numbers, plots, moments = files_of(prefix)
    written = [trajectory.save(numbers)]
    interruption.outcome += f"; what was computed is in {numbers}"
    try:
        interruption.release()  # a picture can be drawn again
        try:
            written.append(plot(trajectory, plots))
        except MissingPackageError as error:
            error_console().print(
                f"warning: {plots} was not written: {error}", style="yellow", markup=False, soft_wrap=True
            )
        written.append(shown.strip(moments, size=STRIP_SIZE))
    except KeyboardInterrupt:
        interruption.outcome += "; no picture was drawn" if len(written) == 1 else f"; {moments} was not drawn"
    except SaveError as error:
        return written, error
    except KinetreeError as error:
        text = f"warning: no picture of the robot: {error}"
        error_console().print(text, style="yellow", markup=False, soft_wrap=True)
    return written, None
