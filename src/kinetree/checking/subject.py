"""The subject of the rules: the parts of a file, and the robot if it could be built."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.checking.extents import Extent
from kinetree.model import Model
from kinetree.model.specs import LinkSpec, Parts
from kinetree.problems import Problem, problem
from kinetree.records import record

__all__ = ["Subject", "warning"]


@record(frozen=True, slots=True, eq=False)
class Subject:
    """A file that has been read: its parts, the robot if they could be put together, and how large the bodies are."""

    parts: Parts
    robot: Model | None
    links: Mapping[str, LinkSpec]
    extents: Mapping[str, Extent]
    size: float
    """A length that no point of the robot is farther from the root than, m; zero if it is not known."""


def warning(where: object, sentence: str, code: str) -> Problem:
    """A suspicious value at a place."""
    return problem(where, sentence, code, severity="warning")
