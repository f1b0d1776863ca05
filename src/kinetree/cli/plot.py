"""`kinetree plot`: pictures of motions over time."""

from __future__ import annotations

from pathlib import Path

import typer

from kinetree.cli import options
from kinetree.cli.output import print_lines
from kinetree.files import check_target

__all__ = ["plot"]

_MOST = 4000
"""Motions in a range of `--samples`."""


def plot(
    trajectory: options.Motion,
    beside: options.SecondMotion = None,
    what: options.What = None,
    joints: options.Joints = None,
    samples: options.PlottedSamples = None,
    out: options.PlotFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Draw a motion, or a batch of motions, over time; or two side by side, with their differences."""
    from kinetree.charts.sheet import picture_path
    from kinetree.sim import load_trajectory
    from kinetree.sim import plot as draw

    numbers = None if samples is None else _numbers(samples)
    target = picture_path(out if out is not None else _second(trajectory, beside))
    check_target(target)
    first = load_trajectory(trajectory)
    second = None if beside is None else load_trajectory(beside)
    names = ("first", "second") if beside is None else _names(trajectory, beside)
    written = draw(first, target, what=_words(what), joints=_words(joints), samples=numbers, beside=second, names=names)
    if not quiet:
        print_lines(f"wrote {written}")


def _second(trajectory: Path, path: Path | None) -> Path:
    stem = trajectory.stem if trajectory.suffix == ".npz" else trajectory.name
    return trajectory.with_name(f"{stem}.png" if path is None else f"{stem}-{path.stem}.png")


def _names(first: Path, second: Path) -> tuple[str, str]:
    """Names that distinguish two motions."""
    return (first.stem, second.stem) if first.stem != second.stem else (str(first), str(second))


def _words(text: str | None) -> list[str] | None:
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def _numbers(text: str) -> list[int]:
    numbers: list[int] = []
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
        numbers += range(int(begin), int(end if sign else begin) + 1)
    return numbers
