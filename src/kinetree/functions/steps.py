"""Time steps of a simulation as functions of arrays; `step_stages.py` has their parts.

These are not public: `kinetree.sim` calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from kinetree import algorithms
from kinetree.compiler.calls import run
from kinetree.compiler.definition import Array, Definition, Size, Slots, Strategy, defined_by
from kinetree.compiler.forms.form import Form
from kinetree.contact_model import SoftConstraints
from kinetree.expr import Scalar, maximum
from kinetree.functions.contact_options import contact_option
from kinetree.functions.drives import limits_option, passive_option
from kinetree.functions.integrator_options import can_loop, integrator_option
from kinetree.functions.loads import RULE, loads_of, looped_stages
from kinetree.functions.step_stages import HELD
from kinetree.model import Model
from kinetree.model.constraints import Constraint, holds
from kinetree.records import record
from kinetree.spatial import Force

if TYPE_CHECKING:
    from kinetree.functions.commands import Commanded

__all__ = ["StepKind", "steps", "steps_of"]


@record(frozen=True, slots=True)
class StepKind:
    """What steps have to do with, besides torques."""

    holds: bool = False
    """Whether constraints hold."""
    commands: bool = False
    """Whether actuators have commands."""
    activations: bool = False
    """Whether some of these have activations."""
    tells: bool = False
    """Whether each step tells how its contacts were solved."""

    @property
    def state(self) -> dict[str, Size]:
        """What a step takes and replaces, with sizes."""
        act: dict[str, Size] = {"act": "na"} if self.activations else {}
        told: dict[str, Size] = {"error": 1, "qdd": "nv"} if self.tells else {}
        return {"q": "nq", "v": "nv", **act, "exchanged": 2, **told}

    @property
    def inputs(self) -> dict[str, Size]:
        """What it takes, with sizes."""
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
    constraints: Sequence[Constraint] = (),
    actuators: Commanded | None = None,
) -> tuple[Any, ...]:
    from kinetree.functions.commands import applied

    x = dict(zip((*kind.inputs, "dt"), given, strict=True))
    dt, act = x["dt"], x.get("act", ())
    tree, method = model.tree, algorithms.INTEGRATORS[integrator]
    commands = None if actuators is None else applied(model, actuators, passive, x["ctrl"])
    held = holds(model.frames, constraints) if constraints else ()
    loads = loads_of(
        model, x["tau"], f_ext, passive=passive, limits=limits, contact=contact, integrator=integrator,
        commands=commands, held=held,
    )  # fmt: skip

    def numbers_of(q: Slots, v: Slots, found: algorithms.Evaluation) -> list[Scalar]:
        powers = algorithms.stage_powers(tree, method.at_the_end, q, v, dt, loads, found)
        return [*powers, found.error, *tree.numbers(found.solved[1:], "nv")] if kind.tells else [*powers]

    q, v, act, numbers = looped_stages(tree, method, act, dt, loads, stages, numbers_of)
    energies = [
        e + dt * sum((w * p for w, p in zip(method.weights, series, strict=True)), 0.0)
        for e, *series in zip(x["exchanged"], *(of_stage[:2] for of_stage in numbers), strict=True)
    ]
    told: list[Any] = []
    if kind.tells:
        error: Scalar = 0.0
        for of_stage in numbers:
            error = maximum(error, of_stage[2])
        told = [[error], tree.split(numbers[0][3:], "nv")[1:]]
    ends = algorithms.projected_state(tree, held, q, v, RULE) if held else (q[1:], v[1:])
    return (*ends, *([act] if kind.activations else []), energies, *told)


_OPTIONS = {
    "integrator": integrator_option, "passive": passive_option, "limits": limits_option, "contact": contact_option,
}  # fmt: skip


@cache
def steps_of(kind: StepKind) -> Callable[..., Array]:
    """The function that gives the states after each of T steps, as `rollout` takes them, and what they exchanged.

    It takes the robot, and then, each with the axes of a batch before its own:

    - the state: q (nq,), v (nv,), the activations (na,) if there are some, and the energy exchanged until then (2,), J:
      the work of torques, actuators and external forces, and the loss to friction. Steps that tell of their contacts
      have an error (1,) and an acceleration (nv,) there as well, which are not read: those that a step begins with,
      `algorithms.Evaluation.solved`, and the largest error of its stages.
    - with one row per step, constant over it: tau (T, nv), and ctrl (T, nu) if actuators have commands.
    - dt (), s; then the numbers of constraints.

    The result has the state after each step (T, n). Stages run in a loop, so that one stage's arithmetic is compiled
    once. Options are those of `rollout`, and `constraints`.
    """
    more: dict[str, Any] = dict(HELD) if kind.holds else {"options": _OPTIONS, "strategy": Strategy(loops=can_loop)}
    if kind.commands:
        from kinetree.functions.commands import activation_count, command_count, commanded_option

        more["options"] = {**more["options"], "actuators": commanded_option}
        more["sizes"] = {"nu": command_count, "na": activation_count}
    definition = Definition(
        "simulate",
        tuple(kind.inputs.items()),
        (),
        partial(_steps, kind),
        takes_forces=True,
        divides_by_inertia=True,
        regroups=True,
        is_step=True,
        state=len(kind.state),
        loops_over_stages=True,
        **more,
    )

    def function(robot: Model, *arguments: ArrayLike, **options: Any) -> Array:
        return run(definition, robot, arguments, **options)

    return defined_by(definition)(function)


steps = steps_of(StepKind())
"""Steps under torques alone."""
