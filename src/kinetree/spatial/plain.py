"""Spatial quantities whose numbers are Python floats, as a robot stores them."""

from __future__ import annotations

from kinetree.inputs import plain
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.transform import Transform
from kinetree.spatial.turn import Turn
from kinetree.spatial.vectors import Mat3, Sym3, Vec3

__all__ = ["plain_inertia", "plain_transform"]


def plain_transform(X: Transform) -> Transform:
    """The same transform in Python floats; entries that are not numbers are left for the checks to reject."""
    E, r, before = _matrix(X.E), _vector(X.r), None if X.before is None else _matrix(X.before)
    turns = tuple(map(_turn, X.turns))
    if E is X.E and r is X.r and before is X.before and all(a is b for a, b in zip(turns, X.turns, strict=True)):
        return X
    return Transform(E, r, turns, before)


def plain_inertia(inertia: Inertia) -> Inertia:
    """The same inertia in Python floats; entries that are not numbers are left for the checks to reject."""
    mass, h, I = plain(inertia.mass), _vector(inertia.h), inertia.I
    if any(type(x) is not float for x in I.components()):
        I = Sym3(*map(plain, I.components()))
    return inertia if mass is inertia.mass and h is inertia.h and I is inertia.I else Inertia(mass, h, I)


def _vector(a: Vec3) -> Vec3:
    if not isinstance(a, Vec3) or type(a.x) is type(a.y) is type(a.z) is float:
        return a
    return Vec3(plain(a.x), plain(a.y), plain(a.z))


def _matrix(m: Mat3) -> Mat3:
    if not isinstance(m, Mat3):
        return m
    x, y, z = _vector(m.x), _vector(m.y), _vector(m.z)
    return m if x is m.x and y is m.y and z is m.z else Mat3(x, y, z)


def _turn(turn: Turn) -> Turn:
    if type(turn.axis) is int and type(turn.s) is type(turn.c) is float:
        return turn
    return Turn(int(turn.axis), plain(turn.s), plain(turn.c))
