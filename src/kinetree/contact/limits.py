"""Limits, dry friction and couplings of joints, with the softness that the file gives them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from kinetree.contact.inverse_weights import InverseWeights
from kinetree.contact.mixing import softness
from kinetree.contact.spec import CouplingSpec, FrictionSpec, LimitSpec, Unsupported
from kinetree.joints import Spherical
from kinetree.joints.wrapping import Wrapping
from kinetree.model import Joint, Model
from kinetree.model.extras import JointSettings
from kinetree.model.reference import reference_configuration

__all__ = ["couplings", "frictions", "limits"]

Found = tuple[list[LimitSpec], list[Unsupported]]

_ROUNDING = 1e-9


def limits(robot: Model, weights: InverseWeights, period: float) -> Found:
    """All limits of positions; a follower's only where they are narrower than what its leader's leave it."""
    found: list[LimitSpec] = []
    unsupported: list[Unsupported] = []
    settings = {one.joint: one for one in robot.extras.joints}
    for joint in robot.joints.values():
        own = settings.get(joint.name, JointSettings(joint.name))
        lower, upper = _range(joint, own)
        if len(lower) > 1:
            if any(map(math.isfinite, (*lower, *upper))):
                reason = (
                    "limits of joints with several coordinates have no constraint yet; split it into several joints"
                )
                unsupported.append(Unsupported("limit", joint.name, reason))
            continue
        if not lower or (lower[0] == -math.inf and upper[0] == math.inf) or _is_implied(robot, joint):
            continue
        soft = softness(own.solref_limit, own.solimp_limit, weights.of_joint(joint.name), period)
        found.append(LimitSpec(joint.name, lower[0], upper[0], own.margin, soft))
    return found, unsupported


def frictions(robot: Model, weights: InverseWeights, period: float) -> list[FrictionSpec]:
    """Dry friction of all degrees of freedom that have it."""
    settings = {one.joint: one for one in robot.extras.joints}
    found = []
    for joint in robot.joints.values():
        own = settings.get(joint.name, JointSettings(joint.name))
        for k, loss in enumerate(joint.friction):
            if loss > 0.0:
                soft = softness(own.solref_friction, own.solimp_friction, weights.of_joint(joint.name, k), period)
                found.append(FrictionSpec(joint.name, k, loss, soft))
    return found


def couplings(robot: Model, weights: InverseWeights, period: float) -> tuple[list[CouplingSpec], list[Unsupported]]:
    """The equality constraints between joints that are active, and those that have no rows yet."""
    found: list[CouplingSpec] = []
    unsupported: list[Unsupported] = []
    q0 = reference_configuration(robot)
    for k, one in enumerate(robot.extras.equalities):
        if not one.active:
            continue
        name = one.name or f"equality[{k}]"
        if one.kind != "joint":
            unsupported.append(
                Unsupported("equality", name, f"equalities of the kind {one.kind!r} have no constraint yet")
            )
            continue
        joints = [robot.joints[joint] for joint in (one.first, one.second) if joint]
        inverse = sum(weights.of_joint(joint.name) for joint in joints)
        reference = [float(q0[joint.q_start]) for joint in joints]
        coefficients = one.coefficients if one.second else (one.coefficients[0], 0.0, 0.0, 0.0, 0.0)
        soft = softness(one.solref, one.solimp, inverse, period)
        found.append(
            CouplingSpec(name, one.first, one.second or None, coefficients, (reference[0], sum(reference[1:])), soft)
        )
    return found, unsupported


def _range(joint: Joint, settings: JointSettings) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The smallest and largest value of each coordinate; of a ball joint, of its angle."""
    kind = joint.kind
    while isinstance(kind, Wrapping):
        kind = kind.kind
    if isinstance(kind, Spherical):
        return ((-math.inf,), (max(settings.range),)) if settings.limited else ((), ())
    real = [*_real(joint)]
    return tuple(joint.limits.lower[k] for k in real), tuple(joint.limits.upper[k] for k in real)


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
