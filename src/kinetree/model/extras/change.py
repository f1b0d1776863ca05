"""The effect of a robot's change on names and coordinates, as records of extras need it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["Change", "Unused", "renamed"]


def _same(name: str) -> str:
    return name


@record(frozen=True, slots=True)
class Change:
    """The effect of a change on names and coordinates.

    A record of the extras that can follow it has a method `under(change)`, which gives the record of the changed robot,
    or None if it is dropped. A record without that method stays as it is where none of its strings is a name that
    changed, unless lengths or frames changed.
    """

    bodies: Mapping[str, str]
    """The new names of bodies that remain, by their old ones."""
    joints: Mapping[str, str]
    """The names of joints that remain, even if they are fixed now."""
    frames: Mapping[str, str]
    """The new names of frames that remain. Sites and cameras may have other names than their frames."""
    factors: Mapping[str, tuple[float, ...]]
    """By old name of a moving joint, the factor of its coordinates; those that change otherwise are absent."""
    own: Callable[[str], str] = _same
    """From the name of an extra itself, such as a group, to its new one."""
    gone: frozenset[str] = frozenset()
    """Names that changed, or are there no longer, or no longer move."""
    length: float = 1.0
    """The factor of lengths."""
    mirror: int | None = None
    """The axis across the mirror, if there is one."""
    moved: frozenset[str] = frozenset()
    """Bodies whose frames are elsewhere on them."""
    same_root: bool = True
    """Whether the root is unchanged, on the same base."""
    seen: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    """For "site" and "camera", the new names of their records by the old ones; None for those that cannot follow."""
    lost: list[str] = field(default_factory=list, compare=False)
    """Names that records went without."""

    @property
    def is_rigid(self) -> bool:
        """Whether all frames and lengths stay as they were."""
        return self.length == 1.0 and self.mirror is None and not self.moved

    def factor(self, joint: str) -> float | None:
        """The factor of a joint's only coordinate; None if it has none, or several, or others."""
        factors = self.factors.get(joint, ())
        return factors[0] if len(factors) == 1 else None

    def all_of(self, names: Iterable[str], known: Mapping[str, str]) -> tuple[str, ...]:
        """The new names of those that remain; the others are noted."""
        names = list(names)
        self.lost.extend(repr(name) for name in names if name not in known)
        return tuple(known[name] for name in names if name in known)


def renamed(one: Any, change: Change) -> Any:
    """A record under the new names of the objects it refers to; None if one is gone, or moves otherwise."""
    new: dict[str, Any] = {}
    for slot, kind in one.REFERS.items():
        held = getattr(one, slot)
        if isinstance(held, tuple):
            inside = [renamed(part, change) for part in held]
            if None in inside:
                return None
            new[slot] = tuple(inside)
            continue
        name = _new_name(held, getattr(one, kind[1:]) if kind.startswith("=") else kind, change)
        if name is None:
            return None
        new[slot] = name
    return replace(one, **new)


def _new_name(name: str, kind: str, change: Change) -> str | None:
    """The new name of a part of some kind; None if it is there no longer."""
    if not name:
        return name
    if kind in ("joint", "jointinparent"):
        is_same = all(factor == 1.0 for factor in change.factors.get(name, (0.0,)))
        return change.joints.get(name) if is_same else None
    if kind in ("body", "xbody", "subtree"):
        return change.bodies.get(name, name if name == "world" and name not in change.gone else None)
    if kind in ("own", "geom", "tendon", "actuator", "sensor"):
        return change.own(name)
    names = change.seen.get("site" if kind == "slidercrank" else kind, {})
    if name in names:
        return names[name]
    if kind in ("frame", "site", "camera", "slidercrank") and name in change.frames:
        return change.frames[name]
    return None if name in change.gone else name


@record(frozen=True, slots=True, repr=False)
class Unused:
    """A part of a file that has no meaning in kinetree, as it is written there."""

    tag: str
    attributes: tuple[tuple[str, str], ...] = ()
    children: tuple[Unused, ...] = ()
    text: str = ""
    """The text in it, without blanks around it."""
    where: object = field(default="", compare=False)
    """Its place in the file: `str` of it is file, line and element."""
    path: Path | None = field(default=None, compare=False)
    """The path on disk of the image of a texture, if it lies inside the given roots."""

    def __repr__(self) -> str:
        return call_text(self)
