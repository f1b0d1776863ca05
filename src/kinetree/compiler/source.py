"""The interface of everything that is compiled: a definition on a robot, a derivative, a user's program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from kinetree.expr import Port, Program, Scalar
from kinetree.model import Model

__all__ = ["MOST_ARRAYS", "Ports", "Source", "direction_shape"]

MOST_ARRAYS = 64  # that a NumPy ufunc takes and returns, together


class Ports(Protocol):
    """The arguments and the result of a function."""

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Its arguments, in order."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which users know them."""

    @property
    def output(self) -> Port:
        """Its result."""

    @property
    def configurations(self) -> Mapping[int, Model]:
        """The arguments that are configurations, by number, and their robots."""


class Source(Ports, Protocol):
    """The ports of a function, its program, and its identity."""

    @property
    def name(self) -> str:
        """The function's name, in messages and signatures."""

    @property
    def subject(self) -> str:
        """The owner of the arguments, as messages say it: the robot's name in quotes, or "the program"."""

    @property
    def optional(self) -> range:
        """The arguments that are zero if the last few of them are left out."""

    @property
    def quaternions(self) -> Sequence[tuple[int, Mapping[str, slice]]]:
        """The arguments that hold quaternions, by number, and the slices of them."""

    @property
    def divides_by_inertia(self) -> bool:
        """Whether it is undefined where the mass matrix of these is singular."""

    @property
    def rows(self) -> tuple[int, ...]:
        """The arguments whose first axis counts the steps of a call, if their number is not fixed here."""

    @property
    def state(self) -> tuple[int, ...]:
        """The arguments that a step replaces, in the order of its result."""

    @property
    def can_loop(self) -> bool:
        """Whether it can be made as loops over bodies."""

    def check(self) -> None:
        """Raise if the function does not exist."""

    def program(self) -> Program:
        """The program that is compiled."""

    def inlined(self, *flat: Sequence[Scalar]) -> Sequence[Scalar]:
        """The numbers of the result from those of each argument, in the trace in progress."""

    def key(self, *more: object) -> bytes | None:
        """A key for code: of everything it depends on, with `more`. None if something is not known."""


def direction_shape(source: Ports, k: int) -> tuple[int, ...]:
    """The shape of a displacement of an argument."""
    robot = source.configurations.get(k)
    return source.inputs[k].shape if robot is None else (robot.nv,)
