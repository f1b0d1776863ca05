"""Spatial motions and forces (RBDA chapter 2).

A Motion is a velocity, an acceleration or a joint axis; a Force is a wrench or a momentum. They are dual spaces:
adding one to the other is an error, for the type checker and at run time.
"""

from __future__ import annotations

from typing import overload

from kinetree.expr import Scalar
from kinetree.records import record
from kinetree.spatial.vectors import Vec3

__all__ = ["Force", "Motion"]


@record(frozen=True, slots=True)
class Force:
    """A couple about the origin of the coordinates and a linear force: n and f."""

    angular: Vec3
    linear: Vec3

    @staticmethod
    def zero() -> Force:
        return Force(Vec3.zero(), Vec3.zero())

    def __add__(self, other: Force) -> Force:
        if not isinstance(other, Force):
            return NotImplemented
        return Force(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Force) -> Force:
        if not isinstance(other, Force):
            return NotImplemented
        return Force(self.angular - other.angular, self.linear - other.linear)

    def __neg__(self) -> Force:
        return Force(-self.angular, -self.linear)

    def __mul__(self, s: Scalar) -> Force:
        return Force(self.angular * s, self.linear * s)

    def linear_first(self) -> tuple[Scalar, ...]:
        """The six numbers a user sees: [f; n]."""
        return (*self.linear.components(), *self.angular.components())


@record(frozen=True, slots=True)
class Motion:
    """An angular and a linear part, the latter at the origin of the coordinates: ω and v."""

    angular: Vec3
    linear: Vec3

    @staticmethod
    def zero() -> Motion:
        return Motion(Vec3.zero(), Vec3.zero())

    def __add__(self, other: Motion) -> Motion:
        if not isinstance(other, Motion):
            return NotImplemented
        return Motion(self.angular + other.angular, self.linear + other.linear)

    def __sub__(self, other: Motion) -> Motion:
        if not isinstance(other, Motion):
            return NotImplemented
        return Motion(self.angular - other.angular, self.linear - other.linear)

    def __neg__(self) -> Motion:
        return Motion(-self.angular, -self.linear)

    def __mul__(self, s: Scalar) -> Motion:
        return Motion(self.angular * s, self.linear * s)

    @overload
    def cross(self, other: Motion) -> Motion: ...
    @overload
    def cross(self, other: Force) -> Force: ...
    def cross(self, other: Motion | Force) -> Motion | Force:
        """v x m, or v x* f for a force (RBDA eqs. 2.31 and 2.32)."""
        w, v = self.angular, self.linear
        if isinstance(other, Motion):
            return Motion(w.cross(other.angular), w.cross(other.linear) + v.cross(other.angular))
        if isinstance(other, Force):
            return Force(w.cross(other.angular) + v.cross(other.linear), w.cross(other.linear))
        raise TypeError(f"a Motion crosses a Motion or a Force, not {type(other).__name__}")

    def dot(self, force: Force) -> Scalar:
        """The scalar product m . f: a power if m is a velocity."""
        if not isinstance(force, Force):
            raise TypeError(f"a Motion pairs with a Force, not {type(force).__name__}")
        return self.angular.dot(force.angular) + self.linear.dot(force.linear)

    def linear_first(self) -> tuple[Scalar, ...]:
        """The six numbers a user sees: [v; ω]."""
        return (*self.linear.components(), *self.angular.components())
