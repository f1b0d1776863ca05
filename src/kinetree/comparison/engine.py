"""Another library as a side of a comparison: its joints take kinetree's numbers, one joint at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from kinetree.comparison.side import Array, Side, State
from kinetree.joints import Continuous, JointKind, Placed, Revolute
from kinetree.layouts.table import Written, written
from kinetree.records import record

__all__ = ["Engine", "Places", "Raw", "UnreadableError", "first_line"]


class UnreadableError(Exception):
    """A file that a library cannot read or compute with; the message says why, as a sentence about `it`."""


def first_line(error: BaseException | str) -> str:
    """The first line of another library's error."""
    line = str(error).strip().partition("\n")[0].removeprefix("Error: ").rstrip(" .")
    return line or type(error).__name__


class Places(NamedTuple):
    """Where the numbers of a joint are in the library's q and v."""

    q: list[int]
    v: list[int]


@record(frozen=True, slots=True, eq=False)
class Raw:
    """A state in the library's own coordinates."""

    placements: Mapping[str, Array]
    twists: Mapping[str, Array]
    mass_matrix: Array
    bias_forces: Array
    gravity_forces: Array


class Engine(Side):
    """A library with a robot loaded. Every joint has coordinates of its own."""

    library: str
    """Its name in the table of layouts."""
    places: dict[str, Places]
    """By kinetree's names of the joints, in the library's order."""

    @abstractmethod
    def neutral(self) -> Array:
        """A configuration of its own."""

    @abstractmethod
    def raw(self, q: Array, v: Array) -> Raw:
        """The state at its own q and v."""

    @property
    def spread(self) -> Array:
        return np.eye(sum(joint.nv for joint in self.joints.values()))

    def accepts(self, joint: str, kind: JointKind) -> bool:
        return joint in self.places and self._way(joint, kind) is not None

    def state(self, kinds: Mapping[str, JointKind], q: Mapping[str, Array], v: Mapping[str, Array]) -> State:
        ways = {name: way for name in q if name in self.places and (way := self._way(name, kinds[name])) is not None}
        size = sum(joint.nv for joint in self.joints.values())
        their_q, their_v, steady = self.neutral(), np.zeros(size), np.zeros(size)
        B = np.zeros((size, size))
        rows = self.rows()
        for name, (coordinates, basis) in ways.items():
            own, rates, at = _numbers(q[name]), _numbers(v[name]), self.places[name]
            their_q[at.q] = _flat(coordinates.to(own))
            their_v[at.v] = _flat(basis.to(own, rates))
            steady[at.v] = _flat(basis.drift(own, rates))
            for k, row in enumerate(np.eye(len(rates))):
                B[at.v, rows[name].start + k] = _flat(basis.to(own, _numbers(row)))
        for name, at in self.places.items():
            if name not in ways:
                B[at.v, range(rows[name].start, rows[name].stop)] = 1.0
        try:
            there = self.raw(their_q, their_v)
        except Exception as error:  # other libraries may raise anything
            raise UnreadableError(f"it failed at a state: {first_line(error)}") from error
        twists = {
            name: S @ B[np.ix_(self.places[name].v, range(rows[name].start, rows[name].stop))]
            for name, S in there.twists.items()
        }
        M = there.mass_matrix
        return State(
            there.placements, twists, B.T @ M @ B, B.T @ (there.bias_forces + M @ steady), B.T @ there.gravity_forces
        )

    def _way(self, joint: str, kind: JointKind) -> Written | None:
        """How the numbers of a kind are written in its joint; None if that has others."""
        while isinstance(kind, Placed):
            kind = kind.kind
        candidates = [kind]
        if isinstance(kind, Revolute):  # some libraries have both, with different numbers
            candidates.append(Revolute(kind.axis) if isinstance(kind, Continuous) else Continuous(kind.axis))
        at = self.places[joint]
        for candidate in candidates:
            way = written(candidate, self.library)
            if way is not None and (len(way.coordinates.names), len(way.basis.names)) == (len(at.q), len(at.v)):
                return way
        return None


def _numbers(x: Array) -> list[Array]:
    """One array per entry: functions of numbers do not take NumPy's scalars."""
    return [np.array([entry]) for entry in x]


def _flat(numbers: list[Array]) -> Array:
    return np.array([float(np.ravel(x)[0]) for x in numbers])
