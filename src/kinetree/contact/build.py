"""From a robot to its soft constraints: what MuJoCo takes from an MJCF file, its usual parameters for other files."""

from __future__ import annotations

from kinetree.collision import is_supported, unsupported
from kinetree.contact.inverse_weights import InverseWeights
from kinetree.contact.limits import couplings, frictions, limits
from kinetree.contact.mixing import softness, softness_across
from kinetree.contact.overlaps import overlap_at_rest
from kinetree.contact.pairs import TouchingPair, touching_pairs
from kinetree.contact.shapes import Surface, kind_of, shape_of
from kinetree.contact.spec import (
    CouplingSpec,
    FrictionSpec,
    LimitSpec,
    SoftConstraints,
    TouchingShape,
    TouchSpec,
    Unsupported,
)
from kinetree.errors import OptionError
from kinetree.model import Model
from kinetree.model.extras import SimulationOptions

__all__ = ["soft_constraints"]

_LEAST_RATIO = 1e-15


def soft_constraints(robot: Model, timestep: float | None = None) -> SoftConstraints:
    """All soft constraints of a robot: contacts, limits, dry friction, and couplings of joints.

    Args:
        robot: the robot.
        timestep: that of the simulation, s, twice which is the shortest time constant of a constraint; by default that
            of the robot's options, or MuJoCo's, 0.002 s.

    What has no constraint yet is named in `unsupported`.

    >>> import kinetree as kt
    >>> from kinetree.contact import soft_constraints
    >>> [limit.joint for limit in soft_constraints(kt.zoo.load("arm6")).limits][:2]
    ['base_yaw', 'shoulder_pitch']
    """
    options = robot.extras.options or SimulationOptions()
    step = options.timestep if timestep is None else timestep
    if not 0.0 < step < float("inf"):
        raise OptionError(f"timestep is {timestep!r:.40}, but it must be a positive number of seconds")
    flags = options.flags
    period = 2.0 * step if flags.refsafe else 0.0
    weights = InverseWeights(robot)
    not_there = _of_options(options) + _of_parts(robot)
    found = SoftConstraints(is_elliptic=options.cone == "elliptic", friction_ratio=max(options.impratio, _LEAST_RATIO))
    if not flags.constraint or not robot.nv:
        return found
    own_limits: list[LimitSpec] = []
    own_frictions: list[FrictionSpec] = []
    own_couplings: list[CouplingSpec] = []
    touches: list[TouchSpec] = []
    if flags.limit:
        own_limits, more = limits(robot, weights, period)
        not_there += more
    if flags.frictionloss:
        own_frictions = frictions(robot, weights, period)
    if flags.equality:
        own_couplings, more = couplings(robot, weights, period)
        not_there += more
    if flags.contact:
        touches, more = _touches(robot, options, weights, period)
        not_there += more
    return SoftConstraints(
        tuple(own_limits), tuple(own_frictions), tuple(own_couplings), tuple(touches), found.is_elliptic,
        found.friction_ratio, tuple(not_there),
    )  # fmt: skip


def _touches(
    robot: Model, options: SimulationOptions, weights: InverseWeights, period: float
) -> tuple[list[TouchSpec], list[Unsupported]]:
    found: list[TouchSpec] = []
    missing: dict[str, Unsupported] = {}
    for pair in touching_pairs(robot, options):
        for side in (pair.first, pair.second):
            if shape_of(side.geometry) is None:
                reason = (
                    f"a shape of the kind {side.geometry.shape!r} touches nothing yet; put simple shapes in its place"
                )
                missing[side.name] = Unsupported("shape", side.name, reason)
        if pair.first.name in missing or pair.second.name in missing:
            continue
        kinds = kind_of(pair.first.geometry), kind_of(pair.second.geometry)
        if not is_supported(*kinds):
            name = f"{pair.first.name}, {pair.second.name}"
            missing[name] = Unsupported("pair", name, unsupported(*kinds))
            continue
        if overlap_at_rest(robot, weights, pair):
            name = f"{pair.first.name}, {pair.second.name}"
            missing[name] = Unsupported("overlap", name, _OVERLAP)
            continue
        found.append(_touch(pair, weights, period, mixes=not options.flags.override))
    return found, [*missing.values()]


_OVERLAP = (
    "they overlap in the reference configuration, so their contacts are left out; an SRDF file can say what touches"
)


def _touch(pair: TouchingPair, weights: InverseWeights, period: float, *, mixes: bool) -> TouchSpec:
    touch = pair.touch
    one, other = weights.of_body(pair.first.body), weights.of_body(pair.second.body)
    return TouchSpec(
        _placed(pair.first),
        _placed(pair.second),
        touch.condim,
        touch.friction,
        softness(touch.solref, touch.solimp, one.translation + other.translation, period),
        softness_across(touch.solref_friction),
        touch.margin,
        touch.margin + touch.gap,
        touch.adhesion,
        (pair.first.contact.surface_velocity, pair.second.contact.surface_velocity),
        (pair.first.contact, pair.second.contact) if mixes and not pair.is_explicit else None,
    )


def _placed(side: Surface) -> TouchingShape:
    shape = shape_of(side.geometry)
    assert shape is not None
    return TouchingShape(side.body, side.name, shape, side.geometry.placement, side.place[1])


def _of_options(options: SimulationOptions) -> list[Unsupported]:
    """Options of which nothing here follows."""
    found = []
    if options.noslip_iterations:
        found.append(Unsupported("option", "noslip_iterations", "friction is not corrected after the solution"))
    for flag, reason in _FLAGS.items():
        if getattr(options.flags, flag):
            found.append(Unsupported("option", flag, reason))
    return found


_FLAGS = {
    "diagexact": "constraints are measured by approximate inertias in the reference configuration",
    "speculative": "contacts are those of the present configuration",
    "sleep": "all bodies are always simulated",
    "ipc": "contacts are soft constraints only",
}


def _of_parts(robot: Model) -> list[Unsupported]:
    """Tendons' constraints, and deformable bodies."""
    found = []
    for tendon in robot.extras.tendons:
        if tendon.limited:
            found.append(Unsupported("tendon", tendon.name, "limits of tendons have no constraint yet"))
        if tendon.friction:
            found.append(Unsupported("tendon", tendon.name, "dry friction of tendons has no constraint yet"))
        if tendon.armature and tendon.kind != "fixed":
            found.append(Unsupported("tendon", tendon.name, "armature of spatial tendons is not in the inertias"))
    found += [
        Unsupported("body", part.tag, "deformable bodies are not simulated")
        for part in robot.extras.unused
        if part.tag == "deformable"
    ]
    return found
