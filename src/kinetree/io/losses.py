"""Losses: parts of a robot for which a format has no place. A writer rejects them unless losses are accepted.

Four things are distinguished. *Lost* data are not in the file, or mean something else there. *Unneeded* data are not in
the file either, and no simulation that reads the format uses them, so a warning is enough. *Changed* data have another
form, in which every number and the motion are the same. *Impossible* data have no substitute either, so no file can be
written at all.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterable
from dataclasses import field, fields

from kinetree.errors import ModelError, ModelWarning, listed
from kinetree.io.document import MAX_TEXT
from kinetree.model.elements import Geometry
from kinetree.model.extras import Extras
from kinetree.model.specs import JointSpec, LinkSpec
from kinetree.records import record

__all__ = ["Losses", "numbers_in_words"]

_WORDS = {
    "actuated": "its own choice of motors", "friction_speed": "a speed within which friction is smoothed",
    "rest": "a spring", "rotor": "a rotor", "stiffness": "a spring",
}  # fmt: skip
"""The names of a joint's fields in sentences, where they differ."""


@record(slots=True)
class Losses:
    """The findings of a writer, one sentence per part and reason."""

    format: str
    """The format's name for people: "URDF"."""
    lost: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    impossible: list[str] = field(default_factory=list)
    unneeded: dict[str, list[str]] = field(default_factory=dict)
    """Kinds of things that no simulation of the format needs, and which of each kind are left out."""

    def leave_out(self, kind: str, one: str) -> None:
        """Leave out something that no simulation of the format computes with."""
        self.unneeded.setdefault(kind, []).append(one)

    def left_out(self) -> list[str]:
        """A sentence for each kind of unneeded things."""
        return [f"{kind} ({len(names)}): {listed(names)}" for kind, names in self.unneeded.items()]

    def lose_extras(self, extras: Extras, supported: Collection[str] = (), unneeded: Collection[str] = ()) -> None:
        """Lose everything that a robot's file says beyond kinematics and inertia, except for the fields `supported`.

        Simulations of the format do not need the fields `unneeded`.
        """
        for entry in fields(extras):
            value = getattr(extras, entry.name)
            if not value or entry.name in supported:
                continue
            if entry.name in unneeded:
                self.unneeded[f"robot.extras.{entry.name}"] = list(map(repr, value.names))
                continue
            count = f"{len(value)} of them" if isinstance(value, tuple) else "one record"
            self.lost.append(f"robot.extras.{entry.name} ({count}) has no place in {self.format}")

    def lose_numbers(self, joint: JointSpec, held: Collection[str]) -> None:
        """Lose everything that a joint has in addition to the common fields, except for the fields `held`."""
        for what in numbers_in_words(joint, held):
            self.lost.append(f"joint {joint.name!r} has {what}, for which {self.format} has no place")

    def lose_alternatives(self, links: Iterable[LinkSpec]) -> None:
        """Lose the objects that bodies may be, except for those that are present."""
        for link in links:
            others = [one.name for k, one in enumerate(link.alternatives) if k != link.present]
            if others:
                self.lost.append(f"alternatives of body {link.name!r} have no place in {self.format}: {listed(others)}")

    def lose_contacts(self, link: LinkSpec) -> None:
        """Lose the contact parameters of a body's shapes."""
        count = sum(shape.contact is not None for shape in link.geometry)
        if count:
            self.lost.append(f"body {link.name!r}: contact parameters of {count} shapes have no place in {self.format}")

    def refuse_long(self, what: str, name: str) -> bool:
        """Whether a name is longer than readers of a text take, which is impossible then."""
        if len(name) <= MAX_TEXT:
            return False
        self.impossible.append(
            f"the name of {what} {name!r} is {len(name):,} characters long; the limit is {MAX_TEXT:,}"
        )
        return True

    def lose_unfit(self, shape: Geometry, what: str) -> bool:
        """Whether no reader of a text would take a shape, so that it is lost."""
        is_file = shape.shape in ("mesh", "heightfield")
        if is_file and not (shape.mesh or "").strip():
            reason = f"has no file of its own, which {self.format} needs; its numbers may be in an MJCF file"
        elif max(len(shape.name), len(shape.mesh or "")) > MAX_TEXT:
            reason = f"has a name or file name longer than {MAX_TEXT:,} characters"
        elif shape.shape != "plane" and not all(map(math.isfinite, shape.size)):
            reason = f"is a {shape.shape} without bounds, which {self.format} does not have"
        elif shape.shape != "mesh" and min(shape.size, default=0.0) < 0.0:
            reason = f"has a negative length among {shape.size}"
        else:
            return False
        self.lost.append(f"{what} {reason}")
        return True

    def settle(self, name: str, *, lossy: bool, stacklevel: int = 3) -> None:
        """Raise `ModelError` if something is impossible, or lost without consent; warn of everything left out."""
        if self.impossible:
            raise ModelError(
                f"{name!r} cannot be written as {self.format}, not even with losses:{_lines(self.impossible)}\n"
                "save it as .json, kinetree's own text form, which holds every robot"
            )
        if self.lost and not lossy:
            raise ModelError(
                f"{name!r} cannot be written as {self.format} without loss:{_lines(self.lost)}\n"
                "accept this with lossy=True (--lossy on the command line), or save it as .json, kinetree's own text "
                "form, which holds everything"
            )
        for how, sentences in (
            ("with losses", self.lost),
            (f"without what no simulation of {self.format} computes with", self.left_out()),
        ):
            if sentences:
                warnings.warn(
                    f"{name!r} was written as {self.format} {how}:{_lines(sentences)}",
                    ModelWarning,
                    stacklevel=stacklevel,
                )


def numbers_in_words(joint: JointSpec, held: Collection[str] = ()) -> list[str]:
    """The additional fields of a joint, without the fields `held`, in the words of sentences."""
    return list(dict.fromkeys(_WORDS.get(name, name) for name in joint.additions() if name not in held))


def _lines(sentences: list[str]) -> str:
    return "".join(f"\n  {sentence}" for sentence in sentences)
