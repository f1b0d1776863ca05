"""Parts of a time step as functions of arrays: evaluations of a stage, the states between stages, the projection.

These are not public: controllers that run at each stage are called between them, and programs with controllers are made
of them (`closed_loop.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.contact_model import SoftConstraints
from kinetree.expr import Scalar
from kinetree.functions.constraint_options import ALL, ERRORS, held, row_count
from kinetree.functions.contact_options import (
    ContactOption,
    contact_option,
    contact_switch,
    is_without_contact,
)
from kinetree.functions.drives import Passive, limits_option, passive_option, switched_on
from kinetree.functions.integrator_options import can_loop, integrator_option
from kinetree.functions.loads import RULE, loads_of
from kinetree.model import Model
from kinetree.model.constraints import Constraint, holds
from kinetree.model.external_forces import ExternalForces
from kinetree.spatial import Force
from kinetree.tree.holds import Hold

__all__ = [
    "HELD",
    "HELD_STAGES",
    "HELD_STRATEGY",
    "STEP_STRATEGY",
    "HeldStages",
    "StageParts",
    "evaluation",
    "stage_state",
]

_Q, _V, _TAU, _DT = ("q", "nq"), ("v", "nv"), ("tau", "forces"), ("dt", 1)
_OPTIONS = {"integrator": integrator_option, "passive": passive_option, "limits": limits_option}


class StageParts(NamedTuple):
    """The result of `evaluation`: parts of one array."""

    a: Array
    """The acceleration (…, nv) with which the step goes on."""
    powers: Array
    """The power that enters, and the power lost (…, 2), W."""
    error: Array
    """How exactly the convex problem of contacts is solved (…, 1); (…, 0) without contacts."""
    solved: Array
    """The acceleration that solves it (…, nv); (…, 0) without contacts."""

    @classmethod
    def of(cls, found: Any, nv: int) -> StageParts:
        """The parts of a result."""
        return cls(found[..., :nv], found[..., nv : nv + 2], found[..., nv + 2 : nv + 3], found[..., nv + 3 :])


def _evaluation(
    model: Form,
    q: Slots,
    v: Slots,
    tau: Slots,
    dt: Sequence[Scalar],
    *,
    integrator: str,
    passive: Sequence[str],
    limits: bool,
    f_ext: Mapping[int, Force],
    contact: SoftConstraints | None = None,
    held: Sequence[Hold] = (),
) -> list[Scalar]:
    tree, at_the_end, (h,) = model.tree, algorithms.INTEGRATORS[integrator].at_the_end, dt
    loads = loads_of(
        model, tau, lambda _: f_ext, passive=passive, limits=limits, contact=contact, integrator=integrator, held=held
    )
    evaluation = algorithms.evaluated(tree, at_the_end, q, v, h, loads)
    powers = algorithms.stage_powers(tree, at_the_end, q, v, h, loads, evaluation)
    of_contacts = [] if contact is None else [evaluation.error, *tree.numbers(evaluation.solved[1:], "nv")]
    return [*tree.numbers(evaluation.a[1:], "nv"), *powers, *of_contacts]


def _held_evaluation(
    model: Form, q: Slots, v: Slots, tau: Slots, dt: Sequence[Scalar], *, constraints: Sequence[Constraint],
    **options: Any,
) -> list[Scalar]:  # fmt: skip
    return _evaluation(model, q, v, tau, dt, held=holds(model.frames, constraints), **options)


def _projection(model: Form, q: Slots, v: Slots, *, constraints: Sequence[Constraint]) -> list[Scalar]:
    q_next, v_next = algorithms.projected_state(model.tree, holds(model.frames, constraints), q, v, RULE)
    return model.tree.stacked((q_next, "nq"), (v_next, "nv"))


def _evaluation_size(model: Model, options: Mapping[str, Any]) -> tuple[int, ...]:
    return (model.nv + 2 + (0 if is_without_contact(options) else model.nv + 1),)


def _single_bodies(robot: Model, options: Mapping[str, Any]) -> Collection[int]:
    """The bodies whose gyroscopic forces act later in a step."""
    return robot.tree.alone if options["integrator"] in ("implicitfast", "discrete") else ()


STEP_STRATEGY = Strategy(
    loops=can_loop, distinguished=_single_bodies, is_dense=lambda _, options: not is_without_contact(options)
)
EVALUATION = Definition(
    "simulate",
    (_Q, _V, _TAU, _DT),
    _evaluation_size,
    _evaluation,
    {**_OPTIONS, "contact": contact_option},
    takes_forces=True,
    divides_by_inertia=True,
    regroups=True,
    strategy=STEP_STRATEGY,
)


@defined_by(EVALUATION)
def evaluation(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    integrator: str,
    passive: Passive = False,
    limits: bool = False,
    contact: ContactOption = False,
    parameters: Mapping[str, ArrayLike] | None = None,
    out: Array | None = None,
) -> Array:
    """The evaluations of one stage of a step of dt (…, 1); see `StageParts`."""
    switches = switched_on(robot, passive, limits) | contact_switch(robot, contact)
    return run(
        EVALUATION, robot, (q, v, tau, dt), f_ext=f_ext, parameters=parameters, out=out, integrator=integrator,
        **switches,
    )  # fmt: skip


def _has_many_rows(model: Model, options: Mapping[str, Any]) -> bool:
    return algorithms.are_many(row_count(options["constraints"]), model.nv)


class HeldStages(NamedTuple):
    """The functions of a stage under constraints, and the projection at the end of a step."""

    evaluation: Callable[..., Array]
    projection: Callable[..., Array]


def _function(definition: Definition) -> Callable[..., Array]:
    def function(robot: Model, *arguments: ArrayLike, **options: Any) -> Array:
        return run(definition, robot, arguments, **options)

    return defined_by(definition)(function)


HELD_STRATEGY = Strategy(loops=can_loop, distinguished=_single_bodies, is_dense=_has_many_rows)
HELD: dict[str, Any] = {
    "options": {**_OPTIONS, **held(ALL)}, "numbers": {"constraints": ALL}, "strategy": HELD_STRATEGY,
}  # fmt: skip
"""Common arguments of definitions under constraints."""
HELD_STAGES = HeldStages(
    _function(replace(EVALUATION, compute=_held_evaluation, **HELD)),
    _function(
        Definition(
            "simulate", (_Q, _V), lambda model, _: (model.nq + model.nv,), _projection, held(ERRORS),
            numbers={"constraints": ERRORS}, divides_by_inertia=True, regroups=True,
            strategy=Strategy(is_dense=_has_many_rows),
        )
    ),
)  # fmt: skip
"""The functions for constraints whose contacts all have a place; their numbers follow dt, or v."""


@cache
def stage_state(stage: int) -> Callable[..., Array]:
    """The function that gives the state [q, v] (…, nq + nv) of a stage, or after the step beyond the last stage.

    It takes the robot, dt (…, 1), then q, v and the acceleration of each earlier stage, and the option `integrator`.
    """
    past = [(f"{name}{k}", size) for k in range(stage) for name, size in (("q", "nq"), ("v", "nv"), ("a", "nv"))]
    definition = Definition(
        "simulate", (_DT, *past), _state_size, _stage_state, {"integrator": integrator_option}, takes_parameters=False
    )

    def state(robot: Model, dt: ArrayLike, *past: ArrayLike, integrator: str) -> Array:
        return run(definition, robot, (dt, *past), integrator=integrator)

    return defined_by(definition)(state)


def _state_size(model: Model, _: Mapping[str, Any]) -> tuple[int, ...]:
    return (model.nq + model.nv,)


def _stage_state(model: Form, dt: Sequence[Scalar], *past: Slots, integrator: str) -> list[Scalar]:
    method, start, rates = algorithms.INTEGRATORS[integrator], (past[0], past[1]), list[algorithms.Rates]()
    for k in range(0, len(past), 3):
        rates.append(method.rates(model.tree, start[0], rates, algorithms.Stage(*past[k : k + 3]), dt[0]))
    q, v = method.state(model.tree, start, rates, dt[0])
    return model.tree.stacked((q[1:], "nq"), (v[1:], "nv"))
