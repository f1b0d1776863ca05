"""Pairs of shapes that may touch: a table of which, and a record of each, which is made when it is asked for."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import Any, NamedTuple, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from kinetree.algorithms.softness import Softness
from kinetree.collision import Shape
from kinetree.contact_model.mixing import Touch, mixed, of_pair, softness, softness_across
from kinetree.contact_model.overrides import (
    frictions_again,
    margin_again,
    mixed_again,
    placed_again,
    resized,
    softened_again,
)
from kinetree.expr import Scalar, equal, is_zero, maximum
from kinetree.model.extras import ContactPair, ContactParameters, SimulationOptions
from kinetree.model.parameters import GivenNumbers
from kinetree.records import record
from kinetree.spatial import Transform

__all__ = ["Side", "TouchSpec", "Touches", "TouchingShape", "count_of_shapes", "in_order_of_appearance", "kinds_of"]


@record(frozen=True, slots=True)
class TouchingShape:
    """A shape on a body, or fixed in the world."""

    body: str | None
    name: str
    shape: Shape
    placement: Transform
    """From the body's frame to the shape's."""
    number: int = 0
    """Its place in the body's `geometry`."""
    within: Transform | None = None
    """Its frame in the geometry's, if that is another."""
    alternative: int | None = None
    """Which of the objects that its body may be has it; None if there is one alone."""
    is_present: bool = True
    """Whether that is the one that the robot has."""

    def given(self, numbers: GivenNumbers) -> Mapping[str, Sequence[Scalar]]:
        """The values of its numbers that a call gives."""
        return {} if self.body is None else numbers.shapes.get((self.body, self.number), {})

    def absent(self, numbers: GivenNumbers) -> Scalar:
        """1 where it is of an object that is not in the world, if a call gives the number of the one that is."""
        if self.alternative is None or self.body is None or self.body not in numbers.alternatives:
            return 0.0
        absent: Scalar = 1.0 - equal(numbers.alternatives[self.body], float(self.alternative))
        return absent

    def with_parameters(self, numbers: GivenNumbers) -> TouchingShape:
        """A copy with the size and the placement that a call gives."""
        own = self.given(numbers)
        return replace(self, shape=resized(self.shape, own), placement=placed_again(self.placement, self.within, own))


@record(frozen=True, slots=True)
class TouchSpec:
    """Two shapes that may touch, the first of them with the kind that comes first in `collision.KINDS`."""

    first: TouchingShape
    second: TouchingShape
    dimension: int
    """1, 3, 4 or 6 rows: the normal, sliding in two directions, torsion, rolling in two directions."""
    friction: tuple[Scalar, Scalar, Scalar, Scalar, Scalar]
    softness: Softness
    """With the inverse inertia of translations."""
    friction_reference: tuple[float, float]
    """The softness's reference in the rows across the normal, of elliptic cones; 0 0: as the normal's."""
    margin: Scalar
    """The distance below which a contact acts."""
    selection: Scalar
    """The distance below which points are candidates for the slots: the margin and the gap."""
    adhesion: float = 0.0
    surface_velocity: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
    """How each shape's surface moves, in its axes: linear and angular, m/s and rad/s; empty if it does not move."""
    sides: tuple[ContactParameters, ContactParameters] | None = None
    """The parameters of the two shapes, mixed into those above; None where a pair or the options give these."""
    pair: str | None = None
    """The pair that says these, unless the options do."""
    absent: Scalar = 0.0
    """1 where one of the shapes is of an object that is not in the world."""

    @property
    def is_plain(self) -> bool:
        """Whether nothing sticks and no surface moves."""
        return not self.adhesion and not any(any(motion) for motion in self.surface_velocity)

    def with_parameters(self, numbers: GivenNumbers) -> TouchSpec:
        """A copy with the numbers that a call gives: those of two shapes mixed as ever, or those of the pair."""
        own = self.first.given(numbers), self.second.given(numbers)
        of_pair = {} if self.pair is None else numbers.rows.get(self.pair, {})
        absent = maximum(self.first.absent(numbers), self.second.absent(numbers))
        if not any(own) and not of_pair:
            return self if is_zero(absent) else replace(self, absent=absent)
        first, second = (side.with_parameters(numbers) for side in (self.first, self.second))
        friction, margin = frictions_again(self.friction, of_pair), margin_again(self.margin, of_pair)
        softness = softened_again(self.softness, of_pair)
        if (mixed := mixed_again(self.sides, own)) is not None:
            friction, margin = mixed.friction, mixed.margin
            softness = replace(softness, reference=mixed.solref, impedance=mixed.solimp)
        return replace(
            self, first=first, second=second, friction=friction, softness=softness, margin=margin,
            selection=margin + (self.selection - self.margin), absent=absent,
        )  # fmt: skip


class Side(NamedTuple):
    """A shape that may touch others."""

    shape: TouchingShape
    contact: ContactParameters
    inverse: float
    """The inverse inertia of its body's translation, 1/kg."""


class Touches(Sequence[TouchSpec]):
    """The pairs of a robot, in MuJoCo's order; a `TouchSpec` is made when it is first asked for.

    It equals a tuple of the same records, and is one in pickles.
    """

    def __init__(
        self,
        sides: tuple[Side, ...],
        table: NDArray[np.int64],
        pairs: Mapping[int, ContactPair],
        options: SimulationOptions,
        period: float,
        sliding: float | None,
        reach: float,
    ) -> None:
        """`table` (3, n): the first side, the second, and the number of the file's own pair or -1, of each pair.

        `pairs` has the file's own by number, `sliding` is a coefficient in the place of all others, and `reach` how far
        contacts look ahead.
        """
        self.sides = sides
        self.table = table
        self._pairs = pairs
        self._options = options
        self._period = period
        self._sliding = sliding
        self._reach = reach

    @cached_property
    def _made(self) -> dict[int, TouchSpec]:
        return {}

    @cached_property
    def _contacts(self) -> list[ContactParameters]:
        """The parameters of each side, one object for all that are equal."""
        known: dict[ContactParameters, ContactParameters] = {}
        return [known.setdefault(side.contact, side.contact) for side in self.sides]

    @cached_property
    def _rest(self) -> dict[Hashable, tuple[Any, ...]]:
        """The parts of a pair other than its shapes, once for all pairs of sides with equal parameters."""
        return {}

    @property
    def content(self) -> tuple[Any, ...]:
        """All that the pairs are made of."""
        table = self.table.shape, self.table.tobytes()
        return self.sides, table, dict(self._pairs), self._options, self._period, self._sliding, self._reach

    @cached_property
    def are_plain(self) -> bool:
        """Whether all of them are plain."""
        return all(touch.is_plain for touch in self)

    @cached_property
    def _mixed(self) -> dict[tuple[ContactParameters, ContactParameters], Touch]:
        return {}

    def __len__(self) -> int:
        return len(self.table[0])

    @overload
    def __getitem__(self, place: SupportsIndex) -> TouchSpec: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[TouchSpec, ...]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> TouchSpec | tuple[TouchSpec, ...]:
        if isinstance(place, slice):
            return tuple(self[k] for k in range(len(self))[place])
        k = range(len(self))[operator.index(place)]
        # Its identity is that of a pair, for the trace of a program.
        return self._made.get(k) or self._made.setdefault(k, self._at(k))

    def __iter__(self) -> Iterator[TouchSpec]:
        made = self._made
        return (made.get(k) or made.setdefault(k, self._at(k)) for k in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Touches | tuple):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        first, second, *others = [field.name for field in fields(TouchSpec)]
        sides = [repr(side.shape) for side in self.sides]  # a shape is in many pairs, and so are other parts
        texts: dict[int, str] = {}

        def text(i: int, j: int, number: int) -> str:
            rest = self._rest_of(i, j, number)
            if id(rest) not in texts:
                one = TouchSpec(self.sides[i].shape, self.sides[j].shape, *rest)
                texts[id(rest)] = "".join(f", {name}={getattr(one, name)!r}" for name in others)
            return f"TouchSpec({first}={sides[i]}, {second}={sides[j]}{texts[id(rest)]})"

        return f"({', '.join(map(text, *self.table.tolist()))}{',' * (len(self) == 1)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (tuple(self),)

    @property
    def kinds(self) -> Counter[str]:
        """How many pairs there are of each two kinds, in the order in which these come first."""
        names = [side.shape.shape.kind for side in self.sides]
        known = list(dict.fromkeys(names))
        codes = np.array([known.index(name) for name in names], np.int64)
        one, other = codes[self.table[:2]]
        both, most = one * len(known) + other, len(known) ** 2
        counts = np.bincount(both, minlength=most).tolist()
        return Counter({
            f"{known[code // len(known)]} and {known[code % len(known)]}": counts[code]
            for code in in_order_of_appearance(both, most).tolist()
        })  # fmt: skip

    def _at(self, k: int) -> TouchSpec:
        i, j, number = self.table[:, k].tolist()
        return TouchSpec(self.sides[i].shape, self.sides[j].shape, *self._rest_of(i, j, number))

    def _rest_of(self, i: int, j: int, number: int) -> tuple[Any, ...]:
        """The parts of a pair of sides other than its shapes, one object for all that are equal."""
        contacts, sides = self._contacts, self.sides
        key = id(contacts[i]), id(contacts[j]), i < j, number, sides[i].inverse + sides[j].inverse
        return self._rest.get(key) or self._rest.setdefault(key, self._made_of(i, j, number))

    def _made_of(self, i: int, j: int, number: int) -> tuple[Any, ...]:
        one, other, pair = self._contacts[i], self._contacts[j], self._pairs.get(number)
        touch = self._touch(*((one, other) if i < j else (other, one)), pair)
        mixes = not self._options.flags.override
        friction = touch.friction
        if self._sliding is not None:
            friction = (self._sliding, self._sliding, *friction[2:])
        return (
            touch.condim,
            friction,
            softness(touch.solref, touch.solimp, self.sides[i].inverse + self.sides[j].inverse, self._period),
            softness_across(touch.solref_friction),
            touch.margin,
            touch.margin + touch.gap + self._reach,
            touch.adhesion,
            (one.surface_velocity, other.surface_velocity),
            (one, other) if mixes and pair is None else None,
            (pair.name or f"pair[{number}]") if mixes and pair is not None else None,
        )

    def _touch(self, a: ContactParameters, b: ContactParameters, pair: ContactPair | None) -> Touch:
        if pair is not None:
            return of_pair(pair, self._options)
        if (a, b) not in self._mixed:
            self._mixed[a, b] = mixed(a, b, self._options)
        return self._mixed[a, b]


def in_order_of_appearance(numbers: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The different ones among numbers below `most`, each where it comes first."""
    first = np.full(most, len(numbers))
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]  # of several the last assignment stays
    order: NDArray[np.int64] = np.argsort(first, kind="stable")
    return order[: np.count_nonzero(first < len(numbers))]


def count_of_shapes(touches: Sequence[TouchSpec]) -> int:
    """How many shapes they have."""
    if isinstance(touches, Touches):
        return len(touches.sides)
    return len({id(side) for touch in touches for side in (touch.first, touch.second)})


def bodies_of(touches: Sequence[TouchSpec]) -> list[str | None]:
    """The bodies of their shapes; None for the world."""
    if isinstance(touches, Touches):
        return list(dict.fromkeys(side.shape.body for side in touches.sides))
    return list(dict.fromkeys(side.body for touch in touches for side in (touch.first, touch.second)))


def are_plain(touches: Sequence[TouchSpec]) -> bool:
    """Whether all of them are plain."""
    return touches.are_plain if isinstance(touches, Touches) else all(touch.is_plain for touch in touches)


def kinds_of(touches: Sequence[TouchSpec]) -> Counter[str]:
    """How many pairs there are of each two kinds, in the order in which these come first."""
    if isinstance(touches, Touches):
        return touches.kinds
    return Counter(f"{touch.first.shape.kind} and {touch.second.shape.kind}" for touch in touches)
