"""A user's program as something that can be compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from kinetree.compiler.tracing import current_trace
from kinetree.expr import Port, Program, Scalar
from kinetree.model import Model
from kinetree.model.fingerprint import digest
from kinetree.programs.argument import Argument
from kinetree.programs.results import Results
from kinetree.programs.trace import Traced, called
from kinetree.records import record
from kinetree.symbolic import SymbolicArray

__all__ = ["ProgramSource"]


@record(frozen=True, eq=False)
class ProgramSource:
    """A traced program: its ports, and an identity made of its trace's dependencies, or else of its statements."""

    name: str
    arguments: Mapping[str, Argument]
    traced: Traced
    subject: str = "the program"
    optional: range = range(0)
    rows: tuple[int, ...] = ()
    state: tuple[int, ...] = ()
    can_loop: bool = False
    divides_by_inertia: bool = False  # which is not known
    function: Callable[..., Any] | None = None
    """The user's function, if it can be run in other traces."""

    @cached_property
    def inputs(self) -> tuple[Port, ...]:
        """Its arguments, in order."""
        return tuple(argument.port(name) for name, argument in self.arguments.items())

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self.arguments)

    @cached_property
    def output(self) -> Port:
        """All results."""
        return Port(self.traced.results.program, self.traced.results.shape)

    @property
    def quaternions(self) -> Sequence[tuple[int, Mapping[str, slice]]]:
        """The configurations with quaternions, by number."""
        return [(k, a.quaternions) for k, a in enumerate(self.arguments.values()) if a.quaternions]

    @cached_property
    def configurations(self) -> Mapping[int, Model]:
        """The arguments that are configurations, by number, and their robots."""
        return {k: a.robot for k, a in enumerate(self.arguments.values()) if a.robot is not None}

    def check(self) -> None:
        """Every program can be made."""

    def program(self) -> Program:
        """The statements."""
        return self.traced.program

    def inlined(self, *flat: Sequence[Scalar]) -> Sequence[Scalar]:
        """The results' numbers in the trace in progress."""
        in_progress = current_trace()
        if self.function is None or in_progress.calls:
            return in_progress.run(self.traced.program, *flat)
        given = {}
        for (name, argument), numbers in zip(self.arguments.items(), flat, strict=True):
            elements = np.empty(len(numbers), object)
            elements[:] = numbers
            dtype = argument.symbolic_dtype(in_progress.dtype)
            given[name] = SymbolicArray(elements.reshape(argument.shape), dtype)
        returned = called(self.function, self.name, given)
        return Results(returned, self.name, in_progress.dtype).taken_numbers()

    @cached_property
    def _identity(self) -> bytes | None:
        quaternions = [(k, name, at.start, at.stop) for k, found in self.quaternions for name, at in found.items()]
        return digest(self.traced.key or self.traced.program, quaternions, self.rows, self.state)

    def key(self, *more: object) -> bytes | None:
        """A key for code: of the trace's dependencies, or else of its statements."""
        return None if self._identity is None else digest(*more, self._identity)
