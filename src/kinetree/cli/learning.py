"""`kinetree train` and `kinetree play`: learn a task, and show the result."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from kinetree.cli import options
from kinetree.cli.interruption import Interruption
from kinetree.cli.motion_files import STRIP_SIZE, check_film, write_film
from kinetree.cli.options import Learning
from kinetree.cli.output import output_console, print_json, print_lines
from kinetree.cli.values import parse_options
from kinetree.cli.view import announce
from kinetree.files import check_target

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.table import Table

__all__ = ["play", "train"]

_BETWEEN = 10.0
"""Seconds between two lines about a training that is not watched on a terminal."""


def train(
    context: typer.Context,
    task: options.Task,
    given: options.TaskOptions = None,
    algorithm: options.LearningAlgorithm = Learning.ppo,
    steps: options.StepCount = None,
    seed: options.TrainingSeed = 0,
    worlds: options.WorldCount = None,
    settings: options.TrainingSettings = None,
    out: options.TrainedFolder = None,
    resume: options.Resume = False,
    evaluate_every: options.EvaluateEvery = 100,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Learn a task: many worlds are stepped at once, and a policy gets better at it.

    Ctrl-C keeps the training so far; the same command with --resume goes on from there, to the same result.
    """
    from kinetree.learning import TrainingInterrupted
    from kinetree.learning import train as run

    chosen, own = parse_options("--set", settings or []), parse_options("NAME=VALUE", given or [])
    chosen = {name: tuple(x) if isinstance(x, list) else x for name, x in chosen.items()}
    if worlds is not None:
        chosen["worlds"] = worlds
    interruption = Interruption.of(context)
    interruption.keep()
    try:
        with _watched(quiet or as_json) as progress:
            count = None if steps is None else round(steps)
            found = run(
                task, out or Path("runs") / task, algorithm=algorithm.value, steps=count, seed=seed, resume=resume,
                options=own, evaluate_every=evaluate_every, progress=progress, **chosen,
            )  # fmt: skip
    except TrainingInterrupted as stopped:
        interruption.outcome = (
            str(stopped).removeprefix("interrupted").replace("resume=True the same call", "--resume the same command")
        )
        raise
    if as_json:
        print_json({"folder": found.folder, **found.about, "last": {name: x[-1] for name, x in found.history.items()}})
    elif not quiet:
        print_lines(repr(found).strip("<>"), f"kinetree play {found.folder} shows it")


def play(
    context: typer.Context,
    folder: options.RunFolder,
    worlds: options.EpisodeCount = None,
    seed: options.EpisodeSeed = 0,
    steps: options.EpisodeSteps = None,
    film: options.Film = None,
    strip: options.Strip = None,
    html: options.Html = None,
    motion: options.MotionFile = None,
    browser: options.Browser = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Show a policy that was learned: in the browser until Ctrl-C, or in files."""
    from kinetree.learning import load_run
    from kinetree.viewer import save_html
    from kinetree.viewer import view as page

    check_film(film)
    for target in (strip, html, motion):
        if target is not None:
            check_target(target)
    interruption = Interruption.of(context)
    episode = load_run(folder).play(worlds, seed=seed, steps=steps)
    returns = episode.recorded["reward"].sum(-1)
    if not quiet and not as_json:
        several = f" of {returns.size} episodes on average" if returns.shape else ""
        print_lines(f"return {returns.mean():.6g}{several}, {float(episode.ended.mean()):.4g} s")
    written = []
    if motion is not None:
        written.append(episode.save(motion))
    if strip is not None:
        written.append((episode[0] if episode.shape else episode).strip(strip, size=STRIP_SIZE))
    if html is not None:
        written.append(save_html(html, episode))
    if film is not None:
        written.append(write_film(episode, film, interruption, quiet=quiet or as_json))
    if as_json:
        print_json({"return": returns, "duration": episode.ended, "files": written})
    elif not quiet:
        print_lines(*(f"wrote {path}" for path in written))
    if not written and not as_json:
        with page(episode) as viewer:
            interruption.outcome = "; the page is closed"
            announce(repr(viewer.robot.name), viewer.url, browser)
            viewer.wait()


@contextmanager
def _watched(quiet: bool) -> Iterator[Callable[[Mapping[str, float]], None]]:
    """A function to call with the figures of each iteration: a table on a terminal, else a line now and then."""
    from rich.live import Live

    if quiet:
        yield lambda _: None
        return
    console = output_console()
    if console.is_terminal:
        with Live(console=console, auto_refresh=False) as live:
            yield lambda figures: live.update(_table(figures), refresh=True)
        return
    due = 0.0

    def line(figures: Mapping[str, float]) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = time.monotonic() + _BETWEEN
            print_lines(", ".join(f"{name} {_number(x)}" for name, x in figures.items()))

    yield line


def _table(figures: Mapping[str, float]) -> Table:
    """The figures of an iteration."""
    from rich.table import Table

    table = Table(title="training", title_justify="left", title_style="bold")
    table.add_column("figure")
    table.add_column("of the last iteration", justify="right")
    for name, x in figures.items():
        table.add_row(_UNITS.get(name, name), f"{x:.0%}" if name == "environment" else _number(x))
    return table


_UNITS: dict[str, Any] = {"time": "time, s", "environment": "time in the environment"}


def _number(x: float) -> str:
    return f"{x:,.0f}" if abs(x) >= 1e4 else f"{x:.4g}"
