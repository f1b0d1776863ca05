"""Another body as the root: the joints between the two roots are reversed."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import numpy as np

from kinetree.errors import ModelError, OptionError, listed
from kinetree.joints import Fixed, JointKind
from kinetree.model.changes.common import Changed, base_joint, changed, joint_names, leader_of, unused, welded
from kinetree.model.changes.extras import with_extras_of
from kinetree.model.changes.kinds import reversed_kind
from kinetree.model.elements import Rotor
from kinetree.model.robot import Robot
from kinetree.model.specs import JointSpec, LinkSpec
from kinetree.spatial import Inertia, Transform, Vec3

__all__ = ["rerooted"]

_CONSTANT = 1e-9
"""Tolerance below which a unit vector counts as constant."""


def rerooted(model: Robot, body: str, *, floating_base: bool | None = None) -> Changed:
    """See `Model.rerooted`."""
    if not (floating_base is None or isinstance(floating_base, bool)):
        raise OptionError(
            f"floating_base must be True, False, or None for a base as it is now, not {floating_base!r:.60}"
        )
    path = _path(model, model.bodies[body].name)
    floats = model.floating_base if floating_base is None else floating_base
    taken, frames = joint_names(model) | set(base_joint(model)), set(model.frames)
    links: list[LinkSpec] = []
    replaced: dict[str, list[JointSpec]] = {}
    for spec in path:
        back = spec.placement.plain().inverse
        if isinstance(spec.kind, Fixed):
            replaced[spec.name] = [replace(spec, parent=spec.child, child=spec.parent, placement=back)]
            continue
        turned = _turned(model, spec)
        replaced[spec.name] = [turned]
        if spec.placement.plain() != Transform.identity():
            # The moving side is now where the fixed side was, which is not where the parent's frame is.
            side, between = unused(f"{spec.name}_side", frames), unused(f"{spec.name}_fixed", taken)
            frames.add(side)
            taken.add(between)
            links.append(LinkSpec(side, Inertia.zero(), (), spec.where))
            replaced[spec.name] = [
                replace(turned, child=side),
                welded(between, side, spec.parent, back, spec.where),
            ]
    parts = model.parts
    joints = tuple(new for spec in parts.joints for new in replaced.get(spec.name, [spec]))
    base = "floats" if floats else "is fixed"
    sentence = f"rerooted from {model.root!r} to {body!r}, which {base}"
    moving = [spec.name for spec in path if not isinstance(spec.kind, Fixed)]
    if moving:
        sentence += f"; these joints now lead the other way: {listed(map(repr, moving))}"
    other = {spec.name for spec in path if not spec.kind.is_flat}
    result = with_extras_of(
        parts,
        replace(parts, links=(*parts.links, *links), joints=joints, floating_base=floats),
        base=base_joint(model),
        factors=lambda spec: None if spec.name in other else (1.0,) * spec.kind.nq,
        same_root=body == model.root,
    )
    return changed(result, sentence)


def _path(model: Robot, body: str) -> list[JointSpec]:
    """The joints from a body to the root."""
    above = {spec.child: spec for spec in model.parts.joints}
    path = []
    while body in above:
        path.append(above[body])
        body = path[-1].parent
    return path


def _turned(model: Robot, spec: JointSpec) -> JointSpec:
    """The reversed joint, from its moving side to its fixed side; its child's frame is then the fixed side's."""
    kind = reversed_kind(spec)
    if kind is None:
        _fail(model, spec, f"is of a kind that cannot be turned round ({spec.kind.description})")
    turned = replace(spec, kind=kind, parent=spec.child, child=spec.parent, placement=Transform.identity())
    if not spec.kind.is_flat:
        _check_bare(model, spec)
        turned = replace(turned, drive=replace(spec.drive, rest=kind.neutral()))
    if spec.rotor is not None:
        turned = replace(turned, rotor=_turned_rotor(model, spec, spec.rotor))
    return turned


def _check_bare(model: Robot, spec: JointSpec) -> None:
    """Refuse values that refer to the coordinates, for the inverse placement has other coordinates."""
    others = {"friction_speed", "rest", "rotor"} | ({"actuated"} if len(set(spec.actuated or ())) < 2 else set())
    for name in spec.additions():
        if name not in others:
            what = "motors on some" if name == "actuated" else name
            lost = f"the degrees of freedom that it loses when it is turned round ({spec.kind.description})"
            _fail(model, spec, f"has {what} of {lost}")


def _turned_rotor(model: Robot, spec: JointSpec, rotor: Rotor) -> Rotor:
    """The equivalent rotor on the other body.

    A rotor of inertia J that spins about the axis a at the ratio n on a body of angular velocity ω has, in addition to
    the body's own, the energy J n q̇ a·ω + J n² q̇² / 2. The bodies' velocities differ by s q̇ along a. With the ratio
    n - 2s and the inertia J n / (n - 2s), both terms are the same for the other body.
    """
    axis, s = _constant(model, spec, spec.kind, rotor.axis_on(spec.kind))
    ratio = rotor.ratio - 2.0 * s
    if rotor.inertia * rotor.ratio == 0.0:
        return Rotor(0.0, rotor.ratio, _three(axis))
    if rotor.ratio / ratio <= 0.0 if ratio else True:
        _fail(
            model,
            spec,
            f"has a rotor of the ratio {rotor.ratio:g}, which is too slow to do the same on the other body; "
            "give its inertia as armature and to the bodies instead",
        )
    return Rotor(rotor.inertia * rotor.ratio / ratio, ratio, _three(axis))


def _constant(model: Robot, spec: JointSpec, kind: JointKind, axis: Vec3) -> tuple[Vec3, float]:
    """The axis in the moving side's coordinates, and the rate about it per unit joint rate; neither may change."""
    rng = np.random.default_rng(0)
    infinite = (float("inf"),) * kind.nq
    rows = []
    for q in (kind.neutral(), *(kind.random(rng, [-x for x in infinite], infinite) for _ in range(3))):
        motion = kind.calc([float(x) for x in q], [0.0] * kind.nv)
        moved = motion.X_J.E @ axis
        rows.append([*_three(moved), float(motion.S.columns[0].angular.dot(moved))])
    if np.ptp(np.array(rows), axis=0).max() > _CONSTANT:
        _fail(
            model,
            spec,
            "has a rotor about an axis that turns as the joint moves, so it can only be on the body it is on",
        )
    return Vec3(*rows[0][:3]), rows[0][3]


def _three(vector: Vec3) -> tuple[float, float, float]:
    x, y, z = (float(component) for component in vector.components())
    return x, y, z


def _fail(model: Robot, spec: JointSpec, sentence: str) -> NoReturn:
    """Raise. The message names the joint to lock, which for followers and coupled joints has another name."""
    joint = model.joints[spec.name]
    first = leader_of(model, joint)
    if first.coupling is not None:
        lock = f"lock coupling {first.coupling!r} first, which moves it"
    elif first is not joint:
        lock = f"lock {first.name!r} first, which it follows"
    else:
        lock = "lock it first"
    raise ModelError(f"joint {spec.name!r} {sentence}; choose a root on the other side of it, or {lock}")
