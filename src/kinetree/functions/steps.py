"""Time steps as functions of arrays: one definition for rollouts, simulations and controllers that are programs.

`step_stages.py` has their parts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Size, Slots, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.contact_model import SoftConstraints
from kinetree.errors import OptionError
from kinetree.expr import Numbers
from kinetree.functions.contact_options import contact_option
from kinetree.functions.drives import limits_option, passive_option
from kinetree.functions.integrator_options import integrator_option
from kinetree.functions.loads import beginning_sleep, loads_of, refuse_sleep
from kinetree.functions.step_stages import HELD, STEP_STRATEGY
from kinetree.model import Model
from kinetree.model.constraints import Constraint, holds
from kinetree.records import record
from kinetree.spatial import Force

if TYPE_CHECKING:
    from kinetree.functions.commands import Commanded

__all__ = ["StepKind", "step_definition", "steps", "steps_of"]


_REPORTED: Mapping[str, Mapping[str, Size]] = {
    "error": {"error": 1},
    "qdd": {"qdd": "nv"},
    "evaluated": {"evaluated_q": "nq", "evaluated_v": "nv", "evaluated_qdd": "nv"},
}
"""The numbers that a step may report, with sizes."""


@record(frozen=True, slots=True)
class StepKind:
    """The settings of steps, other than torques."""

    holds: bool = False
    """Whether constraints hold."""
    commands: bool = False
    """Whether actuators have commands."""
    activations: bool = False
    """Whether some of these have activations."""
    exchanges: bool = True
    """Whether the energies exchanged are part of the state."""
    reports: tuple[str, ...] = ()
    """The numbers that each step reports: "error" and "qdd" of its contacts, and "evaluated", where its last stage
    evaluated the acceleration (q, v, and that)."""
    sleeps: bool = False
    """Whether bodies may sleep; the numbers of their trees are then part of the state."""

    @property
    def state(self) -> dict[str, Size]:
        """The values that a step replaces, with sizes."""
        act: dict[str, Size] = {"act": "na"} if self.activations else {}
        exchanged: dict[str, Size] = {"exchanged": 2} if self.exchanges else {}
        trees: dict[str, Size] = {"trees": "nv"} if self.sleeps else {}
        reported = {name: size for which in self.reports for name, size in _REPORTED[which].items()}
        return {"q": "nq", "v": "nv", **act, **exchanged, **trees, **reported}

    @property
    def inputs(self) -> dict[str, Size]:
        """Its inputs, with sizes."""
        return {**self.state, "tau": "forces", **({"ctrl": "nu"} if self.commands else {})}


def _steps(
    kind: StepKind,
    model: Form,
    *given: Any,
    integrator: str,
    passive: Sequence[str],
    limits: bool,
    f_ext: Callable[[Slots], Mapping[int, Force]],
    stages: Callable[..., Any],
    contact: SoftConstraints | None = None,
    divide: None = None,  # noqa: ARG001
    gradient_softness: float = 0.0,
    constraints: Sequence[Constraint] = (),
    actuators: Commanded | None = None,
) -> tuple[Any, ...]:
    from kinetree.functions.commands import applied

    x = dict(zip((*kind.inputs, "dt"), given, strict=True))
    q, v, dt, act, tree = x["q"], x["v"], x["dt"], x.get("act", ()), model.tree
    commands = None if actuators is None else applied(model, actuators, passive, x["ctrl"])
    held = holds(model.frames, constraints) if constraints else ()
    sleep = beginning_sleep(model, contact, x["trees"]) if kind.sleeps and contact is not None else None
    loads = loads_of(
        model, x["tau"], f_ext, passive=passive, limits=limits, contact=contact, integrator=integrator,
        gradient_softness=gradient_softness, commands=commands, held=held, sleep=sleep,
    )  # fmt: skip
    if integrator == "midpoint":
        if loads.soft is not None:
            raise OptionError(
                'the integrator "midpoint" is for motions without contact; with it take "discrete" or '
                '"semi_implicit_euler"'
            )
        *state, error = algorithms.midpoint_step(tree, q, v, dt, loads, act)
        return (*state[: 2 + kind.activations], *([[error]] if kind.reports else []))
    method = algorithms.INTEGRATORS[integrator]
    if method.stages > 1:
        refuse_sleep(contact, f"{integrator!r} divides a step into stages")

    def rows(q: Slots, v: Slots, found: algorithms.Evaluation) -> list[Numbers]:
        powers = [algorithms.stage_powers(tree, method.at_the_end, q, v, dt, loads, found)] if kind.exchanges else []
        error: list[Numbers] = [[found.error]] if "error" in kind.reports else []
        solved: list[Numbers] = [tree.numbers(found.solved[1:], "nv")] if {"qdd", "evaluated"} & {*kind.reports} else []
        at = [tree.numbers(q[1:], "nq"), tree.numbers(v[1:], "nv")] if "evaluated" in kind.reports else []
        return [*powers, *error, *at, *solved]

    end = algorithms.step(tree, method, q, v, dt, loads, act, stages=stages, rows=rows)
    ends: list[Any] = [end.q, end.v]
    if kind.activations:
        ends.append(end.act)
    if kind.exchanges:
        series = zip(*(of_stage[0] for of_stage in end.reported), strict=True)
        weighted = (sum((w * p for w, p in zip(method.weights, powers, strict=True)), 0.0) for powers in series)
        ends.append([e + dt * total for e, total in zip(x["exchanged"], weighted, strict=True)])
    if kind.sleeps:
        ends.append(end.trees)
    if "evaluated" in kind.reports:
        ends += [tree.split(x, space)[1:] for x, space in zip(end.reported[-1][-3:], ("nq", "nv", "nv"), strict=True)]
    if "error" in kind.reports:
        ends.append([end.largest(int(kind.exchanges))])
    if "qdd" in kind.reports:
        ends.append(tree.split(end.reported[0][-1], "nv")[1:])
    return tuple(ends)


_OPTIONS: Mapping[str, Callable[[Model, Any], Hashable]] = {
    "integrator": integrator_option, "passive": passive_option, "limits": limits_option, "contact": contact_option,
}  # fmt: skip


def step_definition(
    name: str, kind: StepKind, options: Mapping[str, Callable[[Model, Any], Hashable]] = _OPTIONS
) -> Definition:
    """The definition of steps: those that a call has rows for, or as many as the option `steps` says."""
    more: dict[str, Any] = dict(HELD) if kind.holds else {"options": options, "strategy": STEP_STRATEGY}
    if kind.commands:
        from kinetree.functions.commands import activation_count, command_count, commanded_option

        more["options"] = {**more["options"], "actuators": commanded_option}
        more["sizes"] = {"nu": command_count, "na": activation_count}
    return Definition(
        name,
        tuple(kind.inputs.items()),
        (),
        partial(_steps, kind),
        takes_forces=True,
        divides_by_inertia=True,
        regroups=True,
        is_step=True,
        state=len(kind.state),
        has_stages=True,
        **more,
    )


@cache
def steps_of(kind: StepKind) -> Callable[..., Array]:
    """The function that gives the states after each of T steps, and the energies exchanged.

    It takes the robot, and then, each with the axes of a batch before its own:

    - the state: q (nq,), v (nv,), the activations (na,) if there are some, and the energy exchanged until then (2,), J,
      if it counts: the work of torques, actuators and external forces, and the loss to friction. Steps that report on
      their contacts have an error (1,) and an acceleration (nv,) there as well, which are not read: those that a step
      begins with, `algorithms.Evaluation.solved`, and the largest error of its stages.
    - with one row per step, constant over it: tau (T, nv), and ctrl (T, nu) if actuators have commands.
    - dt (), s; then the numbers of constraints.

    The result has the state after each step (T, n). Several stages run in a loop, so that one stage's arithmetic is
    compiled once. For any exchanges and reports, q, v and the activations have the same bits. Options are those of
    `rollout`, and `constraints`.
    """
    definition = step_definition("simulate", kind)

    def function(robot: Model, *arguments: ArrayLike, **options: Any) -> Array:
        return run(definition, robot, arguments, **options)

    return defined_by(definition)(function)


steps: Callable[..., Array] = steps_of(StepKind())
"""Steps under torques alone."""
