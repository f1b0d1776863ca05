"""`kinetree plot`: pictures of motions over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinetree.cli.options import optional
from kinetree.cli.output import output_console
from kinetree.files import check_target

__all__ = ["plot"]

_MOST = 4000
"""Motions in a range of `--samples`."""


def plot(
    trajectory: Annotated[
        Path,
        typer.Argument(metavar="TRAJECTORY", help="The file or folder of a motion, or of many.", show_default=False),
    ],
    beside: Annotated[
        Path | None,
        typer.Argument(metavar="[TRAJECTORY]", help="A second one to compare it with.", show_default=False),
    ] = None,
    what: Annotated[
        str | None,
        optional(
            "--what",
            metavar="WORDS",
            help="Some of positions, velocities, accelerations, torques, energies, balance, contacts, and names of "
            "what was recorded, or patterns such as 'sensor.*', separated by commas; by default positions, energies "
            "and balance.",
        ),
    ] = None,
    joints: Annotated[
        str | None,
        optional(
            "--joints",
            metavar="PATTERNS",
            help="Only joints whose names match one of these: knee,left_* and so on; by default all that move.",
        ),
    ] = None,
    samples: Annotated[
        str | None,
        optional(
            "--samples",
            metavar="NUMBERS",
            help="Only these motions of a batch, such as 0,3 or 0-9; by default all, as bands if they are many.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        optional(
            "--out",
            "-o",
            metavar="FILE",
            help="The picture to write: .png, .svg or .pdf. By default it is beside the motion, named like it.",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Draw a motion, or a batch of motions, over time; or two beside each other, with their differences."""
    from kinetree.charts.sheet import picture_path
    from kinetree.sim import load_trajectory
    from kinetree.sim import plot as draw

    numbers = None if samples is None else _numbers(samples)
    target = picture_path(out if out is not None else _beside(trajectory, beside))
    check_target(target)
    first = load_trajectory(trajectory)
    second = None if beside is None else load_trajectory(beside)
    names = ("first", "second") if beside is None else _names(trajectory, beside)
    written = draw(first, target, what=_words(what), joints=_words(joints), samples=numbers, beside=second, names=names)
    if not quiet:
        output_console().print(f"wrote {written}", markup=False, soft_wrap=True)


def _beside(trajectory: Path, beside: Path | None) -> Path:
    stem = trajectory.stem if trajectory.suffix == ".npz" else trajectory.name
    return trajectory.with_name(f"{stem}.png" if beside is None else f"{stem}-{beside.stem}.png")


def _names(first: Path, second: Path) -> tuple[str, str]:
    """Names of two motions that tell them apart."""
    return (first.stem, second.stem) if first.stem != second.stem else (str(first), str(second))


def _words(text: str | None) -> list[str] | None:
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def _numbers(text: str) -> list[int]:
    found: list[int] = []
    for item in text.split(","):
        begin, sign, end = item.strip().partition("-")
        if not begin.isdecimal() or (sign and not end.isdecimal()):
            raise typer.BadParameter(
                f"{item.strip()!r} is neither a number, such as 3, nor a range, such as 0-9", param_hint="--samples"
            )
        if sign and int(end) - int(begin) >= _MOST:
            raise typer.BadParameter(
                f"{item.strip()!r} are very many motions; leave it out for all", param_hint="--samples"
            )
        found += range(int(begin), int(end if sign else begin) + 1)
    return found
