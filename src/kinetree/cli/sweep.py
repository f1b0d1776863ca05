"""`kinetree sweep`: a study of many motions, from a file."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import typer

from kinetree.cli import options
from kinetree.cli.interruption import Interruption
from kinetree.cli.output import print_json, print_lines, print_warning
from kinetree.cli.robots import Loading, load_robot, takes_loading_options
from kinetree.progress import progress_bar

__all__ = ["sweep"]


@takes_loading_options()
def sweep(
    context: typer.Context,
    study: options.StudyFile,
    scheduler: options.Scheduler = None,
    out: options.StudyFolder = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
    *,
    loading: Loading,
) -> None:
    """Simulate a robot many times, with values that vary: a parameter study or a Monte Carlo simulation.

    The results are arrays in Zarr's format, with the robot and the study next to them. After any interruption, the same
    command goes on where it was.
    """
    from kinetree.errors import SimulationWarning
    from kinetree.sweeps import sweep as run
    from kinetree.sweeps.study_file import read_study_file

    read = read_study_file(study)
    robot = load_robot(read.robot, loading)
    folder = out or read.folder
    interruption = Interruption.of(context)
    begin = time.perf_counter()
    with progress_bar("computing", quiet=quiet) as show, warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)  # the failures are listed below

        try:
            result = run(robot, folder, scheduler=scheduler, progress=show, **read.options)
        except KeyboardInterrupt:
            interruption.outcome = _results_kept(folder)
            raise
    seconds = time.perf_counter() - begin
    if as_json:
        summary = {"path": result.path, "samples": result.samples, "done": result.done, "failures": result.failures}
        print_json({**summary, "seconds": seconds})
    elif not quiet:
        print_lines(repr(result).strip("<>"), f"{seconds:.3g} s; wrote {result.path}")
    if failed := result.failures:
        first = "; ".join(
            f"sample {one.sample}: {one.cause if one.time is None else f'{one.name!r} ({one.cause}) at {one.time:g} s'}"
            for one in failed[:3]
        )
        more = "; …" if len(failed) > 3 else ""
        print_warning(f"{len(failed):,} of {result.samples:,} samples failed: {first}{more}")


def _results_kept(folder: Path) -> str:
    """The results after an interruption, as the end of a sentence."""
    from kinetree.errors import KinetreeError
    from kinetree.sweeps import load_study

    try:
        there = load_study(folder)
    except KinetreeError:
        return "; nothing is computed yet"
    return f"; {there.done:,} of {there.samples:,} samples are in {folder}, and the same command goes on from there"
