"""Elements and attributes that a format does not define: one problem per kind, at the first place."""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.io.document import Document, Unknown, shown
from kinetree.problems import Problem, problem

__all__ = ["skipped_parts"]

_ALIKE = 0.8
"""Likeness to a known name above which an unknown one counts as misspelt."""


def skipped_parts(document: Document) -> Iterator[Problem]:
    """A warning for each kind of unknown name that may be misspelt, and a note for each other."""
    kinds: dict[tuple[str, str], list[Unknown]] = {}
    for unknown in document.unknown:
        around = unknown.place.parent
        if unknown.attribute is None:
            key = ("" if around is None else around.tag, unknown.place.tag)
        else:
            key = (f"{unknown.place.tag} ", unknown.attribute)
        kinds.setdefault(key, []).append(unknown)
    for (_, name), all_of_kind in kinds.items():
        yield _problem(all_of_kind[0], name, len(all_of_kind))


def _problem(unknown: Unknown, name: str, count: int) -> Problem:
    is_element = unknown.attribute is None
    more = f" ({count} times in this file)" if count > 1 else ""
    what = f"<{shown(name)}>" if is_element else f'"{shown(name)}"'
    from difflib import get_close_matches  # files without such names do not need it

    near = get_close_matches(name[:60].lower(), sorted(unknown.known), n=1, cutoff=_ALIKE)
    if near:
        code = "unknown-element" if is_element else "unknown-attribute"
        sentence = f"{'the element' if is_element else 'the attribute'} {what} is unknown and was skipped{more}"
        return problem(unknown.place, f"{sentence}: did you mean {near[0]!r}?", code, severity="warning")
    sentence = f"{what} does not concern the robot's motion and was skipped{more}"
    return problem(unknown.place, sentence, "skipped", severity="note")
