"""Events: numbers of the state whose passing through zero is recorded, and may end a motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import DTypeError, NameNotFoundError, OptionError, ShapeError, SimulationError
from kinetree.functions.chosen import Chosen
from kinetree.functions.constraint_options import first_sample
from kinetree.inputs import flag, real_array
from kinetree.model import Model
from kinetree.programs import Program
from kinetree.records import record

__all__ = ["Event", "EventNumber", "Occurrence", "Until", "event_numbers"]

Array = NDArray[np.float64]
EventFunction = Callable[[Any, Array, Array], ArrayLike]
"""(t, q, v) -> a number, or (…,) for a batch."""


@record(frozen=True, slots=True)
class Event:
    """A number of time and state, whose passing through zero is an event of a motion.

    Attributes:
        number: a function (t, q, v) -> number, or a `kt.program` of any of t (), q (nq,) and v (nv,). In a batch a
            Python function gets q (…, nq) and v (…, nv) and returns (…,); t is a float, or (…,) where it looks for
            the moment.
        direction: 1 for upward only, -1 for downward only, 0 for both.
        terminal: whether the motion ends there. Otherwise the event is recorded only.

    >>> import kinetree as kt
    >>> apex = kt.sim.Event(lambda t, q, v: v[..., 0], direction=-1, terminal=False)
    >>> motion = kt.simulate(kt.zoo.load("double_pendulum"), q=[1.0, 0.5], duration=2.0, until={"turns": apex})
    >>> [event.name for event in motion.events]
    ['turns']
    """

    number: EventFunction | Program
    direction: int = 0
    terminal: bool = True

    def __post_init__(self) -> None:
        if not callable(self.number):
            raise OptionError(f"an event is a function of (t, q, v), or a kt.program, not {self.number!r:.60}")
        if isinstance(self.direction, bool) or self.direction not in (-1, 0, 1):
            raise OptionError(f"the direction of an event is 1, -1 or 0 (both), not {self.direction!r:.60}")
        flag("terminal", self.terminal)


Until = EventFunction | Event | Mapping[str, EventFunction | Event]


@record(frozen=True, slots=True, eq=False)
class Occurrence:
    """An event that happened: its name, time, s, and the state."""

    name: str
    time: float
    sample: tuple[int, ...]
    """Which motion of a batch; () for a single one."""
    q: Array
    v: Array


class EventNumber:
    """The number of an event along a motion."""

    def __init__(self, robot: Model, name: str, event: Event, shape: tuple[int, ...]) -> None:
        self.name = name
        self.event = event
        self._shape, self._split = shape, (robot.nq, robot.nq + robot.nv)
        self._program = event.number if isinstance(event.number, Program) else None
        if self._program is not None:
            _check_program(robot, name, self._program)

    def along(self, times: Array, rows: Array) -> Array:
        """Its values (…, T) at rows (…, T, n)."""
        if self._program is not None:
            return self._by_program(times, rows)
        count = rows.shape[-2]
        values = np.empty((*self._shape, count))
        for k in range(count):
            values[..., k] = self._called(float(times[k]), rows[..., k, :])
        return values

    def at(self, times: Array, rows: Array, some: Chosen, others: Array) -> Array:
        """Its values (m,) at times (m,) and rows (m, n) of some samples; `others` (…, n) are rows of all of them."""
        if self._program is not None:
            return self._by_program(times, rows)
        if not self._shape:
            return np.array([self._called(float(times[0]), rows[0])])
        whole, moments = others.copy(), np.zeros(self._shape)
        some.put(whole, rows)
        some.put(moments, times)
        return np.asarray(some.of(self._called(moments, whole)))

    def check(self, values: Array, times: Array, going_on: NDArray[np.bool_]) -> None:
        """Reject NaN among values (…, T) of motions that go on (…)."""
        wrong = np.isnan(values) & going_on[..., None]
        if wrong.any():
            sample, where = first_sample(np.asarray(wrong.any(axis=-1)))
            t = times[int(np.argmax(wrong[sample]))]
            raise SimulationError(f"the event {self.name!r} is nan at t = {t:g} s{where}, although the state is finite")

    def crossings(self, values: Array) -> NDArray[np.bool_]:
        """Between which of T values (…, T) the number passes through zero, (…, T - 1).

        It does if it was not zero before, and is zero or of the other sign after.
        """
        before, after = values[..., :-1], values[..., 1:]
        up, down = (before < 0.0) & (after >= 0.0), (before > 0.0) & (after <= 0.0)
        return {1: up, -1: down, 0: up | down}[self.event.direction]

    def _by_program(self, times: Array, rows: Array) -> Array:
        assert self._program is not None
        nq, end = self._split
        given: dict[str, Any] = {"t": times, "q": rows[..., :nq], "v": rows[..., nq:end]}
        values = self._program(**{name: given[name] for name in self._program.arguments})
        return np.array(np.broadcast_to(values, rows.shape[:-1]))

    def _called(self, t: Any, row: Array) -> Array:
        nq, end = self._split
        q, v = row[..., :nq].view(), row[..., nq:end].view()
        q.flags.writeable = v.flags.writeable = False
        values = real_array(f"the event {self.name!r}", self.event.number(t, q, v), _text(self._shape))
        if values.shape != self._shape:
            raise ShapeError(
                f"the event {self.name!r} returned the shape {values.shape}, but {_text(self._shape)} is needed"
            )
        return values.astype(np.float64)


def event_numbers(robot: Model, until: Any, shape: tuple[int, ...]) -> list[EventNumber]:
    """The numbers that `until` names, checked."""
    if until is None:
        return []
    named = until if isinstance(until, Mapping) else {"until": until}
    result = []
    for name, given in named.items():
        if not isinstance(name, str) or not name:
            raise OptionError(f"until: events have names that are strings, not {name!r:.60}")
        if not isinstance(given, Event) and not callable(given):
            raise OptionError(
                f"until: the event {name!r} must be a function of (t, q, v), a kt.program or a kt.sim.Event, not "
                f"{given!r:.60}"
            )
        result.append(EventNumber(robot, name, given if isinstance(given, Event) else Event(given), shape))
    return result


def _check_program(robot: Model, name: str, program: Program) -> None:
    sizes = {"t": (), "q": (robot.nq,), "v": (robot.nv,)}
    for argument, declared in program.arguments.items():
        if argument not in sizes:
            raise NameNotFoundError(
                f"the event {name!r} takes {argument!r}; a program as event has arguments among t, q and v"
            )
        if declared.shape != sizes[argument]:
            raise ShapeError(
                f"the event {name!r} takes {argument} of shape {declared.shape}, but {robot.name!r} has "
                f"{sizes[argument]}"
            )
    leaves = program.traced().results.leaves
    if [leaf.name for leaf in leaves] != [""] or leaves[0].shape != ():
        raise DTypeError(f"the event {name!r} must return one number, of shape ()")


def _text(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
