"""The order of another library's joints: the one that it gives them when it reads the robot's file, or given names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from kinetree.errors import DTypeError, ModelError, NameNotFoundError, listed, nearest_names
from kinetree.model import Coupling, Joint, Model

__all__ = ["SORTED_SIBLINGS", "owners_as_read", "owners_in_order"]

SORTED_SIBLINGS = frozenset(["dart", "dart-6.16", "pinocchio", "rbdl"])
"""The libraries that go through a body's joints by name, as the URDF parser they share does; others by the file."""


def owners_as_read(robot: Model, library: str) -> list[Joint | Coupling]:
    """The joints and couplings that have coordinates, in the order of this library's model of the robot's URDF.

    All of them go depth first through the bodies, fixed joints included; merging bodies does not change the order. A
    coupling comes where the first of its joints does.
    """
    below: dict[str, list[str]] = {}
    child = {spec.name: spec.child for spec in robot.parts.joints}
    for spec in robot.parts.joints:
        below.setdefault(spec.parent, []).append(spec.name)
    if library in SORTED_SIBLINGS:
        for names in below.values():
            names.sort()
    owner_of: dict[str, Joint | Coupling] = {}
    for owner in robot.owners:
        owner_of.update(dict.fromkeys(owner.joints if isinstance(owner, Coupling) else (owner.name,), owner))
    found = {owner.name: owner for owner in robot.owners[: int(robot.floating_base)]}
    ahead = below.get(robot.root, [])[::-1]
    while ahead:
        name = ahead.pop()
        if name in owner_of:
            found.setdefault(owner_of[name].name, owner_of[name])
        ahead += below.get(child[name], [])[::-1]
    return list(found.values())


def owners_in_order(robot: Model, order: Sequence[str]) -> list[Joint | Coupling]:
    """The joints and couplings that have coordinates, in the order of these names."""
    try:
        if isinstance(order, str | bytes | Set):
            raise TypeError
        names = list(order)
    except TypeError:
        raise DTypeError(f"joint_order is a list of names, not {order!r:.60}") from None
    owners = {owner.name: owner for owner in reversed(robot.owners)}
    found: list[Joint | Coupling] = []
    for name in names:
        if not isinstance(name, str) or name not in owners:
            raise _no_owner(robot, name, reversed(owners))
        if owners[name] in found:
            raise ModelError(f"joint_order names {name!r} twice; list each joint once")
        found.append(owners[name])
    missing = [repr(owner.name) for owner in robot.owners if owner not in found]
    if missing:
        left_out = listed(missing, most=5)
        raise ModelError(f"joint_order leaves out {left_out}; it must name every joint that has coordinates")
    return found


def _no_owner(robot: Model, name: object, owners: Iterable[str]) -> Exception:
    joint = robot.joints[name] if isinstance(name, str) and name in robot.joints else None
    if joint is None:
        near = nearest_names(str(name), owners)
        return NameNotFoundError(f"joint_order names {name!r:.80}, but {robot.name!r} has no such joint: {near}")
    if joint.mimic is not None:
        why = f"mimics {joint.mimic.joint!r} and has no coordinates of its own; leave it out"
    else:
        why = f"is part of the coupling {joint.coupling!r}; name that instead, once"
    return ModelError(f"joint_order names {name!r}, which {why}")
