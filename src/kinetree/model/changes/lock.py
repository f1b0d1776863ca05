"""Lock joints in place: a reduced model without their coordinates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ModelError, NameNotFoundError, ShapeError, listed, nearest_names, quoted
from kinetree.inputs import real_array
from kinetree.joints import JointKind
from kinetree.model.changes.common import Changed, base_joint, changed, leader_of, unused, welded
from kinetree.model.changes.extras import with_extras_of
from kinetree.model.robot import Robot
from kinetree.model.specs import LinkSpec
from kinetree.spatial import Inertia, Transform

__all__ = ["lock"]


def lock(
    model: Robot, joints: str | Sequence[str] | Mapping[str, ArrayLike], q: ArrayLike | None = None
) -> Changed:  # fmt: skip
    """See `Model.lock`."""
    names = _names(joints)
    if isinstance(joints, Mapping):
        if q is not None:
            raise ModelError("lock takes values by name or a configuration q, not both")
        at = _given(model, joints)
    else:
        at = model.neutral() if q is None else _whole(model, q)
    model.check_configuration(at)
    held = _held(model, names)
    pieces = model.tree.split(at.tolist(), "nq")
    X = {
        name: model.joints[name].kind.calc(pieces[joint.slot], (0.0,) * joint.kind.nv).X_J.plain()
        for name in held
        for joint in (model.joints[name],)
    }
    parts = model.parts
    links, floating_base = parts.links, parts.floating_base
    specs = tuple(
        welded(spec.name, spec.parent, spec.child, X[spec.name] @ spec.placement, spec.where)
        if spec.name in held
        else spec
        for spec in parts.joints
    )
    for base in base_joint(model):
        if base not in held:
            continue
        floating_base = False
        if X[base] != Transform.identity():
            # A fixed root is at the world's origin, so a massless one is needed below it.
            world = unused("world", model.frames)
            links += (LinkSpec(world, Inertia.zero(), ()),)
            specs += (welded(base, world, model.root, X[base]),)
    couplings = tuple(spec for spec in parts.couplings if spec.joints[0] not in held)
    result = replace(parts, links=links, joints=specs, couplings=couplings, floating_base=floating_base)
    return changed(with_extras_of(parts, result, base=base_joint(model)), _sentence(model, held, pieces))


def _names(joints: str | Iterable[str]) -> list[str]:
    if isinstance(joints, str):
        return [joints]
    try:
        names = list(joints)
    except TypeError:
        raise ModelError(f"lock takes the names of joints, or values by name, not {joints!r:.60}") from None
    for name in names:
        if not isinstance(name, str):
            raise ModelError(f"lock takes the names of joints, or values by name; {name!r:.60} is not a name")
    return list(dict.fromkeys(names))


def _whole(model: Robot, q: ArrayLike) -> NDArray[np.float64]:
    numbers = real_array("q", q, f"({model.nq},)").astype(np.float64)
    if numbers.shape != (model.nq,):
        raise ShapeError(
            f"q has shape {numbers.shape}, but joints of {model.name!r} are held at one q of ({model.nq},)"
        )
    return numbers


def _given(model: Robot, values: Mapping[str, ArrayLike]) -> NDArray[np.float64]:
    """The neutral configuration with the given values inserted."""
    q = model.neutral()
    owners = {owner.name: owner for owner in model.owners}
    for name, value in values.items():
        owner = owners.get(name)
        if owner is None:
            _refuse(model, name)
        count = owner.q_slice.stop - owner.q_slice.start
        numbers = real_array(f"the value of {name!r}", value, f"({count},)").astype(np.float64)
        if np.atleast_1d(numbers).shape != (count,):
            what = "a number" if count == 1 else f"{count} numbers"
            raise ShapeError(f"{name!r} needs {what} to be held at, not an array of shape {numbers.shape}")
        q[owner.q_slice] = numbers
    return q


def _held(model: Robot, names: Sequence[str]) -> dict[str, None]:
    """All joints that are held when these joints and couplings are, in the order of the file."""
    asked: set[str] = set()
    for name in names:
        if name in model.joints:
            asked.add(name)
        elif name in model.couplings:
            asked.update(model.couplings[name].joints)
        else:
            _refuse(model, name)
    for coupling in model.couplings.values():
        free = [name for name in coupling.joints if name not in asked]
        if 0 < len(free) < len(coupling.joints):
            one = next(name for name in coupling.joints if name in asked)
            raise ModelError(
                f"joint {one!r} is coupled with {', '.join(map(repr, free))} by {coupling.name!r}, so it cannot be "
                f"locked alone; lock {coupling.name!r}, which holds them all"
            )
    held: dict[str, None] = {}
    for joint in model.joints.values():
        leader = leader_of(model, joint)
        if leader.name in asked:
            held[joint.name] = None
        elif joint.name in asked:
            _refuse(model, joint.name)
    return held


def _refuse(model: Robot, name: str) -> NoReturn:
    """Raise for a name that has no coordinates."""
    if name in model.joints:
        joint = model.joints[name]
        if joint.coupling is not None:
            raise ModelError(f"joint {name!r} has no coordinates of its own; give those of coupling {joint.coupling!r}")
        leader = leader_of(model, joint)
        raise ModelError(
            f"joint {name!r} mimics {leader.name!r} and has no coordinate of its own; lock {leader.name!r}, "
            "and its followers are locked with it"
        )
    if any(spec.name == name for spec in model.parts.joints):
        raise ModelError(f"joint {name!r} is fixed already; leave it out")
    known = [owner.name for owner in model.owners]
    raise NameNotFoundError(
        f"{model.name!r} has no joint or coupling {quoted(name)}: {nearest_names(str(name), known)}"
    )


def _sentence(model: Robot, held: Iterable[str], pieces: Sequence[Sequence[Any]]) -> str:
    """A sentence with the locked joints and positions."""
    positions = []
    for name in held:
        joint = model.joints[name]
        numbers = ", ".join(f"{x:.6g}" for x in _unit(joint.kind, pieces[joint.slot]))
        unit = f" {joint.kind.q_units[0]}" if joint.kind.nq == 1 and joint.kind.q_units[0] else ""
        positions.append(f"{name!r} at {numbers}{unit}" if joint.kind.nq == 1 else f"{name!r} at ({numbers})")
    return f"locked: {listed(positions, separator='; ')}" if positions else "locked: nothing"


def _unit(kind: JointKind, q: Sequence[float]) -> list[float]:
    """The coordinates with quaternions of length 1; their length has no meaning."""
    result = list(q)
    for k in kind.quaternions:
        length = math.hypot(*result[k : k + 4])
        result[k : k + 4] = [x / length for x in result[k : k + 4]]
    return result
