"""Masses and inertias of bodies, from <inertial> or from geoms, with the compiler's corrections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.io.mjcf.bodies import IDENTITY, BodyPart, Part
from kinetree.io.mjcf.geoms import Geom
from kinetree.io.mjcf.placements import SPELLINGS, from_quaternion, orientation
from kinetree.io.mjcf.settings import Settings
from kinetree.records import record
from kinetree.solids.meshes import principal_axes
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3

__all__ = ["Mass", "body_mass", "is_weighed"]

Floats = NDArray[np.float64]

_NOTHING = (0.0, 0.0, 0.0)
_NEAR = 1.0 - 1e-9
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


@record(frozen=True, slots=True)
class Mass:
    """The mass of a body, and its inertial frame: at the centre of mass, along principal axes."""

    mass: float
    moments: tuple[float, float, float]
    frame: Transform
    """In the body."""

    def inertia(self) -> Inertia:
        """The inertia in the body's frame."""
        own = Sym3(*self.moments, 0.0, 0.0, 0.0).rotated(self.frame.E.T)
        return Inertia.from_com(self.mass, self.frame.r, own)


def body_mass(body: BodyPart, geoms: Sequence[Geom]) -> Mass:
    """The mass of a body, with the corrections that the settings ask for."""
    settings = body.part.scope.settings
    inertial = body.parts.get("inertial", [])
    mass = None
    if settings.inertia_from_geoms is True or not inertial:
        mass = _of_geoms([geom for geom in geoms if is_weighed(body, geom.group)])
    if mass is None and inertial:
        mass = _explicit(inertial[0], settings)
    elif mass is None:
        # MuJoCo puts the centre of mass of a massless body where its frame is in the body around it.
        mass = Mass(0.0, _NOTHING, Transform(IDENTITY.E, Vec3(*body.part.attributes.numbers("pos", _NOTHING))))
    return _corrected(mass, body, inertial, settings)


def _of_geoms(geoms: Sequence[Geom]) -> Mass | None:
    """The mass of these geoms together; None if they have none."""
    solids = [(geom, *solid) for geom in geoms if (solid := geom.solid()) is not None]
    if not solids:
        return None
    if len(solids) == 1:
        geom, mass, moments = solids[0]
        return Mass(mass, moments, geom.placement)
    total = sum((Mass(mass, moments, geom.placement).inertia() for geom, mass, moments in solids), Inertia.zero())
    com = Vec3(*map(float, total.center_of_mass))
    return _principal(float(total.mass), com, total.about_center_of_mass)


def _principal(mass: float, com: Vec3, central: Floats) -> Mass:
    """By its principal axes, in the order and with the signs that MuJoCo gives them."""
    _, quaternion = principal_axes(central)
    w, x, y, z = map(float, quaternion)
    E = np.array(from_quaternion((w, x, y, z)).T.components(), dtype=np.float64).reshape(3, 3)
    # Those are as exact as an iteration that ends at 1e-7; the eigenvectors next to them are exact.
    moments, vectors = np.linalg.eigh(central)
    along = E @ vectors
    nearest = np.abs(along).argmax(axis=1)
    signs = np.sign(along[range(3), nearest])
    if sorted(nearest) == [0, 1, 2] and np.abs(along[range(3), nearest]).min() > _NEAR:
        E, moments = signs[:, None] * vectors.T[nearest], moments[nearest]
    else:  # equal moments, between which any axes will do
        moments = np.diag(E @ central @ E.T)
    xx, yy, zz = map(float, moments)
    return Mass(mass, (xx, yy, zz), Transform(Mat3(*(Vec3(*map(float, row)) for row in E)), com))


def _explicit(part: Part, settings: Settings) -> Mass:
    a = part.attributes
    for required in ("pos", "mass"):
        if required not in a:
            a.fail(f'has no attribute "{required}"; add it', "missing-attribute")
    mass, com = a.number("mass"), Vec3(*a.numbers("pos", _NOTHING))
    if mass < 0.0:
        a.fail(f"its mass is negative: {mass:g} kg; a mass is positive or zero", "negative-mass")
    if "fullinertia" in a:
        other = next((name for name in (*SPELLINGS, "diaginertia") if name in a), None)
        if other is not None:
            a.fail(
                f"it has both fullinertia and {other}, but fullinertia is in the body's axes; remove one of them",
                "conflict",
            )
        result = _principal(mass, com, _matrix(a.numbers("fullinertia", (0.0,) * 6)))
        if min(result.moments) <= 0.0:
            a.fail(
                f"fullinertia has the principal moments {_listed(result.moments)} kg·m², which must be positive",
                "indefinite-inertia",
            )
        return Mass(mass, result.moments, part.in_body(result.frame))
    xx, yy, zz = a.numbers("diaginertia", _NOTHING)
    if min(xx, yy, zz) < 0.0:
        a.fail(
            f"diaginertia is {_listed((xx, yy, zz))} kg·m²; a moment of inertia cannot be negative",
            "indefinite-inertia",
        )
    return Mass(mass, (xx, yy, zz), part.in_body(Transform(orientation(a, settings).T, com)))


def _corrected(computed: Mass, body: BodyPart, inertial: Sequence[Part], settings: Settings) -> Mass:
    """With at least the mass and moments that the settings demand, and moments that a body can have."""
    mass = max(computed.mass, settings.bound_mass)
    moments = xx, yy, zz = tuple(max(x, settings.bound_inertia) for x in computed.moments)
    if xx + yy < zz or xx + zz < yy or yy + zz < xx:
        # Moments that were computed, and not given, may miss the inequality by rounding.
        is_diagonal = inertial and "diaginertia" in inertial[0].attributes
        if settings.balance_inertia:
            moments = ((xx + yy + zz) / 3.0,) * 3
        elif is_diagonal or 2.0 * max(moments) > sum(moments) * (1.0 + _ROUNDING):
            (inertial[0] if inertial else body.part).attributes.fail(
                f"the principal moments of its inertia, {_listed(moments)} kg·m², violate the triangle inequality: "
                "none can be larger than the sum of the others; correct them, or set "
                '<compiler balanceinertia="true">',
                "inconsistent-inertia",
            )
    return Mass(mass, (moments[0], moments[1], moments[2]), computed.frame)


def _matrix(entries: Sequence[float]) -> Floats:
    xx, yy, zz, xy, xz, yz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _listed(moments: Sequence[float]) -> str:
    return ", ".join(f"{x:.4g}" for x in moments)
