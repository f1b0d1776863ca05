"""What the file says that has no effect on the robot's motion, and what was assumed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from kinetree.checking.subject import Subject
from kinetree.model.problems import Collected
from kinetree.problems import Problem, problem

__all__ = ["list_assumptions", "list_extras"]

_MOST_NAMED = 6


def list_extras(subject: Subject, _: Collected) -> Iterator[Problem]:
    """One note for each kind of part that is kept as data."""
    extras = subject.parts.extras
    for entry in fields(extras):
        held = getattr(extras, entry.name)
        if not held:
            continue
        what = entry.name.replace("_", " ")
        count = f"{len(held)} " if isinstance(held, tuple | dict) else ""
        names = [str(each.name) for each in held if getattr(each, "name", "")] if isinstance(held, tuple) else []
        shown = f" ({', '.join(names[:_MOST_NAMED])}{', …' if len(names) > _MOST_NAMED else ''})" if names else ""
        first = held[0] if isinstance(held, tuple) else held
        sentence = f"{count}{what}{shown}: kept as data in robot.extras.{entry.name}"
        yield problem(getattr(first, "where", ""), sentence, "kept-as-data", severity="note")


def list_assumptions(subject: Subject, problems: Collected) -> Iterator[Problem]:
    """One note for each assumption of the reader's, unless a problem says it already."""
    told = {found.sentence for found in problems.found}
    for note in subject.parts.notes:
        if not any(sentence in note for sentence in told) and not _is_listed_otherwise(note):
            yield problem(subject.parts.source, note, "assumption", severity="note")


def _is_listed_otherwise(note: str) -> bool:
    return "were skipped: " in note or "meshes have no file here" in note
