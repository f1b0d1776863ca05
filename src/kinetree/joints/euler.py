"""Euler angles: three rotations about coordinate axes, each about the axis as moved by those before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinetree.errors import ModelError
from kinetree.expr import Scalar, cos, sin
from kinetree.inputs import is_masked, plain
from kinetree.joints.base import JointKind, JointMotion
from kinetree.spatial import Inertia, Motion, Subspace, Sym3, Transform, Turn, Vec3
from kinetree.spatial.euler_angles import ORDERS

__all__ = ["ORDERS", "Euler", "Turning", "signs_of", "turning"]

_AXES = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))


class Euler(JointKind):
    """Three angles q, in radians, with v = q̇: R = R_a(q1) R_b(q2) R_c(q3) for the order "abc".

    Each rotation is about an axis of the body as moved by the rotations before it: "ZYX" is yaw, pitch, roll. R takes
    coordinates of the moving side to those of the fixed one. An entry −1 of `signs` reverses its angle; `inverse` gives
    the inverse of that rotation at the same coordinates.

    The joint is singular, with two of its three axes in line, where q2 is an odd multiple of π/2 if the three letters
    differ, and where q2 is a multiple of π if the first letter is repeated. The mass matrix has no inverse there; see
    `robot.conditioning`.

    Raises `ModelError` for an order that is not one of the twelve.

    Source: Featherstone, *Rigid Body Dynamics Algorithms* (2008), section 4.5.

    >>> import kinetree as kt
    >>> kt.joints.Euler("ZYX").q_names
    ('rz', 'ry', 'rx')
    """

    nq = nv = 3

    def __init__(self, order: str, *, signs: Sequence[float] = (1.0, 1.0, 1.0), inverse: bool = False) -> None:
        if not isinstance(order, str) or order not in ORDERS:
            raise ModelError(
                f"the order of Euler angles is one of {', '.join(ORDERS)} (the axes of q1, q2 and q3 in turn, in "
                f"capital letters), not {order!r:.40}"
            )
        self.order: str = str.__str__(order)
        self.signs: tuple[float, ...] = signs_of("Euler", signs, 3)
        if not isinstance(inverse, bool | np.bool_):
            raise ModelError(f"Euler: inverse must be True or False, not {inverse!r:.40}")
        self.inverse: bool = bool(inverse)

    def __repr__(self) -> str:
        signs = f", signs={self.signs}" if -1.0 in self.signs else ""
        return f"Euler({self.order!r}{signs}{', inverse=True' if self.inverse else ''})"

    @property
    def description(self) -> str:
        return f"Euler angles {self.order}{' (inverse)' if self.inverse else ''}"

    @property
    def q_names(self) -> tuple[str, ...]:
        """`rz`, `ry`, `rx`; numbered where an axis is repeated."""
        letters = self.order.lower()
        again = letters[0] == letters[2]
        return tuple(f"r{x}{k // 2 + 1 if again and k != 1 else ''}" for k, x in enumerate(letters))

    @property
    def q_units(self) -> tuple[str, ...]:
        return ("rad",) * 3

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        axes = ["XYZ".index(letter) for letter in self.order]
        places = [2, 1, 0] if self.inverse else [0, 1, 2]
        backward = -1.0 if self.inverse else 1.0
        turned = turning([(axes[k], backward * self.signs[k], q[k], v[k]) for k in places])
        columns = [turned.columns[place] for place in places]
        S = Subspace(tuple(Motion(column, Vec3.zero()) for column in columns))
        return JointMotion(turned.X, S, Motion(turned.w, Vec3.zero()), Motion(turned.c, Vec3.zero()))

    def reversed(self) -> JointKind:
        return Euler(self.order, signs=self.signs, inverse=not self.inverse)

    def mirrored(self, normal: int) -> JointKind:
        """A rotation about the normal is its own image; one about another axis changes sign."""
        signs = [s if axis == "XYZ"[normal] else -s for s, axis in zip(self.signs, self.order, strict=True)]
        return Euler(self.order, signs=signs, inverse=self.inverse)

    def scaled(self, length: float) -> JointKind:
        return self

    def unseen(self, inertia: Inertia) -> Inertia:
        """The mass, which can equally be at the joint's centre, a point of both sides."""
        return Inertia(inertia.mass, Vec3.zero(), Sym3.zero())


class Turning(NamedTuple):
    """The result of three successive turns."""

    X: Transform
    """From the fixed side to the moving side, with the turns it is made of."""
    columns: tuple[Vec3, Vec3, Vec3]
    """The angular velocity at the unit rate of each turn, in the moving side's coordinates."""
    w: Vec3
    """The angular velocity."""
    c: Vec3
    """Its derivative at constant rates, in the moving side's coordinates."""


def turning(turns: Sequence[tuple[int, float, Scalar, Scalar]]) -> Turning:
    """Compose the turns (axis, sign, angle, rate), each about an axis as moved by those before it."""
    (a, _, _, _), (b, _, _, _), (c, _, _, _) = turns
    first, second, third = (Transform.turning(Turn(axis, sin(q) * sign, cos(q))) for axis, sign, q, _ in turns)
    later = third @ second
    columns = (
        later.E @ (_AXES[a] * turns[0][1]),
        third.E @ (_AXES[b] * turns[1][1]),
        _AXES[c] * turns[2][1],
    )
    # The outward recursion of a chain of three joints: ω = E ω + s and c = E c + ω x s.
    w, bias = _AXES[a] * (turns[0][1] * turns[0][3]), Vec3.zero()
    for X, (axis, sign, _, rate) in ((second, turns[1]), (third, turns[2])):
        s = _AXES[axis] * (sign * rate)
        carried = X.E @ w
        w, bias = carried + s, X.E @ bias + carried.cross(s)
    return Turning(later @ first, columns, w, bias)


def signs_of(what: str, signs: Sequence[float], count: int) -> tuple[float, ...]:
    """Check and return `count` signs, each 1 or -1."""
    try:
        numbers = () if is_masked(signs) else tuple(map(plain, signs))
    except TypeError:
        numbers = ()
    if len(numbers) != count or any(type(s) is not float or s not in (-1.0, 1.0) for s in numbers):
        raise ModelError(f"{what}: signs must be {count} numbers, each 1 or -1, not {signs!r:.60}")
    return numbers
