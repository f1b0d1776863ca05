"""`kinetree check`: every problem of robot files at once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from kinetree.cli.output import output_console, print_json
from kinetree.cli.robots import Loading, takes_loading_options

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from kinetree.checking import Report
    from kinetree.problems import Problem

__all__ = ["check"]

_STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


@takes_loading_options()
def check(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Robot files, or robots of the zoo.", show_default=False)
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array with one report per file.")] = False,
    as_sarif: Annotated[bool, typer.Option("--sarif", help="Print SARIF 2.1.0, for code-scanning services.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings end with exit code 1, too.")] = False,
    notes: Annotated[
        bool, typer.Option("--notes/--no-notes", help="Show what was assumed, kept as data or skipped.")
    ] = True,
    *,
    loading: Loading,
) -> None:
    """Show all problems of robot files: line, element, what is wrong and how to mend it; suspicious values, too.

    Exit codes: 0 all files can be loaded, 1 one cannot, or has warnings with --strict, 2 wrong usage.
    """
    if as_json and as_sarif:
        raise typer.BadParameter("give --json or --sarif, not both", param_hint="--sarif")
    from kinetree import checking

    settings = loading.settings()
    reports = [checking.check(file, source=loading.source or _zoo(file), **settings) for file in files]
    if as_json:
        print_json([report.as_dict() for report in reports])
    elif as_sarif:
        from kinetree.cli.sarif import sarif

        print_json(sarif(reports))
    else:
        console = output_console()
        for report in reports:
            _print(console, report, notes)
    if any(report.errors or (strict and report.warnings) for report in reports):
        raise typer.Exit(1)


def _zoo(file: str) -> str | None:
    """The zoo as the source, if this is not a file, but the name of one of its robots."""
    from kinetree import zoo

    return "zoo" if not os.path.lexists(file) and file in zoo.names() else None


def _print(console: Console, report: Report, notes: bool) -> None:
    from rich.text import Text

    for found in report.problems:
        if notes or found.severity != "note":
            console.print(_block(report, found), soft_wrap=True)
            console.print()
    style = _STYLES["error"] if report.errors else _STYLES["warning"] if report.warnings else "green"
    console.print(Text(f"{report.file}: {report.summary}", style=style), soft_wrap=True)


def _block(report: Report, found: Problem) -> Text:
    from rich.text import Text

    first, *rest = report.lines(found)
    text = Text(first, style=_STYLES[found.severity])
    for line in rest:
        text.append(f"\n{line}", style="default")
    return text
