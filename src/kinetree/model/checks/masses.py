"""Physical checks of masses and inertias.

All bodies are checked in vectorized NumPy, so that a robot of 100,000 bodies takes well under a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.model.specs import LinkSpec, at
from kinetree.spatial import Inertia

__all__ = ["central_inertias", "check_inertias", "check_merged", "indices", "principal_moments", "ten"]

PSD_TOLERANCE = 1e-6
"""How far below zero, relative to the largest, a principal moment may lie: files have six or seven digits."""
TRIANGLE_TOLERANCE = 1e-6

Floats = NDArray[np.float64]


def check_inertias(links: Sequence[LinkSpec]) -> tuple[list[str], dict[str, str]]:
    """Check that masses and inertias are finite, and masses not negative. Returns suspicions, and indefinite ones by
    body.

    Inertia without mass is suspicious, and so is a principal moment that exceeds the sum of the other two.
    A negative principal moment is left to `check_merged`.
    """
    table = np.array([ten(link.inertia, link) for link in links], dtype=np.float64).reshape(-1, 10)
    for k in indices(~np.isfinite(table).all(axis=1)):
        _fail(links[k], "has a mass, centre of mass or inertia that is not finite or overflows; give finite numbers")
    mass, h = table[:, 0], table[:, 1:4]
    for k in indices(mass < 0.0):
        _fail(links[k], f"has the negative mass {mass[k]:g} kg; a mass is positive or zero")
    for k in indices((mass == 0.0) & h.any(axis=1)):
        _fail(links[k], "has a first moment of mass but no mass; give it a mass or a zero moment")
    central, noise = central_inertias(table)
    for k in indices(~np.isfinite(central).all(axis=(1, 2))):
        _fail(links[k], "has an inertia that overflows; give it in kg·m²")
    moments = principal_moments(central)
    smallest, middle, largest = moments.T
    scale = np.abs(moments).max(axis=1, initial=0.0)

    negative = smallest < -(PSD_TOLERANCE * scale + noise)
    massless = ~negative & (mass == 0.0) & (largest > 0.0)
    broken = ~negative & ~massless & (largest > middle + smallest + TRIANGLE_TOLERANCE * scale + noise)
    indefinite = {
        links[k].name: _say(
            links[k],
            f"has an inertia with the negative principal moment {smallest[k]:.3g} kg·m² about its centre of mass, "
            "which no body has; check the signs and the order of its entries",
        )
        for k in indices(negative)
    }
    suspicions = [_say(links[k], "has inertia but no mass") for k in indices(massless)]
    for k in indices(broken):
        shown = ", ".join(f"{moment:.3g}" for moment in np.maximum(moments[k], 0.0))
        singular = "is singular and " if smallest[k] <= PSD_TOLERANCE * scale[k] else ""
        suspicions.append(
            _say(
                links[k],
                f"has an inertia that {singular}no rigid body can have: its principal moments ({shown} kg·m²) "
                "violate the triangle inequality",
            )
        )
    return suspicions, indefinite


def check_merged(indefinite: Mapping[str, str], slot: Mapping[str, int], merged: Sequence[Inertia]) -> list[str]:
    """Check bodies with a negative principal moment: an error, unless what they are fixed to makes up for it.

    Only the sum over bodies fixed to each other has a physical meaning, so in that case it is merely suspicious.
    `slot` gives a body's index among the `merged` inertias.
    """
    if not indefinite:
        return []
    table = np.array([ten(inertia) for inertia in merged], dtype=np.float64)
    central, noise = central_inertias(table)
    moments = principal_moments(central)
    negative = moments[:, 0] < -(PSD_TOLERANCE * np.abs(moments).max(axis=1) + noise)
    for name, sentence in indefinite.items():
        if negative[slot[name]]:
            raise ModelError(sentence)
    return list(indefinite.values())


def central_inertias(table: Floats) -> tuple[Floats, Floats]:
    """Rotational inertias about the centres of mass, (n, 3, 3), and their rounding errors, (n,).

    A radius of gyration below 0.1 µm counts as rounding, too. `table` holds mass, first moment and the six entries
    about the origin, (n, 10).
    """
    mass, h = table[:, 0], table[:, 1:4]
    xx, yy, zz, xy, xz, yz = table[:, 4:].T
    about_origin = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3)
    with np.errstate(over="ignore", invalid="ignore"):
        com = h / np.where(mass > 0.0, mass, 1.0)[:, None]
        shift = (com * h).sum(axis=1)[:, None, None] * np.eye(3) - com[:, :, None] * h[:, None, :]
        central = about_origin - shift
        noise = 1e-14 * np.abs(about_origin).max(axis=(1, 2), initial=0.0) + 1e-14 * mass
    return central, noise


def principal_moments(central: Floats) -> Floats:
    """Eigenvalues, (n, 3), ascending. Matrices are scaled to one first, so no product can overflow or underflow."""
    scale = np.abs(central).max(axis=(1, 2), initial=0.0)
    unit = central / np.where(scale > 0.0, scale, 1.0)[:, None, None]
    moments: Floats = np.linalg.eigvalsh(unit) * scale[:, None]
    return moments


def ten(inertia: Inertia, link: LinkSpec | None = None) -> tuple[float, ...]:
    """Mass, first moment, and xx, yy, zz, xy, xz, yz about the origin."""
    try:
        return tuple(map(float, (inertia.mass, *inertia.h.components(), *inertia.I.components())))
    except (TypeError, ValueError):
        sentence = "has an inertia whose entries are not all numbers"
        raise ModelError(sentence if link is None else _say(link, sentence)) from None


def _say(link: LinkSpec, sentence: str) -> str:
    return at(link.where, f"body {link.name!r} {sentence}")


def _fail(link: LinkSpec, sentence: str) -> NoReturn:
    raise ModelError(_say(link, sentence))


def indices(mask: NDArray[np.bool_] | np.bool_) -> list[int]:
    """Indices at which the mask is true."""
    return [int(k) for k in np.flatnonzero(mask)]
