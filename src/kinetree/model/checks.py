"""What physics and arithmetic ask of the parts of a robot.

A `check_…` function raises `ModelError` for what cannot be and returns a sentence each for what is suspicious but
possible. All bodies are checked in one sweep of NumPy, so that a file of 100,000 bodies costs well under a second.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError, nearest_names
from kinetree.model.joints import Fixed
from kinetree.model.specs import FrameSpec, JointSpec, LinkSpec, at
from kinetree.spatial import Inertia, Transform

__all__ = [
    "central_inertias",
    "check_inertias",
    "check_joints",
    "check_merged",
    "check_mimics",
    "check_placements",
    "hint",
    "principal_moments",
    "ten",
]

PSD_TOLERANCE = 1e-6
"""How far below zero, relative to the largest, a principal moment may lie: files carry six or seven digits."""
TRIANGLE_TOLERANCE = 1e-6
ROTATION_TOLERANCE = 1e-9
_HINT_LIMIT = 500

Floats = NDArray[np.float64]


def check_inertias(links: Sequence[LinkSpec]) -> tuple[list[str], dict[str, str]]:
    """Masses and inertias: finite, and no negative mass. Returns what is suspicious, and what is indefinite by body.

    Suspicious are inertia without mass, and principal moments of which one exceeds the sum of the other two.
    A negative principal moment is for `check_merged` to judge.
    """
    table = np.array([ten(link.inertia, link) for link in links], dtype=np.float64).reshape(-1, 10)
    for k in _indices(~np.isfinite(table).all(axis=1)):
        _fail(links[k], "has a mass, centre of mass or inertia that is not finite or overflows; give finite numbers")
    mass, h = table[:, 0], table[:, 1:4]
    for k in _indices(mass < 0.0):
        _fail(links[k], f"has the negative mass {mass[k]:g} kg; a mass is positive or zero")
    for k in _indices((mass == 0.0) & h.any(axis=1)):
        _fail(links[k], "has a first moment of mass but no mass; give it a mass or a zero moment")
    central, noise = central_inertias(table)
    for k in _indices(~np.isfinite(central).all(axis=(1, 2))):
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
        for k in _indices(negative)
    }
    suspicions = [_say(links[k], "has inertia but no mass") for k in _indices(massless)]
    for k in _indices(broken):
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
    """Bodies with a negative principal moment: an error, unless what they are fixed to makes up for it.

    Only the sum over bodies fixed to each other has a physical meaning, so there it is merely suspicious.
    `slot` gives a body's place among the `merged` inertias.
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


def check_placements(parts: Sequence[JointSpec] | Sequence[FrameSpec], what: str) -> None:
    """Placements: finite, with a rotation for a rotation."""
    if not parts:
        return
    rows = np.array([_twelve(part.placement, part, what) for part in parts], dtype=np.float64)
    E = rows[:, :9].reshape(-1, 3, 3)
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.abs(E @ E.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
        mirrored = np.linalg.det(np.where(np.isfinite(E), E, 0.0)) < 0.0
    for k in _indices(~np.isfinite(rows).all(axis=1)):
        raise ModelError(at(parts[k].where, f"{what} {parts[k].name!r} stands at a place that is not finite"))
    for k in _indices((error > ROTATION_TOLERANCE) | mirrored):
        raise ModelError(
            at(parts[k].where, f"{what} {parts[k].name!r}: the E of its placement is no rotation matrix (E Eᵀ = 1)")
        )


def check_joints(joints: Sequence[JointSpec]) -> list[str]:
    """Limits, damping, friction and armature: as many as the joint needs, numbers, in order.

    Negative damping or friction, which feed energy in, are suspicious.
    """
    suspicions: list[str] = []
    for joint in joints:
        kind, limits = joint.kind, joint.limits
        for name, values, count in (
            ("lower limits", limits.lower, kind.nq),
            ("upper limits", limits.upper, kind.nq),
            ("velocity limits", limits.velocity, kind.nv),
            ("effort limits", limits.effort, kind.nv),
            ("damping", joint.damping, kind.nv),
            ("friction", joint.friction, kind.nv),
            ("armature", joint.armature, kind.nv),
        ):
            if len(values) != count:
                _fail_joint(joint, f"needs {count} values of {name} ({kind.description}), not {len(values)}")
            for value in values:
                if value != value:
                    _fail_joint(joint, f"has NaN among its {name}; give numbers")
        for lower, upper in zip(limits.lower, limits.upper, strict=True):
            if lower > upper:
                _fail_joint(joint, f"has the lower limit {lower:g} above the upper limit {upper:g}; exchange them")
        for name, values in (("velocity", limits.velocity), ("effort", limits.effort)):
            if values and min(values) < 0.0:
                _fail_joint(joint, f"has the negative {name} limit {min(values):g}; give its magnitude")
        for name, values in (("damping", joint.damping), ("friction", joint.friction), ("armature", joint.armature)):
            if not all(map(math.isfinite, values)):
                _fail_joint(joint, f"has {name} that is not finite")
            if values and min(values) < 0.0:
                if name == "armature":
                    _fail_joint(joint, f"has the negative armature {min(values):g}; a rotor's inertia is positive")
                suspicions.append(at(joint.where, f"joint {joint.name!r} has negative {name}, which feeds energy in"))
    return suspicions


def check_mimics(joints: Mapping[str, JointSpec]) -> None:
    """Joints that mimic others: of one coordinate, existing, moving, and not in a circle."""
    leader: dict[str, str] = {}
    for joint in joints.values():
        mimic = joint.mimic
        if mimic is None:
            continue
        if not (math.isfinite(mimic.multiplier) and math.isfinite(mimic.offset)):
            _fail_joint(joint, "mimics with a multiplier or an offset that is not finite")
        if mimic.joint not in joints:
            known = [name for name in joints if name != joint.name]
            _fail_joint(joint, f"mimics {mimic.joint!r}, but there is no such joint: {hint(mimic.joint, known)}")
        target = joints[mimic.joint]
        if isinstance(target.kind, Fixed):
            _fail_joint(joint, f"mimics {mimic.joint!r}, which is fixed; remove <mimic> or name a joint that moves")
        if joint.kind.nq != 1 or target.kind.nq != 1:
            _fail_joint(joint, f"mimics {mimic.joint!r}; both must be joints of one coordinate")
        leader[joint.name] = mimic.joint

    finished: set[str] = set()
    for start in leader:
        path: dict[str, None] = {}
        name = start
        while name in leader and name not in finished:
            if name in path:
                circle = list(path)[list(path).index(name) :]
                shown = " → ".join([*circle[:6], *(["…"] if len(circle) > 6 else []), name])
                _fail_joint(joints[name], f"mimics itself in a circle: {shown}; one of them must move on its own")
            path[name] = None
            name = leader[name]
        finished.update(path)


def central_inertias(table: Floats) -> tuple[Floats, Floats]:
    """Rotational inertias about the centres of mass, (n, 3, 3), and their rounding errors, (n,).

    A radius of gyration below 0.1 µm counts as rounding too. `table` holds mass, first moment and the six entries
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


def _indices(mask: NDArray[np.bool_] | np.bool_) -> list[int]:
    """Where the mask is true."""
    return [int(k) for k in np.flatnonzero(mask)]


def hint(name: str, known: Collection[str]) -> str:
    """The end of a message about a wrong name; comparing it with very many would take long."""
    if len(known) > _HINT_LIMIT:
        return f"none of the {len(known)} is called that"
    return nearest_names(name, known)


def principal_moments(central: Floats) -> Floats:
    """Eigenvalues, (n, 3), ascending. Scaled to one first, so that no product can overflow or vanish."""
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


def _twelve(placement: Transform, part: JointSpec | FrameSpec, what: str) -> tuple[float, ...]:
    if not isinstance(placement, Transform):
        raise ModelError(
            at(part.where, f"{what} {part.name!r}: its placement must be a Transform, not {placement!r:.60}")
        )
    try:
        return tuple(map(float, (*placement.E.components(), *placement.r.components())))
    except (TypeError, ValueError):
        raise ModelError(
            at(part.where, f"{what} {part.name!r}: its placement has entries that are not numbers")
        ) from None


def _say(link: LinkSpec, sentence: str) -> str:
    return at(link.where, f"body {link.name!r} {sentence}")


def _fail(link: LinkSpec, sentence: str) -> NoReturn:
    raise ModelError(_say(link, sentence))


def _fail_joint(joint: JointSpec, sentence: str) -> NoReturn:
    raise ModelError(at(joint.where, f"joint {joint.name!r} {sentence}"))
