"""Extras of a changed robot: names follow the change, numbers are converted, other records are dropped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kinetree.errors import listed
from kinetree.model.extras.change import Change, renamed
from kinetree.model.extras.extras import Extras

__all__ = ["carried"]


def carried(extras: Extras, change: Change) -> tuple[Extras, list[str]]:
    """The extras after a change, and a sentence about dropped records, if any."""
    changed: dict[str, Any] = {}
    dropped: dict[str, list[str]] = {}
    change = replace(change, seen={"site": _names(extras.sites, change), "camera": _names(extras.cameras, change)})
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
        names = "; ".join(f"{name.replace('_', ' ')}: {listed(titles)}" for name, titles in dropped.items())
        notes.append(f"extras that this change has no equivalent for were dropped: {names}")
    if change.lost:
        notes.append(f"extras name these no longer: {listed(dict.fromkeys(change.lost))}")
    return extras, notes


def _names(records: Sequence[Any], change: Change) -> dict[str, str | None]:
    """The new names of records by their old ones; None for those that cannot follow."""
    return {one.name: None if (other := _under(one, change)) is None else other.name for one in records}


def _under(one: Any, change: Change) -> Any:
    under = getattr(one, "under", None)
    if under is not None:
        return under(change)
    if hasattr(one, "REFERS"):
        return renamed(one, change) if change.is_rigid else None
    if change.is_rigid and (not change.gone or change.gone.isdisjoint(_strings(one))):
        return one
    return None


def _without_dangling(extras: Extras) -> tuple[Extras, dict[str, list[str]]]:
    """The extras without references to tendons and actuators that are not among them, and the dropped references."""
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
