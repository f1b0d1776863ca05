"""`kinetree check`: every problem of robot files at once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from kinetree.cli import options
from kinetree.cli.output import print_json, print_lines
from kinetree.cli.robots import Loading, takes_loading_options

if TYPE_CHECKING:
    from rich.text import Text

    from kinetree.checking import Report
    from kinetree.problems import Problem

__all__ = ["check"]

_STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


@takes_loading_options()
def check(
    files: options.Models,
    as_json: options.Json = False,
    as_sarif: options.Sarif = False,
    strict: options.Strict = False,
    notes: options.Notes = True,
    *,
    loading: Loading,
) -> None:
    """Show all problems of robot files: line, element, fault and remedy; suspicious values, too.

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
        for report in reports:
            print_lines(*_lines(report, notes))
    if any(report.errors or (strict and report.warnings) for report in reports):
        raise typer.Exit(1)


def _zoo(file: str) -> str | None:
    """The zoo as the source, if this is not a file, but the name of one of its robots."""
    from kinetree import zoo

    return "zoo" if not os.path.lexists(file) and file in zoo.names() else None


def _lines(report: Report, notes: bool) -> Iterator[Text]:
    from rich.text import Text

    for problem in report.problems:
        if notes or problem.severity != "note":
            yield _block(report, problem)
            yield Text()
    style = _STYLES["error"] if report.errors else _STYLES["warning"] if report.warnings else "green"
    yield Text(f"{report.file}: {report.summary}", style=style)


def _block(report: Report, problem: Problem) -> Text:
    from rich.text import Text

    first, *rest = report.lines(problem)
    text = Text(first, style=_STYLES[problem.severity])
    for line in rest:
        text.append(f"\n{line}", style="default")
    return text
