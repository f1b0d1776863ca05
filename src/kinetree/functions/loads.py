"""From the options of a step to what acts on the robot during it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kinetree import algorithms
from kinetree.compiler.definition import Slots
from kinetree.compiler.forms.form import Form
from kinetree.contact_model import SoftConstraints
from kinetree.expr import Scalar
from kinetree.functions.contact_options import soft, without_dry_friction
from kinetree.spatial import Force
from kinetree.tree import Tree
from kinetree.tree.holds import Hold

__all__ = ["RULE", "loads_of", "looped_stages"]

RULE = algorithms.ConstraintRule("kkt", 0.0, 1e-10)
"""How constraints are satisfied during a motion."""


def loads_of(
    model: Form,
    tau: Slots,
    f_ext: Callable[[Slots], Mapping[int, Force]],
    *,
    passive: Sequence[str],
    limits: bool,
    contact: SoftConstraints | None,
    integrator: str | None = None,
    gradient_softness: float = 0.0,
    commands: algorithms.Applied | None = None,
    held: Sequence[Hold] = (),
) -> algorithms.Loads:
    """The loads of a step. With contacts dry friction is among the soft constraints, and no passive force."""
    return algorithms.Loads(
        tau, f_ext, without_dry_friction(passive, contact), limits,
        soft(model, contact, passive, gradient_softness, integrator), commands, holds=held, rule=RULE if held else None,
    )  # fmt: skip


def looped_stages(
    tree: Tree,
    method: algorithms.Integrator,
    act: Sequence[Scalar],
    dt: Scalar,
    loads: algorithms.Loads,
    stages: Callable[..., Any],
    numbers: Callable[[Slots, Slots, algorithms.Evaluation], Sequence[Scalar]],
) -> tuple[Slots, Slots, Sequence[Scalar], list[list[Scalar]]]:
    """A step as `algorithms.step` takes it, whose stages run in a loop of the program, so that one is compiled for all.

    Args:
        tree: the robot's.
        method: the integrator.
        act: the activations before the step.
        dt: the length of the step, s.
        loads: what acts on the robot during it.
        stages: runs the stages (`Steps.stages`).
        numbers: numbers(q, v, found): what else is wanted of each stage.

    Returns:
        q and v after the step, from slot 0 on; the activations; the numbers of each stage.
    """
    from kinetree.algorithms.integrators import added

    def evaluate(q: Slots, v: Slots, act: Sequence[Scalar] = ()) -> tuple[Sequence[Any], Sequence[Scalar]]:
        found = algorithms.evaluated(tree, method.at_the_end, q, v, dt, loads, act)
        return (found.a, found.rates) if act else (found.a,), numbers(q, v, found)

    def state(past: Sequence[Sequence[Any]]) -> Sequence[Any]:
        if not act:
            return method.state(tree, [algorithms.Stage(*stage) for stage in past], dt)
        at = method.state(tree, [algorithms.Stage(q, v, a) for q, v, _, a, _ in past], dt)
        rates = [rates for *_, rates in past]
        if len(past) < method.stages:
            return *at, added(act, method.tableau[len(past)], rates, dt)
        assert loads.applied is not None
        return *at, loads.applied.after(act, added([0.0] * len(act), method.weights, rates, 1.0), dt)

    (q, v, *moved), found = stages(method.stages, state, evaluate, len(act))
    return q, v, moved[0] if moved else act, found
