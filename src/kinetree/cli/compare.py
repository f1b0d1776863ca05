"""`kinetree compare`: a robot file compared with other libraries' readings of it, or with a second file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kinetree.cli import options
from kinetree.cli.output import new_table, print_json, print_lines, warnings_as_lines
from kinetree.cli.robots import Loading, robot_file, takes_loading_options
from kinetree.errors import MissingPackageError, OptionError

if TYPE_CHECKING:
    from rich.table import Table

    from kinetree.comparison import Comparison, Counterpart

__all__ = ["compare"]

_MOST_ROWS = 40
_DIFFERENT = 1


@takes_loading_options()
def compare(
    first: options.FirstModel,
    second: options.SecondModel = None,
    peers: options.Peers = None,
    samples: options.StateCount = 5,
    seed: options.StateSeed = 0,
    tolerance: options.Tolerance = 1e-9,
    as_json: options.Json = False,
    *,
    loading: Loading,
) -> None:
    """Compare a robot file with other libraries' readings of it, or with a second file.

    Masses, inertias, joints, frames, limits, and at random states placements, the mass matrix, bias and gravity forces,
    joint for joint. The last line says whether all is equal, or where the first difference is in the order of the tree
    and why. Exit codes: 0 equal, 1 different (or nothing could be compared), 2 wrong usage.
    """
    from kinetree.comparison import compare as compared

    named = [name for name in (first, second) if name is not None]
    files = named if loading.source else [_file(name) for name in named]
    names = None if peers is None else [name.strip() for name in peers.split(",") if name.strip()]
    try:
        with warnings_as_lines():
            result = compared(
                *files, peers=names, samples=samples, seed=seed, tolerance=tolerance, source=loading.source,
                **loading.settings(),
            )  # fmt: skip
    except (MissingPackageError, OptionError) as error:
        raise typer.BadParameter(str(error).removeprefix("compare: ")) from None
    if as_json:
        print_json(result.to_dict())
    else:
        _print(result)
    if not result.is_equal:
        raise typer.Exit(_DIFFERENT)


def _file(model: str) -> str | Path:
    """The path of a file or of a robot of the zoo, or the name of a description."""
    from kinetree import zoo

    name, source = robot_file(model)
    return zoo.path(name) if source == "zoo" else name


def _print(result: Comparison) -> None:
    for counterpart in result.counterparts:
        if counterpart.unread:
            print_lines(counterpart.unread)
            continue
        print_lines(_table(result, counterpart))
        print_lines(*(f"- {difference.text}" for difference in counterpart.differences[:_MOST_ROWS]))
        if len(counterpart.differences) > _MOST_ROWS:
            print_lines(f"… and {len(counterpart.differences) - _MOST_ROWS} more")
        print_lines(*(f"note: {note}" for note in counterpart.notes), "")
    print_lines(*result.absent, result.verdict)


def _table(result: Comparison, counterpart: Counterpart) -> Table:
    """One row per quantity: the worst error, its scale, and its place."""
    from rich.text import Text

    headings = "", "worst", "relative to", "compared", "at"
    table = new_table(f"{result.robot} compared with {counterpart.title}", headings, left=("relative to", "at"))
    for quantity in counterpart.quantities:
        if quantity.problem:
            table.add_row(Text(quantity.name), "-", Text(quantity.problem), "0", "")
            continue
        style = "red" if quantity.error > result.tolerance else ""
        table.add_row(
            Text(quantity.name), Text(f"{quantity.error:.2g}", style=style), Text(quantity.scale),
            str(quantity.count), Text(quantity.where if quantity.error else ""),
        )  # fmt: skip
    return table
