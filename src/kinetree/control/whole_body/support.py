"""Supports of a robot: frames that stay where they are, and the forces on them, which neither slip nor pull."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import OptionError
from kinetree.inputs import real_number
from kinetree.record_text import call_text
from kinetree.records import record

__all__ = ["Support"]

Array = NDArray[np.float64]


@record(frozen=True, slots=True, repr=False)
class Support:
    """A contact of whole-body control: a point, a rectangle or a polygon that the ground pushes, never pulls.

    By default the frame's origin is a point that touches; its force has three numbers, in axes whose third is `normal`.
    With `size` the frame is the middle of a rectangle in its own x–y plane, such as a sole, and the force is a wrench
    [f; n] (6,) in the frame's axes. With `corners` it is a polygon in the frame, and there are three numbers for each
    corner, in the frame's axes.

    Friction cones are replaced by pyramids inside them, so that forces are allowed with the true cone: tangential
    forces t obey d · t ≤ friction · cos(π / sides) · normal force for `sides` directions d, the first along x.

    Attributes:
        frame: the name of the frame.
        size: the lengths (2,) of a rectangle along the frame's x and y axes, in metres.
        corners: points (k, 3) of a polygon in the frame, in metres.
        friction: the coefficient of friction.
        sides: of the pyramid, at least 3; 4 for rectangles.
        normal: of the ground (3,), in the world, for a point; rectangles and polygons have the frame's z axis.
        least_force, most_force: bounds of the normal force, N.
        velocity_gain: by how much, per second, a velocity that the contact should not have is damped.
        force_weight: factors of the squares of its forces in the effort, one or one for each number.

    Raises:
        OptionError: for numbers that are not allowed, or both size and corners.

    Source: S. Caron, Q.-C. Pham, Y. Nakamura, "Stability of surface contacts for humanoid robots", ICRA 2015 (the
    wrenches of a rectangle).

    >>> import kinetree as kt
    >>> kt.control.Support("left_sole", size=(0.2, 0.1), friction=0.5).force_size
    6
    """

    frame: str
    size: Sequence[float] | None = None
    corners: ArrayLike | None = None
    friction: float = 0.7
    sides: int = 4
    normal: Sequence[float] = (0.0, 0.0, 1.0)
    least_force: float = 0.0
    most_force: float = math.inf
    velocity_gain: float = 0.0
    force_weight: float | Sequence[float] = 1.0

    def __post_init__(self) -> None:
        about = f"Support of {self.frame!r:.60}"
        if not isinstance(self.frame, str):
            raise OptionError(f"Support: frame must be the name of a frame, not {self.frame!r:.60}")
        if self.size is not None and self.corners is not None:
            raise OptionError(f"{about}: give size for a rectangle or corners for a polygon, not both")
        if isinstance(self.sides, bool) or not isinstance(self.sides, int) or self.sides < 3:
            raise OptionError(f"{about}: sides must be a whole number of at least 3, not {self.sides!r:.60}")
        if self.size is not None:
            self._set("size", _numbers(about, "size", self.size, (2,), least=0.0))
            if self.sides != 4:
                raise OptionError(f"{about}: a rectangle has a pyramid of 4 sides; give corners for {self.sides}")
        if self.corners is not None:
            corners = _numbers(about, "corners", self.corners, (-1, 3))
            if len(corners) < 3:
                raise OptionError(f"{about}: a polygon has at least 3 corners, not {len(corners)}")
            self._set("corners", corners)
        normal = np.array(_numbers(about, "normal", self.normal, (3,)))
        if not normal.any():
            raise OptionError(f"{about}: normal must not be zero")
        self._set("normal", tuple((normal / np.linalg.norm(normal)).tolist()))
        for name in ("friction", "least_force", "velocity_gain"):
            self._set(name, _numbers(about, name, getattr(self, name), (), least=0.0))
        most = real_number(self.most_force)
        if most is None or most <= self.least_force:
            raise OptionError(f"{about}: most_force must be a number above least_force, not {self.most_force!r:.60}")
        self._set("most_force", most)
        shape = () if np.ndim(self.force_weight) == 0 else (self.force_size,)
        self._set("force_weight", _numbers(about, "force_weight", self.force_weight, shape, least=0.0))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return call_text(self)

    @property
    def is_point(self) -> bool:
        return self.size is None and self.corners is None

    @property
    def motion_size(self) -> int:
        """How many numbers of its acceleration are zero: 3 for a point, else 6."""
        return 3 if self.is_point else 6

    @property
    def force_size(self) -> int:
        """How many numbers its force has."""
        return 6 if self.size is not None else 3 if self.corners is None else 3 * len(np.asarray(self.corners))

    def axes(self) -> Array:
        """The axes of a point's force as columns (3, 3), the last one normal to the ground."""
        n = np.array(self.normal)
        along = np.eye(3)[0] if abs(n[0]) < 0.9 else np.eye(3)[1]
        x = along - n * (n @ along)
        x /= np.linalg.norm(x)
        return np.stack([x, np.cross(n, x), n], axis=1)

    def generator(self) -> Array:
        """From the numbers of its force to the wrench [f; n] (6, force_size) on the frame, or to the point's force."""
        if self.corners is None:
            return np.eye(self.force_size)
        blocks = [np.vstack([np.eye(3), _cross_matrix(p)]) for p in np.asarray(self.corners)]
        return np.hstack(blocks)

    def cone(self) -> tuple[Array, Array, Array]:
        """Rows D (k, force_size) with bounds (k,): the allowed forces, lower ≤ D f ≤ upper."""
        mu = self.friction * math.cos(math.pi / self.sides)
        turns = 2.0 * math.pi * np.arange(self.sides) / self.sides
        pyramid = np.stack([-np.cos(turns), -np.sin(turns), np.full(self.sides, mu)], axis=1)
        if self.size is not None:
            rows, total = _rectangle(mu, *(0.5 * length for length in self.size)), np.eye(6)[2]
        else:
            count = self.force_size // 3
            rows, total = np.kron(np.eye(count), pyramid), np.tile([0.0, 0.0, 1.0], count)
            if count > 1:
                rows = np.vstack([rows, np.kron(np.eye(count), [0.0, 0.0, 1.0])])
        lower = np.append(np.zeros(len(rows)), self.least_force)
        return np.vstack([rows, total]), lower, np.append(np.full(len(rows), math.inf), self.most_force)


def _rectangle(mu: float, X: float, Y: float) -> Array:
    """Rows of the wrench [f; n] that are not negative: Caron et al., section III, with the signs of both moduli."""
    rows = []
    for s in (-1.0, 1.0):
        rows += [[s, 0, mu, 0, 0, 0], [0, s, mu, 0, 0, 0], [0, 0, Y, s, 0, 0], [0, 0, X, 0, s, 0]]
    for turn in (-1.0, 1.0):  # of n_z: from below and from above
        for s in (-1.0, 1.0):
            for t in (-1.0, 1.0):
                rows.append([s * Y, t * X, mu * (X + Y), -turn * s * mu, -turn * t * mu, turn])
    return np.array(rows, dtype=np.float64)


def _cross_matrix(p: Array) -> Array:
    x, y, z = p
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _numbers(about: str, name: str, value: Any, shape: tuple[int, ...], least: float = -math.inf) -> Any:
    """Finite numbers as nested tuples, of at least `least`."""
    try:
        array = np.asarray(value, dtype=np.float64)
        fits = not isinstance(value, bool) and array.ndim == len(shape)
    except (TypeError, ValueError):
        fits = False
    if not fits or any(k not in (-1, size) for k, size in zip(shape, array.shape, strict=True)):
        expected = "a number" if not shape else f"numbers of shape {shape}".replace("-1", "k")
        raise OptionError(f"{about}: {name} must be {expected}, not {value!r:.60}")
    if not np.isfinite(array).all() or (array < least).any():
        raise OptionError(
            f"{about}: {name} must be finite{' and not negative' if least == 0.0 else ''}, not {value!r:.60}"
        )
    return (
        tuple(map(tuple, array.tolist())) if array.ndim == 2 else tuple(array.tolist()) if array.ndim else float(array)
    )
