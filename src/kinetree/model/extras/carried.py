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
    notes = []
    if dropped:
        told = "; ".join(f"{name.replace('_', ' ')}: {listed(titles)}" for name, titles in dropped.items())
        notes.append(f"extras that this change has no equivalent for were dropped: {told}")
    if change.lost:
        notes.append(f"extras name these no longer: {listed(dict.fromkeys(change.lost))}")
    return replace(extras, **changed), notes


def _under(one: Any, change: Change) -> Any:
    under = getattr(one, "under", None)
    if under is not None:
        return under(change)
    if change.is_rigid and (not change.gone or change.gone.isdisjoint(_strings(one))):
        return one
    return None


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
