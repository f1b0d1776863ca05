"""Joints that move nothing, or that move the robot in fewer ways than they are, in every configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kinetree.checking.subject import Subject, warning
from kinetree.model import Model
from kinetree.model.checks.singularity import generic_motion, plucker
from kinetree.model.problems import Collected
from kinetree.problems import Problem
from kinetree.spatial import Transform

__all__ = ["check_motions"]

Floats = NDArray[np.float64]

_TRIES = 3
_TOLERANCE = 1e-7
_LONGEST = 3
"""Neighbouring joints that are compared: four in a plane or about a point are dependent, and nothing unusual."""
_WAYS = {2: "one way", 3: "two ways"}
_MOST = 3000
"""Joints of a robot that is looked at."""


def check_motions(subject: Subject, problems: Collected) -> Iterator[Problem]:
    """Massless bodies that move, and neighbouring joints whose motions are dependent wherever they are."""
    robot = subject.robot
    if robot is None:
        return
    where = {spec.name: spec.where for spec in subject.parts.joints}
    for name in robot.singular_joints:
        child = robot.joints[name].child
        if not problems.doubts(name, child) and robot.mass > 0.0:
            sentence = f"joint {name!r} moves nothing that has inertia, so forward dynamics is not defined"
            advice = f"give body {child!r} or one that it carries mass and inertia, or the joint armature"
            yield warning(where.get(name, ""), f"{sentence}; {advice}", "massless-moving-body")
    for names in _dependent(robot):
        if problems.doubts(*names):
            continue
        joints = " and ".join(", ".join(map(repr, names)).rsplit(", ", 1))
        sentence = f"joints {joints} move the robot in only {_WAYS[len(names)]}, whatever the configuration"
        advice = "check their axes and origins: one of them moves the robot as the others do"
        yield warning(where[names[-1]], f"{sentence}; {advice}", "singular-everywhere")


def _dependent(robot: Model) -> Iterator[tuple[str, ...]]:
    """Chains of two or three joints of one degree of freedom, whose motions are dependent in every configuration.

    A body between them carries nothing else: the waist and the neck of a humanoid may turn about the same axis.
    """
    tree = robot.tree
    joints = {joint.slot: joint for joint in robot.joints.values() if joint.kind.nv == 1 and joint.has_coordinates}
    if len(joints) > _MOST:
        return
    carried = Counter(tree.parent[1:])
    rng = np.random.default_rng(0)
    motions = {i: [generic_motion(joint.kind, rng) for _ in range(_TRIES)] for i, joint in joints.items()}
    dependent: set[int] = set()
    for i in sorted(motions):
        chain = [i]
        while len(chain) < _LONGEST:
            carrier = tree.parent[chain[0]]
            if carrier not in motions or carried[carrier] > 1 or carrier in dependent:
                break
            chain.insert(0, carrier)
            if all(_is_dependent([motions[k][n] for k in chain], [tree.X_T[k] for k in chain]) for n in range(_TRIES)):
                dependent.add(i)
                yield tuple(joints[k].name for k in chain)
                break


def _is_dependent(motions: Sequence[tuple[Transform, Floats]], placements: Sequence[Transform]) -> bool:
    """Whether the motion subspaces of a chain have dependent columns in the last body's coordinates."""
    S = motions[0][1]
    for (X_J, own), X_T in zip(motions[1:], placements[1:], strict=True):
        S = np.hstack([plucker(X_J @ X_T) @ S, own])
    # Metres are not compared with radians: what turns is measured by its angle, what only moves by its length.
    turn = np.linalg.norm(S[:3], axis=0)
    S = S / np.where(turn > 0.0, turn, np.maximum(np.linalg.norm(S[3:], axis=0), 1e-300))
    scale = np.abs(S[3:]).max(initial=0.0)
    S[3:] /= max(scale, 1e-300)
    sizes = np.linalg.svd(S, compute_uv=False)
    return bool(sizes[-1] < _TOLERANCE * sizes[0])
