"""`kinetree check`: every problem of robot files at once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import typer

from kinetree.cli import options
from kinetree.cli.output import print_json, print_lines
from kinetree.cli.robots import Loading, takes_loading_options
from kinetree.problems import CODES

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


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "note": "note"}


def sarif(reports: Sequence[Report]) -> dict[str, Any]:
    """One run with the problems of all files."""
    codes = sorted({problem.code for report in reports for problem in report.problems})
    from kinetree import __version__

    rules = [
        {
            "id": code,
            "name": "".join(word.capitalize() for word in code.split("-")),
            "shortDescription": {"text": CODES.get(code, CODES["invalid"])},
        }
        for code in codes
    ]
    place = {code: k for k, code in enumerate(codes)}
    results = [_result(problem, place[problem.code]) for report in reports for problem in report.problems]
    driver = {"name": "kinetree", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(problem: Problem, rule: int) -> dict[str, Any]:
    text = f"{problem.element}: {problem.what}" if problem.element else problem.what
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(problem.file)}}
    # Services show a problem without a line at the top of the file.
    physical["region"] = {"startLine": problem.line or 1}
    location: dict[str, Any] = {"physicalLocation": physical}
    if problem.element:
        location["logicalLocations"] = [{"fullyQualifiedName": problem.element, "kind": "element"}]
    return {
        "ruleId": problem.code, "ruleIndex": rule, "level": _LEVELS[problem.severity], "message": {"text": text},
        "locations": [location],
    }  # fmt: skip


def _uri(file: str) -> str:
    """The address of a file: relative ones stay so, as services look for them in the repository."""
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
