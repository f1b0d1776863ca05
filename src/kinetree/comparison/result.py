"""The result of a comparison, and its text."""

from __future__ import annotations

import math
from typing import Any

from kinetree.errors import visible
from kinetree.records import record

__all__ = ["Comparison", "Counterpart", "Difference", "Quantity", "Settings"]


@record(frozen=True, slots=True)
class Settings:
    """How a comparison is made."""

    samples: int
    seed: int
    tolerance: float


@record(frozen=True, slots=True, repr=False)
class Difference:
    """One thing in which two robots differ."""

    body: str
    """The body at which it is; the body that the joint moves for a joint's numbers."""
    subject: str
    """Where it is, for people: `body 'upper'`, `joint 'elbow'`."""
    what: str
    """The property that differs: "mass", "axis", "origin", "missing", …"""
    ours: str
    """The first robot's, for people."""
    theirs: str
    reason: str
    """The likely cause, as far as the data show it; may be empty."""

    @property
    def text(self) -> str:
        """The difference in a sentence."""
        if not self.ours and not self.theirs:
            return f"{self.subject} {self.reason}"
        values = f"{self.what} of {self.subject}: {self.ours} here, {self.theirs} there"
        return f"{values} ({self.reason})" if self.reason else values

    def __repr__(self) -> str:
        return visible(f"<Difference: {self.text}>")


@record(frozen=True, slots=True, repr=False)
class Quantity:
    """The worst disagreement in one quantity."""

    name: str
    error: float
    """The largest difference, relative to the scale; NaN where it could not be compared."""
    scale: str
    """The quantity that the error is relative to."""
    where: str
    """The body, joint or pair of joints that has it."""
    count: int
    """How many were compared."""
    problem: str = ""
    """Why it could not be compared."""

    def __repr__(self) -> str:
        verdict = self.problem or f"{self.error:.2g} of {self.scale}"
        return f"<Quantity {self.name}: {verdict}>"


@record(frozen=True, slots=True, repr=False)
class Counterpart:
    """The other side of a comparison: another library's reading of its file, or a second robot."""

    name: str
    title: str
    """Its name with the version or file."""
    unread: str
    """Why it could not be compared, as a sentence; empty if it was."""
    notes: tuple[str, ...]
    """Changes and assumptions that made the comparison possible, one sentence each."""
    quantities: tuple[Quantity, ...]
    differences: tuple[Difference, ...]
    """All that was found, in the order of the tree; the first is where the robots part."""

    @property
    def is_equal(self) -> bool:
        """Whether everything agrees within the tolerance."""
        return not self.unread and not self.differences

    @property
    def first(self) -> Difference | None:
        """Where the two part, in the order of the tree."""
        return self.differences[0] if self.differences else None

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        if self.unread:
            return f"{self.title}: not compared: {self.unread}"
        if self.first is None:
            return f"{self.title}: equal"
        more = len(self.differences) - 1
        rest = f"; {more} more" if more else ""
        return f"{self.title}: first difference: {self.first.text}{rest}"

    def __repr__(self) -> str:
        return visible(f"<{self.verdict}>")


@record(frozen=True, slots=True, repr=False)
class Comparison:
    """A robot compared with other libraries' readings of its file, or with a second robot: see `kt.compare`."""

    robot: str
    source: str
    """Where it was read from."""
    tolerance: float
    samples: int
    counterparts: tuple[Counterpart, ...]
    absent: tuple[str, ...]
    """A sentence for each library that is not installed."""

    @property
    def is_equal(self) -> bool:
        """Whether something was compared, and all that was agrees within the tolerance."""
        compared = [counterpart for counterpart in self.counterparts if not counterpart.unread]
        return bool(compared) and all(counterpart.is_equal for counterpart in compared)

    @property
    def verdict(self) -> str:
        """The result in a sentence, with the first difference if there is one."""
        compared = [counterpart for counterpart in self.counterparts if not counterpart.unread]
        different = [counterpart for counterpart in compared if not counterpart.is_equal]
        if different:
            return f"different: {different[0].verdict}"
        if not compared:
            return "nothing was compared"
        titles = " and ".join(counterpart.title for counterpart in compared)
        return f"equal within {self.tolerance:g}: {self.robot!r} and {titles}"

    @property
    def text(self) -> str:
        """All of it, for people."""
        lines = [f"{self.robot} ({self.source})" if self.source else self.robot]
        for counterpart in self.counterparts:
            lines += ["", counterpart.verdict]
            lines += [f"  {_row(quantity)}" for quantity in counterpart.quantities]
            lines += [f"  - {difference.text}" for difference in counterpart.differences]
            lines += [f"  note: {note}" for note in counterpart.notes]
        lines += ["", *self.absent] if self.absent else []
        return visible("\n".join([*lines, "", self.verdict]))

    def __repr__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """All of it in dicts, lists, numbers and strings, as JSON has them; errors that are not finite are None."""
        return {
            "robot": self.robot,
            "source": self.source,
            "equal": self.is_equal,
            "verdict": self.verdict,
            "tolerance": self.tolerance,
            "samples": self.samples,
            "counterparts": [_plain(counterpart) for counterpart in self.counterparts],
            "absent": list(self.absent),
        }


def _row(quantity: Quantity) -> str:
    if quantity.problem:
        return f"{quantity.name}: not compared, {quantity.problem}"
    where = f", at {quantity.where}" if quantity.error and quantity.where else ""
    return f"{quantity.name}: {quantity.error:.2g} of {quantity.scale} ({quantity.count} compared{where})"


def _plain(counterpart: Counterpart) -> dict[str, Any]:
    return {
        "name": counterpart.name,
        "title": counterpart.title,
        "equal": counterpart.is_equal,
        "unread": counterpart.unread,
        "notes": list(counterpart.notes),
        "quantities": [
            {
                "name": quantity.name,
                "error": quantity.error if math.isfinite(quantity.error) else None,
                "scale": quantity.scale,
                "where": quantity.where,
                "count": quantity.count,
                "problem": quantity.problem,
            }
            for quantity in counterpart.quantities
        ],
        "differences": [
            {
                "body": difference.body,
                "subject": difference.subject,
                "what": difference.what,
                "ours": difference.ours,
                "theirs": difference.theirs,
                "reason": difference.reason,
                "text": difference.text,
            }
            for difference in counterpart.differences
        ],
    }
