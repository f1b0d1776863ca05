"""When two robots are one: equality, hash, copies and pickles of models.

Robots are equal if they are made of the same parts: names, joints and their kinds, placements, inertias, shapes,
limits, drives, couplings, frames, gravity, and whether the base floats. Where the parts were read from, notes, and
where meshes lie on this disk do not count. Numbers count by their values, so 0.0 and -0.0 are one number here, which
they are not in `fingerprint`: what depends on bits is kept by identity, in a `ByIdentity`.
"""

from __future__ import annotations

import weakref
from copy import deepcopy
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from kinetree.spatial import Inertia, Transform

if TYPE_CHECKING:
    from kinetree.model.model import Model
    from kinetree.model.specs import Parts

__all__ = ["ByIdentity", "Comparable", "is_as_built"]

V = TypeVar("V")


class Comparable:
    """What makes models equal, and lets them be keys, be copied and be pickled."""

    __slots__ = ("_hash",)
    _hash: int

    def __eq__(self, other: object) -> bool:
        """Whether the two are made of the same parts.

        >>> import kinetree as kt
        >>> kt.zoo.load("arm6") == kt.zoo.load("arm6")
        True
        """
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        a, b = cast("Model", self), cast("Model", other)
        # The rest follows from the parts, but for models with other numbers in their place, such as those of a trace.
        return (
            a.parts == b.parts
            and a.tree == b.tree
            and a.bodies == b.bodies
            and a.joints == b.joints
            and a.frames == b.frames
        )

    def __hash__(self) -> int:
        """Equal robots have equal ones. It is computed once; like those of strings, it differs between processes."""
        try:
            return self._hash
        except AttributeError:
            number = _hash(cast("Model", self).parts)
            object.__setattr__(self, "_hash", number)
            return number

    def __reduce__(self) -> tuple[Any, ...]:
        """All fields, so that nothing is built or warned of again; places in a file become the text they print as."""
        from kinetree.model.interning import key_of, restored

        model = cast("Model", self)
        values = {f.name: getattr(model, f.name) for f in fields(model)}
        values["parts"] = parts = _without_places(model.parts)
        return restored, (type(self), key_of(model, parts), values)

    def __deepcopy__(self, memo: dict[int, Any]) -> Comparable:
        """An equal robot of its own, unlike one that comes out of a pickle."""
        model = cast("Model", self)
        values = {f.name: getattr(model, f.name) for f in fields(model)}
        return type(model)(**deepcopy({**values, "parts": _without_places(model.parts)}, memo))

    def __copy__(self) -> Comparable:
        """Itself: nothing about a model can change."""
        return self


class ByIdentity(Generic[V]):
    """Something known about each of some models, as long as the model lives; an equal model is another one."""

    def __init__(self) -> None:
        self._known: dict[int, V] = {}

    def __contains__(self, model: Model) -> bool:
        return id(model) in self._known

    def __getitem__(self, model: Model) -> V:
        return self._known[id(model)]

    def __setitem__(self, model: Model, value: V) -> None:
        if id(model) not in self._known:
            weakref.finalize(model, self._known.pop, id(model), None).atexit = False
        self._known[id(model)] = value

    def __len__(self) -> int:
        return len(self._known)


def is_as_built(model: Model) -> bool:
    """Whether it has the numbers of its parts; a model in other body axes, or with other parameters, has not."""
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


def _without_places(parts: Parts) -> Parts:
    """The same parts, which no longer hold the file they were read from."""

    def plain(specs: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(spec if type(spec.where) is str else replace(spec, where=str(spec.where)) for spec in specs)

    return replace(
        parts,
        links=plain(parts.links),
        joints=plain(parts.joints),
        frames=plain(parts.frames),
        couplings=plain(parts.couplings),
    )


def _hash(parts: Parts) -> int:
    """Of what robots differ in: names, kinds, inertias, placements and forces of joints."""
    return hash(
        (
            parts.name,
            parts.gravity,
            parts.floating_base,
            tuple((link.name, _of_inertia(link.inertia)) for link in parts.links),
            # A user's kind may be equal to others in a way that its hash knows nothing of; its class tells enough.
            tuple((j.name, type(j.kind), j.parent, j.child, _of_placement(j.placement)) for j in parts.joints),
            tuple((j.damping, j.friction, j.armature, j.stiffness) for j in parts.joints),
            tuple((frame.name, frame.body, _of_placement(frame.placement)) for frame in parts.frames),
            tuple((coupling.name, coupling.joints, coupling.matrix) for coupling in parts.couplings),
        )
    )


def _of_inertia(inertia: Inertia) -> tuple[Any, ...]:
    return inertia.mass, *inertia.h.components(), *inertia.I.components()


def _of_placement(placement: Transform) -> tuple[Any, ...]:
    return *placement.E.components(), *placement.r.components()
