"""Limits, dry friction, couplings and armature of tendons, with the softness that the file gives them."""

from __future__ import annotations

from collections.abc import Iterator

from kinetree.algorithms.tendon_paths import Round, Stretch, along_path
from kinetree.algorithms.transmissions import Reach, View, along_tendon
from kinetree.contact_model.equalities import active, anchored, coefficients_of, frame_of_site
from kinetree.contact_model.held_spec import (
    HeldFrame,
    LengthSpec,
    RoundShape,
    TendonCoupling,
    TendonFriction,
    TendonInertia,
    TendonLimit,
    TendonRow,
)
from kinetree.contact_model.inverse_weights import InverseWeights
from kinetree.contact_model.mixing import softness
from kinetree.contact_model.spec import Unsupported
from kinetree.model import Geometry, Model
from kinetree.model.extras import Equality, Pulley, SimulationFlags, Tendon, TendonJoint, TendonShape, TendonSite
from kinetree.model.reference import armature_of_tendon
from kinetree.tree.holds import Anchor

__all__ = ["reach_of_tendon", "tendon_inertias", "tendon_rows"]


def reach_of_tendon(view: View, robot: Model, length: LengthSpec) -> Reach:
    """The length of a tendon in a configuration."""
    if length.terms:
        return along_tendon(view, [(robot.joints[joint].slot, factor) for joint, factor in length.terms], 1.0)
    stretches = [Stretch([_anchored(robot, step) for step in steps], divisor) for steps, divisor in length.stretches]
    return along_path(view, stretches)


def tendon_rows(
    robot: Model, weights: InverseWeights, period: float, flags: SimulationFlags
) -> tuple[list[TendonRow], list[Unsupported]]:
    """All rows of tendons but those of their inertia."""
    rows: list[TendonRow] = []
    unsupported: list[Unsupported] = []
    lengths = _Lengths(robot, weights)
    for k, tendon in enumerate(robot.extras.tendons):
        is_active = (tendon.limited and flags.limit, tendon.friction > 0.0 and flags.frictionloss)
        if not any(is_active):
            continue
        if reason := _unknown(robot, tendon):
            unsupported.append(Unsupported("tendon", _name(k, tendon), reason))
            continue
        length = lengths.of(k, tendon)
        if is_active[0]:
            soft = softness(tendon.solref_limit, tendon.solimp_limit, lengths.weight(length), period)
            rows.append(TendonLimit(length, *tendon.range, tendon.margin, soft))
        if is_active[1]:
            soft = softness(tendon.solref_friction, tendon.solimp_friction, lengths.weight(length), period)
            rows.append(TendonFriction(length, tendon.friction, soft))
    by_name = {tendon.name: (k, tendon) for k, tendon in enumerate(robot.extras.tendons)}
    for name, one in active(robot, "tendon") if flags.equality else []:
        tendons = [by_name[tendon] for tendon in (one.first, one.second) if tendon]
        reasons = [reason for _, tendon in tendons if (reason := _unknown(robot, tendon))]
        if reasons:
            unsupported.append(Unsupported("equality", name, reasons[0]))
        else:
            rows.append(_coupling(name, one, [lengths.of(*tendon) for tendon in tendons], lengths, period))
    return rows, unsupported


def tendon_inertias(robot: Model) -> tuple[list[TendonRow], list[Unsupported]]:
    """The armature of tendons that is not armature of a joint."""
    rows: list[TendonRow] = []
    unsupported: list[Unsupported] = []
    for k, tendon in enumerate(robot.extras.tendons):
        armature = armature_of_tendon(robot, tendon)
        if not armature:
            continue
        if tendon.kind != "fixed":
            reason = "armature of spatial tendons is not in the inertias"
            unsupported.append(Unsupported("tendon", _name(k, tendon), reason))
        elif len((length := _length(robot, k, tendon)).terms) > 1:
            rows.append(TendonInertia(length, armature))
    return rows, unsupported


class _Lengths:
    """Lengths in the reference configuration, and how easily they change there."""

    def __init__(self, robot: Model, weights: InverseWeights) -> None:
        self._robot, self._weights = robot, weights
        self._reaches: dict[LengthSpec, Reach] = {}

    def of(self, number: int, tendon: Tendon) -> LengthSpec:
        """The length of a tendon, by its place in the file."""
        length = _length(self._robot, number, tendon)
        self._reaches[length] = reach_of_tendon(self._weights.view, self._robot, length)
        return length

    def reference(self, length: LengthSpec) -> float:
        """Its value."""
        return float(self._reaches[length].length)

    def weight(self, length: LengthSpec) -> float:
        """J M⁻¹ Jᵀ."""
        return self._weights.of_reach(self._reaches[length])


def _coupling(name: str, one: Equality, lengths: list[LengthSpec], table: _Lengths, period: float) -> TendonCoupling:
    inverse = sum(table.weight(length) for length in lengths)
    first, second = [*(table.reference(length) for length in lengths), 0.0][:2]
    soft = softness(one.solref, one.solimp, inverse, period)
    leader = lengths[1] if one.second else None
    return TendonCoupling(name, lengths[0], leader, coefficients_of(one), (first, second), soft)


def _name(number: int, tendon: Tendon) -> str:
    return tendon.name or f"tendon[{number}]"


def _anchored(robot: Model, step: HeldFrame | RoundShape) -> Anchor | Round:
    if isinstance(step, HeldFrame):
        return anchored(robot, step)
    side = None if step.side is None else anchored(robot, step.side)
    return Round(anchored(robot, step.frame), step.radius, step.is_sphere, side, step.is_inside)


def _unknown(robot: Model, tendon: Tendon) -> str:
    """Why a tendon's length is not computed; empty if it is."""
    for step in tendon.path:
        if isinstance(step, TendonShape) and step.side_site:
            body, _ = _shape(robot, step)
            if robot.bodies[body].slot != robot.bodies[frame_of_site(robot, step.side_site).body].slot:
                return (
                    f"the side site of {step.shape!r} moves against it, so whether the tendon goes through its inside "
                    "is not known; put the site on the shape's body"
                )
    return ""


def _shape(robot: Model, step: TendonShape) -> tuple[str, Geometry]:
    """A shape of a path, and its body."""
    return next((body.name, x) for body in robot.bodies.values() for x in body.geometry if x.name == step.shape)


def _round(robot: Model, step: TendonShape) -> RoundShape:
    body, shape = _shape(robot, step)
    frame, radius, is_sphere = HeldFrame(body, shape.placement), shape.size[0], shape.shape == "sphere"
    if not step.side_site:
        return RoundShape(frame, radius, is_sphere, None, is_inside=False)
    side = frame_of_site(robot, step.side_site)
    place = (anchored(robot, side).placement @ anchored(robot, frame).placement.inverse).r
    is_inside = float(place.dot(place)) < radius**2  # of a cylinder too, MuJoCo takes the distance from its centre
    return RoundShape(frame, radius, is_sphere, side, is_inside)


def _length(robot: Model, number: int, tendon: Tendon) -> LengthSpec:
    terms = tuple((x.joint, x.coefficient) for x in tendon.path if isinstance(x, TendonJoint) and x.coefficient)
    return LengthSpec(_name(number, tendon), terms, () if tendon.kind == "fixed" else tuple(_stretches(robot, tendon)))


def _stretches(robot: Model, tendon: Tendon) -> Iterator[tuple[tuple[HeldFrame | RoundShape, ...], float]]:
    """The parts between pulleys, each with its divisor."""
    steps: list[HeldFrame | RoundShape] = []
    divisor = 1.0
    for step in (*tendon.path, Pulley(1.0)):
        if isinstance(step, TendonSite):
            steps.append(frame_of_site(robot, step.site))
        elif isinstance(step, TendonShape):
            steps.append(_round(robot, step))
        elif isinstance(step, Pulley):
            if steps:
                yield tuple(steps), divisor
            steps, divisor = [], step.divisor
