"""Reports as SARIF 2.1.0, the format that code-scanning services read."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kinetree.checking import Report
from kinetree.problems import CODES, Problem

__all__ = ["sarif"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "note": "note"}


def sarif(reports: Sequence[Report]) -> dict[str, Any]:
    """One run with the problems of all files."""
    codes = sorted({problem.code for report in reports for problem in report.problems})
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
    driver = {"name": "kinetree", "version": version("kinetree"), "rules": rules}
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
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": _LEVELS[problem.severity],
        "message": {"text": text},
        "locations": [location],
    }


def _uri(file: str) -> str:
    """The address of a file: relative ones stay so, as services look for them in the repository."""
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
