"""Equality, hash, copies and pickles of models.

Robots are equal if they are made of the same parts: names, joints and their kinds, placements, inertias, shapes,
limits, drives, couplings, frames, gravity, extras, and whether the base floats. Where the parts were read from, notes,
and where meshes lie on this disk do not count. Numbers count by their values, so 0.0 and -0.0 are one number here,
which they are not in `fingerprint`: data that depend on bits are kept by identity, in a `ByIdentity` (by_identity.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kinetree.model.robot import Robot
from kinetree.model.specs import Parts
from kinetree.problems import place_of
from kinetree.spatial import Inertia, Transform

__all__ = ["are_equal", "hash_of", "is_as_built", "without_places"]


def are_equal(a: Robot, b: Robot) -> bool:
    """Whether the two are made of the same parts."""
    # The rest follows from the parts, except for models with other numbers in their place, such as those of a trace.
    return (
        a.parts == b.parts
        and a.tree == b.tree
        and a.bodies == b.bodies
        and a.joints == b.joints
        and a.frames == b.frames
    )


def is_as_built(model: Robot) -> bool:
    """Whether it has the numbers of its parts, unlike a model in other body axes, or with other parameters."""
    parts, tree = model.parts, model.tree
    joints = {spec.name: spec for spec in parts.joints}
    return (
        model.gravity == parts.gravity
        and all(model.bodies[link.name].inertia == link.inertia for link in parts.links)
        and all(tree.joint[joint.slot] == joint.kind for joint in model.joints.values())
        and all(
            (joint.kind, joint.placement, joint.armature) == (spec.kind, spec.placement, spec.armature)
            for joint in model.joints.values()
            if (spec := joints.get(joint.name)) is not None
        )
    )


def without_places(parts: Parts) -> Parts:
    """The same parts, without references to the file they were read from."""

    def plain(specs: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(spec if type(spec.where) is str else replace(spec, where=place_of(spec.where)) for spec in specs)

    return replace(
        parts,
        links=plain(parts.links),
        joints=plain(parts.joints),
        frames=plain(parts.frames),
        couplings=plain(parts.couplings),
    )


def hash_of(parts: Parts) -> int:
    """Hash over properties in which robots differ: names, kinds, inertias, placements and forces of joints."""
    return hash(
        (
            parts.name,
            parts.gravity,
            parts.floating_base,
            tuple((link.name, _of_inertia(link.inertia)) for link in parts.links),
            # A user's kind may equal others in a way that its hash does not reflect; its class is enough.
            tuple((j.name, type(j.kind), j.parent, j.child, _of_placement(j.placement)) for j in parts.joints),
            tuple((j.drive, j.armature) for j in parts.joints),
            tuple((frame.name, frame.body, _of_placement(frame.placement)) for frame in parts.frames),
            tuple((coupling.name, coupling.joints, coupling.matrix) for coupling in parts.couplings),
            parts.extras,
        )
    )


def _of_inertia(inertia: Inertia) -> tuple[Any, ...]:
    return inertia.mass, *inertia.h.components(), *inertia.I.components()


def _of_placement(placement: Transform) -> tuple[Any, ...]:
    return *placement.E.components(), *placement.r.components()
