"""Derivatives of definitions, as definitions; `derived_source` says how their programs come about."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from kinetree.compiler.definition import Definition, Derivative
from kinetree.compiler.source import Source
from kinetree.compiler.specialization import TIMES_AS_LONG, Specialization, too_large_to_write_out
from kinetree.model import Model
from kinetree.model.external_forces import Acting

__all__ = ["derived", "specialized"]

_RECORDED = 1.5
"""Operations per statement of a program: sums of products are fused."""


def specialized(
    definition: Definition,
    model: Model,
    options: Mapping[str, Hashable],
    forces: tuple[Acting, ...],
    parameters: tuple[str, ...],
    unroll: bool | None,
) -> Source:
    """A definition, or its substitute for large robots or turning forces, for one robot and one set of options."""
    d, strategy, instead = definition.derivative, definition.strategy, None
    if strategy.when_large is not None and unroll is not True:
        instead = strategy.when_large if unroll is False or too_large_to_write_out(model, definition) else None
    if instead is None and any(force.turns for force in forces):
        instead = strategy.when_forces_turn
    if instead is not None:
        rest = {name: check(model, None) for name, check in instead.options.items() if name not in options}
        return specialized(instead, model, {**options, **rest}, forces, parameters, unroll)
    if d is None:
        return Specialization(definition, model, options, forces, parameters, unroll)
    from kinetree.compiler.derived_source import DerivedSource

    of = specialized(d.of, model, options, forces, parameters, unroll)
    may_loop = unroll is None and of.can_loop
    longest = _RECORDED * strategy.longest / TIMES_AS_LONG if may_loop else math.inf
    return DerivedSource(
        definition.name, of, d.mode, d.wrt, d.along, len(definition.inputs) + definition.takes_dt,
        longest=-1 if strategy.always_loops else longest,
    )  # fmt: skip


@cache
def derived(of: Definition, mode: Any, wrt: tuple[str, ...], along: tuple[str, ...] = ()) -> Definition:
    """The definition of a derivative: equal requests give the same object, by which kernels are kept."""
    large, turning = (
        None if instead is None else derived(instead, mode, wrt, along)
        for instead in (of.strategy.when_large, of.strategy.when_forces_turn)
    )
    strategy = replace(of.strategy, when_large=large, when_forces_turn=turning)
    return replace(of, name=f"{mode} of {of.name}", derivative=Derivative(of, mode, wrt, along), strategy=strategy)
