"""Masses, centres of mass and inertias that are possible, but that no body of this size is likely to have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kinetree.checking.extents import Extent
from kinetree.checking.subject import Subject, warning
from kinetree.model.checks.masses import central_inertias, principal_moments, ten
from kinetree.model.problems import Collected
from kinetree.model.specs import LinkSpec
from kinetree.problems import Problem

__all__ = ["check_masses"]

_LARGER = 2.0
"""A radius of gyration so many times as large as the body is suspicious: shapes are often only parts of it."""
_SMALLER = 0.01
"""… and one this small a part of it, in a body that is not light."""
_LIGHT = 0.01
"""The share of the mean mass below which a body's inertia does not matter."""
_UNIT_FACTORS = ((1e9, "g·mm²"), (1e6, "kg·mm²"), (1e3, "g·m²"))
_LEAST = 0.02
"""The square of the radius of gyration over the body's size, of a plausible body, is between this and one."""
_OUTSIDE = 0.5
"""How far outside a body its centre of mass may be, as a part of the body's diagonal."""
_RATIO = 1e6
_FEW = 3


def check_masses(subject: Subject, problems: Collected) -> Iterator[Problem]:
    """All masses together, each body against its size, and neighbours against each other."""
    links = [link for link in subject.parts.links if not problems.doubts(link.name)]
    if not links:
        return
    table = np.array([ten(link.inertia) for link in links], dtype=np.float64)
    mass, (central, noise) = table[:, 0], central_inertias(table)
    if not np.isfinite(table).all() or not np.isfinite(central).all() or (mass < 0.0).any():  # reported by the reader
        return
    yield from _all_equal(subject, links, mass, problems)
    moments = principal_moments(central)
    mean = float(mass[mass > 0.0].mean()) if (mass > 0.0).any() else 0.0
    for k, link in enumerate(links):
        if mass[k] <= 0.0 or moments[k, 0] < -noise[k]:
            continue
        com = table[k, 1:4] / mass[k]
        box = subject.extents[link.name]
        yield from _outside(link, com, box)
        gyration = float(np.sqrt(max(moments[k, 2], 0.0) / mass[k]))
        yield from _size(subject, link, gyration, box, com, is_heavy=mass[k] > _LIGHT * mean)
    yield from _ratios(subject)


def _all_equal(
    subject: Subject, links: list[LinkSpec], mass: NDArray[np.float64], problems: Collected
) -> Iterator[Problem]:
    where = subject.parts.source
    if not mass.any():
        if subject.parts.joints and not problems.lacks_parts and len(links) == len(subject.parts.links):
            sentence = "no body of this robot has mass; give each its mass and inertia"
            yield warning(where, sentence, "all-masses-equal")
        return
    heavy = mass[mass > 0.0]
    if len(heavy) >= _FEW and (heavy == 1.0).all():
        sentence = f"all {len(heavy)} bodies with mass have 1 kg; give each its own mass"
        yield warning(where, sentence, "all-masses-equal")


def _outside(link: LinkSpec, com: NDArray[np.float64], box: Extent) -> Iterator[Problem]:
    away = box.distance(com)
    if box.is_known and away > max(_OUTSIDE * box.diagonal, 1e-3):
        shown = ", ".join(f"{x:.3g}" for x in com)
        sentence = f"body {link.name!r} has its centre of mass at ({shown}) m, {away:.3g} m outside of its shapes"
        yield warning(link.where, f"{sentence}; give it in metres, in the body's frame", "center-of-mass-outside")


def _size(
    subject: Subject, link: LinkSpec, gyration: float, box: Extent, com: NDArray[np.float64], *, is_heavy: bool
) -> Iterator[Problem]:
    size = box.farthest(com) if box.is_known else subject.size
    if size <= 0.0:
        return
    of = "the body is" if box.is_known else "the whole robot is"
    if gyration > _LARGER * size:
        factor = (gyration / size) ** 2
        unit = next((unit for ratio, unit in _UNIT_FACTORS if _LEAST * ratio < factor <= ratio), "")
        sentence = (
            f"body {link.name!r} has an inertia with a radius of gyration of {gyration:.3g} m, but {of} only "
            f"{size:.3g} m large"
        )
        if unit:
            yield warning(link.where, f"{sentence}; give kg·m² if this is in {unit}", "inertia-units")
        else:
            yield warning(link.where, f"{sentence}; no shape of that size has it", "inertia-size")
    elif is_heavy and box.is_known and 0.0 < gyration < _SMALLER * size:
        sentence = (
            f"body {link.name!r} has an inertia with a radius of gyration of only {gyration:.3g} m, though {of} "
            f"{size:.3g} m large"
        )
        yield warning(link.where, f"{sentence}; give its inertia about its centre of mass in kg·m²", "inertia-units")


def _ratios(subject: Subject) -> Iterator[Problem]:
    """Very heavy bodies that a very light one carries."""
    robot = subject.robot
    if robot is None:
        return
    tree = robot.tree
    joints = {joint.slot: joint for joint in robot.joints.values()}
    lightest: dict[int, tuple[float, int]] = {0: (np.inf, 0)}
    reported: set[int] = set()
    for i, p in tree.outward:
        mass = float(tree.I[i].mass)
        light, carrier = lightest[p]
        if mass > _RATIO * light and carrier not in reported:
            reported.add(carrier)
            name, by = joints[i].child, joints[carrier].child
            sentence = f"body {name!r} ({mass:g} kg) hangs on body {by!r} ({light:g} kg), which is much lighter"
            where = subject.links[name].where
            yield warning(where, f"{sentence}; forward dynamics loses digits", "mass-ratio")
        lightest[i] = min((mass, i), (light, carrier)) if mass > 0.0 else (light, carrier)
