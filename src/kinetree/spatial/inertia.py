"""Rigid-body and articulated-body inertias (RBDA sections 2.13 and 7.1)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import OptionError, ShapeError
from kinetree.expr import Scalar
from kinetree.inputs import real_array
from kinetree.record_text import copyable
from kinetree.records import record
from kinetree.spatial.motion_force import Force, Motion
from kinetree.spatial.vectors import Mat3, Sym3, Vec3

__all__ = ["ArticulatedInertia", "Inertia"]


@record(frozen=True, slots=True, repr=False)
class Inertia:
    """A rigid body's inertia: mass, first moment of mass h = m c, and rotational inertia about the origin."""

    mass: Scalar
    h: Vec3
    I: Sym3

    @staticmethod
    def zero() -> Inertia:
        return Inertia(0.0, Vec3.zero(), Sym3.zero())

    @staticmethod
    def about_origin(mass: float, h: Sequence[float], I: Sequence[float]) -> Inertia:
        """From plain numbers, unchecked: h (3,) = m c, and I (6,) about the origin: xx, yy, zz, xy, xz, yz."""
        return Inertia(mass, Vec3(*h), Sym3(*I))

    def __repr__(self) -> str:
        raw = f"Inertia(mass={self.mass!r}, h={self.h!r}, I={self.I!r})"
        if not (isinstance(self.h, Vec3) and isinstance(self.I, Sym3)):  # what a user gave, in an error message
            return raw
        numbers = (self.mass, *self.h.components(), *self.I.components())
        if not all(isinstance(x, int | float) for x in numbers):
            return raw
        return f"Inertia.about_origin({copyable(numbers[0])}, h={copyable(numbers[1:4])}, I={copyable(numbers[4:])})"

    @staticmethod
    def from_com(mass: Scalar, com: Vec3 | ArrayLike, inertia: Sym3 | ArrayLike) -> Inertia:
        """From the rotational inertia about the centre of mass, in the same axes (RBDA eq. 2.63).

        Args:
            mass: kg.
            com: the centre of mass (3,), m.
            inertia: about the centre of mass, (3, 3) and symmetric, kg·m².

        For other points and axes see `kt.solids.inertia`.

        >>> import kinetree as kt
        >>> turning = [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.2]]
        >>> kt.model.Inertia.from_com(2.0, [0.0, 0.0, 0.5], turning).center_of_mass.tolist()
        [0.0, 0.0, 0.5]
        """
        com = com if isinstance(com, Vec3) else Vec3(*_numbers("com", com, (3,)).tolist())
        inertia = inertia if isinstance(inertia, Sym3) else _symmetric(_numbers("inertia", inertia, (3, 3)))
        h = com * mass
        return Inertia(mass, h, inertia + _parallel_axis(com, h))

    def __add__(self, other: Inertia) -> Inertia:
        if not isinstance(other, Inertia):
            return NotImplemented
        return Inertia(self.mass + other.mass, self.h + other.h, self.I + other.I)

    def __sub__(self, other: Inertia) -> Inertia:
        if not isinstance(other, Inertia):
            return NotImplemented
        return Inertia(self.mass - other.mass, self.h - other.h, self.I - other.I)

    def __matmul__(self, m: Motion) -> Force:
        if not isinstance(m, Motion):
            return NotImplemented
        return Force(
            self.I @ m.angular + self.h.cross(m.linear),
            m.linear * self.mass - self.h.cross(m.angular),
        )

    @property
    def center_of_mass(self) -> NDArray[np.float64]:
        """The centre of mass (3,), m; NaN without mass. Of constant inertias only.

        >>> import kinetree as kt
        >>> kt.solids.box(1.0, 2.0, 3.0, mass=6.0, placement=kt.lie.placement([0.0, 0.5, 0.0])).center_of_mass.tolist()
        [0.0, 0.5, 0.0]
        """
        mass = float(self.mass)
        return np.array([float(x) / mass if mass else math.nan for x in self.h.components()])

    @property
    def about_center_of_mass(self) -> NDArray[np.float64]:
        """The rotational inertia about the centre of mass (3, 3), kg·m²; about the origin without mass.

        >>> import kinetree as kt
        >>> kt.solids.box(1.0, 2.0, 3.0, mass=12.0).about_center_of_mass.tolist()
        [[13.0, 0.0, 0.0], [0.0, 10.0, 0.0], [0.0, 0.0, 5.0]]
        """
        xx, yy, zz, xy, xz, yz = (float(x) for x in self.I.components())
        about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        mass = float(self.mass)
        if not mass:
            return about_origin
        c = self.center_of_mass
        about_origin -= mass * (c @ c * np.eye(3) - np.outer(c, c))
        return about_origin

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The spatial inertia (6, 6) of a body, linear part first: from [v; ω] to momentum [m v_c; angular], about the
        origin. Of constant inertias only (RBDA eq. 2.63).

        >>> import kinetree as kt
        >>> kt.solids.box(1.0, 2.0, 3.0, mass=12.0).matrix.diagonal().tolist()
        [12.0, 12.0, 12.0, 13.0, 10.0, 5.0]
        """
        return np.array([float(x) for x in self.articulated.linear_first()]).reshape(6, 6)

    @property
    def articulated(self) -> ArticulatedInertia:
        return ArticulatedInertia(self.I, Mat3.skew(self.h), Sym3.scalar(self.mass))


@record(frozen=True, slots=True)
class ArticulatedInertia:
    """A symmetric map from motions to forces: n = I ω + H v, f = Hᵀ ω + M v."""

    I: Sym3
    H: Mat3
    M: Sym3

    @staticmethod
    def zero() -> ArticulatedInertia:
        return ArticulatedInertia(Sym3.zero(), Mat3.zero(), Sym3.zero())

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        if not isinstance(other, ArticulatedInertia):
            return NotImplemented
        return ArticulatedInertia(self.I + other.I, self.H + other.H, self.M + other.M)

    def __sub__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        if not isinstance(other, ArticulatedInertia):
            return NotImplemented
        return ArticulatedInertia(self.I - other.I, self.H - other.H, self.M - other.M)

    def without(self, directions: Collection[int]) -> ArticulatedInertia:
        """A copy with zero rows and columns for some of the six directions, the angular ones numbered first."""

        def kept(r: int, s: int, x: Scalar) -> Scalar:
            return 0.0 if r in directions or s in directions else x

        def symmetric(m: Sym3, first: int) -> Sym3:
            pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
            return Sym3(*(kept(first + r, first + s, x) for (r, s), x in zip(pairs, m.components(), strict=True)))

        rows = enumerate((self.H.x, self.H.y, self.H.z))
        H = (Vec3(*(kept(r, 3 + s, x) for s, x in enumerate(row.components()))) for r, row in rows)
        return ArticulatedInertia(symmetric(self.I, 0), Mat3(*H), symmetric(self.M, 3))

    def __matmul__(self, m: Motion) -> Force:
        if not isinstance(m, Motion):
            return NotImplemented
        return Force(
            self.I @ m.angular + self.H @ m.linear,
            self.H.T @ m.angular + self.M @ m.linear,
        )

    def linear_first(self) -> tuple[Scalar, ...]:
        """The 6 by 6 matrix a user sees, row by row: from [v; ω] to [f; n]."""
        M, H, I = self.M.full, self.H, self.I.full
        upper = zip((M.x, M.y, M.z), (H.T.x, H.T.y, H.T.z), strict=True)
        lower = zip((H.x, H.y, H.z), (I.x, I.y, I.z), strict=True)
        return tuple(x for row in (*upper, *lower) for part in row for x in part.components())


def _numbers(name: str, given: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = real_array(name, given, str(shape)).astype(np.float64)
    if array.shape != shape:
        raise ShapeError(f"Inertia.from_com: {name} must have the shape {shape}, not {array.shape}")
    return array


def _symmetric(I: NDArray[np.float64]) -> Sym3:
    off = np.abs(I - I.T)
    if not (off <= 1e-9 * np.abs(I).max()).all():
        raise OptionError(
            f"Inertia.from_com: inertia must be symmetric, and differs from its transpose by {off.max():.3g}"
        )
    I = (I + I.T) / 2.0
    return Sym3(*(float(I[r, s]) for r, s in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))


def _parallel_axis(c: Vec3, h: Vec3) -> Sym3:
    """-c x h x = (c . h) 1 - h cᵀ, for parallel c and h."""
    xx, yy, zz = c.x * h.x, c.y * h.y, c.z * h.z
    return Sym3(yy + zz, xx + zz, xx + yy, -(c.x * h.y), -(c.x * h.z), -(c.y * h.z))
