"""Extras of a changed robot: names follow the change, numbers are converted, and what cannot follow is dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kinetree.errors import listed
from kinetree.model.extras.change import Change
from kinetree.model.extras.extras import Extras

__all__ = ["carried"]


def carried(extras: Extras, change: Change) -> tuple[Extras, list[str]]:
    """The extras after a change, and a sentence about what was dropped, if anything was."""
    changed: dict[str, Any] = {}
    dropped: dict[str, list[str]] = {}
    for entry in fields(extras):
        held = getattr(extras, entry.name)
        if not held:
            continue
        kept = []
        for one in held if isinstance(held, tuple) else (held,):
            other = _under(one, change)
            if other is None:
                dropped.setdefault(entry.name, []).append(_title(one))
            else:
                kept.append(other)
        changed[entry.name] = tuple(kept) if isinstance(held, tuple) else (kept or [None])[0]
    extras, dangling = _without_dangling(replace(extras, **changed))
    for name, titles in dangling.items() if dropped else ():
        dropped.setdefault(name, []).extend(titles)
    notes = []
    if dropped:
        told = "; ".join(f"{name.replace('_', ' ')}: {listed(titles)}" for name, titles in dropped.items())
        notes.append(f"extras that this change has no equivalent for were dropped: {told}")
    if change.lost:
        notes.append(f"extras name these no longer: {listed(dict.fromkeys(change.lost))}")
    return extras, notes


def _under(one: Any, change: Change) -> Any:
    under = getattr(one, "under", None)
    if under is not None:
        return under(change)
    if hasattr(one, "REFERS"):
        return _renamed(one, change)
    if change.is_rigid and (not change.gone or change.gone.isdisjoint(_strings(one))):
        return one
    return None


def _renamed(one: Any, change: Change) -> Any:
    """A record under the new names of what it refers to; None if one is there no longer, or moves otherwise."""
    if not change.is_rigid:
        return None
    new: dict[str, Any] = {}
    for field, kind in one.REFERS.items():
        held = getattr(one, field)
        if isinstance(held, tuple):
            inside = [_renamed(part, change) for part in held]
            if None in inside:
                return None
            new[field] = tuple(inside)
            continue
        name = _new_name(held, getattr(one, kind[1:]) if kind.startswith("=") else kind, change)
        if name is None:
            return None
        new[field] = name
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
    if kind in ("own", "tendon", "actuator", "sensor"):
        return change.own(name)
    if kind in ("site", "camera", "slidercrank") and name in change.frames:
        return change.frames[name]
    return None if name in change.gone else name


def _without_dangling(extras: Extras) -> tuple[Extras, dict[str, list[str]]]:
    """The extras without what refers to tendons and actuators that are not among them, and what that was."""
    dropped: dict[str, list[str]] = {}
    tendons, actuators = set(extras.tendons.names), set(extras.actuators.names)  # type: ignore[attr-defined]

    def is_there(kind: str, name: str) -> bool:
        return not name or {"tendon": tendons, "actuator": actuators}.get(kind, {name}).__contains__(name)

    for field, kind, names in (
        ("actuators", "transmission", ("target",)),
        ("equalities", "between", ("first", "second")),
        ("sensors", "object_type", ("object",)),
    ):
        held = getattr(extras, field)
        kept = tuple(one for one in held if all(is_there(getattr(one, kind), getattr(one, name)) for name in names))
        if len(kept) < len(held):
            dropped[field] = [_title(one) for one in held if one not in kept]
            changed: dict[str, Any] = {field: kept}
            extras = replace(extras, **changed)
            actuators = set(extras.actuators.names)  # type: ignore[attr-defined]
    return extras, dropped


def _strings(value: Any) -> Iterator[str]:
    """All strings in a record, and words in them, for raw text may hold names among others."""
    pending: list[Any] = [value]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
            yield from value.split()
        elif isinstance(value, Sequence):
            pending.extend(value)
        elif is_dataclass(value):
            pending.extend(getattr(value, entry.name) for entry in fields(value) if entry.compare)


def _title(one: Any) -> str:
    """A short name for a record."""
    for name in ("name", "joint", "body", "tag"):
        if isinstance(text := getattr(one, name, None), str) and text:
            return repr(text)
    return type(one).__name__
