"""Limits and dry friction of joints, with the softness that the file gives them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from kinetree.algorithms.transmissions import across_coordinate
from kinetree.contact_model.inverse_weights import InverseWeights
from kinetree.contact_model.mixing import softness
from kinetree.contact_model.spec import FrictionSpec, LimitSpec, Unsupported
from kinetree.joints import Spherical
from kinetree.joints.wrapping import Wrapping
from kinetree.model import Joint, Model
from kinetree.model.extras import JointSettings

__all__ = ["frictions", "limits"]

Found = tuple[list[LimitSpec], list[Unsupported]]

_ROUNDING = 1e-9
_JUMPS = (
    "its coordinates go on at another point of their chart where that ends, so they have no limits; take a joint of "
    "other coordinates, or several joints"
)


def limits(robot: Model, weights: InverseWeights, period: float) -> Found:
    """All limits of positions; a follower's only where they are narrower than those implied by its leader's."""
    specs: list[LimitSpec] = []
    unsupported: list[Unsupported] = []
    settings = {one.joint: one for one in robot.extras.joints}
    for joint in robot.joints.values():
        own = settings.get(joint.name, JointSettings(joint.name))
        bounds = [x for x in _bounds(joint, own) if math.isfinite(x.lower) or math.isfinite(x.upper)]
        if not bounds or _is_implied(robot, joint):
            continue
        if joint.kind.recharts:
            unsupported.append(Unsupported("limit", joint.name, _JUMPS))
            continue
        for x in bounds:
            soft = softness(own.solref_limit, own.solimp_limit, _weight(weights, joint, x.coordinate), period)
            specs.append(LimitSpec(joint.name, x.lower, x.upper, own.margin, soft, x.coordinate))
    return specs, unsupported


def frictions(robot: Model, weights: InverseWeights, period: float) -> list[FrictionSpec]:
    """Dry friction of all degrees of freedom that have it."""
    settings = {one.joint: one for one in robot.extras.joints}
    specs = []
    for joint in robot.joints.values():
        own = settings.get(joint.name, JointSettings(joint.name))
        for k, loss in enumerate(joint.friction):
            if loss > 0.0:
                specs.append(FrictionSpec.of(own, k, loss, weights.of_joint(joint.name, k), period))
    return specs


class _Bounds(NamedTuple):
    """The smallest and the largest value of a coordinate, or of the angle of a ball joint."""

    coordinate: int | None
    lower: float
    upper: float


def _bounds(joint: Joint, settings: JointSettings) -> list[_Bounds]:
    kind = joint.kind
    while isinstance(kind, Wrapping):
        kind = kind.kind
    if isinstance(kind, Spherical):
        return [_Bounds(None, -math.inf, max(settings.range))] if settings.limited else []
    return [_Bounds(k, joint.limits.lower[k], joint.limits.upper[k]) for k in _real(joint)]


def _weight(weights: InverseWeights, joint: Joint, coordinate: int | None) -> float:
    """The inverse inertia along a coordinate."""
    if joint.kind.nv == 1 or coordinate is None:
        return weights.of_joint(joint.name)
    return weights.of_reach(across_coordinate(weights.view, joint.slot, 1.0, coordinate))


def _real(joint: Joint) -> Iterator[int]:
    """The places of its coordinates that are not part of a quaternion."""
    turning = {first + k for first in joint.kind.quaternions for k in range(4)}
    return (k for k in range(joint.kind.nq) if k not in turning)


def _is_implied(robot: Model, joint: Joint) -> bool:
    """Whether it follows another joint whose limits keep it within its own."""
    if joint.mimic is None:
        return False
    leader, (a, b) = robot.joints[joint.mimic.joint], (joint.mimic.multiplier, joint.mimic.offset)
    ends = sorted(a * x + b if a else b for x in (leader.limits.lower[0], leader.limits.upper[0]))
    return joint.limits.lower[0] <= ends[0] + _ROUNDING and ends[1] <= joint.limits.upper[0] + _ROUNDING
