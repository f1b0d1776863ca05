"""The files of a motion, its film among them: the names that are asked for, and how they are written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kinetree.cli.output import print_note, print_warning, warnings_as_lines
from kinetree.errors import SaveError
from kinetree.files import check_target, file_path, reason
from kinetree.progress import progress_bar

if TYPE_CHECKING:
    from kinetree.cli.interruption import Interruption
    from kinetree.sim import Trajectory

__all__ = ["STRIP_SIZE", "check_film", "check_writable", "files_of", "make_folder", "prefix_of", "write", "write_film"]

STRIP_SIZE = (1600, 400)
"""Pixels of the picture of the robot at some moments."""
_MOST_FILMED = 16


def prefix_of(out: Path | None, output_dir: Path | None, name: str) -> Path:
    """Output path without its suffix; the folder exists when this returns."""
    prefix = (output_dir or Path()) / (out or Path(re.sub(r"[^\w.-]+", "_", name).strip(".") or "robot"))
    if prefix.suffix in (".npz", ".png"):
        prefix = prefix.with_suffix("")
    if prefix.name in ("", ".."):
        raise typer.BadParameter(f"{out} names no file", param_hint="--out")
    if out is not None:
        file_path("--out", prefix, ".npz")
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
        print_note(f"made the folder {folder}")


def check_writable(prefix: Path) -> None:
    """Check the targets before a long motion is computed, not after it."""
    for path in files_of(prefix):
        check_target(path)


def write(trajectory: Trajectory, prefix: Path, interruption: Interruption) -> tuple[list[Path], SaveError | None]:
    """Write the numbers and the pictures; the robot at some moments is that of the first of several motions.

    Returns the files written, and the error if the picture failed.
    """
    from kinetree.errors import KinetreeError, MissingPackageError
    from kinetree.sim import plot

    single = trajectory[0] if trajectory.shape else trajectory

    numbers, plots, moments = files_of(prefix)
    written = [trajectory.save(numbers)]
    interruption.outcome += f"; the computed part is in {numbers}"
    try:
        interruption.release()  # a picture can be drawn again
        try:
            written.append(plot(trajectory, plots))
        except MissingPackageError as error:
            print_warning(f"{plots} was not written: {error}")
        with warnings_as_lines():
            written.append(single.strip(moments, size=STRIP_SIZE))
    except KeyboardInterrupt:
        interruption.outcome += "; no picture was drawn" if len(written) == 1 else f"; {moments} was not drawn"
    except SaveError as error:
        return written, error
    except KinetreeError as error:
        print_warning(f"no picture of the robot: {error}")
    return written, None


def check_film(path: Path | None) -> None:
    """See that the film can be written before a long motion is computed, as far as that is known then."""
    if path is not None:
        from kinetree.pictures.film import check_format, film_path

        check_format(film_path("--film", path))


def write_film(motion: Trajectory, path: Path, interruption: Interruption, *, quiet: bool) -> Path:
    """Write the film, with a bar that shows how far it is."""
    import numpy as np

    count = int(np.prod(motion.shape))
    if count > _MOST_FILMED and not quiet:
        print_note(f"the film shows the first {_MOST_FILMED} of {count:,} motions")
    try:
        with warnings_as_lines(), progress_bar("filming", quiet=quiet) as show:
            return motion.film(path, which=range(_MOST_FILMED) if count > _MOST_FILMED else None, progress=show)
    except KeyboardInterrupt:
        interruption.outcome += f"; {path} was not written"
        raise
