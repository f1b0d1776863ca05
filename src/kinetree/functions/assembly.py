"""Configurations and velocities that satisfy motion constraints, as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.arguments import check_out
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.errors import ConfigurationError, OptionError
from kinetree.expr import Scalar
from kinetree.functions.constraint_options import (
    ERRORS,
    IN_SINGLE,
    ROWS,
    RULE,
    Constraints,
    apart,
    check_on_impossible,
    first_sample,
    held,
    listed,
    row_count,
)
from kinetree.functions.kinematics import integrate
from kinetree.inputs import real_array, refuse_symbols
from kinetree.model import Model, check_robot
from kinetree.model.constraints import Constraint, Contact, holds

__all__ = [
    "RESIDUAL",
    "NearestConfiguration",
    "nearest_configuration",
    "nearest_velocity",
    "started",
    "step_options",
]

_MET = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}
"""The largest error, m or rad, of constraints that are met."""
_SETTLED = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-4}
"""Length of a change below which a sample has arrived."""
_MOST_STEPS = 200
_LAST_STEPS = 4
"""Steps that only remove the remaining error."""


class NearestConfiguration(NamedTuple):
    """The result of `nearest_configuration`."""

    q: Array
    """(…, nq)."""
    error: Array
    """The largest error of the constraints there (…), m or rad."""
    steps: Array
    """How many steps each sample took (…)."""


def _held_option(model: Model, value: Any) -> Hashable:
    """Names of joints as a tuple; none for None."""
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Sequence):
        hint = f", such as [{value!r}]" if isinstance(value, str) else ""
        raise OptionError(f"held_joints must be a list of names of joints{hint}, not {value!r:.60}")
    for name in value:
        joint = model.joints[name]
        if joint.kind.nv and not joint.has_coordinates:
            raise OptionError(
                f"held_joints: joint {name!r} has no coordinates of its own; name the joint that it follows, or leave "
                "its coupling free"
            )
    return tuple(value)


def _listed(names: Any) -> Any:
    """Names as a tuple, which can be part of a kernel's key; None for none, and anything else as it is."""
    return tuple(names) or None if isinstance(names, list | tuple) else names


def _held(robot: Model, names: Sequence[str]) -> frozenset[int]:
    return frozenset(k for name in names for k in range(robot.nv)[robot.joints[name].v_slice])


def _step(
    model: Form, q: Slots, start: Slots, *, constraints: Sequence[Constraint], held_joints: Sequence[str],
    tolerance: float,
) -> list[Scalar]:  # fmt: skip
    step = algorithms.assembly_step(
        model.tree, holds(model.frames, constraints), q, start, _held(model.one_by_one, held_joints), tolerance
    )
    return [*step.from_start, *step.from_here, *step.errors]


def _residual(
    model: Form, solution: Slots, multipliers: Sequence[Scalar], q: Slots, *, constraints: Sequence[Constraint],
    held_joints: Sequence[str],
) -> list[Scalar]:  # fmt: skip
    held = _held(model.one_by_one, held_joints)
    return algorithms.assembly_residual(model.tree, holds(model.frames, constraints), solution, multipliers, q, held)


def _velocity(
    model: Form, q: Slots, v: Slots, *, constraints: Sequence[Constraint], held_joints: Sequence[str], tolerance: float
) -> list[Scalar]:
    held = _held(model.one_by_one, held_joints)
    return algorithms.nearest_velocity(model.tree, holds(model.frames, constraints), q, v, held, tolerance)


def _step_shape(model: Model, options: Mapping[str, Any]) -> tuple[int, ...]:
    return (2 * model.nv + row_count(options["constraints"]),)


def _residual_shape(model: Model, options: Mapping[str, Any]) -> tuple[int, ...]:
    return (model.nv + row_count(options["constraints"]),)


def _is_dense(model: Model, options: Mapping[str, Any]) -> bool:
    return algorithms.are_many(row_count(options["constraints"]), model.nv)


_OPTIONS = {"held_joints": _held_option, "tolerance": RULE["tolerance"]}
_DENSE = Strategy(loops=False, is_dense=_is_dense)
STEP = Definition(
    "nearest_configuration", (("q", "nq"), ("start", "nq")), _step_shape, _step, held(ERRORS) | _OPTIONS,
    numbers={"constraints": ERRORS}, in_single=IN_SINGLE, strategy=_DENSE,
)  # fmt: skip
RESIDUAL = Definition(
    "nearest_configuration", (("solution", "nq"), ("multipliers", "rows"), ("q", "nq")), _residual_shape, _residual,
    held(ERRORS) | {"held_joints": _held_option}, numbers={"constraints": ERRORS},
    sizes={"rows": lambda options: row_count(options["constraints"])}, strategy=Strategy(loops=False),
)  # fmt: skip
"""Numbers that are zero at the result of `nearest_configuration`, which they define as an implicit function."""
NEAREST_VELOCITY = Definition(
    "nearest_velocity", (("q", "nq"), ("v", "nv")), ("nv",), _velocity, held(ROWS) | _OPTIONS,
    in_single=IN_SINGLE, strategy=_DENSE,
)  # fmt: skip


def nearest_configuration(
    robot: Model,
    q: ArrayLike,
    constraints: Constraints,
    *,
    held_joints: Sequence[str] = (),
    held_bodies: Sequence[str] = (),
    on_impossible: Literal["error", "least_squares"] = "error",
    tolerance: float | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> NearestConfiguration:
    """The configuration nearest to q in which constraints are met: a linkage assembled, feet placed.

    It is the smallest displacement in the coordinates of v, to first order; several steps are taken from q, each sample
    until it has arrived, by itself. Far from q there may be several configurations, or none that the steps reach.
    `kt.jvp`, `kt.vjp` and `kt.jacobian` give the derivatives of the resulting q by the start, by parameters, and by
    where frames are held ("constraints.0.at").

    Args:
        robot: the robot.
        q: configuration (…, nq) to start from; rad, m, unit quaternions.
        constraints: a list of `kt.constraints.Contact` and `kt.constraints.Loop`. A contact without `at=` holds its
            frame where it is at q.
        held_joints: names of joints whose coordinates stay as they are.
        held_bodies: names of bodies or frames that stay where they are at q.
        on_impossible: "error" raises where the constraints cannot be met from q; "least_squares" returns the
            configuration with the smallest sum of squares of errors that was found, and its error.
        tolerance: as for `constrained_dynamics`: the part of a row, relative to the row and squared, that must be
            independent of other rows.
        parameters: values that override some of the robot's parameters, as for `aba`.
        out: where to put the configurations, (…, nq), of their dtype; it may be q itself.
        threads: how many threads may share a large batch; by default as many as there are cores.

    Returns:
        A named tuple: q (…, nq); error (…), the largest row of `constraint_errors`, at most 1e-12 m or rad where the
        constraints are met (float32: 1e-5); steps (…).

    Raises:
        ConfigurationError: the constraints cannot be met from q; says which sample, and the error that is left.
        OptionError: constraints, names or tolerance are not allowed values.
        NameNotFoundError: the robot has no such joint or frame.
        ShapeError, DTypeError: as for `aba`.

    Source: Nocedal and Wright, *Numerical Optimization* (2006), section 18.1; Featherstone, RBDA (2008), section 8.3.

    >>> import kinetree as kt
    >>> arm = kt.zoo.load("arm6")
    >>> goal = kt.frame_placement(arm, [0.1, 0.4, 0.5, 0.1, 0.2, 0.3], "tool")
    >>> held = kt.constraints.Contact("tool", "fixed", at=goal)
    >>> found = kt.constraints.nearest_configuration(arm, [0.0, 0.5, 0.5, 0.0, 0.0, 0.0], [held])
    >>> bool(found.error <= 1e-12)
    True
    """
    check_robot(robot)
    check_on_impossible(on_impossible)
    refuse_symbols(
        "nearest_configuration: how many steps it takes",
        "take a fixed number of steps q = kt.integrate(robot, q, -J.T @ np.linalg.solve(J @ J.T, errors)) with "
        "J = kt.constraints.constraint_jacobian(…) and errors = kt.constraints.constraint_errors(…), or call it "
        "outside",
        q,
        *(parameters.values() if isinstance(parameters, Mapping) else ()),
        *apart(constraints, ERRORS)[1],
    )
    start, options = started(robot, q), step_options(constraints, held_joints, held_bodies, tolerance)
    options["constraints"], numbers = apart(options.get("constraints"), ERRORS)

    def step(here: Array) -> tuple[Array, Array, Array]:
        found = run(STEP, robot, (here, start), parameters=parameters, numbers=numbers, threads=threads, **options)
        from_start, from_here, errors = np.split(found, (robot.nv, 2 * robot.nv), axis=-1)
        return from_start, from_here, np.abs(errors).max(axis=-1)

    found = _found(robot, start, step)
    if on_impossible == "error":
        _refuse_impossible(robot, found, _MET[start.dtype])
    if out is None:
        return found
    check_out("nearest_configuration", out, found.q.shape, found.q.dtype)
    out[...] = found.q
    return found._replace(q=out)


def started(robot: Model, q: ArrayLike) -> Array:
    """The configurations to start from, in single precision if they are given so."""
    start = real_array("q", q, f"(…, {robot.nq})")
    return start.astype(np.float32 if start.dtype == np.float32 else np.float64)


def step_options(constraints: Any, held_joints: Any, held_bodies: Any, tolerance: Any) -> dict[str, Any]:
    """The options of a step, in which bodies that are held are contacts."""
    if isinstance(held_bodies, str) or not isinstance(held_bodies, Sequence):
        raise OptionError(f"held_bodies must be a list of names, not {held_bodies!r:.60}")
    asked = listed(constraints)
    if isinstance(asked, tuple):
        asked = (*asked, *(Contact(name, "fixed") for name in held_bodies))
    options = {"constraints": asked, "held_joints": _listed(held_joints), "tolerance": tolerance}
    return {name: x for name, x in options.items() if x is not None}


def _found(robot: Model, start: Array, step: Callable[[Array], tuple[Array, Array, Array]]) -> NearestConfiguration:
    """Steps of each sample until it has arrived, then steps that remove the rest of the error."""
    away, _, error = step(start)
    shape = error.shape  # of q and the parameters together
    start = np.broadcast_to(start, (*shape, robot.nq))
    q, steps, is_moving = integrate(robot, start, away), np.ones(shape, dtype=np.intp), np.ones(shape, dtype=bool)
    for _ in range(_MOST_STEPS - 1):
        d, _, _ = step(q)
        is_moving = is_moving & ~(np.linalg.norm(d - away, axis=-1) <= _SETTLED[start.dtype])
        if not is_moving.any():
            break
        away = np.where(is_moving[..., None], d, away)
        q = np.where(is_moving[..., None], integrate(robot, start, away), q)
        steps += is_moving
    best, error = q, np.full(shape, np.inf, start.dtype)
    for _ in range(_LAST_STEPS + 1):
        _, d, off = step(q)
        is_better = off < error
        best, error = np.where(is_better[..., None], q, best), np.where(is_better, off, error)
        q = integrate(robot, q, d)
    return NearestConfiguration(best, error, steps)


def _refuse_impossible(robot: Model, found: NearestConfiguration, most: float) -> None:
    wrong = ~(found.error <= most)
    if not wrong.any():
        return
    sample, where = first_sample(wrong)
    raise ConfigurationError(
        f"nearest_configuration: the constraints on {robot.name!r} cannot be met from the configuration{where}: an "
        f"error of {float(found.error[sample]):.3g} (m or rad) is left after {int(found.steps[sample])} steps; start "
        "nearer to where they are met, hold fewer joints and bodies, or pass on_impossible='least_squares'"
    )


@defined_by(NEAREST_VELOCITY, in_units=True)
def nearest_velocity(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    constraints: Constraints,
    *,
    held_joints: Sequence[str] = (),
    tolerance: float | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> Array:
    """The velocity nearest to v that the constraints allow: v - J⁺ J v, with J v = 0 where that is possible.

    Near in the coordinates of v, regardless of inertias; the velocity after an inelastic collision is `impact`.

    Args:
        constraints: a list of `kt.constraints.Contact` and `kt.constraints.Loop`, as for `constrained_dynamics`.
        held_joints: names of joints whose velocities stay as they are.
        tolerance: as for `constrained_dynamics`.
        parameters: values that override some of the robot's parameters, as for `aba`.
        out: where to put the result, (…, nv).

    Returns:
        Velocity (…, nv); where held joints leave no solution, the one with the smallest sum of squares of J v.

    Raises:
        OptionError: constraints, names or tolerance are not allowed values.
        NameNotFoundError: the robot has no such joint or frame.

    Source: Golub and Van Loan, *Matrix Computations*, section 5.5 (the pseudo-inverse as a projector).

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("quadruped")
    >>> feet = [kt.constraints.Contact(name) for name in robot.frames if name.endswith("foot")]
    >>> v = kt.constraints.nearest_velocity(robot, robot.neutral(), np.ones(robot.nv), feet)
    >>> bool(np.allclose(kt.constraints.constraint_jacobian(robot, robot.neutral(), feet) @ v, 0.0))
    True
    """
    return run(
        NEAREST_VELOCITY, robot, (q, v), constraints=apart(constraints, ROWS)[0], held_joints=_listed(held_joints),
        tolerance=tolerance, parameters=parameters, out=out, threads=threads,
    )  # fmt: skip
