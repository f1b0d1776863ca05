"""The report of a check of a robot file."""

from __future__ import annotations

from collections import Counter
from typing import Any

from kinetree.errors import visible
from kinetree.problems import Problem
from kinetree.records import record

__all__ = ["Report"]

_RANKS = {"error": 0, "warning": 1, "note": 2}


@record(frozen=True, slots=True, repr=False)
class Report:
    """All problems of a robot file, sorted by line. Its `str` is readable."""

    file: str
    problems: tuple[Problem, ...]
    robot: str = ""
    """The robot's name; empty if the file cannot be put together to a robot."""
    left_out: int = 0
    """The number of problems beyond those listed, in a file with very many."""

    @staticmethod
    def of(file: str, problems: list[Problem], robot: str, left_out: int) -> Report:
        """The report of these problems, in any order."""
        ordered = sorted(problems, key=lambda found: (found.line or 0, _RANKS[found.severity], found.sentence))
        return Report(file, tuple(ordered), robot, left_out)

    @property
    def errors(self) -> tuple[Problem, ...]:
        """Problems that keep the file from being loaded."""
        return self._of("error")

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Values that are suspicious, but possible."""
        return self._of("warning")

    @property
    def notes(self) -> tuple[Problem, ...]:
        """Notes: values that were assumed, and parts that were kept as data or skipped."""
        return self._of("note")

    @property
    def ok(self) -> bool:
        """Whether the file can be loaded as it is: it has no errors, but may have warnings."""
        return not self.errors

    @property
    def summary(self) -> str:
        """The numbers of problems in words."""
        counts = Counter(str(problem.severity) for problem in self.problems)
        counted = [f"{n} {word}{'s' if n > 1 else ''}" for word in _RANKS if (n := counts[word])]
        more = f", and {self.left_out} more problems that are not listed" if self.left_out else ""
        return (", ".join(counted) or "no problems") + more

    def as_dict(self) -> dict[str, Any]:
        """The report in plain types, as `kinetree check --json` prints it."""
        return {
            "file": self.file,
            "robot": self.robot or None,
            "ok": self.ok,
            "problems": [problem._asdict() for problem in self.problems],
            "left_out": self.left_out,
        }

    def __repr__(self) -> str:
        return f"<Report {self.file!r}: {self.summary}>"

    def __str__(self) -> str:
        blocks = [f"{self.file}: {self.summary}", *("\n".join(self.lines(problem)) for problem in self.problems)]
        return visible("\n\n".join(blocks))

    def lines(self, found: Problem) -> list[str]:
        """A problem in a few lines: its place and kind, the element, the fault, and the remedy."""
        file = found.file or self.file
        lines = [f"{file}:{found.line}: " if found.line else f"{file}: "]
        lines[0] += f"{found.severity} [{found.code}]"
        if found.element:
            lines.append(f"  in {found.element}")
        lines.append(f"  {found.sentence}")
        if found.advice:
            lines.append(f"  → {found.advice}")
        if found.repair:
            lines.append(f"  repair=True: {found.repair}")
        return lines

    def _of(self, severity: str) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == severity)
