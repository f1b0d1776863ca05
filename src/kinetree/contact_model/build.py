"""From a robot to its soft constraints: as MuJoCo takes them from an MJCF file, with its defaults for other files."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.algorithms.softness import Softness
from kinetree.collision import contacts, is_supported, unsupported
from kinetree.contact_model.equalities import connections, couplings, other_equalities
from kinetree.contact_model.held_spec import ConnectionSpec, LoopSpec
from kinetree.contact_model.inverse_weights import InverseWeights
from kinetree.contact_model.limits import frictions, limits
from kinetree.contact_model.mixing import LEAST_FRICTION
from kinetree.contact_model.pairs import FREE, Pairs, about_many, touching_pairs
from kinetree.contact_model.settings import Rigid, Setting, SettingName, friction_number, setting_named
from kinetree.contact_model.shapes import Shapes, Surface, kind_of
from kinetree.contact_model.spec import (
    CouplingSpec,
    FrictionSpec,
    LimitSpec,
    SoftConstraints,
    Unsupported,
)
from kinetree.contact_model.tendon_rows import tendon_inertias, tendon_rows
from kinetree.contact_model.touches import Side, Touches, TouchingShape, TouchSpec, in_order_of_appearance
from kinetree.errors import OptionError, SimulationWarning
from kinetree.model import Model, check_robot
from kinetree.model.constraint_numbers import listed
from kinetree.model.constraints import Constraint, Contact, Loop, holds
from kinetree.model.extras import SimulationOptions

__all__ = ["soft_constraints"]

_LEAST_RATIO = 1e-15


def soft_constraints(
    robot: Model,
    timestep: float | None = None,
    *,
    constraints: Constraint | Sequence[Constraint] = (),
    setting: SettingName = "mujoco",
    friction: float | None = None,
    stiffness: float | None = None,
    dissipation: float | None = None,
    restitution: float | None = None,
    accurate: bool | None = None,
    correction: float | None = None,
    fastest_correction: float | None = None,
    tolerance: float | None = None,
    reach: float | None = None,
    capacity: int | None = None,
    sleep: float | bool | None = None,
) -> SoftConstraints:
    """All soft constraints of a robot: contacts, limits, dry friction, couplings of joints, connections and welds.

    Args:
        robot: the robot.
        timestep: that of the simulation, s; by default that of the robot's options, or MuJoCo's, 0.002 s. For "mujoco"
            twice this is the shortest time constant of a constraint; for the others it is the step that
            `contact_dynamics` takes the acceleration of. Functions that take steps use their own.
        constraints: a list of `kt.constraints.Loop` and `kt.constraints.Contact` that hold as well, as rows that are
            almost rigid: a force moves them by a ten-thousandth of the displacement without the constraint. Errors
            vanish as their gains say, or with a time constant of 0.02 s without gains. A contact needs its place, `at`.
            The result is the option `contact` of `contact_dynamics`, `rollout` and `simulate`, where it takes the place
            of True.
        setting: how hard they push. "mujoco": springs and dampers in accelerations, with the file's numbers.
            "compliant": springs and dampers in physical units. "rigid": no overlap, and Coulomb's friction without
            lift-off. Both are laws of a step; limits, dry friction and couplings of joints are near-rigid in them.
        friction: the coefficient of sliding friction of all contacts, instead of those of the shapes.
        stiffness: "compliant": of each point of contact, N/m, 1e5 by default.
        dissipation: "compliant": damping over stiffness, s, 0.02 by default.
        restitution: "rigid": the normal speed after an impact over that before, 0 by default.
        accurate: "rigid": whether up to 40 rounds make friction and normal motion agree to `tolerance`. By default
            there is one round, which takes friction's lift from the motion at the step's beginning.
        correction: "rigid": the time in which overlaps are corrected, s, 0.02 by default.
        fastest_correction: "rigid": the largest speed at which they are, 1 m/s by default (rad/s, of joints).
        tolerance: "rigid": the residual at which rounds end, 1e-8 m/s by default.
        reach: "rigid": how far contacts look ahead, 0.02 m by default. Bodies that move farther in one step may overlap
            before they are pushed back.
        capacity: the most pairs of shapes that may touch at once where many pairs may touch (not "rigid"), which is
            what memory and the time of a step grow with. By default there is room for all up to 10,000, and for 16
            per shape of more. In a step in which more touch, those that come first in `touches` push, its error is
            infinite, and `simulate` and `rollout` warn of it.
        sleep: a speed, m/s, such as 1e-3: in `simulate` and `rollout` bodies that touch each other, and that have all
            been slower for 0.02 s, sleep: they stay exactly where they are, and take hardly any time, until
            something that moves touches one of them, or a force acts on it (`kinetree docs contact`). True takes the
            file's tolerance, 1e-3 by default; None does so if the file's flag "sleep" is set, False never. Not "rigid".

    `unsupported` names the parts without a constraint yet.

    Raises:
        OptionError: the time step, the capacity or the speed of bodies that may sleep is not positive, the constraints
            have a fault, the setting is unknown, or a number is out of its range or belongs to another setting.
        NameNotFoundError: the robot has no such frame.

    >>> import kinetree as kt
    >>> from kinetree.contact_model import soft_constraints
    >>> [limit.joint for limit in soft_constraints(kt.zoo.load("arm6")).limits][:2]
    ['base_yaw', 'shoulder_pitch']
    """
    options = check_robot(robot).extras.options or SimulationOptions()
    step = options.timestep if timestep is None else timestep
    if isinstance(step, bool) or not isinstance(step, Real) or not 0.0 < step < math.inf:
        raise OptionError(f"timestep is {timestep!r:.40}, but it must be a positive number of seconds")
    if capacity is not None and (isinstance(capacity, bool) or not isinstance(capacity, int) or capacity < 1):
        raise OptionError(f"capacity is {capacity!r:.40}, but it must be a positive number of pairs of shapes")
    law = setting_named(
        setting, step,
        {
            "stiffness": stiffness, "dissipation": dissipation, "restitution": restitution, "accurate": accurate,
            "correction": correction, "fastest_correction": fastest_correction, "tolerance": tolerance,
            "reach": reach,
        },
    )  # fmt: skip
    flags = options.flags
    period = 2.0 * step if flags.refsafe else 0.0
    pairs = touching_pairs(robot, options) if flags.constraint and flags.contact and robot.nv else None
    weights = InverseWeights(robot)
    of_tendons, not_there = tendon_inertias(robot)
    loops = loop_rows(robot, weights, constraints, period)
    soft = SoftConstraints(
        is_elliptic=options.cone == "elliptic" or law is not None, friction_ratio=max(options.impratio, _LEAST_RATIO),
        unsupported=tuple(not_there), tendons=tuple(of_tendons), loops=tuple(loops), setting=law, capacity=capacity,
        sleep=_speed_of_sleep(sleep, options, law),
    )  # fmt: skip
    if not flags.constraint or not robot.nv:
        return soft
    not_there += _of_options(options) + _of_parts(robot)
    own_limits: list[LimitSpec] = []
    own_frictions: list[FrictionSpec] = []
    own_couplings: list[CouplingSpec] = []
    own_connections: list[ConnectionSpec] = []
    touches: Sequence[TouchSpec] = ()
    absent: Sequence[TouchSpec] = ()
    remarks: tuple[str, ...] = ()
    if flags.limit:
        own_limits, more = limits(robot, weights, period)
        not_there += more
    if flags.frictionloss:
        own_frictions = frictions(robot, weights, period)
        soft = replace(soft, friction_period=period)
    if flags.equality:
        own_couplings = couplings(robot, weights, period)
        own_connections = connections(robot, weights, period)
        not_there += other_equalities(robot)
    more_of_tendons, more = tendon_rows(robot, weights, period, flags)
    of_tendons += more_of_tendons
    not_there += more
    if pairs is not None:
        sliding = None if friction is None else max(friction_number(friction), LEAST_FRICTION)
        ahead = law.reach if isinstance(law, Rigid) else 0.0
        touches, absent, more, remarks = _touches(robot, pairs, weights, options, period, sliding, ahead)
        not_there += more
    return replace(
        soft, limits=tuple(own_limits), frictions=tuple(own_frictions), couplings=tuple(own_couplings),
        touches=touches, absent=absent, unsupported=tuple(not_there), connections=tuple(own_connections),
        tendons=tuple(of_tendons), remarks=(*remarks, *_of_sleep(robot, soft)),
    )  # fmt: skip


def _speed_of_sleep(sleep: float | bool | None, options: SimulationOptions, law: Setting) -> float | None:
    """The speed below which bodies may sleep, or None."""
    if sleep is None:
        sleep = options.flags.sleep and not isinstance(law, Rigid)
    if sleep is False:
        return None
    tolerance = options.sleep_tolerance if sleep is True else sleep
    if not isinstance(tolerance, Real) or not 0.0 < tolerance < math.inf:
        raise OptionError(f"sleep is {sleep!r:.40}, but it must be a positive speed in m/s, True, False or None")
    if isinstance(law, Rigid):
        raise OptionError("bodies with rigid contacts do not sleep: leave out sleep, or take another setting")
    return float(tolerance)


def _of_sleep(robot: Model, soft: SoftConstraints) -> list[str]:
    """Remarks about bodies that the file begins with asleep."""
    names = [body.body for body in robot.extras.bodies if body.sleep == "init"]
    if soft.sleep is None or not names:
        return []
    return [f"{', '.join(map(repr, names))}: bodies are awake when a motion begins, whatever their file says"]


def _touches(
    robot: Model, pairs: Pairs, weights: InverseWeights, options: SimulationOptions, period: float,
    sliding: float | None, reach: float,
) -> tuple[Touches, Sequence[TouchSpec], list[Unsupported], tuple[str, ...]]:  # fmt: skip
    """The pairs that may touch, those of objects that are absent, those that cannot touch, and simplifications."""
    shapes = Shapes(robot)
    may, missing = _possible(robot, pairs, weights, shapes)
    table = np.array([pairs.first[may], pairs.second[may], pairs.number[may]])
    is_used = np.zeros(len(pairs.shapes), bool)
    is_used[table[:2]] = True
    table[:2] = (np.cumsum(is_used) - 1)[table[:2]]
    used = [pairs.shapes[k] for k in np.flatnonzero(is_used).tolist()]
    of_others = _weights_of_others(robot, used)
    is_present = np.array([one.alternative in (None, robot.bodies[one.body].present) for one in used], bool)
    sides = tuple(
        _side(one, of_others.get((one.body, one.alternative), weights), shapes, is_there)
        for one, is_there in zip(used, is_present.tolist(), strict=True)
    )
    own = {k: robot.extras.contact_pairs[k] for k in table[2][table[2] >= 0].tolist()}
    both = is_present[table[0]] & is_present[table[1]]
    touches, absent = (
        Touches(sides, table[:, some], own, options, period, sliding, reach) for some in (both, ~both)
    )  # fmt: skip
    if remark := about_many(robot, touches):
        warnings.warn(remark, SimulationWarning, stacklevel=3)
    return touches, absent, missing, tuple(shapes.remarks())


def _weights_of_others(robot: Model, shapes: Sequence[Surface]) -> dict[tuple[str, int | None], InverseWeights]:
    """The inverse inertias of robots in which a body is another one of its alternatives, where these differ."""
    others = dict.fromkeys((shape.body, shape.alternative) for shape in shapes if shape.alternative is not None)
    weights: dict[tuple[str, int | None], InverseWeights] = {}
    for name, k in others:
        body = robot.bodies[name]
        if k is not None and body.alternatives[k].inertia != body.inertia:
            weights[name, k] = InverseWeights(robot.with_present(name, k))
    return weights


def _possible(
    robot: Model, pairs: Pairs, weights: InverseWeights, shapes: Shapes
) -> tuple[NDArray[np.bool_], list[Unsupported]]:
    """Which pairs are computed, and the unsupported ones."""
    order = in_order_of_appearance(np.ravel([pairs.first, pairs.second], order="F"), len(pairs.shapes))
    why_not = {k: shapes.why_not(pairs.shapes[k]) for k in order.tolist()}
    faulty = {pairs.shapes[k].name for k, reason in why_not.items() if reason}
    is_faulty = np.array([one.name in faulty for one in pairs.shapes], bool)
    is_plain = np.array([one.is_plain for one in pairs.shapes], bool)
    if robot.extras.collision_pairs:
        is_plain[:] = False
    free = _nearest_free(robot)
    mechanism = np.array([free[robot.bodies[one.body].slot] for one in pairs.shapes], np.int64)
    names = [kind_of(shape.geometry) for shape in pairs.shapes]
    known = list(dict.fromkeys(names))
    kind = np.array([known.index(name) for name in names], np.int64)
    supported = np.array([is_supported(a, b) for a in known for b in known], bool).reshape(len(known), len(known))
    i, j = pairs.first, pairs.second
    in_question = is_faulty[i] | is_faulty[j] | ~supported[kind[i], kind[j]]
    in_question |= is_plain[i] & is_plain[j] & (mechanism[i] == mechanism[j])

    may = np.ones(len(i), bool)
    missing: dict[str, Unsupported] = {}
    for k in np.flatnonzero(in_question).tolist():
        numbers = int(i[k]), int(j[k])
        a, b = (pairs.shapes[m] for m in numbers)
        for m, side in zip(numbers, (a, b), strict=True):
            if reason := why_not[m]:
                missing[side.name] = Unsupported("shape", side.name, reason)
        name = f"{a.name}, {b.name}"
        if a.name in missing or b.name in missing:
            may[k] = False
        elif not supported[kind[i[k]], kind[j[k]]]:
            missing[name] = Unsupported("pair", name, unsupported(kind_of(a.geometry), kind_of(b.geometry)))
            may[k] = False
        elif is_plain[i[k]] and is_plain[j[k]] and overlap_at_rest(weights, a, b, shapes):
            missing[name] = Unsupported("overlap", name, _OVERLAP)
            may[k] = False
    return may, [*missing.values()]


def _side(side: Surface, weights: InverseWeights, shapes: Shapes, is_present: bool) -> Side:
    shape = shapes.of(side)
    assert shape is not None
    placed = TouchingShape(
        side.body, side.name, shape.shape, shape.placement, side.place[1], shape.within, side.alternative,
        is_present,
    )  # fmt: skip
    return Side(placed, side.contact, weights.of_body(side.body).translation)


_OVERLAP = (
    "they overlap in the reference configuration, so their contacts are left out; an SRDF file can say what touches"
)


def _of_options(options: SimulationOptions) -> list[Unsupported]:
    """Options without a consequence here."""
    unsupported = []
    if options.noslip_iterations:
        unsupported.append(Unsupported("option", "noslip_iterations", _NOSLIP))
    for flag, reason in _FLAGS.items():
        if getattr(options.flags, flag):
            unsupported.append(Unsupported("option", flag, reason))
    return unsupported


_NOSLIP = (
    "friction is not corrected after the solution: what that gives depends on the order of the contacts; a larger "
    "impratio with elliptic cones lets bodies slip less"
)
_FLAGS = {
    "diagexact": "constraints are measured by approximate inertias in the reference configuration",
    "speculative": "contacts are those of the present configuration",
    "ipc": "contacts are soft constraints only",
}


def _of_parts(robot: Model) -> list[Unsupported]:
    """Deformable bodies."""
    return [
        Unsupported("body", part.tag, "deformable bodies are not simulated")
        for part in robot.extras.unused
        if part.tag == "deformable"
    ]


def overlap_at_rest(weights: InverseWeights, a: Surface, b: Surface, shapes: Shapes) -> bool:
    """Whether two shapes of one mechanism, whose file says nothing of contacts, overlap in the reference configuration.

    Shapes of bodies between which there is a free joint are not of one mechanism.
    """
    placed = [(shapes.of(side), weights.placement_of(side.body)) for side in (a, b)]
    (one, X_one), (other, X_other) = ((surface.shape, surface.placement @ X) for surface, X in placed if surface)
    return any(float(point.distance) < 0.0 for point in contacts(one, X_one, other, X_other))


def _nearest_free(robot: Model) -> list[int]:
    """By slot, the last free joint on the way from the root: there is one between two bodies if theirs differ."""
    nearest = [0] * robot.tree.size
    for i, p in robot.tree.outward:
        nearest[i] = i if robot.tree.joint[i].nv == FREE else nearest[p]
    return nearest


_HARD = 0.9999
"""The impedance: a force moves rows by a ten-thousandth of the displacement without the constraint."""
_USUAL = (0.02, 1.0)
"""The time constant, s, and the damping ratio with which errors vanish unless gains are given: those of MuJoCo."""


def loop_rows(robot: Model, weights: InverseWeights, constraints: Any, period: float) -> list[LoopSpec]:
    """The rows of the constraints.

    Raises:
        OptionError: it is not a list of constraints, a number differs from sample to sample, or a contact has no place.
        NameNotFoundError: the robot has no such frame.
    """
    rows = []
    for c in _checked(constraints):
        (hold,) = holds(robot.frames, [c])
        if isinstance(c, Contact) and hold.has_place and c.at is None:
            raise OptionError(
                f"soft_constraints: {c!r} says not where {c.frame!r} is held, and it would creep; give at=, such as "
                "kt.frame_placement(robot, q, frame)"
            )
        bodies = [robot.frames[name].body for name in _frames(c)]
        inverse = [weights.of_body(body) for body in bodies]
        reference = _reference(c)
        soft = Softness(
            reference, (_HARD, _HARD, 0.0, 0.5, 2.0), sum(one.translation for one in inverse),
            period if reference is _USUAL else 0.0,
        )  # fmt: skip
        rows.append(LoopSpec(c, soft, sum(one.rotation for one in inverse)))
    return rows


def _checked(constraints: Any) -> Sequence[Constraint]:
    several, kind = (
        listed(constraints),
        "soft_constraints: constraints must be a list of kt.constraints.Contact and kt.constraints.Loop",
    )
    if not isinstance(several, tuple):
        raise OptionError(f"{kind}, not {several!r:.60}")
    for k, c in enumerate(several):
        if not isinstance(c, Contact | Loop):
            raise OptionError(f"{kind}, but constraint {k} is {c!r:.60}")
        numbers = [c.position_gain, c.velocity_gain, *([c.length] if isinstance(c, Loop) else [])]
        is_array = isinstance(c, Contact) and hasattr(c.at, "shape")
        if is_array or not all(x is None or isinstance(x, float) for x in numbers):
            raise OptionError(
                f"soft_constraints: the place, the length or a gain of constraint {k} on {' and '.join(_frames(c))} "
                "differs from sample to sample, but it is part of the compiled function here; give one for all"
            )
    return several


def _frames(c: Constraint) -> tuple[str, ...]:
    return (c.frame,) if isinstance(c, Contact) else (c.frame_a, c.frame_b)


def _reference(c: Constraint) -> tuple[float, float]:
    """How errors vanish: by the gains that are given, if any is, as stiffness and damping with the opposite sign."""
    assert isinstance(c.position_gain, float)
    assert isinstance(c.velocity_gain, float)
    if not c.position_gain and not c.velocity_gain:
        return _USUAL
    return -c.position_gain * _HARD, -c.velocity_gain * _HARD
