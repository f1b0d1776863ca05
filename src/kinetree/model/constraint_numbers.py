"""The numbers of constraints, which are inputs of a kernel, and the rest, for which it is compiled.

A kernel is compiled for frames, directions, axes, and for which numbers there are; places, lengths and gains come with
each call. Functions need different numbers: J and J̇ v none at all, errors places and lengths, accelerations gains as
well. The inputs are, in this order:

    constraints.K.at       (3,) or (4, 4)   where constraint K of the list is held: a point, or with its orientation
    constraints.lengths    (n,)             the lengths of all rods, m
    constraints.gains      (n,)             of each constraint its position gain, 1/s², then its velocity gain, 1/s
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from kinetree.errors import ShapeError
from kinetree.expr import Port, Scalar
from kinetree.inputs import holds_symbols
from kinetree.model.constraints import Array, Constraint, Contact, Loop, is_given
from kinetree.records import record
from kinetree.spatial import Mat3, Transform, Vec3
from kinetree.spatial.pose_exponential import transform_of_pose

__all__ = ["ConstraintNumbers", "listed"]

_SOMEWHERE = Transform.identity()
"""In place of any place."""
_SOME = 1.0
"""In place of any length and any gain."""


def listed(value: Any) -> Any:
    """Constraints as a tuple, which can be part of a kernel's key; anything else as it is, to be rejected later."""
    if isinstance(value, Contact | Loop):
        return (value,)
    return tuple(value) if isinstance(value, list | tuple) else value


class _Parts(NamedTuple):
    """A constraint taken apart."""

    rest: Constraint
    """The same for all that differ in numbers only."""
    at: Array | None
    """(…, 3) or (…, 4, 4)."""
    length: float | Array | None
    gains: tuple[float | Array, ...]


@record(frozen=True, slots=True)
class ConstraintNumbers:
    """Which numbers of constraints a function needs, and where they are."""

    needed: Literal["none", "places", "gains", "all"]
    """None; places and lengths; gains, and with a position gain also the place or the length; all there are."""

    def without(self, constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
        """The constraints without their numbers."""
        return tuple(self._parts(c).rest for c in constraints)

    def ports(self, _: object, options: Mapping[str, Any]) -> list[Port]:
        """An input for each place, then one for all lengths and one for all gains."""
        constraints: Sequence[Constraint] = options["constraints"]
        parts = [self._parts(c) for c in constraints]
        ports = [
            Port(f"constraints.{k}.at", part.at.shape[-2:] if constraints[k].directions == "fixed" else (3,))
            for k, part in enumerate(parts)
            if part.at is not None
        ]
        lengths = sum(part.length is not None for part in parts)
        gains = sum(len(part.gains) for part in parts)
        ports += [Port("constraints.lengths", (lengths,))] * (lengths > 0)
        return ports + [Port("constraints.gains", (gains,))] * (gains > 0)

    def arrays(self, value: Any) -> list[Array]:
        """The numbers of constraints, one array per port."""
        parts = [self._parts(c) for c in listed(value)]
        arrays = [part.at for part in parts if part.at is not None]
        lengths = [part.length for part in parts if part.length is not None]
        gains = [gain for part in parts for gain in part.gains]
        return arrays + [_together(name, x) for name, x in (("lengths", lengths), ("gains", gains)) if x]

    def filled(self, value: Any, numbers: Sequence[Sequence[Scalar]]) -> tuple[Constraint, ...]:
        """Constraints with these numbers, floats or symbols."""
        constraints: tuple[Constraint, ...] = value
        parts = [self._parts(c) for c in constraints]
        flat, rows = iter(numbers), []
        places = [None if part.at is None else _place(next(flat)) for part in parts]
        lengths = iter(next(flat) if any(part.length is not None for part in parts) else ())
        gains = iter(next(flat) if any(part.gains for part in parts) else ())
        for c, part, place in zip(constraints, parts, places, strict=True):
            values: dict[str, Any] = {} if place is None else {"at": place}
            if part.length is not None:
                values["length"] = next(lengths)
            values |= {name: next(gains) for name in _GAINS if part.gains and is_given(getattr(c, name))}
            rows.append(_made(type(c), tuple(values.get(f.name, getattr(c, f.name)) for f in fields(c))))
        return tuple(rows)

    def _parts(self, c: Constraint) -> _Parts:
        """Taken apart once for each object and need."""
        kept: dict[str, _Parts] | None = getattr(c, "_parts", None)
        if kept is None:
            kept = {}
            object.__setattr__(c, "_parts", kept)
        if self.needed not in kept:
            kept[self.needed] = self._taken_apart(c)
        return kept[self.needed]

    def _taken_apart(self, c: Constraint) -> _Parts:
        has_gains = self.needed in ("gains", "all")
        gains = {name: getattr(c, name) for name in _GAINS if has_gains and is_given(getattr(c, name))}
        has_error = self.needed in ("places", "all") or "position_gain" in gains
        at = c.at if has_error and isinstance(c, Contact) else None
        length: Any = c.length if has_error and isinstance(c, Loop) else None
        some: dict[str, Any] = {name: _SOME if name in gains else 0.0 for name in _GAINS}
        if isinstance(c, Contact):
            some["at"] = None if at is None else _SOMEWHERE
        elif c.length is not None:
            some["length"] = _SOME
        kind: Any = type(c)
        rest = _rest(kind, tuple(some.get(f.name, getattr(c, f.name)) for f in fields(c)))
        return _Parts(rest, None if at is None else _array(at, c.directions), length, tuple(gains.values()))


_GAINS = ("position_gain", "velocity_gain")


def _made(kind: type[Constraint], values: tuple[Any, ...]) -> Constraint:
    """A record of these values, which are as it has them: they may be symbols."""
    record = object.__new__(kind)
    for f, value in zip(fields(kind), values, strict=True):
        object.__setattr__(record, f.name, value)
    return record


@lru_cache(maxsize=4096)
def _rest(kind: Any, values: tuple[Any, ...]) -> Constraint:
    """A record without numbers: one object for equal ones, so that they are compared quickly."""
    return _made(kind, values)


def _array(at: Any, directions: object) -> Array:
    """A place as its port takes it: without an orientation where none is held."""
    if isinstance(at, Transform):
        return np.array(at.homogeneous()).reshape(4, 4) if directions == "fixed" else np.array(at.r.components())
    if holds_symbols(at):
        symbolic: Array = at if directions == "fixed" or at.shape[-1] == 3 else at[..., :3, 3]
        return symbolic
    return np.ascontiguousarray(at if directions == "fixed" or at.shape[-1] == 3 else at[..., :3, 3])


def _place(numbers: Sequence[Scalar]) -> Transform:
    """A point, or a pose."""
    return Transform(Mat3.identity(), Vec3(*numbers)) if len(numbers) == 3 else transform_of_pose(numbers)


def _together(name: str, numbers: Sequence[float | Array]) -> Array:
    """Numbers side by side: (n,), or (…, n) if some are given per sample."""
    if all(isinstance(x, float) for x in numbers):
        return np.array(numbers)
    try:
        return np.stack(np.broadcast_arrays(*numbers), axis=-1)
    except ValueError:
        shapes = ", ".join(str(np.shape(x)) for x in numbers)
        raise ShapeError(
            f"the leading axes of the {name} of the constraints do not broadcast together: {shapes}; they must be "
            "equal, or 1, or absent"
        ) from None
