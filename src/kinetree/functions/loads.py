"""From the options of a step to the forces on the robot during it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kinetree import algorithms
from kinetree.compiler.definition import Slots
from kinetree.compiler.forms.form import Form
from kinetree.contact_model import SoftConstraints
from kinetree.functions.contact_options import soft, without_dry_friction
from kinetree.spatial import Force
from kinetree.tree.holds import Hold

__all__ = ["RULE", "loads_of"]

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
