"""Joints as chains of simpler ones, for formats that have no word for them.

A universal joint is two hinges, a cylindrical one a hinge and a slide. The chain has the same coordinates with the same
names; its order is that in which the motions follow each other, from the carrying body outward.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from kinetree.joints import (
    Composite,
    Continuous,
    Cylindrical,
    Euler,
    Fixed,
    FloatingBase,
    Free,
    FreeRPY,
    Helical,
    JointKind,
    MultiDof,
    Placed,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Translation,
    Universal,
)
from kinetree.model.specs import JointSpec, usual_motors
from kinetree.records import record
from kinetree.spatial import Transform, Vec3
from kinetree.tree.drive import Drive, Limits

__all__ = ["Chain", "Step", "chain_of", "distinct_names", "free_name", "split"]

_AXES = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))
_HERE = Transform.identity()
_SIMPLE = frozenset((Revolute, Continuous, Prismatic, Spherical, Free, FloatingBase, Helical))
"""Kinds that are not taken apart."""


@record(frozen=True, slots=True)
class Step:
    """One joint of a chain."""

    kind: JointKind
    placement: Transform
    """Its fixed side in the moving side of the step before; for the first, in the fixed side of the whole."""
    q: int
    """Index of its first coordinate among those of the whole."""
    v: int
    """Index of its first degree of freedom among those of the whole."""


@record(frozen=True, slots=True)
class Chain:
    """Joints in series."""

    steps: tuple[Step, ...]
    after: Transform
    """The moving side of the whole in that of the last step."""


def chain_of(kind: JointKind, q: int = 0, v: int = 0) -> Chain | None:
    """The chain that a kind is equivalent to, perhaps of one step, or None if it is known of none.

    `q` and `v` are the indices of its first coordinate and degree of freedom.
    """
    cls = type(kind)
    if cls in _SIMPLE:
        return Chain((Step(kind, _HERE, q, v),), _HERE)
    if isinstance(kind, Fixed):
        return Chain((), _HERE)
    if cls is Placed:
        assert isinstance(kind, Placed)
        return _in_series([(kind.kind, kind.before)], q, v, kind.after)
    if cls is Composite or cls is MultiDof:
        assert isinstance(kind, Composite)
        return _in_series(list(kind.parts), q, v)
    if cls is Universal:
        assert isinstance(kind, Universal)
        return _plain([(Revolute(kind.axis1), 0), (Revolute(kind.axis2), 1)], q, v)
    if cls is Cylindrical:
        assert isinstance(kind, Cylindrical)
        return _plain([(Revolute(kind.axis), 0), (Prismatic(kind.axis), 1)], q, v)
    if cls is Translation:
        return _plain([(Prismatic(axis), k) for k, axis in enumerate(_AXES)], q, v)
    if cls is Planar:
        assert isinstance(kind, Planar)
        along, across = kind.along, kind.normal.cross(kind.along)
        return _plain([(Prismatic(along), 0), (Prismatic(across), 1), (Revolute(kind.normal), 2)], q, v)
    if cls is Euler:
        assert isinstance(kind, Euler)
        turns = [
            (Revolute(_AXES["XYZ".index(a)] * s), k)
            for k, (a, s) in enumerate(zip(kind.order, kind.signs, strict=True))
        ]
        backward = [(Revolute(-turn.axis), k) for turn, k in reversed(turns)]
        return _plain([*(backward if kind.inverse else turns)], q, v)
    if cls is FreeRPY:
        assert isinstance(kind, FreeRPY)
        signed = [axis * sign for axis, sign in zip((*_AXES, *_AXES), kind.signs, strict=True)]
        slides = [(Prismatic(signed[k]), k) for k in range(3)]
        return _plain([*slides, *((Revolute(signed[3 + k]), 3 + k) for k in (2, 1, 0))], q, v)
    return _screw(kind, q, v) if cls is Screw and isinstance(kind, Screw) else None


def _plain(kinds: list[tuple[JointKind, int]], q: int, v: int) -> Chain:
    """Joints of one coordinate each, all in the same place, with the index of each one's coordinate."""
    return Chain(tuple(Step(kind, _HERE, q + k, v + k) for kind, k in kinds), _HERE)


def _in_series(parts: list[tuple[JointKind, Transform]], q: int, v: int, after: Transform = _HERE) -> Chain | None:
    """The chains of several kinds as one."""
    steps: list[Step] = []
    end = _HERE
    for kind, placement in parts:
        part = chain_of(kind, q, v)
        if part is None:
            return None
        start = placement @ end
        for step in part.steps:
            steps.append(replace(step, placement=(step.placement @ start).plain()))
            start = _HERE
        end = part.after @ start
        q, v = q + kind.nq, v + kind.nv
    return Chain(tuple(steps), (after @ end).plain())


def _screw(kind: Screw, q: int, v: int) -> Chain | None:
    """A displacement, a rotation about a line, or a thread, if its coordinate is in radians or metres."""
    angular, linear = kind.angular, kind.linear
    if not any(angular.components()):
        slide = Prismatic(linear)
        return Chain((Step(slide, _HERE, q, v),), _HERE) if slide.axis == linear else None
    turn = Revolute(angular)
    if turn.axis != angular:
        return None
    on_line = Transform(_HERE.E, angular.cross(linear))
    advance = float(angular.dot(linear))
    return Chain((Step(Helical(angular, advance) if advance else turn, on_line, q, v),), on_line.inverse)


def split(joint: JointSpec, chain: Chain, taken: Collection[str]) -> list[JointSpec]:
    """The joints of a chain, with the numbers that the whole has, from the carrying body outward.

    Each is named after its coordinate, as in `robot.q_names`. The bodies between are named after the moving body and
    the joint: "hand:wrist.1". The last joint leads to the moving body's frame only if `chain.after` is the identity.
    """
    if len(chain.steps) == 1:
        return [_part(joint, chain.steps[0], joint.name, joint.parent, joint.child)]
    specs: list[JointSpec] = []
    body = joint.parent
    used = set(taken)
    for k, step in enumerate(chain.steps, 1):
        names = joint.kind.q_names[step.q : step.q + step.kind.nq]
        short = names[0] if len(names) == 1 and names[0] else str(k)
        name = free_name(f"{joint.name}.{short}", used)
        used.add(name)
        child = joint.child if k == len(chain.steps) else f"{joint.child}:{name}"
        specs.append(_part(joint, step, name, body, child))
        body = child
    return specs


def free_name(name: str, names: Collection[str]) -> str:
    """The name, lengthened until it is not taken.

    >>> free_name("knee", {"knee", "knee_2"})
    'knee_3'
    """
    free, k = name, 2
    while free in names:
        free, k = f"{name}_{k}", k + 1
    return free


def distinct_names(names: Sequence[str]) -> list[str]:
    """The names, with repeated ones lengthened until they differ from all others.

    >>> distinct_names(["skin", "skin", "skin_2", "skin"])
    ['skin', 'skin_3', 'skin_2', 'skin_4']
    """
    used = set(names)
    number = dict.fromkeys(names, 1)
    distinct = []
    for name in names:
        if number[name] == 1:
            number[name] = 2
            distinct.append(name)
            continue
        while (longer := f"{name}_{number[name]}") in used:
            number[name] += 1
        used.add(longer)
        distinct.append(longer)
    return distinct


def _part(joint: JointSpec, step: Step, name: str, parent: str, child: str) -> JointSpec:
    kind = step.kind
    q, v = slice(step.q, step.q + kind.nq), slice(step.v, step.v + kind.nv)
    limits, drive = joint.limits, joint.drive
    motors = (usual_motors(joint.kind, joint.mimic) if joint.actuated is None else joint.actuated)[v]
    return replace(
        joint,
        name=name,
        kind=kind,
        parent=parent,
        child=child,
        placement=(step.placement @ joint.placement).plain() if parent == joint.parent else step.placement,
        limits=Limits(limits.lower[q], limits.upper[q], limits.velocity[v], limits.effort[v]),
        drive=Drive(drive.damping[v], drive.friction[v], drive.friction_speed[v], drive.stiffness[v], drive.rest[q]),
        armature=joint.armature[v],
        actuated=None if motors == usual_motors(kind, joint.mimic) else motors,
    )
