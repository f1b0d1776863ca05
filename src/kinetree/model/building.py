"""From parts to a robot: checked as a whole, merged where joints are fixed, and given slots and coordinates."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinetree.errors import ModelError, ModelWarning, brief
from kinetree.joints import Fixed
from kinetree.model.assembly import assemble_frames, assemble_joints, assemble_tree, merge_notes
from kinetree.model.checks.kinds import check_kinds
from kinetree.model.checks.masses import (
    TRIANGLE_TOLERANCE,
    central_inertias,
    check_inertias,
    check_merged,
    consistent_moments,
    indices,
    ten,
)
from kinetree.model.checks.parts import check_joints, check_mimics, check_names, check_placements, missing_leader
from kinetree.model.checks.singularity import singular_joints
from kinetree.model.checks.structure import Structure
from kinetree.model.elements import Named
from kinetree.model.problems import STRICT, Problems
from kinetree.model.sharing import Layout, check_couplings
from kinetree.model.specs import JointSpec, LinkSpec, Parts, fault, floating_joint
from kinetree.spatial import Inertia, Sym3, Vec3

__all__ = ["NOTED", "build", "users_level", "warning_of"]

_WARNED = 20
"""The maximum number of warnings about one robot."""
NOTED = 1000
"""The maximum number of suspicions that are kept in its notes."""


def build(
    parts: Parts,
    suspicions: Sequence[ModelWarning] = (),
    known: Sequence[Parts] = (),
    problems: Problems = STRICT,
) -> Mapping[str, Any]:
    """The fields of the robot of these parts.

    `suspicions` are the sentences to warn of. Those about `known` parts, which are those of robots that were built
    before, stay in the notes but are not warned of again. Anything impossible goes to `problems`; if it collects them,
    this raises `ModelError` only if the parts cannot be put together.
    """
    problems.saw(parts)
    before = problems.fatal
    specs = {spec.name: spec for spec in parts.joints}
    structure = Structure(parts.name, parts.source, {spec.name: spec for spec in parts.links}, specs, problems)
    check_placements(parts.joints, "joint", problems)
    check_placements(parts.frames, "frame", problems)
    check_kinds(parts.joints, problems)
    if problems.collects:
        parts = mended_mimics(parts, problems)
        specs = {spec.name: spec for spec in parts.joints}
    check_mimics(specs, problems)
    check_couplings(parts.couplings, specs, problems)
    caught, indefinite = check_inertias(parts.links, problems)
    noted = list(suspicions[:NOTED])
    caught += [*check_joints(parts.joints, problems), *noted]
    if problems.collects:
        parts = mended_drives(parts)

    joints = [spec for spec in parts.joints if not isinstance(spec.kind, Fixed)]
    if parts.floating_base:
        taken = {*specs, *(spec.name for spec in parts.couplings)}
        name = "root_joint"
        while name in taken:
            name += "_"
        joints.insert(0, floating_joint(name, "", structure.root, where=parts.source))
    if problems.fatal == before:
        check_names(joints, parts.couplings, specs, problems)
    if problems.fatal > before or not structure.is_tree:
        problems.suspect(problem for warning in caught for problem in warning.problems)
        problems.stop()
        raise ModelError(f"{parts.source}: its parts cannot be put together")
    layout = Layout.of(joints, parts.couplings)
    tree, bodies = assemble_tree(structure, parts.links, joints, parts.gravity, layout)
    compensated = check_merged(indefinite, {body.name: body.slot for body in bodies.values()}, tree.I, problems)
    caught += compensated.values()
    if problems.collects:
        problems.suspect(problem for warning in caught for problem in warning.problems)
        caught = [warning for warning in caught if not any(problem.repair for problem in warning.problems)]
        parts = replace(parts, links=mended_links(parts.links, compensated, problems))
        tree, bodies = assemble_tree(structure, parts.links, joints, parts.gravity, layout)
    sentences = [str(warning) for warning in caught]
    fields = {
        "name": parts.name,
        "tree": tree,
        "bodies": Named("body", bodies),
        "joints": Named("joint", assemble_joints(joints, layout)),
        "couplings": Named("coupling", layout.couplings),
        "frames": Named("frame", assemble_frames(parts.frames, bodies)),
        "root": structure.root,
        "floating_base": parts.floating_base,
        "notes": (*parts.notes, *merge_notes(bodies, structure.root), *sentences[:NOTED]),
        "singular_joints": singular_joints(tree, joints),
        "parts": replace(parts, notes=(*parts.notes, *map(str, noted))),
        "source": parts.source,
    }
    known_before = _suspicions(known) if sentences else set()
    _warn([sentence for sentence in sentences if sentence not in known_before])
    return fields


def _suspicions(known: Sequence[Parts]) -> set[str]:
    """The warnings given when the robots with these parts were built."""
    sentences: set[str] = set()
    for parts in known:
        caught, indefinite = check_inertias(parts.links)
        sentences.update(map(str, (*caught, *indefinite.values(), *check_joints(parts.joints))))
    return sentences


def warning_of(note: str) -> str:
    """The warning about something suspicious, which is among a robot's notes as well."""
    return f"{brief(note)}; it is loaded as written"


def users_level() -> int:
    """The `stacklevel` of a warning at the line outside kinetree and NumPy that led to the function that calls this."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("kinetree", "numpy"):
        level, frame = level + 1, frame.f_back
    return level


def _warn(suspicions: Sequence[str]) -> None:
    """Warn about each, at the user's line that made the robot."""
    depth = users_level()
    for sentence in suspicions[:_WARNED]:
        warnings.warn(warning_of(sentence), ModelWarning, stacklevel=depth)
    if len(suspicions) > _WARNED:
        more = len(suspicions) - _WARNED
        warnings.warn(
            f"{more} more warnings of this kind are in the notes of the model", ModelWarning, stacklevel=depth
        )


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
