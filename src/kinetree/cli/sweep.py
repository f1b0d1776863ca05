"""`kinetree sweep`: a study of many motions, from a file."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinetree.cli.interruption import Interruption
from kinetree.cli.options import optional
from kinetree.cli.output import error_console, output_console
from kinetree.cli.robots import Loading, load_robot, takes_loading_options
from kinetree.progress import progress_bar

if TYPE_CHECKING:
    from kinetree.sweeps import Study

__all__ = ["sweep"]


@takes_loading_options()
def sweep(
    context: typer.Context,
    study: Annotated[
        Path, typer.Argument(metavar="STUDY.toml", help="The study: docs/sweeps.md has all that it may say.")
    ],
    out: Annotated[
        Path | None,
        optional(
            "--out",
            "-o",
            metavar="FOLDER",
            help="Where the results go; by default as the file says, or a folder of its name beside it.",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        optional(
            "--scheduler",
            metavar="ADDRESS",
            help="The address of a Dask scheduler, such as tcp://10.0.0.5:8786, whose workers compute. By default this "
            "process does, on all its cores.",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors and warnings.")] = False,
    *,
    loading: Loading,
) -> None:
    """Simulate a robot many times, with values that vary: a parameter study or a Monte Carlo simulation.

    The results are arrays in Zarr's format, with the robot and the study beside them. Whatever ends the command, the
    same command goes on where it was.
    """
    from kinetree.errors import SimulationWarning
    from kinetree.sweeps import sweep as run
    from kinetree.sweeps.study_file import read_study_file

    read = read_study_file(study)
    robot = load_robot(read.robot, loading)
    folder = out or read.folder
    interruption = context.obj if isinstance(context.obj, Interruption) else Interruption()
    begin = time.perf_counter()
    with progress_bar("computing", quiet=quiet) as show, warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)  # the failures are told below

        try:
            found = run(robot, folder, scheduler=scheduler, progress=show, **read.options)
        except KeyboardInterrupt:
            interruption.outcome = _kept(folder)
            raise
    if not quiet:
        _tell(found, time.perf_counter() - begin)
    if failed := found.failures:
        first = "; ".join(
            f"sample {one.sample}: {one.cause if one.time is None else f'{one.name!r} ({one.cause}) at {one.time:g} s'}"
            for one in failed[:3]
        )
        error_console().print(
            f"warning: {len(failed):,} of {found.samples:,} samples failed: {first}{'; …' if len(failed) > 3 else ''}",
            style="yellow", markup=False, soft_wrap=True,
        )  # fmt: skip


def _kept(folder: Path) -> str:
    """What there is after an interruption, as the end of a sentence."""
    from kinetree.errors import KinetreeError
    from kinetree.sweeps import load_study

    try:
        there = load_study(folder)
    except KinetreeError:
        return "; nothing is computed yet"
    return f"; {there.done:,} of {there.samples:,} samples are in {folder}, and the same command goes on from there"


def _tell(study: Study, seconds: float) -> None:
    console = output_console()
    console.print(repr(study).strip("<>"), markup=False, soft_wrap=True)
    console.print(f"{seconds:.3g} s; wrote {study.path}", markup=False, soft_wrap=True)
