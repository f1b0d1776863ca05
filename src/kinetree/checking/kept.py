"""Contents of the file without effect on the robot's motion, and assumptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from kinetree.checking.subject import Subject
from kinetree.errors import listed
from kinetree.model.extras import Unused
from kinetree.model.problems import Collected
from kinetree.problems import Problem, problem

__all__ = ["list_assumptions", "list_extras"]


def list_extras(subject: Subject, _: Collected) -> Iterator[Problem]:
    """One note for each kind of part that is kept as data."""
    extras = subject.parts.extras
    for entry in fields(extras):
        held = getattr(extras, entry.name)
        if not held:
            continue
        if entry.name == "unused":
            yield from _unused(held)
            continue
        what = entry.name.replace("_", " ")
        count = f"{len(held)} " if isinstance(held, tuple | dict) else ""
        names = [str(each.name) for each in held if getattr(each, "name", "")] if isinstance(held, tuple) else []
        shown = f" ({listed(names)})" if names else ""
        yield _note(held[0] if isinstance(held, tuple) else held, f"{count}{what}{shown}", entry.name)


def _unused(held: Sequence[Unused]) -> Iterator[Problem]:
    """One note for each tag."""
    kinds: dict[str, list[Unused]] = {}
    for part in held:
        kinds.setdefault(part.tag, []).append(part)
    for tag, parts in kinds.items():
        yield _note(parts[0], f"<{tag}>" + (f" ({len(parts)} times)" if len(parts) > 1 else ""), "unused")


def _note(part: object, what: str, entry: str) -> Problem:
    sentence = f"{what}: kept as data in robot.extras.{entry}, without effect on the motion"
    return problem(getattr(part, "where", ""), sentence, "kept-as-data", severity="note")


def list_assumptions(subject: Subject, problems: Collected) -> Iterator[Problem]:
    """One note for each assumption of the reader's, unless a problem says it already."""
    told = {found.sentence for found in problems.found}
    for note in subject.parts.notes:
        if not any(sentence in note for sentence in told) and not _is_listed_otherwise(note):
            yield problem(subject.parts.source, note, "assumption", severity="note")


def _is_listed_otherwise(note: str) -> bool:
    return "were skipped: " in note or "kept as data in robot.extras" in note or "meshes have no file here" in note
