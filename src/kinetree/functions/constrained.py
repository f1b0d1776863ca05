"""Motion under constraints, as functions of arrays: contacts and closed loops."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, OptionNumbers, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.errors import OptionError
from kinetree.expr import Scalar
from kinetree.functions.constraint_options import (
    DAMPING,
    ERRORS,
    IN_SINGLE,
    ROWS,
    RULE,
    STABILISED,
    Constraints,
    acceleration_or_zeros,
    apart,
    frame_or_constraints_option,
    held,
    restitution_of_rows,
    row_count,
    rule_apart,
)
from kinetree.functions.drives import Passive, limits_option, passive_option, switched_on
from kinetree.model import Model
from kinetree.model.constraints import Constraint, holds, is_given
from kinetree.model.external_forces import ExternalForces
from kinetree.spatial import Force

__all__ = [
    "ConstrainedMotion",
    "Impact",
    "constrained_dynamics",
    "constraint_bias",
    "constraint_errors",
    "constraint_forces",
    "constraint_jacobian",
    "impact",
    "operational_space_inertia",
]

Forces = dict[int, Force]


class ConstrainedMotion(NamedTuple):
    """The result of `constrained_dynamics`: two parts of one array."""

    qdd: Array
    """Accelerations (…, nv)."""
    forces: Array
    """Constraint forces (…, m), one per row of the constraints."""


class Impact(NamedTuple):
    """The result of `impact`: two parts of one array."""

    v: Array
    """Velocities after the impact (…, nv)."""
    impulses: Array
    """Impulses along the rows of the constraints (…, m); N·s, N·m·s."""


@contextmanager
def _rows_as_said(rule: Mapping[str, Any]) -> Iterator[None]:
    """Context for division by a row's mobility, which is the constant zero for rows that can never be independent."""
    try:
        yield
    except ZeroDivisionError:
        if rule["tolerance"] or is_given(rule["damping"]):
            raise
        raise OptionError(
            "tolerance=0 takes all rows of the constraints to be independent, but here one of them holds what cannot "
            "move in any configuration, or what the rows before it hold; leave it out, or leave tolerance as it is"
        ) from None


def _dynamics(
    model: Form, q: Slots, v: Slots, tau: Slots, acceleration: Sequence[Scalar], *,
    constraints: Sequence[Constraint], passive: Sequence[str], limits: bool, f_ext: Forces, **rule: Any,
) -> algorithms.Constrained:  # fmt: skip
    acting = algorithms.driven(model.tree, q, v, tau, passive, limits)
    with _rows_as_said(rule):
        return algorithms.constrained_dynamics(
            model.tree,
            holds(model.frames, constraints),
            q,
            v,
            acting,
            f_ext,
            acceleration,
            algorithms.ConstraintRule(**rule),
        )


def _constrained_dynamics(
    model: Form, q: Slots, v: Slots, tau: Slots, acceleration: Sequence[Scalar], **options: Any
) -> list[Scalar]:
    motion, forces = _dynamics(model, q, v, tau, acceleration, **options)
    return [*motion, *forces]


def _constraint_forces(
    model: Form, q: Slots, v: Slots, tau: Slots, acceleration: Sequence[Scalar], **options: Any
) -> list[Scalar]:
    return _dynamics(model, q, v, tau, acceleration, **options).forces


def _impact(
    model: Form, q: Slots, v: Slots, restitution: Sequence[Scalar], *, constraints: Sequence[Constraint], **rule: Any
) -> list[Scalar]:
    with _rows_as_said(rule):
        after, impulses = algorithms.impact(
            model.tree, holds(model.frames, constraints), q, v, restitution, algorithms.ConstraintRule(**rule)
        )
    return [*after, *impulses]


def _inertia(model: Form, q: Slots, *, constraints: Sequence[Constraint], **rule: Any) -> list[Scalar]:
    with _rows_as_said(rule):
        return algorithms.operational_space_inertia(
            model.tree, holds(model.frames, constraints), q, algorithms.ConstraintRule(**rule)
        )


def _jacobian(model: Form, q: Slots, *, constraints: Sequence[Constraint]) -> list[Scalar]:
    return algorithms.constraint_jacobian(model.tree, holds(model.frames, constraints), q)


def _bias(model: Form, q: Slots, v: Slots, *, constraints: Sequence[Constraint]) -> list[Scalar]:
    motions = algorithms.constraint_motion(model.tree, holds(model.frames, constraints), q, v)
    return [x for motion in motions for x in motion.acceleration]


def _errors(model: Form, q: Slots, *, constraints: Sequence[Constraint]) -> list[Scalar]:
    return algorithms.constraint_errors(model.tree, holds(model.frames, constraints), q)


def _a_row_each(_: Model, options: Mapping[str, Any]) -> tuple[int | str, ...]:
    return (row_count(options["constraints"]),)


def _motion_and_rows(model: Model, options: Mapping[str, Any]) -> tuple[int | str, ...]:
    return (model.nv + row_count(options["constraints"]),)


def _has_many_rows(model: Model, options: Mapping[str, Any]) -> bool:
    looks = options["tolerance"] > 0.0 and options["damping"] == 0.0
    return looks and algorithms.are_many(row_count(options["constraints"]), model.nv)


_Q, _V, _TAU = ("q", "nq"), ("v", "nv"), ("tau", "forces")
_DYNAMICS: dict[str, Callable[[Model, Any], Hashable]] = {
    **held(STABILISED), **RULE, "passive": passive_option, "limits": limits_option,
}  # fmt: skip
_STABILISED: dict[str, OptionNumbers] = {"constraints": STABILISED, "damping": DAMPING}
_SIZES = {"rows": lambda options: row_count(options["constraints"])}
_ACCELERATION, _E = ("acceleration", "rows"), ("restitution", "rows")
_DENSE = Strategy(is_dense=_has_many_rows)
CONSTRAINED_DYNAMICS = Definition(
    "constrained_dynamics", (_Q, _V, _TAU, _ACCELERATION), _motion_and_rows, _constrained_dynamics, _DYNAMICS,
    numbers=_STABILISED, sizes=_SIZES, optional=("acceleration",), takes_forces=True, divides_by_inertia=True,
    in_single=IN_SINGLE, regroups=True, strategy=_DENSE,
)  # fmt: skip
CONSTRAINT_FORCES = Definition(
    "constraint_forces", (_Q, _V, _TAU, _ACCELERATION), _a_row_each, _constraint_forces, _DYNAMICS,
    numbers=_STABILISED, sizes=_SIZES, optional=("acceleration",), takes_forces=True, divides_by_inertia=True,
    in_single=IN_SINGLE, regroups=True, strategy=_DENSE,
)  # fmt: skip
IMPACT = Definition(
    "impact", (_Q, _V, _E), _motion_and_rows, _impact, {**held(ROWS), **RULE}, numbers={"damping": DAMPING},
    sizes=_SIZES, optional=("restitution",), divides_by_inertia=True,
    in_single=IN_SINGLE, regroups=True, strategy=_DENSE,
)  # fmt: skip
OPERATIONAL_SPACE_INERTIA = Definition(
    "operational_space_inertia", (_Q,), lambda _, options: (row_count(options["constraints"]),) * 2, _inertia,
    {"constraints": frame_or_constraints_option, **RULE}, numbers={"damping": DAMPING}, divides_by_inertia=True,
    in_single=IN_SINGLE, regroups=True, strategy=_DENSE,
)  # fmt: skip
CONSTRAINT_JACOBIAN = Definition(
    "constraint_jacobian", (_Q,), lambda _, options: (row_count(options["constraints"]), "nv"), _jacobian, held(ROWS),
)  # fmt: skip
CONSTRAINT_BIAS = Definition("constraint_bias", (_Q, _V), _a_row_each, _bias, held(ROWS))
CONSTRAINT_ERRORS = Definition(
    "constraint_errors", (_Q,), _a_row_each, _errors, held(ERRORS), numbers={"constraints": ERRORS},
)  # fmt: skip


@defined_by(CONSTRAINED_DYNAMICS, in_units=True)
def constrained_dynamics(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    constraints: Constraints,
    f_ext: ExternalForces | None = None,
    *,
    acceleration: ArrayLike | None = None,
    method: str = "kkt",
    damping: float = 0.0,
    tolerance: float | None = None,
    passive: Passive = False,
    limits: bool = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> ConstrainedMotion:
    """Forward dynamics under contacts and closed loops: M q̈ + h = τ + Jᵀ λ with J q̈ + J̇ v = a*.

    a* is zero, or Baumgarte's correction -velocity_gain J v - position_gain error of each constraint. Constraints are
    bilateral: nothing lifts off, slips or lets go by itself.

    Redundant, inconsistent and immovable rows are solved, never rejected: accelerations are exact where all rows can be
    met, λ is the minimum-norm solution that gives them, and rows that contradict each other are met in the
    least-squares sense. See `kinetree docs algorithms/constraints`.

    Args:
        v: velocity (…, nv); rad/s, m/s. It should satisfy J v = 0; velocity_gain drives it there.
        constraints: a list of `kt.constraints.Contact` and `kt.constraints.Loop`, or one of them. m is their total
            number of rows.
        acceleration: prescribed J q̈ + J̇ v (…, m) in addition to the gains' term, one number per row; zero by default.
            It serves places that move: their own acceleration, and velocity_gain times their velocity.
        method: "kkt" uses the sparse factors of M, "operational_space" articulated bodies, without forming M; the
            results are the same, the cost is not.
        damping: added to the diagonal of J M⁻¹ Jᵀ, so that rows yield: J q̈ + J̇ v = a* - damping λ; 1/kg, ….
        tolerance: a row depends on others, and shares their forces, if its mobility (J M⁻¹ Jᵀ for the row) with the
            others held is at most this fraction of its mobility alone. By default 1e-10 in float64 and 1e-7 in float32;
            0 takes all rows to be independent, which is cheaper.
        out: where to put both results, (…, nv + m): accelerations, then forces.

    Returns:
        (qdd (…, nv), forces (…, m)), parts of one array. A force acts on the frame that is held: a contact's comes from
        the world; a loop's acts on frame_b, and its opposite on frame_a. N along linear rows, N·m about angular ones.

    Raises:
        OptionError: constraints is not a list of these, or is empty; an unknown method; a negative damping.
        NameNotFoundError: the robot has no such frame.
        ShapeError, DTypeError, ConfigurationError: as for `aba`.
        SingularModelError: a joint moves nothing that has inertia.

    Source: Featherstone, RBDA (2008), sections 6.5 and 8.2.

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("quadruped")
    >>> feet = [kt.constraints.Contact(name) for name in robot.frames if name.endswith("foot")]
    >>> rest = np.zeros(robot.nv)
    >>> qdd, forces = kt.constraints.constrained_dynamics(robot, robot.neutral(), rest, rest, feet)
    >>> qdd.shape, forces.shape
    ((18,), (12,))
    """
    rest, numbers = apart(constraints, STABILISED)
    rule, more = rule_apart(method, damping, tolerance)
    options = rule | switched_on(robot, passive, limits)
    both = run(
        CONSTRAINED_DYNAMICS, robot, (q, v, tau, acceleration_or_zeros(acceleration, constraints, q)), f_ext=f_ext,
        parameters=parameters, numbers=[*numbers, *more], out=out, threads=threads, constraints=rest, **options,
    )  # fmt: skip
    return ConstrainedMotion(both[..., : robot.nv], both[..., robot.nv :])


@defined_by(CONSTRAINT_FORCES)
def constraint_forces(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    constraints: Constraints,
    f_ext: ExternalForces | None = None,
    *,
    acceleration: ArrayLike | None = None,
    method: str = "kkt",
    damping: float = 0.0,
    tolerance: float | None = None,
    passive: Passive = False,
    limits: bool = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The constraint forces λ of `constrained_dynamics` alone.

    Args:
        tau: joint forces (…, nv).
        constraints: a list of `kt.constraints.Contact` and `kt.constraints.Loop`, or one of them.
        acceleration: (…, m), as for `constrained_dynamics`.
        method, damping, tolerance, passive, limits: as for `constrained_dynamics`.
        parameters: values that override some of the robot's parameters; see `kinetree docs parameters`.
        out: where to put the result, (…, m).

    Returns:
        λ (…, m): the force of a contact on its frame, of a loop on frame_b; N along linear rows, N·m about angular
        ones. The corresponding joint forces are `constraint_jacobian`ᵀ λ.

    Raises:
        OptionError, NameNotFoundError, SingularModelError: as for `constrained_dynamics`.

    Source: Featherstone, RBDA (2008), section 8.2.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> tip = kt.constraints.Contact(list(robot.frames)[-1], [0, 0, 1])
    >>> kt.constraints.constraint_forces(robot, [0.4, 0.3], [0.0, 0.0], [0.0, 0.0], tip).shape
    (1,)
    """
    rest, numbers = apart(constraints, STABILISED)
    rule, more = rule_apart(method, damping, tolerance)
    options = rule | switched_on(robot, passive, limits)
    return run(
        CONSTRAINT_FORCES, robot, (q, v, tau, acceleration_or_zeros(acceleration, constraints, q)), f_ext=f_ext,
        parameters=parameters, numbers=[*numbers, *more], out=out, threads=threads, constraints=rest, **options,
    )  # fmt: skip


@defined_by(IMPACT)
def impact(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    constraints: Constraints,
    *,
    restitution: ArrayLike = 0.0,
    method: str = "kkt",
    damping: float = 0.0,
    tolerance: float | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Impact:
    """The velocities after a sudden contact, and its impulses: M (v⁺ - v⁻) = Jᵀ ι with J v⁺ = -e J v⁻.

    All rows are hit at once. Joint forces, gravity and Coriolis terms are finite, so they have no effect in an instant.

    Args:
        v: velocity before the impact (…, nv).
        constraints: a list of `kt.constraints.Contact` and `kt.constraints.Loop`, or one of them; m rows in total.
            Gains are ignored.
        restitution: e, from 0 (the frames stop) to 1 (their velocity is reversed): one number, or one per row (…, m).
            With one number energy never grows; with several it can, where rows are coupled through the robot's inertia.
        method, damping, tolerance: as for `constrained_dynamics`.
        parameters: values that override some of the robot's parameters; see `kinetree docs parameters`.
        out: where to put both results, (…, nv + m): velocities, then impulses.

    Returns:
        (v (…, nv), impulses (…, m)), parts of one array; impulses in N·s, N·m·s, on the frame that is held.

    Raises:
        OptionError: a restitution that is not between 0 and 1, or not one number per row; otherwise as for
            `constrained_dynamics`.
        NameNotFoundError, ShapeError, DTypeError, ConfigurationError, SingularModelError: likewise.

    Source: Featherstone, RBDA (2008), section 11.2.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("double_pendulum")
    >>> wall = kt.constraints.Contact(list(robot.frames)[-1], [1, 0, 0])
    >>> v, impulses = kt.constraints.impact(robot, [0.4, 0.3], [1.0, 0.5], wall, restitution=0.5)
    >>> v.shape, impulses.shape
    ((2,), (1,))
    """
    e = restitution_of_rows(restitution, constraints, v)
    rule, numbers = rule_apart(method, damping, tolerance)
    both = run(
        IMPACT, robot, (q, v, e), parameters=parameters, numbers=numbers, out=out, threads=threads,
        constraints=apart(constraints, ROWS)[0], **rule,
    )  # fmt: skip
    return Impact(both[..., : robot.nv], both[..., robot.nv :])


@defined_by(OPERATIONAL_SPACE_INERTIA)
def operational_space_inertia(
    robot: Model,
    q: ArrayLike,
    constraints: str | Constraints,
    *,
    method: str = "kkt",
    damping: float = 0.0,
    tolerance: float | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The inertia felt at a frame, or along the rows of constraints: Λ = (J M⁻¹ Jᵀ)⁻¹.

    Args:
        constraints: the name of a frame, for all six directions in the world's axes at its origin, linear ones first;
            or a list of `kt.constraints.Contact` and `kt.constraints.Loop`, such as
            `kt.constraints.Contact("tool", axes="local")`.
        method: "kkt" uses the sparse factors of M, "operational_space" articulated bodies.
        damping: added to the diagonal of J M⁻¹ Jᵀ before it is inverted.
        tolerance: as for `constrained_dynamics`.
        parameters: values that override some of the robot's parameters; see `kinetree docs parameters`.
        out: where to put the result, (…, m, m).

    Returns:
        Λ (…, m, m), symmetric; kg, kg·m, kg·m². Where J M⁻¹ Jᵀ is singular to within `tolerance`, its pseudo-inverse: a
        direction in which the frame cannot move has zeros there, although it feels infinitely heavy.

    Raises:
        OptionError, NameNotFoundError, SingularModelError: as for `constrained_dynamics`.

    Source: Khatib, "A unified approach for motion and force control of robot manipulators" (1987); by articulated
    bodies Kreutz-Delgado, Jain and Rodriguez, "Recursive formulation of operational space control" (1992).

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm6")
    >>> kt.constraints.operational_space_inertia(robot, robot.random(0), "tool").shape
    (6, 6)
    """
    rule, numbers = rule_apart(method, damping, tolerance)
    return run(
        OPERATIONAL_SPACE_INERTIA, robot, (q,), parameters=parameters, numbers=numbers, out=out, threads=threads,
        constraints=apart(constraints, ROWS)[0], **rule,
    )  # fmt: skip


@defined_by(CONSTRAINT_JACOBIAN)
def constraint_jacobian(
    robot: Model,
    q: ArrayLike,
    constraints: Constraints,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The Jacobian J of constraints: J v is zero where they hold.

    Args:
        parameters: values that override some of the robot's parameters; see `kinetree docs parameters`.
        out: where to put the result, (…, m, nv).

    Returns:
        J (…, m, nv): for a contact in the world's axes the rows of `frame_jacobian(…, "local_world_aligned")`, with
        axes="local" those of "local"; for a loop the motion of frame_b as seen from frame_a, in the axes of frame_a.

    Raises:
        OptionError: constraints is not a list of these, or is empty.
        NameNotFoundError: the robot has no such frame.

    Source: Featherstone, RBDA (2008), sections 3.2 and 8.2.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm6")
    >>> kt.constraints.constraint_jacobian(robot, robot.neutral(), kt.constraints.Contact("tool")).shape
    (3, 6)
    """
    return run(
        CONSTRAINT_JACOBIAN, robot, (q,), parameters=parameters, out=out, threads=threads,
        constraints=apart(constraints, ROWS)[0],
    )  # fmt: skip


@defined_by(CONSTRAINT_BIAS)
def constraint_bias(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    constraints: Constraints,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """J̇ v: the accelerations of the constraints at q̈ = 0.

    Args:
        parameters: values that override some of the robot's parameters; see `kinetree docs parameters`.
        out: where to put the result, (…, m).

    Returns:
        J̇ v (…, m); m/s², rad/s².

    Raises:
        OptionError, NameNotFoundError, ShapeError, DTypeError, ConfigurationError: as for `constraint_jacobian`.

    Source: Featherstone, RBDA (2008), section 8.2.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm6")
    >>> kt.constraints.constraint_bias(robot, robot.neutral(), [0.1] * 6, kt.constraints.Contact("tool")).shape
    (3,)
    """
    return run(
        CONSTRAINT_BIAS, robot, (q, v), parameters=parameters, out=out, threads=threads,
        constraints=apart(constraints, ROWS)[0],
    )  # fmt: skip


@defined_by(CONSTRAINT_ERRORS)
def constraint_errors(
    robot: Model,
    q: ArrayLike,
    constraints: Constraints,
    *,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The position errors of constraints: how far frames are from where they are held.

    Args:
        parameters: values that override some of the robot's parameters; see `kinetree docs parameters`.
        out: where to put the result, (…, m).

    Returns:
        Errors (…, m); m along linear rows, for a rod its distance minus its length, and for a fixed frame the three
        components of the remaining rotation vector, rad. Zero for a contact without a placement (`at`). To first order,
        a small displacement changes them by `constraint_jacobian` times it.

    Raises:
        OptionError, NameNotFoundError, ShapeError, DTypeError, ConfigurationError: as for `constraint_jacobian`.

    Source: Featherstone, RBDA (2008), section 8.3.

    >>> import kinetree as kt
    >>> robot = kt.zoo.load("arm6")
    >>> at = kt.frame_placement(robot, robot.neutral(), "tool")
    >>> held = kt.constraints.Contact("tool", "fixed", at=at)
    >>> bool(abs(kt.constraints.constraint_errors(robot, robot.neutral(), held)).max() < 1e-12)
    True
    """
    rest, numbers = apart(constraints, ERRORS)
    return run(
        CONSTRAINT_ERRORS, robot, (q,), parameters=parameters, numbers=numbers, out=out, threads=threads,
        constraints=rest,
    )  # fmt: skip
