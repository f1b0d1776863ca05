"""Records under the new names of the objects they refer to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kinetree.model.extras.change import Change

__all__ = ["renamed"]


def renamed(one: Any, change: Change) -> Any:
    """A record under the new names of the objects it refers to; None if one is gone, or moves otherwise."""
    new: dict[str, Any] = {}
    for field, kind in one.REFERS.items():
        held = getattr(one, field)
        if isinstance(held, tuple):
            inside = [renamed(part, change) for part in held]
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
    if kind in ("own", "geom", "tendon", "actuator", "sensor"):
        return change.own(name)
    seen = change.seen.get("site" if kind == "slidercrank" else kind, {})
    if name in seen:
        return seen[name]
    if kind in ("frame", "site", "camera", "slidercrank") and name in change.frames:
        return change.frames[name]
    return None if name in change.gone else name
