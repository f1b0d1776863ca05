"""A larger or smaller robot of the same shape."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from kinetree.errors import ModelError, OptionError
from kinetree.inputs import plain
from kinetree.joints import JointKind
from kinetree.model.changes.common import Changed, base_joint, changed
from kinetree.model.changes.extras import with_extras_of
from kinetree.model.changes.images import Image
from kinetree.model.changes.kinds import same_kind
from kinetree.model.elements import Geometry, Mimic
from kinetree.model.robot import Robot
from kinetree.model.specs import CouplingSpec, JointSpec
from kinetree.spatial import Inertia, Motion, Sym3, Transform

__all__ = ["scaled"]

_MOST = {"length": 1e6, "mass": 1e18}
"""Maximum factors, up or down; the one for mass is the cube of that for length, which scales masses by its cube."""


def scaled(model: Robot, length: float, *, mass: float | None = None) -> Changed:
    """See `Model.scaled`."""
    L = _factor("length", length)
    m = L**3 if mass is None else _factor("mass", mass)
    parts = model.parts
    kinds = {spec.name: _kind(spec, L) for spec in parts.joints}
    factors = {spec.name: _coordinates(spec.kind, L) for spec in parts.joints}
    larger = replace(
        parts,
        links=tuple(
            link.changed(
                lambda one: replace(
                    one,
                    inertia=_inertia(one.inertia, L, m),
                    geometry=tuple(_shape(shape, L) for shape in one.geometry),
                )
            )
            for link in parts.links
        ),
        joints=tuple(_joint(spec, kinds[spec.name], factors, L) for spec in parts.joints),
        frames=tuple(replace(frame, placement=_placement(frame.placement, L)) for frame in parts.frames),
        couplings=tuple(_coupling(spec, factors) for spec in parts.couplings),
    )
    drives = "gravity, damping, friction, stiffness, armature, rotors and effort limits as before"
    larger = with_extras_of(
        parts, larger, base=base_joint(model), factors=lambda spec: _coordinates(spec.kind, L), length=L
    )
    return changed(larger, f"scaled: lengths times {L:g}, masses times {m:g}; {drives}")


def _factor(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise OptionError(f"{name} must be a number, the factor of each {name}, not {value!r:.60}")
    value = float(plain(value))
    if not (math.isfinite(value) and value > 0.0):
        raise OptionError(f"{name} must be positive and finite, not {value:g}")
    most = _MOST[name]
    if not 1.0 / most <= value <= most:
        raise OptionError(
            f"{name} must be from {1.0 / most:g} to {most:g}, not {value:g}; beyond that, numbers of the robot would "
            "not be distinguishable from 0 or infinity"
        )
    return float(value)


def _placement(X: Transform, L: float) -> Transform:
    return Transform(X.E, X.r * L)


def _inertia(inertia: Inertia, L: float, m: float) -> Inertia:
    return Inertia(
        inertia.mass * m, inertia.h * (m * L), Sym3(*(x * (m * L * L) for x in inertia.I.components()))
    )  # fmt: skip


def _shape(shape: Geometry, L: float) -> Geometry:
    """Scale a shape: sizes are lengths; so is a mesh's scale, whose file stays the same."""
    return replace(shape, size=tuple(s * L for s in shape.size), placement=_placement(shape.placement, L))


def _kind(spec: JointSpec, L: float) -> JointKind:
    own = _coordinates(spec.kind, L)
    kind = same_kind(
        spec,
        "scaled",
        lambda: spec.kind.scaled(L),
        f"the joint with lengths times {L:g}",
        lambda q: _times(tuple(q), own),
        lambda X: _placement(X, L),
    )
    if kind is None:
        raise ModelError(
            f"joint {spec.name!r} ({spec.kind.description}) cannot be scaled: {type(spec.kind).__name__}.scaled gives "
            "no kind; replace the joint, or give its kind that method"
        )
    return kind


def _coordinates(kind: JointKind, L: float) -> tuple[float, ...]:
    """The factor on each coordinate."""
    return tuple(L if unit == "m" else 1.0 for unit in kind.q_units)


def _joint(spec: JointSpec, kind: JointKind, factors: dict[str, tuple[float, ...]], L: float) -> JointSpec:
    own = factors[spec.name]
    rates = own if kind.is_flat else _rates(spec, kind, L)
    limits = replace(
        spec.limits,
        lower=_times(spec.limits.lower, own),
        upper=_times(spec.limits.upper, own),
        velocity=_times(spec.limits.velocity, rates),
    )
    mimic = spec.mimic
    if mimic is not None:
        (factor,), (leader,) = own, factors[mimic.joint]
        mimic = Mimic(mimic.joint, mimic.multiplier * (factor / leader), mimic.offset * factor)
    return replace(
        spec,
        kind=kind,
        placement=_placement(spec.placement, L),
        limits=limits,
        drive=replace(spec.drive, rest=_times(spec.rest, own)),
        mimic=mimic,
    )


def _rates(spec: JointSpec, kind: JointKind, L: float) -> tuple[float, ...]:
    """The factor on each entry of v, for a joint whose coordinates are not plain numbers."""
    image = Image.of(
        spec.name,
        spec.kind,
        kind,
        lambda motion: Motion(motion.angular, motion.linear * L),
        lambda X: _placement(X, L),
    )
    return tuple(map(float, np.abs(np.diag(image.P))))


def _times(values: tuple[float, ...], factors: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(x * f for x, f in zip(values, factors, strict=True))


def _coupling(spec: CouplingSpec, factors: dict[str, tuple[float, ...]]) -> CouplingSpec:
    """Scale a coupling: its own coordinates stay unchanged, so its results are scaled if they are in metres."""
    rows = [factor for name in spec.joints for factor in factors[name]]
    return replace(
        spec,
        matrix=tuple(_times(row, (factor,) * len(row)) for row, factor in zip(spec.matrix, rows, strict=True)),
        offset=_times(spec.offset, tuple(rows)),
    )
