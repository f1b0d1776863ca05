"""One time step of a simulation as functions of arrays: whole, or stage by stage for torques from outside.

These are not public: `kinetree.sim` calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.contact import SoftConstraints
from kinetree.expr import Scalar
from kinetree.functions.constraint_options import ALL, ERRORS, held, row_count
from kinetree.functions.contact_options import (
    ContactOption,
    contact_option,
    contact_switch,
    is_without_contact,
    soft,
    without_dry_friction,
)
from kinetree.functions.drives import Passive, limits_option, passive_option, switched_on
from kinetree.functions.integrator_options import can_loop, integrator_option
from kinetree.model import Model
from kinetree.model.constraints import Constraint, holds
from kinetree.model.external_forces import ExternalForces
from kinetree.spatial import Force
from kinetree.tree.holds import Hold

__all__ = ["HELD_STEP", "HeldStep", "evaluation", "stage_state", "steps"]

_RULE = algorithms.ConstraintRule("kkt", 0.0, 1e-10)

_Q, _V, _TAU, _DT = ("q", "nq"), ("v", "nv"), ("tau", "forces"), ("dt", 1)
_OPTIONS = {"integrator": integrator_option, "passive": passive_option, "limits": limits_option}
_WITH_CONTACT = {**_OPTIONS, "contact": contact_option}
_LOOPS = Strategy(loops=can_loop)


def _steps(
    model: Form,
    q: Slots,
    v: Slots,
    exchanged: Sequence[Scalar],
    tau: Slots,
    dt: Scalar,
    *,
    integrator: str,
    passive: Sequence[str],
    limits: bool,
    f_ext: Callable[[Slots], Mapping[int, Force]],
    stages: Callable[..., Any],
    contact: SoftConstraints | None = None,
    held: Sequence[Hold] = (),
) -> tuple[Slots, Slots, list[Scalar]]:
    tree, method = model.tree, algorithms.INTEGRATORS[integrator]
    loads = _loads(model, tau, passive, limits, f_ext, contact, held, integrator)

    def evaluate(q: Slots, v: Slots) -> tuple[Slots, Sequence[Scalar]]:
        found = algorithms.evaluated(tree, method.at_the_end, q, v, dt, loads)
        return found.a, algorithms.stage_powers(tree, method.at_the_end, q, v, dt, loads, found)

    def state(past: Sequence[Any]) -> tuple[Slots, Slots]:
        return method.state(tree, [algorithms.Stage(*stage) for stage in past], dt)

    (q, v), powers = stages(method.stages, state, evaluate)
    energies = [
        x + dt * sum((w * p for w, p in zip(method.weights, series, strict=True)), 0.0)
        for x, series in zip(exchanged, zip(*powers, strict=True), strict=True)
    ]
    if held:
        return (*algorithms.projected_state(tree, held, q, v, _RULE), energies)
    return q[1:], v[1:], energies


def _loads(
    model: Form,
    tau: Slots,
    passive: Sequence[str],
    limits: bool,
    f_ext: Callable[[Slots], Mapping[int, Force]],
    contact: SoftConstraints | None,
    held: Sequence[Hold],
    integrator: str,
) -> algorithms.Loads:
    """What acts during a step."""
    forces, rows = without_dry_friction(passive, contact), soft(model, contact, passive, integrator=integrator)
    return algorithms.Loads(tau, f_ext, forces, limits, rows, holds=held, rule=_RULE if held else None)


def _held_steps(
    model: Form, q: Slots, v: Slots, exchanged: Sequence[Scalar], tau: Slots, dt: Scalar, *,
    constraints: Sequence[Constraint], **options: Any,
) -> tuple[Slots, Slots, list[Scalar]]:  # fmt: skip
    return _steps(model, q, v, exchanged, tau, dt, held=holds(model.frames, constraints), **options)


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
    loads = _loads(model, tau, passive, limits, lambda _: f_ext, contact, held, integrator)
    found = algorithms.evaluated(tree, at_the_end, q, v, h, loads)
    powers = algorithms.stage_powers(tree, at_the_end, q, v, h, loads, found)
    return [*tree.numbers(found.a[1:], "nv"), *powers]


def _held_evaluation(
    model: Form, q: Slots, v: Slots, tau: Slots, dt: Sequence[Scalar], *, constraints: Sequence[Constraint],
    **options: Any,
) -> list[Scalar]:  # fmt: skip
    return _evaluation(model, q, v, tau, dt, held=holds(model.frames, constraints), **options)


def _projection(model: Form, q: Slots, v: Slots, *, constraints: Sequence[Constraint]) -> list[Scalar]:
    q_next, v_next = algorithms.projected_state(model.tree, holds(model.frames, constraints), q, v, _RULE)
    return model.tree.stacked((q_next, "nq"), (v_next, "nv"))


STEPS = Definition(
    "simulate",
    (_Q, _V, ("exchanged", 2), _TAU),
    (),
    _steps,
    _WITH_CONTACT,
    takes_forces=True,
    divides_by_inertia=True,
    regroups=True,
    is_step=True,
    state=3,
    loops_over_stages=True,
    strategy=_LOOPS,
)
EVALUATION = Definition(
    "simulate",
    (_Q, _V, _TAU, _DT),
    lambda model, _: (model.nv + 2,),
    _evaluation,
    _WITH_CONTACT,
    takes_forces=True,
    divides_by_inertia=True,
    regroups=True,
    strategy=replace(_LOOPS, is_dense=lambda _, options: not is_without_contact(options)),
)


@defined_by(STEPS)
def steps(
    robot: Model,
    q: ArrayLike,
    v: ArrayLike,
    exchanged: ArrayLike,
    tau: ArrayLike,
    dt: ArrayLike,
    f_ext: ExternalForces | None = None,
    *,
    integrator: str,
    passive: Passive = False,
    limits: bool = False,
    contact: ContactOption = False,
    out: Array | None = None,
) -> Array:
    """The states after each of T steps, as `rollout` takes them, with the energy exchanged until then.

    Args:
        robot: the robot.
        q: initial configuration (…, nq).
        v: initial velocity (…, nv).
        exchanged: the work of torques and external forces, and the loss to friction, so far (…, 2), J.
        tau: joint forces (…, T, nv), one row per step and constant over it.
        dt: length of a step (…), s.
        f_ext: external forces, as for `rollout`.
        integrator: as for `rollout`.
        passive: as for `rollout`.
        limits: as for `rollout`.
        contact: as for `rollout`.
        out: where to put the result.

    Returns:
        [q, v, work, loss] (…, T, nq + nv + 2). The stages run in a loop, so one stage's arithmetic is compiled once.
    """
    switches = switched_on(robot, passive, limits) | contact_switch(robot, contact)
    return run(STEPS, robot, (q, v, exchanged, tau, dt), f_ext=f_ext, out=out, integrator=integrator, **switches)


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
    """What one stage of a step of dt (…, 1) evaluates: [acceleration, power that enters, loss] (…, nv + 2)."""
    switches = switched_on(robot, passive, limits) | contact_switch(robot, contact)
    return run(
        EVALUATION, robot, (q, v, tau, dt), f_ext=f_ext, parameters=parameters, out=out, integrator=integrator,
        **switches,
    )  # fmt: skip


def _has_many_rows(model: Model, options: Mapping[str, Any]) -> bool:
    return algorithms.are_many(row_count(options["constraints"]), model.nv)


class HeldStep(NamedTuple):
    """The functions of a step under constraints: like `steps` and `evaluation`, and the projection at the end."""

    steps: Callable[..., Array]
    evaluation: Callable[..., Array]
    projection: Callable[..., Array]


def _function(definition: Definition) -> Callable[..., Array]:
    def function(robot: Model, *arguments: ArrayLike, **options: Any) -> Array:
        return run(definition, robot, arguments, **options)

    return defined_by(definition)(function)


_STRATEGY = Strategy(loops=can_loop, is_dense=_has_many_rows)
_HELD: dict[str, Any] = {
    "options": {**_OPTIONS, **held(ALL)}, "numbers": {"constraints": ALL}, "strategy": _STRATEGY,
}  # fmt: skip
HELD_STEP = HeldStep(
    _function(replace(STEPS, compute=_held_steps, **_HELD)),
    _function(replace(EVALUATION, compute=_held_evaluation, **_HELD)),
    _function(
        Definition(
            "simulate", (_Q, _V), lambda model, _: (model.nq + model.nv,), _projection, held(ERRORS),
            numbers={"constraints": ERRORS}, divides_by_inertia=True, regroups=True,
            strategy=Strategy(is_dense=_has_many_rows),
        )
    ),
)  # fmt: skip
"""The functions for constraints, every contact of which has a place; their numbers follow dt, or v."""


@cache
def stage_state(stage: int) -> Callable[..., Array]:
    """The function that gives the state [q, v] (…, nq + nv) of a stage, or after the step if there is no such stage.

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
    stages = [algorithms.Stage(*past[k : k + 3]) for k in range(0, len(past), 3)]
    q, v = algorithms.INTEGRATORS[integrator].state(model.tree, stages, dt[0])
    return model.tree.stacked((q[1:], "nq"), (v[1:], "nv"))
