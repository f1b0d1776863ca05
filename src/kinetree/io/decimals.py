"""Decimals from which a reader computes the same numbers again: the shortest, or the nearest possible ones.

Robot files give the centre of mass where a robot keeps mass times it, the inertia about the centre of mass where a
robot keeps that about the origin, and three angles where a robot keeps a matrix. Writing the nearest of each would
change last digits at every round trip, and turn 0.02 into 0.019999999999999997. So the reader's computation is done
here as well, and the first of the short decimals that gives the number is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product

from kinetree.spatial import Inertia, Mat3, Sym3, Vec3
from kinetree.spatial.rotations import from_rpy

__all__ = ["about_center_of_mass", "roll_pitch_yaw", "shortest"]

_MOST_DIGITS = 17
_NEAR = 1e-2
_STEPS = 3
"""Neighbours of a number that are tried on either side, and steps towards a better one."""


def about_center_of_mass(inertia: Inertia) -> tuple[Vec3, Sym3]:
    """The centre of mass and the rotational inertia about it, from which `Inertia.from_com` makes the same inertia.

    The components of the matrix can differ from those wanted by a few units in the last digit of the largest.
    """
    mass = float(inertia.mass)
    if not mass:
        return Vec3.zero(), inertia.I
    com = Vec3(*(_center(mass, float(h)) for h in inertia.h.components()))
    away = Inertia.from_com(mass, com, Sym3.zero()).I  # of a point of this mass
    parts = zip(inertia.I.components(), away.components(), strict=True)
    return com, Sym3(*(_difference(float(x), float(part)) for x, part in parts))


def _center(mass: float, h: float) -> float:
    return shortest(h / mass, lambda x: x * mass == h)


def _difference(total: float, part: float) -> float:
    if part == 0.0:
        return total
    return shortest(total - part, lambda x: x + part == total)


def shortest(x: float, is_right: Callable[[float], bool]) -> float:
    """The number nearest to x, and shortest, that gives the right one; x if none does."""
    if x == 0.0 or not math.isfinite(x):
        return x
    for candidate in (*_decimals(x), *_neighbours(x)):
        if is_right(candidate):
            return candidate
    return x


def _decimals(x: float) -> Iterator[float]:
    return (float(f"{x:.{digits}g}") for digits in range(1, _MOST_DIGITS + 1))


def _neighbours(x: float) -> Iterator[float]:
    up = down = x
    for _ in range(_STEPS):
        up, down = math.nextafter(up, math.inf), math.nextafter(down, -math.inf)
        yield up
        yield down


def roll_pitch_yaw(R: Mat3) -> tuple[float, float, float]:
    """Angles from which `from_rpy` makes this rotation, or one that differs in the last digit."""
    tried: list[tuple[float, tuple[float, float, float]]] = []
    for roll, pitch, yaw in _angles(R):
        for angles in product(_turned_fully(roll), _turned_fully(pitch), _turned_fully(yaw)):
            best, least = angles, math.inf
            for candidate in _candidates(angles):
                error = _distance(candidate, R)
                if error == 0.0:
                    return candidate
                if error < least:
                    best, least = candidate, error
            tried.append((least, best))
    return min((_descended(best, least, R) for least, best in tried), key=lambda found: _distance(found, R))


def _descended(best: tuple[float, float, float], least: float, R: Mat3) -> tuple[float, float, float]:
    """The best that is found by a few steps of one last digit in any of the angles together."""
    for _ in range(_STEPS):
        start = best
        roll, pitch, yaw = start
        for candidate in product(_around(roll), _around(pitch), _around(yaw)):
            error = _distance(candidate, R)
            if error < least:
                best, least = candidate, error
            if error == 0.0:
                return candidate
        if best == start:
            break
    return best


def _around(x: float) -> tuple[float, float, float]:
    return x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf)


def _angles(R: Mat3) -> Iterator[tuple[float, float, float]]:
    """Both triples of angles that give a rotation; at a pitch of a quarter turn, the one without roll."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (tuple(map(float, row.components())) for row in (R.x, R.y, R.z))
    cosine = math.hypot(xx, yx)
    if cosine == 0.0:
        yield 0.0, math.copysign(math.pi / 2, -zx), math.atan2(-xy, yy)
        return
    yaw = math.atan2(yx, xx)
    s, c = math.sin(yaw), math.cos(yaw)
    # From the larger entries, so that it is precise near a quarter turn of pitch too.
    roll = math.atan2(s * xz - c * yz, c * yy - s * xy) if cosine < 0.1 else math.atan2(zy, zz)
    pitch = math.atan2(-zx, cosine)
    yield roll, pitch, yaw
    yield _other(roll), math.copysign(math.pi, pitch) - pitch, _other(yaw)


def _other(angle: float) -> float:
    """The angle of the opposite direction."""
    return angle - math.copysign(math.pi, angle)


def _turned_fully(angle: float) -> tuple[float, ...]:
    """The angle, and near a half turn the one a full turn away: files have 3.14159265359, which is more than pi."""
    if abs(angle) < math.pi - _NEAR:
        return (angle,)
    return angle, angle - math.copysign(2.0 * math.pi, angle)


def _candidates(angles: tuple[float, float, float]) -> Iterator[tuple[float, float, float]]:
    """Shorter decimals first, then neighbours of each angle by itself."""
    for digits in range(1, _MOST_DIGITS):
        rounded = [float(f"{angle:.{digits}f}") for angle in angles]
        yield rounded[0], rounded[1], rounded[2]
    yield angles
    for k in range(3):
        for near in _neighbours(angles[k]):
            changed = [*angles]
            changed[k] = near
            yield changed[0], changed[1], changed[2]


def _distance(angles: tuple[float, float, float], R: Mat3) -> float:
    rotation = from_rpy(*angles).components()
    return max(abs(float(a) - float(b)) for a, b in zip(rotation, R.components(), strict=True))
