"""A user's program as something that can be compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from kinetree.compiler.source import MOST_ARRAYS
from kinetree.compiler.tracing import current_trace
from kinetree.errors import OptionError
from kinetree.expr import Port, Program, Scalar, replay
from kinetree.model import Model
from kinetree.model.fingerprint import digest
from kinetree.programs.argument import Argument
from kinetree.programs.trace import Traced
from kinetree.records import record

__all__ = ["ProgramSource"]


@record(frozen=True, eq=False)
class ProgramSource:
    """A traced program: its ports, and an identity made of its statements."""

    name: str
    arguments: Mapping[str, Argument]
    traced: Traced
    subject: str = "the program"
    optional: range = range(0)
    rows: tuple[int, ...] = ()
    state: tuple[int, ...] = ()

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Its arguments, in order."""
        return self.traced.program.inputs

    @property
    def output(self) -> Port:
        """All results."""
        return self.traced.program.outputs[0]

    @property
    def quaternions(self) -> Sequence[tuple[int, Mapping[str, slice]]]:
        """The configurations with quaternions, by number."""
        return [(k, a.quaternions) for k, a in enumerate(self.arguments.values()) if a.quaternions]

    @property
    def configurations(self) -> Mapping[int, Model]:
        """The arguments that are configurations, by number, and of which robots."""
        return {k: a.robot for k, a in enumerate(self.arguments.values()) if a.robot is not None}

    def check(self) -> None:
        """Raise if there are more arguments than a function can take."""
        if len(self.inputs) >= MOST_ARRAYS:
            raise OptionError(
                f"{self.name} takes {len(self.inputs)} arrays; a compiled function takes at most {MOST_ARRAYS - 1}: "
                "join some of them"
            )

    def program(self) -> Program:
        """The statements."""
        return self.traced.program

    def inlined(self, *flat: Sequence[Scalar]) -> Sequence[Scalar]:
        """The results' numbers in the trace in progress."""
        program = self.program()
        return replay(program, *flat)[0] if program.is_straight else current_trace().call(program, *flat)

    @cached_property
    def _identity(self) -> bytes | None:
        quaternions = [(k, name, at.start, at.stop) for k, found in self.quaternions for name, at in found.items()]
        return digest(self.program(), quaternions, self.rows, self.state)

    def key(self, *more: object) -> bytes | None:
        """A key for code: equal statements have equal code, whatever function they come from."""
        return None if self._identity is None else digest(*more, self._identity)
