"""The extras of a changed robot, from its parts before and after the change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from kinetree.joints import Fixed
from kinetree.model.extras import Change, carried
from kinetree.model.specs import JointSpec, Parts, floating_joint

__all__ = ["with_extras_of"]

Factors = Callable[[JointSpec], tuple[float, ...] | None]


def _ones(spec: JointSpec) -> tuple[float, ...] | None:
    return (1.0,) * spec.kind.nq


def with_extras_of(
    old: Parts,
    new: Parts,
    *,
    base: Collection[str],
    rename: Callable[[str], str] | None = None,
    factors: Factors = _ones,
    length: float = 1.0,
    mirror: int | None = None,
    moved: Collection[str] = (),
    same_root: bool = True,
) -> Parts:
    """The new parts with the extras of the old ones, as far as they can follow; a note says which could not.

    `base` holds the name of a floating base's joint before the change, and is empty for a fixed base. `rename` gives
    new names, `factors` the factor of a joint's coordinates, or None if they change otherwise; `length`, `mirror`,
    `moved` and `same_root` are those of `Change`.
    """
    if not old.extras:
        return replace(new, extras=old.extras)
    to = rename or _same
    before = {spec.name: spec for spec in old.joints}
    after = {spec.name: spec for spec in new.joints}
    # A file may hold values for the joint of a floating base, whether the base of this robot floats or not.
    for name in base or ({"root_joint"} - before.keys()):
        before[name] = floating_joint(name, "", "")
        if (new.floating_base or not base) and same_root:
            after.setdefault(to(name), floating_joint(to(name), "", ""))
    joints = _names(before, after, to)
    scales = {
        name: factor
        for name, other in joints.items()
        if not isinstance(before[name].kind, Fixed) and not isinstance(after[other].kind, Fixed)
        if (factor := factors(before[name])) is not None
    }
    bodies = _names([link.name for link in old.links], [link.name for link in new.links], to)
    frames = _names([frame.name for frame in old.frames], [frame.name for frame in new.frames], to)
    stays = {name for names in (bodies, frames, joints) for name, other in names.items() if name == other}
    fixed = {name for name in joints if name not in scales and not isinstance(before[name].kind, Fixed)}
    gone = {name for names in (bodies, frames, joints) for name, other in names.items() if name != other}
    gone |= {*before, *(link.name for link in old.links), *(frame.name for frame in old.frames)} - stays
    change = Change(
        bodies, joints, frames, scales, to, frozenset(gone | fixed), length, mirror, frozenset(moved), same_root
    )
    extras, notes = carried(old.extras, change)
    return replace(new, extras=extras, notes=(*notes, *new.notes))


def _same(name: str) -> str:
    return name


def _names(
    old: Collection[str], new: Collection[str] | Mapping[str, object], to: Callable[[str], str]
) -> dict[str, str]:
    """The new names of those that remain."""
    known = set(new)
    return {name: to(name) for name in old if to(name) in known}
