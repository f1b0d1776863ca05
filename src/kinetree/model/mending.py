"""Repairs of `kt.load(path, repair=True)` in the parts of a robot; the checks have reported the faults."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from kinetree.model.checks.masses import (
    TRIANGLE_TOLERANCE,
    central_inertias,
    consistent_moments,
    indices,
    ten,
)
from kinetree.model.checks.parts import missing_leader
from kinetree.model.problems import Problems
from kinetree.model.specs import JointSpec, LinkSpec, Parts, fault
from kinetree.spatial import Inertia, Sym3, Vec3

__all__ = ["mended_drives", "mended_links", "mended_mimics"]


def mended_mimics(parts: Parts, problems: Problems) -> Parts:
    """The parts in which joints that mimic a missing joint follow none; each is reported to `problems`."""
    known = {joint.name: joint for joint in parts.joints}
    joints = []
    for joint in parts.joints:
        if joint.mimic is not None and joint.mimic.joint not in known:
            if not problems.doubts(joint.mimic.joint):
                problems.add(missing_leader(joint, joint.mimic, known))
            joint = replace(joint, mimic=None)
        elif joint.mimic is not None and problems.is_ambiguous(joint.mimic.joint):
            sentence = f"joint {joint.name!r} mimics {joint.mimic.joint!r}, but several joints have that name"
            problems.add(fault(joint.where, f"{sentence}; rename all but one of them", "duplicate-name"))
        joints.append(joint)
    return replace(parts, joints=tuple(joints))


def mended_drives(parts: Parts) -> Parts:
    """The parts in which no joint has negative damping, friction or stiffness."""
    return replace(parts, joints=tuple(map(_without_negative, parts.joints)))


def _without_negative(joint: JointSpec) -> JointSpec:
    drive = joint.drive
    if all(x >= 0.0 for x in (*drive.damping, *drive.friction, *drive.stiffness)):
        return joint

    def raised(values: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(max(x, 0.0) for x in values)

    mended = replace(
        drive, damping=raised(drive.damping), friction=raised(drive.friction), stiffness=raised(drive.stiffness)
    )
    return replace(joint, drive=mended)


def mended_links(links: Sequence[LinkSpec], compensated: Collection[str], problems: Problems) -> tuple[LinkSpec, ...]:
    """The links with the nearest physically consistent inertias.

    Those whose negative moment is `compensated` by the body they are fixed to keep it, as do massless ones.
    """
    table = np.array([ten(link.inertia) for link in links], dtype=np.float64).reshape(-1, 10)
    central, noise = central_inertias(table)
    moments, axes = np.linalg.eigh(central)
    along = 0.5 * moments.sum(axis=1)[:, None] - moments
    tolerance = TRIANGLE_TOLERANCE * np.abs(moments).max(axis=1, initial=0.0) + noise
    wrong = (2.0 * along.min(axis=1, initial=np.inf) < -tolerance) & (table[:, 0] > 0.0)
    mended = list(links)
    for k in indices(wrong):
        if links[k].name in compensated:
            continue
        mass, h = table[k, 0], table[k, 1:4]
        C = (axes[k] * consistent_moments(moments[k])) @ axes[k].T
        I = Sym3(*(float(C[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))
        inertia = Inertia.from_com(float(mass), Vec3(*(float(x) for x in h / mass)), I)
        mended[k] = replace(links[k], inertia=inertia)
        problems.doubt(links[k].name)
    return tuple(mended)
