"""Inverse dynamics under motion constraints, as a function of arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.errors import ConfigurationError, OptionError
from kinetree.expr import Port, Scalar
from kinetree.functions.constraint_options import (
    IN_SINGLE,
    ROWS,
    RULE,
    Constraints,
    apart,
    check_on_impossible,
    first_sample,
    held,
    row_count,
)
from kinetree.functions.drives import Passive, passive_option, switched_on
from kinetree.functions.options import one_of
from kinetree.inputs import holds_symbols, real_array, refuse_symbols
from kinetree.model import Model
from kinetree.model.constraints import Constraint, holds
from kinetree.model.external_forces import ExternalForces
from kinetree.records import record
from kinetree.spatial import Force

__all__ = ["ConstrainedForces", "constrained_inverse_dynamics"]

_UNMET = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}
"""The largest residual, relative to the forces, of accelerations that count as possible."""


class ConstrainedForces(NamedTuple):
    """The result of `constrained_inverse_dynamics`: three parts of one array."""

    tau: Array
    """Joint forces (…, nv); exactly zero at joints without a motor."""
    forces: Array
    """Constraint forces (…, m), one per row of the constraints."""
    unmet: Array
    """The residual forces (…, nu), for each degree of freedom without a motor; zero up to rounding where the
    accelerations are possible."""


def _smallest_option(model: Model, value: Any) -> Hashable:
    return "forces" if value is None else _one_of_them(model, value)


_one_of_them = one_of("smallest", "forces", "torques", "both")


@record(frozen=True, slots=True)
class _Given:
    """In place of weights, which are inputs."""


@record(frozen=True, slots=True)
class _Weights:
    """Weights of squares as inputs of a kernel, if they are given."""

    name: str
    may_be_zero: bool

    def option(self) -> Callable[[Model, Any], Hashable]:
        def check(_: Model, value: Any) -> _Given | None:
            if value is not None and not isinstance(value, _Given):
                self.arrays(value)
            return None if value is None else _Given()

        return check

    def arrays(self, value: Any) -> list[Array]:
        weights = real_array(self.name, value, "(…, n)")
        if holds_symbols(weights):
            return [weights]
        weights = weights.astype(np.float64)
        if not np.isfinite(weights).all() or (weights < 0.0).any():
            least = "not negative" if self.may_be_zero else "positive"
            raise OptionError(f"{self.name} must be finite numbers that are {least}, not {value!r:.60}")
        if not self.may_be_zero and not weights.all():
            raise OptionError(f"{self.name} must be positive; entry {int(np.argmin(weights))} is zero")
        return [weights]

    def ports(self, model: Model, options: Mapping[str, Any]) -> list[Port]:
        size = model.nv if self.name == "torque_weights" else row_count(options["constraints"])
        return [] if options[self.name] is None else [Port(self.name, (size,))]

    def filled(self, _: object, numbers: Sequence[Sequence[Scalar]]) -> Sequence[Scalar] | None:
        return numbers[0] if numbers else None


_TORQUES, _FORCES = _Weights("torque_weights", may_be_zero=True), _Weights("force_weights", may_be_zero=False)


def _forces(
    model: Form, q: Slots, v: Slots, qdd: Slots, *,
    constraints: Sequence[Constraint], smallest: str, torque_weights: Sequence[Scalar] | None,
    force_weights: Sequence[Scalar] | None, tolerance: float, passive: Sequence[str], f_ext: Mapping[int, Force],
) -> list[Scalar]:  # fmt: skip
    robot, rows = model.one_by_one, row_count(constraints)
    if torque_weights is not None and smallest == "forces":
        raise OptionError("torque_weights count only for smallest='torques' or 'both'")
    torques = [1.0] * robot.nv if torque_weights is None else torque_weights
    division = algorithms.ForceDivision(
        None if smallest == "forces" else torques,
        [1.0] * rows if force_weights is None else force_weights,
        smallest == "both",
        tolerance,
    )
    solution = algorithms.constrained_inverse_dynamics(
        model.tree, holds(model.frames, constraints), q, v, qdd, f_ext, passive, _without_drive(robot), division
    )
    return [*solution.tau, *solution.forces, *solution.unmet]


def _without_drive(robot: Model) -> list[int]:
    """The degrees of freedom that nothing drives."""
    return [int(k) for k in np.flatnonzero(~robot.actuated)]


def _shape(model: Model, options: Mapping[str, Any]) -> tuple[int, ...]:
    return (model.nv + row_count(options["constraints"]) + len(_without_drive(model)),)


def _is_dense(model: Model, options: Mapping[str, Any]) -> bool:
    return algorithms.are_many(max(model.nv, row_count(options["constraints"])), row_count(options["constraints"]))


CONSTRAINED_INVERSE_DYNAMICS = Definition(
    "constrained_inverse_dynamics", (("q", "nq"), ("v", "nv"), ("qdd", "nv")), _shape, _forces,
    {
        **held(ROWS),
        "smallest": _smallest_option,
        "torque_weights": _TORQUES.option(),
        "force_weights": _FORCES.option(),
        "tolerance": RULE["tolerance"],
        "passive": passive_option,
    },
    numbers={"torque_weights": _TORQUES, "force_weights": _FORCES}, takes_forces=True,
    in_single=IN_SINGLE, regroups=True, strategy=Strategy(loops=False, is_dense=_is_dense),
)  # fmt: skip


@defined_by(CONSTRAINED_INVERSE_DYNAMICS, in_units=True)
def constrained_inverse_dynamics(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    qdd: ArrayLike,
    constraints: Constraints,
    f_ext: ExternalForces | None = None,
    *,
    smallest: Literal["forces", "torques", "both"] = "forces",
    torque_weights: ArrayLike | None = None,
    force_weights: ArrayLike | None = None,
    on_impossible: Literal["error", "least_squares"] = "error",
    tolerance: float | None = None,
    passive: Passive = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
    threads: int | None = None,
) -> ConstrainedForces:
    """The joint forces and constraint forces that give accelerations while some frames are held.

    M q̈ + h = τ + Jᵀ λ, with τ = 0 on the degrees of freedom without a motor (`robot.actuated`), such as those of a
    floating base or of a passive joint. A legged robot is carried by its contacts, and `rnea` alone would ask for a
    wrench on its base. Where the forces are not unique, as with several feet on the ground or a closed loop, `smallest`
    decides.

    The accelerations should satisfy the constraints, J q̈ + J̇ v = 0 (`constraint_jacobian`, `constraint_bias`);
    `constrained_dynamics` with these joint forces then returns them. Constraints are equalities: forces may pull, and
    friction cones and limits of motors are for optimisers.

    Args:
        constraints: a list of `kt.constraints.Contact` and `kt.constraints.Loop`, as for `constrained_dynamics`; their
            gains do not matter.
        smallest: "forces" for the smallest constraint forces (sum of squares), "torques" for the smallest joint forces,
            and among these the smallest constraint forces, or "both" for the smallest sum of both.
        torque_weights: factors of the squares of joint forces (…, nv), not negative; ones by default. Entries of
            degrees of freedom without a motor do not matter. Derivatives by them need positive ones.
        force_weights: factors of the squares of constraint forces (…, m), positive; ones by default.
        on_impossible: "error" raises where no forces give the accelerations; "least_squares" returns those that come
            closest on the degrees of freedom without a motor, and in `unmet` the residual there.
        tolerance: as for `constrained_dynamics`: the part of a row, relative to the row and squared, that must be
            independent of other rows; 1e-10 by default, in float32 1e-7.
        passive: which passive forces of the joints act, so that the drives need not provide them, as for `rnea`.
        out: where to put all results, (…, nv + m + nu): joint forces, constraint forces, residuals.

    Returns:
        A named tuple (tau, forces, unmet) of arrays (…, nv), (…, m) and (…, nu), nu being the number of degrees of
        freedom without a motor; N·m, N.

    Raises:
        ConfigurationError: no forces give these accelerations; says which sample and degree of freedom.
        OptionError: constraints, smallest, weights, on_impossible or tolerance are not allowed values.
        NameNotFoundError: the robot has no such frame.
        ShapeError, DTypeError: as for `aba`.

    Source: Righetti et al., "Optimal distribution of contact forces with inverse-dynamics control", IJRR 32 (2013).

    >>> import kinetree as kt, numpy as np
    >>> robot = kt.zoo.load("quadruped")
    >>> feet = [kt.constraints.Contact(name) for name in robot.frames if name.endswith("foot")]
    >>> rest = np.zeros(robot.nv)
    >>> found = kt.constraints.constrained_inverse_dynamics(robot, robot.neutral(), rest, rest, feet)
    >>> bool(np.isclose(found.forces[2::3].sum(), 9.81 * robot.mass)), found.tau[:6].tolist()
    (True, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    """
    check_on_impossible(on_impossible)
    weights = [(kind, x) for kind, x in ((_TORQUES, torque_weights), (_FORCES, force_weights)) if x is not None]
    weight_options: dict[str, Any] = {kind.name: _Given() for kind, _ in weights}
    found = run(
        CONSTRAINED_INVERSE_DYNAMICS, robot, (q, v, qdd), f_ext=f_ext, parameters=parameters, out=out, threads=threads,
        numbers=[array for kind, x in weights for array in kind.arrays(x)],
        constraints=apart(constraints, ROWS)[0], smallest=smallest, tolerance=tolerance, **weight_options,
        **switched_on(robot, passive),
    )  # fmt: skip
    tau, forces, unmet = np.split(found, (robot.nv, found.shape[-1] - len(_without_drive(robot))), axis=-1)
    if on_impossible == "error":
        refuse_symbols(
            "constrained_inverse_dynamics: whether any forces give these accelerations",
            "pass on_impossible='least_squares', and return or use the remainder, .unmet",
            unmet,
        )
        _refuse_impossible(robot, tau, forces, unmet)
    return ConstrainedForces(tau, forces, unmet)


def _refuse_impossible(robot: Model, tau: Array, forces: Array, unmet: Array) -> None:
    if not unmet.size:
        return
    size = 1.0 + np.abs(tau).max(axis=-1, initial=0.0) + np.abs(forces).max(axis=-1, initial=0.0)
    worst = np.abs(unmet).max(axis=-1)
    wrong = worst > _UNMET[unmet.dtype] * size
    if not wrong.any():
        return
    sample, where = first_sample(wrong)
    k = int(np.argmax(np.abs(unmet[sample])))
    name = robot.v_names[_without_drive(robot)[k]]
    raise ConfigurationError(
        f"constrained_inverse_dynamics: no forces of the constraints give these accelerations{where}: "
        f"{float(unmet[sample][k]):g} is left over on {name!r}, which has no motor; hold more frames, use "
        "accelerations that these constraints can give (kt.dynamics.floating_inverse_dynamics finds those of a base "
        "that nothing holds), or pass on_impossible='least_squares'"
    )
