"""Notes on assumptions: one sentence for all the parts it concerns."""

from __future__ import annotations

from kinetree.errors import listed

__all__ = ["Notes"]


class Notes:
    """Collects the names of the parts for which the same assumption was made."""

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = {}
        self.suspicions: list[tuple[object, str, str]] = []
        """Remarks worth a warning: the place, the sentence and its code."""

    def add(self, sentence: str, name: str) -> None:
        """Record that the sentence also holds for the part `name`; a name counts once."""
        names = self._names.setdefault(sentence, [])
        if not names or names[-1] != name:
            names.append(name)

    def suspect(self, where: object, sentence: str, code: str) -> None:
        """Record something suspicious; the reader gives it to its builder, which warns of it."""
        self.suspicions.append((where, sentence, code))

    def sentences(self) -> list[str]:
        """One sentence per assumption, with the parts it concerns."""
        return [f"{sentence}: {listed(names)}" for sentence, names in self._names.items()]
