"""Names that are easily taken for each other."""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.checking.subject import Subject, warning
from kinetree.model.problems import Collected
from kinetree.problems import Problem

__all__ = ["check_names"]


def check_names(subject: Subject, _: Collected) -> Iterator[Problem]:
    """Names of bodies, or of joints, that differ only in case or in blanks; shapes of a body with one name."""
    for what, parts in (("bodies", subject.parts.links), ("joints", subject.parts.joints)):
        seen: dict[str, str] = {}
        for part in parts:
            other = seen.setdefault("".join(part.name.split()).casefold(), part.name)
            if other != part.name:
                sentence = f"the names of the {what} {other!r} and {part.name!r} differ only in case or in blanks"
                yield warning(part.where, f"{sentence}; choose names that cannot be confused", "similar-names")
    for link in subject.parts.links:
        taken: set[tuple[str, str]] = set()
        for shape in link.geometry:
            if shape.name and (shape.role, shape.name) in taken:
                sentence = f"body {link.name!r} has two {shape.role} shapes named {shape.name!r}; rename one of them"
                yield warning(link.where, sentence, "repeated-shape-name")
            taken.add((shape.role, shape.name))
