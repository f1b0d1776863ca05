"""Motion constraints: a frame held to the world, and two frames held together.

A `Contact` or a `Loop` is a plain record: hashable, comparable, and the same for every robot with frames of these
names. `holds` looks up the frames in one robot; the algorithms read its result. Their numbers are inputs of a kernel:
`constraint_numbers` separates them from the settings it is compiled for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import DTypeError, OptionError
from kinetree.inputs import holds_symbols, real_array
from kinetree.model.elements import Frame
from kinetree.record_text import call_text
from kinetree.records import record
from kinetree.spatial import Mat3, Transform, Vec3
from kinetree.spatial.pose_matrices import pose_matrices
from kinetree.spatial.poses import Pose, pose
from kinetree.tree.holds import Anchor, Hold

__all__ = ["Constraint", "Contact", "Loop", "holds", "is_given"]

Array = NDArray[np.float64]

Directions = Literal["point", "fixed"] | Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
"""Directions that are held: the origin, the whole frame, one direction (3,), or two or three of them (k, 3)."""

_ALL = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_ORTHOGONAL = 1e-9
"""Tolerance on the products of orthogonal unit directions."""


class _Record:
    """The common part of contacts and loops: they are equal if all their numbers are, those of samples included."""

    __slots__ = ("_parts",)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        names = (f.name for f in fields(self))  # type: ignore[arg-type]
        return self is other or all(_are_equal(getattr(self, name), getattr(other, name)) for name in names)

    def __hash__(self) -> int:
        raise NotImplementedError


@record(frozen=True, slots=True, eq=False, repr=False)
class Contact(_Record):
    """A frame held to the world: its origin in some directions, or the whole frame.

    Attributes:
        frame: the name of the frame.
        directions: "point" holds the frame's origin (3 rows), "fixed" its orientation as well (6 rows, the linear ones
            first); one direction (3,) holds the origin only along it, like frictionless ground; two or three
            directions (k, 3), at right angles, hold it along these. Their length does not matter.
        at: where the frame is held: a point (3,) in the world, or for "fixed" a placement, by `kt.lie.placement` or
            as the matrix (4, 4) of `kt.frame_placement`; also one per sample, (…, 3) or (…, 4, 4). Only the position
            error and `position_gain` need it.
        axes: the axes that the directions and the rows are in: "world", or "local" for the frame's own, which turn with
            it (a blade that cannot move sideways).
        position_gain: the acceleration per unit of position error, 1/s² (Baumgarte's β²); also one per sample (…).
        velocity_gain: the acceleration per unit of velocity error, 1/s (Baumgarte's 2 α); also one per sample (…).

    The place and the gains are inputs of each call: a contact that differs in these alone compiles nothing again.

    Raises:
        OptionError: for directions that are zero or not at right angles, an invalid place, negative gains.

    >>> import kinetree as kt
    >>> kt.constraints.Contact("left_foot", "fixed").size
    6
    >>> kt.constraints.Contact("ball", [0, 0, 2]).directions
    ((0.0, 0.0, 1.0),)
    """

    frame: str
    directions: Directions = "point"
    at: Pose | None = None
    axes: Literal["world", "local"] = "world"
    position_gain: ArrayLike = 0.0
    velocity_gain: ArrayLike = 0.0

    def __post_init__(self) -> None:
        about = _checked_names("Contact", "frame", self.frame)
        _set(self, "frame", str.__str__(self.frame))
        _set(self, "directions", _directions(about, self.directions, "point", "fixed"))
        _set(self, "at", _place(about, self.at, self.directions))
        if not isinstance(self.axes, str) or self.axes not in ("world", "local"):
            raise OptionError(f"{about}: axes must be 'world' or 'local', not {self.axes!r:.60}")
        _set(self, "axes", str.__str__(self.axes))
        _set_gains(self, about)
        if is_given(self.position_gain) and self.at is None:
            raise OptionError(
                f"{about}: position_gain pulls the frame to where it is held, so it needs that place: give at=, or "
                "leave position_gain out and damp the velocity only"
            )

    def __repr__(self) -> str:
        return call_text(self)

    def __hash__(self) -> int:
        return hash((self.frame, self.directions))

    @property
    def size(self) -> int:
        """How many rows it has."""
        return _size(self.directions)


@record(frozen=True, slots=True, eq=False, repr=False)
class Loop(_Record):
    """Two frames held together: the second's origin to the first's in some directions, or the whole frames.

    All directions are in the axes of the first frame, and turn with them.

    Attributes:
        frame_a, frame_b: the names of the frames.
        directions: "point" holds the two origins together (3 rows), "fixed" the orientations as well (6 rows, the
            linear ones first); one direction (3,) or two (2, 3), at right angles, in the axes of `frame_a`, hold the
            origins together only along these: the origin of `frame_b` stays in a plane or on a line of `frame_a`.
            "distance" keeps the origins `length` apart, as a massless rod does (1 row, the unit vector from the origin
            of `frame_a` to that of `frame_b`, at any distance). Where the two origins meet, a rod has no direction:
            its row, its bias and its force are zero.
        length: of the rod, m; also one per sample (…).
        position_gain: the acceleration per unit of position error, 1/s² (Baumgarte's β²); also one per sample (…).
        velocity_gain: the acceleration per unit of velocity error, 1/s (Baumgarte's 2 α); also one per sample (…).

    The length and the gains are inputs of each call: a loop that differs in these alone compiles nothing again.

    Raises:
        OptionError: for a frame held to itself, directions that are zero or not at right angles, a "distance" without
            a length, negative gains.

    >>> import kinetree as kt
    >>> kt.constraints.Loop("coupler_end", "rocker_end").size
    3
    """

    frame_a: str
    frame_b: str
    directions: Directions | Literal["distance"] = "point"
    length: ArrayLike | None = None
    position_gain: ArrayLike = 0.0
    velocity_gain: ArrayLike = 0.0

    def __post_init__(self) -> None:
        _checked_names("Loop", "frame_a", self.frame_a)
        about = _checked_names("Loop", "frame_b", self.frame_a, self.frame_b)
        _set(self, "frame_a", str.__str__(self.frame_a))
        _set(self, "frame_b", str.__str__(self.frame_b))
        if self.frame_a == self.frame_b:
            raise OptionError(f"{about} holds a frame to itself, which it never leaves; name two frames")
        _set(self, "directions", _directions(about, self.directions, "point", "fixed", "distance"))
        if (self.directions == "distance") != (self.length is not None):
            raise OptionError(f"{about}: directions='distance' and a length belong together; give both or neither")
        if self.length is not None:
            length = _number(about, "length", self.length)
            if (wrong := _first_not(length, lambda x: (x > 0.0) & (x < math.inf))) is not None:
                raise OptionError(f"{about}: length is {wrong:g}; it must be positive and finite, and for none 'point'")
            _set(self, "length", length)
        _set_gains(self, about)

    def __repr__(self) -> str:
        return call_text(self)

    def __hash__(self) -> int:
        return hash((self.frame_a, self.frame_b))

    @property
    def size(self) -> int:
        """How many rows it has."""
        return _size(self.directions)


Constraint = Contact | Loop


def is_given(number: Any) -> bool:
    """Whether there is a place, a length or a gain: a gain of zero does not count, unless samples have their own."""
    return number is not None and not (isinstance(number, float) and number == 0.0)


def holds(frames: Mapping[str, Frame], constraints: Sequence[Constraint]) -> list[Hold]:
    """The constraints on these frames: those of a robot, or of another form of it."""
    result = []
    for c in constraints:
        units = _ALL if isinstance(c.directions, str) else cast("tuple[tuple[float, float, float], ...]", c.directions)
        directions = tuple(Vec3(*unit) for unit in units)
        turns = c.directions == "fixed"
        gains: list[Any] = [x if is_given(x) else None for x in (c.position_gain, c.velocity_gain)]
        if isinstance(c, Contact):
            at = cast("Transform | None", c.at)
            result.append(Hold(_anchor(frames[c.frame]), None, directions, turns, c.axes, at, None, *gains))
        else:
            a, b = frames[c.frame_a], frames[c.frame_b]
            result.append(
                Hold(_anchor(b), _anchor(a), directions, turns, "carrier", None, cast("Any", c.length), *gains)
            )
    return result


def _anchor(frame: Frame) -> Anchor:
    return Anchor(frame.slot, frame.placement)


def _set(record: Contact | Loop, name: str, value: Any) -> None:
    object.__setattr__(record, name, value)


def _checked_names(kind: str, last: str, *names: Any) -> str:
    """The name of the constraint in messages."""
    if not isinstance(names[-1], str):
        raise OptionError(f"{kind}: {last} must be the name of a frame, not {names[-1]!r:.60}")
    return f"{kind}({', '.join(map(repr, names))})"


def _size(directions: Any) -> int:
    return {"point": 3, "fixed": 6, "distance": 1}[directions] if isinstance(directions, str) else len(directions)


def _directions(about: str, value: Any, *words: str) -> str | tuple[tuple[float, ...], ...]:
    """A word, or up to three unit vectors at right angles."""
    expected = f"directions must be {', '.join(map(repr, words))}, one direction (3,) or up to three (k, 3)"
    if isinstance(value, str):
        if value not in words:
            raise OptionError(f"{about}: {expected}, not {value!r:.60}")
        return str.__str__(value)
    rows = np.atleast_2d(_real(about, expected, value).astype(np.float64))
    if rows.ndim != 2 or rows.shape[1] != 3 or not 1 <= len(rows) <= 3:
        raise OptionError(f"{about}: {expected}, not {value!r:.60}")
    if not np.isfinite(rows).all():
        raise OptionError(f"{about}: its directions must be finite, not {value!r:.60}")
    lengths = [math.hypot(*row) for row in rows.tolist()]
    if 0.0 in lengths:
        raise OptionError(f"{about}: direction {lengths.index(0.0)} is zero and points nowhere; give another one")
    units = rows / np.array(lengths)[:, None]
    if np.abs(units @ units.T - np.eye(len(units))).max() > _ORTHOGONAL:
        raise OptionError(
            f"{about}: its directions must be at right angles to each other, and {value!r:.80} are not; several "
            "constraints on one frame can have any"
        )
    return tuple(tuple(map(float, unit)) for unit in units + 0.0)


def _place(about: str, value: Any, directions: Any) -> Any:
    """A transform, or an array if there is one place per sample."""
    if value is None:
        return None
    expected = "at must be a place (3,), a placement by kt.lie.placement, or a matrix (4, 4)"
    if callable(getattr(value, "as_matrix", None)):  # SciPy's
        return pose(f"{about}: at", value)
    array = _real(about, expected, value.homogeneous() if isinstance(value, Transform) else value)
    if not holds_symbols(array) and not np.isfinite(array).all():
        raise OptionError(f"{about}: at must be finite")
    if isinstance(value, Transform):
        array = array.reshape(4, 4)
    elif array.shape[-1:] == (3,):
        if directions == "fixed":
            given = "only a place (3,)" if array.ndim == 1 else f"an array of shape {array.shape}"
            raise OptionError(
                f"{about} holds the orientation as well, so at must be one with it: a placement by "
                f"kt.lie.placement, or a "
                f"matrix (4, 4), not {given}"
            )
        if array.ndim > 1 or holds_symbols(array):
            return _kept(array.astype(np.float64))
        return Transform(Mat3.identity(), Vec3(*map(float, array)))
    elif array.shape[-2:] != (4, 4):
        raise OptionError(f"{about}: {expected}, not an array of shape {array.shape}")
    if holds_symbols(array):
        return array
    return pose(f"{about}: at", array) if array.ndim == 2 else _kept(pose_matrices(f"{about}: at", array))


def _real(about: str, wanted: str, value: Any) -> Any:
    try:
        return real_array(about, value, "")
    except DTypeError:
        raise OptionError(f"{about}: {wanted}, not {value!r:.60}") from None


def _set_gains(record: Contact | Loop, about: str) -> None:
    for name in ("position_gain", "velocity_gain"):
        value = _number(about, name, getattr(record, name))
        if (wrong := _first_not(value, lambda x: (x >= 0.0) & (x < math.inf))) is not None:
            raise OptionError(f"{about}: {name} is {wrong:g}; it must be finite and not negative, or errors grow")
        _set(record, name, value)


def _first_not(numbers: float | Array, allowed: Callable[[Any], Any]) -> float | None:
    """The first number that is not allowed, of one or of an array; symbolic ones are not looked at."""
    if holds_symbols(numbers):
        return None
    if isinstance(numbers, float):
        return None if allowed(numbers) else numbers
    wrong = ~allowed(numbers)
    return float(numbers[wrong][0]) if wrong.any() else None


def _kept(array: Array) -> Array:
    """A copy that does not change."""
    if holds_symbols(array):
        return array
    array = array.copy()
    array.flags.writeable = False
    return array


def _are_equal(a: Any, b: Any) -> bool:
    if holds_symbols(a) or holds_symbols(b):
        return a is b
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
    return bool(a == b)


def _number(about: str, name: str, value: Any) -> Any:
    """A float, or an array if there is one number per sample, or if it is symbolic."""
    if holds_symbols(value):
        return real_array(about, value, "")
    if isinstance(value, np.ndarray | list | tuple):
        array = _real(about, f"{name} must be a number", value).astype(np.float64)
        return _kept(array) if array.ndim else float(array)
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise OptionError(f"{about}: {name} must be a number, not {value!r:.60}")
    try:
        return float(value)
    except OverflowError:
        raise OptionError(f"{about}: {name} must be finite, and is a whole number beyond all floats") from None
