"""Attach a robot or a body to a robot."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kinetree.errors import ModelError, quoted
from kinetree.joints import Fixed, JointKind
from kinetree.model.changes.common import (
    Changed,
    base_joint,
    changed,
    check_clashes,
    check_robot,
    closed,
    joint_names,
    leader_of,
    opened,
    place_of,
    prefixed,
    unused,
)
from kinetree.model.changes.extras import with_extras_of
from kinetree.model.robot import Robot
from kinetree.model.specs import Parts
from kinetree.spatial import Inertia
from kinetree.spatial.poses import Pose

__all__ = ["attach", "attach_body", "detach", "remove"]


def attach(
    model: Robot,
    other: Robot,
    to: str,
    placement: Pose | None,
    *,
    prefix: str,
    joint: JointKind | None,
    name: str | None,
) -> Changed:
    """See `Model.attach`."""
    check_robot(other, "the attached robot")
    body, place = place_of(model, to, placement)
    parts = prefixed(other.parts, prefix, base=base_joint(other), same_root=False)
    root = f"{prefix}{other.root}"
    check_clashes(
        [(model.name, model.parts, base_joint(model)), (other.name, parts, [])],
        "give a prefix, which is put before all names of the second",
    )
    taken = joint_names(model) | {spec.name for spec in parts.joints}
    if name is None:
        name = unused(f"{to}_to_{root}", taken)
    elif name in taken:
        raise ModelError(f"there is a joint named {name!r} already; give the one between the two another name")
    sentence = f"attached robot {other.name!r} to {to!r} by joint {name!r} ({_described(joint)})"
    if other.floating_base:
        sentence += f"; its base, {root!r}, no longer floats"
    if other.gravity != model.gravity:
        sentence += f"; its gravity {other.gravity} gave way to {model.gravity}"
    builder = opened(model.parts, sentence)
    builder.add_joint(name, Fixed() if joint is None else joint, body, root, place)
    builder.add_parts(parts)
    return closed(builder, floating_base=model.floating_base)


def attach_body(
    model: Robot,
    name: str,
    inertia: Inertia,
    to: str,
    placement: Pose | None,
    *,
    joint: JointKind | None,
) -> Changed:
    """See `Model.attach_body`."""
    body, place = place_of(model, to, placement)
    if name in model.frames:
        what = "body" if name in model.bodies else "frame"
        raise ModelError(f"{model.name!r} has a {what} named {name!r} already; give the new body another name")
    if not isinstance(inertia, Inertia):
        raise ModelError(f"body {quoted(name)}: its inertia must be an Inertia, not {inertia!r:.60}")
    between = unused(f"{to}_to_{name}", joint_names(model))
    builder = opened(
        model.parts, f"attached body {name!r} ({inertia.mass:.6g} kg) to {to!r} by joint {between!r} "
        f"({_described(joint)})",
    )  # fmt: skip
    builder.add_body(name, inertia)
    builder.add_joint(between, Fixed() if joint is None else joint, body, name, place)
    return closed(builder, floating_base=model.floating_base)


def _described(joint: JointKind | None) -> str:
    """Description of a kind; the builder rejects anything that is not a kind."""
    return joint.description if isinstance(joint, JointKind) else "fixed"


def detach(model: Robot, body: str) -> tuple[Changed, Changed]:
    """See `Model.detach`."""
    bodies = _branch(model, body)
    parts = replace(_restricted(model, bodies, body), name=body, floating_base=False)
    rest = _rest(model, bodies, body)
    joint = next(spec.name for spec in model.parts.joints if spec.child == body)
    sentence = f"detached body {body!r} and all that hung on it by joint {joint!r} ({_count(bodies)})"
    return changed(rest, sentence), changed(parts, f"detached from robot {model.name!r} at joint {joint!r}")


def remove(model: Robot, body: str) -> Changed:
    """See `Model.remove`."""
    bodies = _branch(model, body)
    return changed(_rest(model, bodies, body), f"removed body {body!r} and all that hung on it ({_count(bodies)})")


def _branch(model: Robot, body: str) -> set[str]:
    """A body and everything that hangs on it."""
    if model.bodies[body].name == model.root:
        raise ModelError(
            f"body {body!r} is the root of {model.name!r}, so nothing would remain without it; name another, or make "
            "another the root first (rerooted)"
        )
    children: dict[str, list[str]] = {}
    for spec in model.parts.joints:
        children.setdefault(spec.parent, []).append(spec.child)
    branch = [body]
    for name in branch:
        branch.extend(children.get(name, ()))
    return set(branch)


def _rest(model: Robot, branch: Collection[str], body: str) -> Parts:
    return _restricted(model, {name for name in model.bodies if name not in branch}, body)


def _restricted(model: Robot, bodies: Collection[str], body: str) -> Parts:
    """The parts that belong to these bodies; `body` is the one that is removed."""
    parts = model.parts
    joints = tuple(spec for spec in parts.joints if spec.parent in bodies and spec.child in bodies)
    kept = {spec.name for spec in joints}
    for spec in joints:
        if spec.mimic is not None and spec.mimic.joint not in kept:
            raise ModelError(
                f"body {body!r} cannot be taken off: joint {spec.name!r} mimics {spec.mimic.joint!r}, which would not "
                f"be on the same side; lock {_lockable(model, spec.name)!r} first, or take off both"
            )
    for coupling in parts.couplings:
        apart = [name for name in coupling.joints if name not in kept]
        if 0 < len(apart) < len(coupling.joints):
            one = next(name for name in coupling.joints if name in kept)
            raise ModelError(
                f"body {body!r} cannot be taken off: coupling {coupling.name!r} couples {one!r} with "
                f"{', '.join(map(repr, apart))}, which would not be on the same side; lock {coupling.name!r} first"
            )
    result = replace(
        parts,
        links=tuple(link for link in parts.links if link.name in bodies),
        joints=joints,
        frames=tuple(frame for frame in parts.frames if frame.body in bodies),
        couplings=tuple(coupling for coupling in parts.couplings if coupling.joints[0] in kept),
    )
    same_root = model.root in bodies
    return with_extras_of(parts, result, base=base_joint(model), same_root=same_root)


def _lockable(model: Robot, name: str) -> str:
    """The name to lock so that a joint cannot move."""
    leader = leader_of(model, model.joints[name])
    return leader.coupling or leader.name


def _count(bodies: Collection[str]) -> str:
    return "1 body" if len(bodies) == 1 else f"{len(bodies)} bodies"
