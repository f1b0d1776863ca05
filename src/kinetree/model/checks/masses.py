"""Physical checks of masses and inertias.

All bodies are checked in vectorized NumPy, so that a robot of 100,000 bodies takes well under a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError, ModelWarning
from kinetree.model.problems import STRICT, Problems
from kinetree.model.specs import LinkSpec, fault, suspicion
from kinetree.spatial import Inertia

__all__ = [
    "central_inertias",
    "check_inertias",
    "check_merged",
    "consistent_moments",
    "indices",
    "principal_moments",
    "ten",
]

PSD_TOLERANCE = 1e-6
"""How far below zero, relative to the largest, a principal moment may lie: files have six or seven digits."""
TRIANGLE_TOLERANCE = 1e-6
_NONE = (0.0,) * 10

Floats = NDArray[np.float64]


def check_inertias(
    links: Sequence[LinkSpec], problems: Problems = STRICT
) -> tuple[list[ModelWarning], dict[str, ModelError]]:
    """Check that masses and inertias are finite, and masses not negative. Returns suspicions, and indefinite ones by
    body.

    Inertia without mass is suspicious, and so is a principal moment that exceeds the sum of the other two.
    A negative principal moment is left to `check_merged`.
    """
    before = problems.fatal
    table = np.array([problems.attempt(_NONE, ten, link.inertia, link) for link in links], dtype=np.float64)
    table = table.reshape(-1, 10)

    def fail(wrong: NDArray[np.bool_] | np.bool_, sentence: str, code: str) -> None:
        for k in indices(wrong):
            problems.add(_fault(links[k], sentence.format(mass[k]), code))

    mass, h = table[:, 0], table[:, 1:4]
    fail(
        ~np.isfinite(table).all(axis=1),
        "has a mass, centre of mass or inertia that is not finite or overflows; give finite numbers",
        "bad-inertia",
    )
    fail(mass < 0.0, "has the negative mass {:g} kg; a mass is positive or zero", "negative-mass")
    fail(
        (mass == 0.0) & h.any(axis=1),
        "has a first moment of mass but no mass; give it a mass or a zero moment",
        "bad-inertia",
    )
    if problems.fatal > before:
        return [], {}
    central, noise = central_inertias(table)
    fail(~np.isfinite(central).all(axis=(1, 2)), "has an inertia that overflows; give it in kg·m²", "bad-inertia")
    if problems.fatal > before:
        return [], {}
    moments = principal_moments(central)
    smallest, middle, largest = moments.T
    scale = np.abs(moments).max(axis=1, initial=0.0)

    negative = smallest < -(PSD_TOLERANCE * scale + noise)
    massless = ~negative & (mass == 0.0) & (largest > 0.0)
    broken = ~negative & ~massless & (largest > middle + smallest + TRIANGLE_TOLERANCE * scale + noise)
    indefinite = {
        links[k].name: _fault(
            links[k],
            f"has an inertia with the negative principal moment {smallest[k]:.3g} kg·m² about its centre of mass, "
            "which no body has; check the signs and the order of its entries",
            "indefinite-inertia",
            _clipping(moments[k]) if mass[k] else "",
        )
        for k in indices(negative)
    }
    suspicions = [
        suspicion(links[k].where, f"body {links[k].name!r} has inertia but no mass", "inertia-without-mass")
        for k in indices(massless)
    ]
    for k in indices(broken):
        singular = "is singular and " if smallest[k] <= PSD_TOLERANCE * scale[k] else ""
        suspicions.append(
            suspicion(
                links[k].where,
                f"body {links[k].name!r} has an inertia that {singular}no rigid body can have: its principal moments "
                f"({_shown(np.maximum(moments[k], 0.0))} kg·m²) violate the triangle inequality",
                "inconsistent-inertia",
                repair=_clipping(moments[k]),
            )
        )
    return suspicions, indefinite


def check_merged(
    indefinite: Mapping[str, ModelError],
    slot: Mapping[str, int],
    merged: Sequence[Inertia],
    problems: Problems = STRICT,
) -> dict[str, ModelWarning]:
    """Check bodies with a negative principal moment: an error, unless the body they are fixed to makes up for it.

    Only the sum over bodies fixed to each other has a physical meaning, so in that case it is merely suspicious.
    `slot` gives a body's index among the `merged` inertias.
    """
    if not indefinite:
        return {}
    table = np.array([ten(inertia) for inertia in merged], dtype=np.float64)
    central, noise = central_inertias(table)
    moments = principal_moments(central)
    negative = moments[:, 0] < -(PSD_TOLERANCE * np.abs(moments).max(axis=1) + noise)
    suspicions = {}
    for name, error in indefinite.items():
        if negative[slot[name]]:
            problems.add(error)
        else:
            found = (problem._replace(severity="warning", repair="") for problem in error.problems)
            suspicions[name] = ModelWarning(str(error), problems=found)
    return suspicions


def consistent_moments(moments: Floats) -> Floats:
    """The principal moments of the nearest physically consistent inertia in the same axes, (3,).

    Half the trace less a moment is the second moment of mass along its axis; those below zero become zero.
    """
    along = np.maximum(0.5 * moments.sum() - moments, 0.0)
    result: Floats = along.sum() - along
    return result


def _clipping(moments: Floats) -> str:
    return f"its principal moments ({_shown(moments)} kg·m²) become ({_shown(consistent_moments(moments))} kg·m²)"


def _shown(moments: Floats) -> str:
    return ", ".join(f"{moment:.3g}" for moment in moments)


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
        raise (ModelError(sentence) if link is None else _fault(link, sentence, "bad-inertia")) from None


def _fault(link: LinkSpec, sentence: str, code: str, repair: str = "") -> ModelError:
    return fault(link.where, f"body {link.name!r} {sentence}", code, repair=repair)


def indices(mask: NDArray[np.bool_] | np.bool_) -> list[int]:
    """Indices at which the mask is true."""
    return [int(k) for k in np.flatnonzero(mask)]
