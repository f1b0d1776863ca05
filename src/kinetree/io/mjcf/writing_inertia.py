"""<inertial>: an inertia as it is, where MuJoCo takes it."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

import numpy as np

from kinetree.io.losses import Losses
from kinetree.io.mjcf.writing_numbers import pose, vector
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.joints import Fixed
from kinetree.model.specs import Parts
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3

__all__ = ["Fitness", "fitness_of", "with_fit_inertias", "write_inertia"]

_MINIMUM = 1e-15
_TOLERANCE = 1e-9
"""How far, relative to the largest, principal moments may violate what a body demands: rounding."""


class Fitness(Enum):
    """What MuJoCo thinks of an inertia."""

    FIT = "fit"
    NOTHING = "without mass or without a moment of inertia, so that it cannot move by itself"
    UNBALANCED = "one principal moment is larger than the other two together"
    INDEFINITE = "one principal moment is negative"


_REFUSED = (Fitness.UNBALANCED, Fitness.INDEFINITE)


def fitness_of(inertia: Inertia) -> Fitness:
    """Whether MuJoCo takes it."""
    moments = np.linalg.eigvalsh(inertia.about_center_of_mass)
    a, b, c = map(float, moments)
    if a < -_TOLERANCE * max(abs(a), abs(c)):
        return Fitness.INDEFINITE
    if c > a + b + _TOLERANCE * c:
        return Fitness.UNBALANCED
    return Fitness.NOTHING if float(inertia.mass) < _MINIMUM or a < _MINIMUM else Fitness.FIT


def with_fit_inertias(parts: Parts, losses: Losses) -> Parts:
    """The parts with inertias that MuJoCo refuses moved to the bodies that theirs are fixed to: they move alike."""
    links = {link.name: link for link in parts.links}
    unfit = [name for name, link in links.items() if fitness_of(link.inertia) in _REFUSED]
    if not unfit:
        return parts
    above = {joint.child: joint for joint in parts.joints}
    for name in unfit:
        body = name
        while (joint := above.get(body)) is not None and isinstance(joint.kind, Fixed):
            inertia = links[body].inertia
            if fitness_of(inertia) not in _REFUSED:
                break
            carrier = links[joint.parent]
            links[body] = replace(links[body], inertia=Inertia.zero())
            links[joint.parent] = replace(carrier, inertia=carrier.inertia + joint.placement.back(inertia))
            losses.lost.append(
                f"body {body!r} has an inertia that no body can have, which MuJoCo refuses: it would become part of "
                f"that of {joint.parent!r}, to which it is fixed"
            )
            body = joint.parent
    return replace(parts, links=tuple(links.values()))


def write_inertia(body: Tag, inertia: Inertia, com: Vec3, I: Sym3) -> None:
    """Add the element; by principal axes only where MuJoCo would find a moment that is not positive."""
    xx, yy, zz, *off = map(float, I.components())
    mass = shown_number(float(inertia.mass))
    if not any(off):
        body.add("inertial", pos=vector(com), mass=mass, diaginertia=shown_numbers([xx, yy, zz]))
        return
    moments, axes = np.linalg.eigh(np.array([[xx, off[0], off[1]], [off[0], yy, off[2]], [off[1], off[2], zz]]))
    if moments[0] > 0.0:
        body.add("inertial", pos=vector(com), mass=mass, fullinertia=shown_numbers([xx, yy, zz, *off]))
        return
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    E = Mat3(*(Vec3(*map(float, axis)) for axis in axes.T))
    turned = pose(Transform(E, Vec3.zero()))
    positive = [max(0.0, float(moment)) for moment in moments]
    body.add("inertial", pos=vector(com), mass=mass, diaginertia=shown_numbers(positive), **turned)
