"""Derivatives of definitions, as definitions; `derived_source` says how their programs come about.

Names of inputs are those of the definition, "f_ext.FRAME" for an external force (with its `WrenchOn` or `ForceOn` in
place of FRAME), and the parameters' own. Numbers of options have names such as "constraints.0.at".
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from kinetree.compiler.definition import Definition, Derivative
from kinetree.compiler.specialization import Specialization, too_large_to_write_out
from kinetree.compiler.tracing import current_trace
from kinetree.expr import Port, Program, Scalar
from kinetree.model import Model
from kinetree.model.external_forces import Acting, ForceKey
from kinetree.records import record

if TYPE_CHECKING:
    from kinetree.compiler.derived_source import DerivedSource

__all__ = ["DerivedSpecialization", "derived", "input_names", "program_to_differentiate", "specialized"]

_TIMES_AS_LONG = 2.6
"""Statements of a derivative per statement of the function, forward or backward."""
_RECORDED = 1.5
"""Operations per statement of a program: sums of products are fused."""


def specialized(
    definition: Definition,
    model: Model,
    options: Mapping[str, Hashable],
    forces: tuple[Acting, ...],
    parameters: tuple[str, ...],
    unroll: bool | None,
) -> Specialization:
    """A definition, or its substitute for large robots or turning forces, for one robot and one set of options."""
    made = Specialization if definition.derivative is None else DerivedSpecialization
    whole = made(definition, model, options, forces, parameters, unroll)
    large = definition.strategy.when_large
    if large is not None and unroll is not True and (unroll is False or too_large_to_write_out(model, definition)):
        return _in_place_of(large, whole)
    turning = definition.strategy.when_forces_turn
    if turning is not None and any(force.turns for force in forces):
        return _in_place_of(turning, whole)
    return whole


def _in_place_of(definition: Definition, like: Specialization) -> Specialization:
    """The specialization of a substitute."""
    model, options = like.model, like.options
    rest = {name: check(model, None) for name, check in definition.options.items() if name not in options}
    return specialized(definition, model, {**options, **rest}, like.forces, like.parameters, like.unroll)


@cache
def derived(of: Definition, mode: Any, wrt: tuple[str, ...], along: tuple[str, ...] = ()) -> Definition:
    """The definition of a derivative: equal requests give the same object, by which kernels are kept."""
    large, turning = (
        None if instead is None else derived(instead, mode, wrt, along)
        for instead in (of.strategy.when_large, of.strategy.when_forces_turn)
    )
    strategy = replace(of.strategy, when_large=large, when_forces_turn=turning)
    return replace(of, name=f"{mode} of {of.name}", derivative=Derivative(of, mode, wrt, along), strategy=strategy)


def input_names(
    definition: Definition, numbers: Sequence[Port], forces: Sequence[ForceKey], parameters: Sequence[str]
) -> list[str]:
    """The names that a function can be differentiated by."""
    own = [name for name, _ in definition.inputs] + ["dt"] * definition.takes_dt
    return [*own, *(port.name for port in numbers), *(f"f_ext.{key}" for key in forces), *parameters]


def program_to_differentiate(base: Specialization, *, has_many_entries: bool = False) -> Program:
    """A function written out, or its loops where the derivative would take long to compile; a matrix with many entries
    takes long anyway.
    """
    program, strategy = base.program(), base.definition.strategy
    if base.unroll is not None or not strategy.can_loop(base.model, base.options):
        return program
    statements = sum(1 for _ in program.body.all_statements())
    return base.looped() if has_many_entries or _TIMES_AS_LONG * statements > strategy.longest else program


@record(frozen=True, eq=False)
class DerivedSpecialization(Specialization):
    """A derivative for one robot and one set of options."""

    @cached_property
    def _base(self) -> Specialization:
        derivative = self.definition.derivative
        assert derivative is not None
        return specialized(derivative.of, self.model, self.options, self.forces, self.parameters, self.unroll)

    @cached_property
    def derived(self) -> DerivedSource:
        """The derivative as a source: its ports, and how its program comes from that of the function."""
        from kinetree.compiler.derived_source import DerivedSource

        d, forces = self.definition.derivative, [force.key for force in self.forces]
        assert d is not None
        names = input_names(self._base.definition, self.numbers, forces, self.parameters)
        return DerivedSource(self.definition.name, self._base, tuple(names), d.mode, d.wrt, d.along, self._own)

    @property
    def inputs(self) -> tuple[Port, ...]:
        return self.derived.inputs

    @property
    def output(self) -> Port:
        return self.derived.output

    @property
    def quaternions(self) -> list[tuple[int, Mapping[str, slice]]]:
        return self.derived.quaternions

    @property
    def divides_by_inertia(self) -> bool:
        return self.derived.divides_by_inertia

    @property
    def configurations(self) -> Mapping[int, Model]:
        return self.derived.configurations

    def check(self) -> None:
        self.derived.check()

    def inlined(self, *flat: Sequence[Scalar]) -> Sequence[Scalar]:
        in_progress, strategy = current_trace(), self.definition.strategy
        longest = _RECORDED * strategy.longest / _TIMES_AS_LONG if self._may_loop else math.inf
        shared = None if strategy.always_loops else self.derived.shared(in_progress, longest)
        return self.called(*flat) if shared is None else in_progress.run(shared, *flat)

    def program(self) -> Program:
        """The derivative of the function written out, or of its loops where that would take long to compile."""
        base = program_to_differentiate(self._base, has_many_entries=self.derived.has_many_entries)
        return self.derived.derivative_of(base)
