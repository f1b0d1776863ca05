"""Attach a robot or a body to a robot."""

from __future__ import annotations

from kinetree.errors import ModelError, quoted
from kinetree.joints import Fixed, JointKind
from kinetree.model.changes.common import (
    Changed,
    base_joint,
    check_clashes,
    check_robot,
    closed,
    joint_names,
    opened,
    place_of,
    prefixed,
    unused,
)
from kinetree.model.robot import Robot
from kinetree.spatial import Inertia
from kinetree.spatial.poses import Pose

__all__ = ["attach", "attach_body"]


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
    check_robot(other, "what is attached")
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
