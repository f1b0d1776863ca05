"""Faults of a robot, as records: the place, the kind, a description and a remedy.

Errors and warnings about robots hold these records, so that all problems of a file can be listed, sorted and counted.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, Protocol, runtime_checkable

__all__ = ["CODES", "Place", "Placed", "Problem", "Severity", "place_of", "problem"]

Severity = Literal["error", "warning", "note"]

CODES = {
    # the file
    "unreadable-file": "The file cannot be opened, or is not a regular file.",
    "missing-file": "A file that this one refers to is not found, or lies outside the given folders.",
    "unknown-format": "The file is not a robot file of a format that kinetree reads.",
    "not-well-formed": "The text is not well-formed XML or JSON.",
    "encoding": "The text cannot be decoded.",
    "entity": "The file declares entities or a document type with an address.",
    "too-large": "The file, or a part of it, exceeds a limit.",
    "unexpanded-macro": "The file holds macros that have not been expanded.",
    "bad-macro": "The macros of a xacro file cannot be expanded.",
    # elements and their values
    "missing-element": "A required element or field is missing or empty.",
    "missing-attribute": "A required attribute is missing or empty.",
    "repeated-element": "An element appears twice where one is possible.",
    "unknown-element": "The format does not define this element.",
    "unknown-attribute": "The format does not define this attribute.",
    "not-allowed-here": "The format has this element or attribute, but not in this place.",
    "conflict": "Values contradict each other, or give the same twice.",
    "bad-number": "A value is not a finite number, or there are not as many as needed.",
    "bad-value": "A value is not one of those possible.",
    "bad-shape": "A shape has no valid dimensions.",
    "bad-mesh": "A mesh cannot be read, or no inertia follows from it.",
    # how parts hang together
    "no-bodies": "The robot has no bodies.",
    "duplicate-name": "Two parts of one kind have the same name.",
    "bad-name": "A name is not possible here.",
    "unknown-body": "A body is referred to that does not exist.",
    "unknown-joint": "A joint is referred to that does not exist.",
    "unknown-material": "A material is referred to that does not exist.",
    "unknown-name": "Something else is referred to that does not exist: a site, a geom, a class of defaults.",
    "wrong-kind": "The referenced element is of another kind than is needed here.",
    "two-parents": "A body is the child of two joints.",
    "several-roots": "Several bodies have no parent.",
    "circle": "Joints, or joints that mimic others, run in a circle.",
    # joints
    "bad-axis": "A joint's axis is not a direction.",
    "bad-joint": "A joint's kind contradicts itself.",
    "bad-limits": "A joint's limits are reversed, negative or not numbers.",
    "missing-limits": "A joint that is limited by its type has no limits.",
    "bad-mimic": "A joint cannot follow the joint that it mimics.",
    "bad-coupling": "A coupling of joints is not possible.",
    "bad-drive": "A joint's friction, spring, rotor or armature is not possible.",
    "negative-damping": "Damping, friction or stiffness is negative and feeds energy in.",
    "bad-placement": "A placement is not finite, or not a rotation and a translation.",
    # masses
    "negative-mass": "A mass is negative.",
    "bad-inertia": "A mass, centre of mass or inertia is not finite.",
    "indefinite-inertia": "A principal moment of inertia is negative.",
    "inconsistent-inertia": "Principal moments of inertia violate the triangle inequality.",
    "inertia-without-mass": "A body has inertia but no mass.",
    "massless-moving-body": "A joint moves nothing that has inertia.",
    # suspicious values
    "all-masses-equal": "All bodies have no mass, or the mass 1.",
    "inertia-units": "An inertia fits the body's mass and size only in other units.",
    "inertia-size": "No body of this mass and size has this inertia.",
    "center-of-mass-outside": "The centre of mass is far outside the body.",
    "mass-ratio": "A very heavy body hangs on a very light one.",
    "zero-range": "A joint's limits leave it no room.",
    "zero-limit": "A limit of effort or velocity is zero.",
    "degrees": "An angle seems to be in degrees.",
    "mesh-units": "A mesh seems to be in millimetres.",
    "missing-mesh": "A mesh is not found.",
    "axis-length": "A joint's axis is not of length one.",
    "singular-everywhere": "Joints move the robot in fewer ways than they are, in every configuration.",
    "similar-names": "Two names differ only in case or in blanks.",
    "repeated-shape-name": "Two shapes of a body have the same name.",
    "no-collision-shapes": "No body has a collision shape.",
    # contents kept or left out
    "kept-as-data": "The file says something that is kept as data, without effect on the robot's motion.",
    "skipped": "The file holds something that was skipped.",
    "assumption": "Something was assumed that the file does not say.",
    "invalid": "Something else is not possible.",
}
"""Every kind of problem: its code, which is stable, and its meaning."""

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?:: (?P<element><.*>.*))?", re.DOTALL)
_PARTS = re.compile(
    r"""(?<![\w'])'[^'\n]*'(?!\w)|"[^"\n]*"|\([^()]*\)|(?P<sign>; |: (?=did you mean |available: |there are none))"""
)


@runtime_checkable
class Placed(Protocol):
    """Anything that knows its place in a file."""

    @property
    def place_in_file(self) -> tuple[str, int | None, str]:
        """File, line and element; empty or None where they are not known."""
        ...


class Place(NamedTuple):
    """A place in a file, without the file's elements: `str` of it is that of the element it was taken from.

    >>> print(Place("arm.urdf", 3, '<link name="hand">'))
    arm.urdf:3: <link name="hand">
    """

    file: str
    line: int | None
    element: str

    def __str__(self) -> str:
        return ": ".join(filter(None, [f"{self.file}:{self.line}" if self.line else self.file, self.element]))

    @property
    def place_in_file(self) -> tuple[str, int | None, str]:
        """File, line and element."""
        return self.file, self.line, self.element


def place_of(where: object) -> object:
    """A place that holds no part of the file; text stays text."""
    return Place(*where.place_in_file) if isinstance(where, Placed) else str(where)


class Problem(NamedTuple):
    """One problem of a robot or its file."""

    severity: Severity
    """"error": it cannot be loaded; "warning": suspicious, but possible; "note": worth knowing."""
    code: str
    """The kind of problem, one of those in `kinetree docs check`."""
    file: str
    line: int | None
    element: str
    """The element or field in the file, such as `<joint name="elbow">`."""
    sentence: str
    """A description of the fault."""
    advice: str = ""
    """The remedy, or the expected value."""
    repair: str = ""
    """The repair by `kt.load(path, repair=True)`; empty without one."""

    def __str__(self) -> str:
        place = ":".join([self.file, *([str(self.line)] if self.line else [])]) if self.file else ""
        return ": ".join(filter(None, [place, self.element, self.what]))

    @property
    def what(self) -> str:
        """The sentence and the advice."""
        sign = ": " if self.advice.startswith(("did you mean ", "available: ", "there are none")) else "; "
        return f"{self.sentence}{sign}{self.advice}" if self.advice else self.sentence


def problem(
    where: object, message: str, code: str = "invalid", *, severity: Severity = "error", repair: str = ""
) -> Problem:
    """A problem at a place (an element, or text that names one), whose message is the fault and then the advice.

    >>> problem("", "has no mass; add one", "missing-element").advice
    'add one'
    """
    file, line, element = where.place_in_file if isinstance(where, Placed) else _place(str(where or ""))
    sentence, advice = message, ""
    for match in _PARTS.finditer(message):
        if match["sign"]:
            sentence, advice = message[: match.start()], message[match.end() :]
            break
    return Problem(severity, code, file, line, element, sentence, advice, repair)


def _place(text: str) -> tuple[str, int | None, str]:
    """File, line and element of a place in words, as `str` of an element gives it."""
    match = _PLACE.fullmatch(text)
    return (match["file"], int(match["line"]), match["element"] or "") if match else (text, None, "")
