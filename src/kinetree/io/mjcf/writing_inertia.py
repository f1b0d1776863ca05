"""<inertial>: an inertia as it is, where MuJoCo takes it."""

from __future__ import annotations

from enum import Enum

import numpy as np

from kinetree.io.fit_inertias import moments_of
from kinetree.io.mjcf.writing_numbers import pose, vector
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3

__all__ = ["LEAST", "Fitness", "fitness_of", "write_inertia"]

LEAST = 2e-15
"""The mass and the principal moments of a body that moves without any, kg and kg·m²: MuJoCo demands more than 1e-15."""
_MINIMUM = 1e-15
_SMALLEST_FULL = 1e-13
"""The smallest moment of which the matrix is written: MuJoCo refuses those below 1e-14."""
_TOLERANCE = 1e-9
"""How far, relative to the largest, principal moments may violate what a body demands: rounding."""
_NOISE = 1e-14
"""How far they may violate it in parts of the entries about the origin, and of the mass times 1 m²: rounding, too."""
_EXACT = 1e-12
"""How near, relative to the largest, one moment is to the sum of the other two if MuJoCo may find it larger."""


class Fitness(Enum):
    """What MuJoCo thinks of an inertia."""

    FIT = "fit"
    NOTHING = "without mass or without a moment of inertia, so that it cannot move by itself"
    UNBALANCED = "one principal moment is larger than the other two together"
    INDEFINITE = "one principal moment is negative"

    @property
    def is_refused(self) -> bool:
        """Whether MuJoCo refuses it, on whatever body."""
        return self in (Fitness.UNBALANCED, Fitness.INDEFINITE)


def fitness_of(inertia: Inertia) -> Fitness:
    """Whether MuJoCo takes it; what may be the rounding of a point mass counts as nothing."""
    a, b, c = moments_of(inertia)
    mass = float(inertia.mass)
    noise = _NOISE * (max(abs(float(x)) for x in inertia.I.components()) + mass) if mass else 0.0
    allowed = _TOLERANCE * max(abs(a), abs(c)) + noise
    if a < -allowed:
        return Fitness.INDEFINITE
    if c > a + b + allowed:
        return Fitness.UNBALANCED
    return Fitness.NOTHING if mass < _MINIMUM or a < max(_MINIMUM, noise) else Fitness.FIT


def write_inertia(body: Tag, inertia: Inertia, com: Vec3, I: Sym3, *, least: float = 0.0) -> None:
    """Add the element; in principal axes only where MuJoCo could find fault with the matrix.

    Mass and moments are at least `least`, and one moment is at most the sum of the others.
    """
    xx, yy, zz, *off = map(float, I.components())
    entries = np.array([[xx, off[0], off[1]], [off[0], yy, off[2]], [off[1], off[2], zz]])
    element = body.add("inertial", pos=vector(com), mass=shown_number(max(least, float(inertia.mass))))
    moments, axes = np.linalg.eigh(entries)
    a, b, c = map(float, moments)
    is_sound = a >= least and a + b >= c * (1.0 + _EXACT)
    if is_sound and a > _SMALLEST_FULL and any(off):
        element.attributes["fullinertia"] = shown_numbers([xx, yy, zz, *off])
        return
    if not any(off):
        element.attributes["diaginertia"] = shown_numbers(_sound([xx, yy, zz], least))
        return
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    E = Mat3(*(Vec3(*map(float, axis)) for axis in axes.T))
    element.attributes |= {"diaginertia": shown_numbers(_sound([a, b, c], least))}
    element.attributes |= pose(Transform(E, Vec3.zero()))


def _sound(moments: list[float], least: float) -> list[float]:
    """Moments that MuJoCo takes: none too small, and the largest at most the sum of the others."""
    found = [max(least, 0.0, moment) for moment in moments]
    largest = found.index(max(found))
    others = sum(moment for k, moment in enumerate(found) if k != largest)
    if found[largest] > others:
        found[largest] = others
    return found
