"""Masses and inertias of bodies, from <inertial> or from geoms, with the compiler's corrections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.io.mjcf.bodies import BodyPart, Part
from kinetree.io.mjcf.geoms import Geom
from kinetree.io.mjcf.orientations import SPELLINGS, orientation
from kinetree.io.mjcf.settings import Settings
from kinetree.spatial import Inertia, Sym3, Vec3

__all__ = ["body_inertia", "is_weighed"]

Floats = NDArray[np.float64]

_ROUNDING = 1e-9
"""How far, relative to the largest, principal moments of a full matrix may violate the triangle inequality."""


def is_weighed(body: BodyPart, group: int) -> bool:
    """Whether the geoms of a group give the body its inertia."""
    settings = body.part.scope.settings
    least, most = settings.inertia_groups
    if not least <= group <= most:
        return False
    choice = settings.inertia_from_geoms
    return choice is True or (choice is None and "inertial" not in body.parts)


def body_inertia(body: BodyPart, geoms: Sequence[Geom]) -> Inertia:
    """The inertia of a body in its frame."""
    settings = body.part.scope.settings
    inertial = body.parts.get("inertial", [])
    if inertial and settings.inertia_from_geoms is not True:
        inertia = _explicit(inertial[0], settings)
    else:
        inertia = Inertia.zero()
        for geom in geoms:
            if is_weighed(body, geom.group) and (own := geom.inertia()) is not None:
                inertia = inertia + own
    if settings.bound_mass > 0.0 or settings.bound_inertia > 0.0:
        inertia = _bounded(inertia, settings, body.part.attributes.numbers("pos", (0.0, 0.0, 0.0)))
    return inertia


def _explicit(part: Part, settings: Settings) -> Inertia:
    a = part.attributes
    for required in ("pos", "mass"):
        if required not in a:
            a.fail(f'has no attribute "{required}"; add it')
    mass, com = a.number("mass"), Vec3(*a.numbers("pos", (0.0, 0.0, 0.0)))
    if mass < 0.0:
        a.fail(f"its mass is negative: {mass:g} kg; a mass is positive or zero")
    if "fullinertia" in a:
        other = next((name for name in (*SPELLINGS, "diaginertia") if name in a), None)
        if other is not None:
            a.fail(f"it has both fullinertia and {other}, but fullinertia is in the body's axes; remove one of them")
        I = Sym3(*a.numbers("fullinertia", (0.0,) * 6))
        moments: Floats = np.linalg.eigvalsh(_matrix(I)).astype(np.float64)
        if moments[0] <= 0.0:
            a.fail(f"fullinertia has the principal moments {_listed(moments)} kg·m², which must all be positive")
        I = _balanced(part, I, moments, _ROUNDING, settings)
    else:
        moments = np.array(a.numbers("diaginertia", (0.0, 0.0, 0.0)))
        if moments.min() < 0.0:
            a.fail(f"diaginertia is {_listed(moments)} kg·m²; a moment of inertia cannot be negative")
        xx, yy, zz = map(float, moments)
        own = _balanced(part, Sym3(xx, yy, zz, 0.0, 0.0, 0.0), moments, 0.0, settings)
        I = own.rotated(orientation(a, settings))
    return Inertia.from_com(mass, com, I)


def _balanced(part: Part, I: Sym3, moments: Floats, tolerance: float, settings: Settings) -> Sym3:
    """The same, or three equal moments where it violates the triangle inequality and `balanceinertia` is set."""
    floor = np.maximum(moments, settings.bound_inertia)
    largest = float(floor.max())
    if largest <= float(floor.sum()) - largest + tolerance * largest:
        return I
    if settings.balance_inertia:
        return Sym3.scalar(float(floor.sum()) / 3.0)
    return part.attributes.fail(
        f"the principal moments of its inertia, {_listed(moments)} kg·m², violate the triangle inequality: none can "
        'be larger than the sum of the others; correct them, or set <compiler balanceinertia="true">'
    )


def _bounded(inertia: Inertia, settings: Settings, position: Sequence[float]) -> Inertia:
    """With at least the mass and the principal moments that the settings demand."""
    mass = float(inertia.mass)
    # MuJoCo puts the centre of mass of a massless body where its frame is in the body around it.
    com = Vec3(*map(float, inertia.center_of_mass)) if mass > 0.0 else Vec3(*position)
    central = inertia.about_center_of_mass if mass > 0.0 else np.zeros((3, 3))
    moments, axes = np.linalg.eigh(central)
    if moments.min() < settings.bound_inertia:
        central = (axes * np.maximum(moments, settings.bound_inertia)) @ axes.T
    xx, yy, zz, xy, xz, yz = (float(central[k]) for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    return Inertia.from_com(max(mass, settings.bound_mass), com, Sym3(xx, yy, zz, xy, xz, yz))


def _matrix(I: Sym3) -> Floats:
    xx, yy, zz, xy, xz, yz = map(float, I.components())
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _listed(moments: Floats) -> str:
    return ", ".join(f"{x:.4g}" for x in moments)
