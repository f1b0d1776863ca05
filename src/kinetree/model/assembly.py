"""From checked parts to the frozen robot: bodies on fixed joints are merged, slots and places in q and v assigned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kinetree.errors import listed
from kinetree.expr import Scalar
from kinetree.joints import Fixed
from kinetree.model.checks.masses import ten
from kinetree.model.checks.parts import hint
from kinetree.model.checks.structure import Structure
from kinetree.model.elements import Body, Frame, Joint
from kinetree.model.sharing import Layout
from kinetree.model.specs import FrameSpec, JointSpec, LinkSpec, fault, usual_motors
from kinetree.records import record
from kinetree.spatial import Inertia, Motion, Transform, Vec3
from kinetree.tree.drive import Drive, Limits
from kinetree.tree.unrolled import UnrolledTree

__all__ = ["assemble_frames", "assemble_joints", "assemble_tree", "merge_notes", "reflected_inertia"]

_FIXED = Fixed()
_IDENTITY = Transform.identity()
_MASSLESS = Inertia.zero()


@record(frozen=True, slots=True)
class _Places:
    """Where each body ends up: its slot, its frame in that slot's frame, and how the slots are connected."""

    slot: dict[str, int]
    placement: dict[str, Transform]
    parent: list[int]
    X_T: list[Transform]
    outward: list[tuple[int, int]]


def assemble_tree(
    structure: Structure,
    links: Sequence[LinkSpec],
    joints: Sequence[JointSpec],
    gravity: tuple[float, float, float],
    layout: Layout,
) -> tuple[UnrolledTree, dict[str, Body]]:
    """The tree of the moving joints (a floating base's first), and every body with its place in it."""
    places = _merge(structure, joints)
    inertia = [_MASSLESS] * (len(joints) + 1)
    for link in links:
        if link.inertia == _MASSLESS:
            continue
        i, X = places.slot[link.name], places.placement[link.name]
        own = link.inertia if X is _IDENTITY else X.back(link.inertia)
        inertia[i] = own if inertia[i] is _MASSLESS else inertia[i] + own
    _check_finite(structure, links, inertia, places)
    tree = UnrolledTree(
        outward=tuple(places.outward),
        inward=tuple(reversed(places.outward)),
        joint=(_FIXED, *(spec.kind for spec in joints)),
        X_T=tuple(places.X_T),
        I=tuple(inertia),
        armature=((), *map(reflected_inertia, joints)),
        gravity=Motion(Vec3.zero(), Vec3(*gravity)),
        parent=tuple(places.parent),
        rotor=((), *map(_rotor_couples, joints)),
        drive=(Drive.none(_FIXED), *(spec.drive for spec in joints)),
        limits=(Limits.none(_FIXED), *(spec.limits for spec in joints)),
        coordinates=layout.map,
    )
    moving = {spec.child for spec in joints}

    def body(link: LinkSpec, own: LinkSpec) -> Body:
        fixed = link.name not in moving
        return Body(own.name, own.inertia, places.slot[link.name], places.placement[link.name], fixed, own.geometry)

    bodies = {link.name: body(link, link) for link in links}
    for link in links:
        if link.alternatives:
            objects = [body(link, alternative) for alternative in link.alternatives]
            one = bodies[link.name]
            objects[link.present] = replace(one, name=link.alternatives[link.present].name)
            bodies[link.name] = replace(one, alternatives=tuple(objects), present=link.present)
    return tree, bodies


def assemble_joints(specs: Sequence[JointSpec], layout: Layout) -> dict[str, Joint]:
    """The moving joints with their places in q and v."""
    joints: dict[str, Joint] = {}
    for slot, spec in enumerate(specs, 1):
        q_start, v_start = layout.starts[spec.name]
        coupling = layout.coupling_of.get(spec.name)
        joints[spec.name] = Joint(
            spec.name, spec.kind, slot, spec.parent, spec.child, spec.placement, q_start, v_start,
            spec.limits, spec.drive, spec.armature, spec.rotor, spec.mimic, coupling, _motors(spec, coupling),
        )  # fmt: skip
    return joints


def _motors(spec: JointSpec, coupling: str | None) -> tuple[bool, ...]:
    """Whether each degree of freedom has a motor; those of coupled joints are the coupling's."""
    if coupling is not None:
        return (False,) * spec.kind.nv
    return usual_motors(spec.kind, spec.mimic) if spec.actuated is None else spec.actuated


def reflected_inertia(joint: JointSpec | Joint) -> tuple[float, ...]:
    """Armature, plus ratio² times the inertia of a geared rotor."""
    if joint.rotor is None:
        return joint.armature
    return (joint.armature[0] + joint.rotor.ratio**2 * joint.rotor.inertia,)


def _rotor_couples(spec: JointSpec) -> tuple[Vec3, ...]:
    """The entry of tree.rotor for a joint."""
    if spec.rotor is None:
        return (Vec3.zero(),) * spec.kind.nv
    return (spec.rotor.axis_on(spec.kind) * (spec.rotor.ratio * spec.rotor.inertia),)


def assemble_frames(specs: Sequence[FrameSpec], bodies: Mapping[str, Body]) -> dict[str, Frame]:
    """Every body's own frame, and the frames added by name."""
    frames = {body.name: Frame(body.name, body.name, body.slot, body.placement) for body in bodies.values()}
    for spec in specs:
        if spec.name in bodies:
            raise fault(spec.where, f"frame {spec.name!r} has the name of a body; rename it", "duplicate-name")
        if spec.body not in bodies:
            raise fault(
                spec.where,
                f"frame {spec.name!r} sits on {spec.body!r}, but there is no such body: {hint(spec.body, bodies)}",
                "unknown-body",
            )
        body = bodies[spec.body]
        X = spec.placement @ body.placement
        _check_place(X, f"frame {spec.name!r}", spec.where)
        frames[spec.name] = Frame(spec.name, spec.body, body.slot, X)
    return frames


def merge_notes(bodies: Mapping[str, Body], root: str) -> list[str]:
    """A sentence about the bodies that no joint moves."""
    merged = [body.name for body in bodies.values() if body.is_fixed and body.name != root]
    if not merged:
        return []
    shown = listed(merged, most=8)
    return [f"bodies on fixed joints were merged into the body they are fixed to ({len(merged)}): {shown}"]


def _merge(structure: Structure, joints: Sequence[JointSpec]) -> _Places:
    slot_of_joint = {spec.name: slot for slot, spec in enumerate(joints, 1)}
    floating = len(joints) > 0 and joints[0].child == structure.root
    places = _Places(
        slot={structure.root: 1 if floating else 0},
        placement={structure.root: _IDENTITY},
        parent=[0] * (len(joints) + 1),
        X_T=[_IDENTITY] * (len(joints) + 1),
        outward=[(1, 0)] if floating else [],
    )
    for name in structure.order[1:]:
        spec = structure.above[name]
        p, frame = places.slot[spec.parent], places.placement[spec.parent]
        X = spec.placement if frame is _IDENTITY else spec.placement @ frame
        i = slot_of_joint.get(spec.name)
        if i is None:
            places.slot[name], places.placement[name] = p, X
            continue
        places.slot[name], places.placement[name] = i, _IDENTITY
        places.parent[i], places.X_T[i] = p, X.factored()
        places.outward.append((i, p))
    return places


_HUGE = 1e100
"""No robot is this heavy or large, and products of a few such numbers are still finite."""


def _check_finite(structure: Structure, links: Sequence[LinkSpec], inertia: Sequence[Inertia], places: _Places) -> None:
    """Raise if huge but finite numbers overflow when they are combined, at the part nearest to the root."""
    slots = [(*ten(I), *X.r.components()) for I, X in zip(inertia, places.X_T, strict=True)]
    fixed = [X.r.components() for X in places.placement.values() if X is not _IDENTITY]
    if not (_is_huge(slots) or _is_huge(fixed)):
        return
    specs = {link.name: link for link in links}
    sums = [_MASSLESS] * len(inertia)
    for name in structure.order:
        link, above, i = specs[name], structure.above.get(name), places.slot[name]
        X = places.placement[name]
        if above is not None:
            _check_place(places.X_T[i] if X is _IDENTITY else X, f"joint {above.name!r}", above.where)
        sums[i] += X.back(link.inertia)
        if _is_huge([ten(sums[i])]):
            raise fault(
                link.where or (above.where if above is not None else ""),
                f"the masses and placements of body {name!r} and the parts fixed to it overflow; give them in SI units",
                "bad-inertia",
            )


def _check_place(X: Transform, what: str, where: object) -> None:
    """Raise if a placement is too far away to compute with."""
    if _is_huge([X.r.components()]):
        raise fault(
            where,
            f"{what} is {_HUGE:g} m or more away from the moving joint, or root, that carries it, "
            "which overflows; give placements in m",
            "bad-placement",
        )


def _is_huge(rows: Sequence[Sequence[Scalar]]) -> bool:
    """Whether any number of equally long rows is huge, infinite or NaN."""
    return not bool((np.abs(np.array(rows, dtype=np.float64)) < _HUGE).all())
