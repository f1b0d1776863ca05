"""The motion near a configuration, as functions of arrays: the evaluations of a method of many stages.

These are not public: `kinetree.sim` calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.contact_model import SoftConstraints
from kinetree.expr import Scalar
from kinetree.functions.constraint_options import ALL, held, row_count
from kinetree.functions.contact_options import contact_option, has_no_rows, is_without_contact
from kinetree.functions.drives import limits_option, passive_option
from kinetree.functions.loads import loads_of
from kinetree.model import Model
from kinetree.model.constraints import Constraint, holds
from kinetree.spatial import Force
from kinetree.tree.holds import Hold

__all__ = ["displaced_state", "fixed_velocity", "free_rates", "held_rates"]

_START, _D, _Q, _V, _TAU = ("start", "nq"), ("d", "nv"), ("q", "nq"), ("v", "nv"), ("tau", "forces")


def _rates(
    model: Form,
    q: Slots,
    v: Slots,
    start: Slots,
    d: Slots,
    tau: Slots,
    *,
    passive: Sequence[str],
    limits: bool,
    f_ext: Mapping[int, Force],
    contact: SoftConstraints | None = None,
    held: Sequence[Hold] = (),
) -> list[Scalar]:
    loads = loads_of(model, tau, lambda _: f_ext, passive=passive, limits=limits, contact=contact, held=held)
    tree = model.tree
    rates = algorithms.displacement_rates(tree, start, d, q, v, loads)
    return [*tree.numbers(rates.d[1:], "nv"), *tree.numbers(rates.w[1:], "nv"), rates.given, rates.lost, rates.error]


def _held_rates(
    model: Form, q: Slots, v: Slots, start: Slots, d: Slots, tau: Slots, *, constraints: Sequence[Constraint],
    **options: Any,
) -> list[Scalar]:  # fmt: skip
    return _rates(model, q, v, start, d, tau, held=holds(model.frames, constraints), **options)


def _state(model: Form, start: Slots, d: Slots, w: Slots, *, recharts: bool) -> list[Scalar]:
    q, v = algorithms.displaced_state(model.tree, start, d, w, recharts=recharts)
    return model.tree.stacked((q[1:], "nq"), (v[1:], "nv"))


def _fixed_velocity(model: Form, q: Slots, v: Slots) -> list[Scalar]:
    return model.tree.joined(algorithms.fixed_velocity(model.tree, q, v)[1:], "nv")


def _has_many_rows(model: Model, options: Mapping[str, Any]) -> bool:
    return algorithms.are_many(row_count(options["constraints"]), model.nv)


RATES = Definition(
    "simulate",
    (_Q, _V, _START, _D, _TAU),
    lambda model, _: (2 * model.nv + 3,),
    _rates,
    {"passive": passive_option, "limits": limits_option, "contact": contact_option},
    takes_forces=True,
    divides_by_inertia=True,
    regroups=True,
    strategy=Strategy(loops=has_no_rows, is_dense=lambda _, options: not is_without_contact(options)),
)
STATE = Definition(
    "simulate",
    (_START, _D, ("w", "nv")),
    lambda model, _: (model.nq + model.nv,),
    _state,
    {"recharts": lambda _, value: bool(value)},
    takes_parameters=False,
)
FIXED_VELOCITY = Definition("simulate", (_Q, _V), ("nv",), _fixed_velocity, takes_parameters=False)


def _function(definition: Definition) -> Callable[..., Array]:
    def function(robot: Model, *arguments: ArrayLike, **options: Any) -> Array:
        return run(definition, robot, arguments, **options)

    return defined_by(definition)(function)


free_rates: Callable[..., Array] = _function(RATES)
"""[ḋ, ẇ, power that enters, power lost, error of contacts] (…, 2 nv + 3) at a q and v, which are at the displacement d
from a start."""
held_rates: Callable[..., Array] = _function(
    replace(
        RATES,
        compute=_held_rates,
        options={**RATES.options, **held(ALL)},
        numbers={"constraints": ALL},
        strategy=Strategy(loops=has_no_rows, is_dense=_has_many_rows),
    )
)
"""Displacements under constraints, whose numbers follow tau."""
displaced_state: Callable[..., Array] = _function(STATE)
"""[q, v] (…, nq + nv) at a displacement d from a start, with velocities w in axes that do not turn."""
fixed_velocity: Callable[..., Array] = _function(FIXED_VELOCITY)
"""w (…, nv) of a q and v."""
