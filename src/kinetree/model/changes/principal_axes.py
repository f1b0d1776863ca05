"""Place every moving body's frame at its centre of mass, along its principal axes.

The serial-chain formulation of Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems" (1996), chapter 4,
places its body frames this way: the spatial inertia of each body is then diagonal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import listed
from kinetree.joints import Fixed, Placed
from kinetree.model.changes.common import Changed, base_joint, changed, unused
from kinetree.model.changes.extras import with_extras_of
from kinetree.model.checks.masses import central_inertias, ten
from kinetree.model.elements import Rotor
from kinetree.model.robot import Robot
from kinetree.model.specs import FrameSpec, JointSpec, LinkSpec, floating_joint
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3

__all__ = ["in_principal_axes"]

_SAME = 1e-9
"""Principal moments that differ by less, relative to the largest, leave the axes between them undetermined."""
_THERE = 1e-14
"""A frame whose offset is less, relative to the body's size, is already in place."""
_IDENTITY = Transform.identity()


def in_principal_axes(model: Robot) -> Changed:
    """See `Model.in_principal_axes`."""
    places = _places(model)
    parts = model.parts
    links, joints = list(parts.links), list(parts.joints)
    floating = model.floating_base and model.root in places
    if floating:
        links.append(LinkSpec(unused("world", model.frames), Inertia.zero(), ()))
        joints.insert(0, floating_joint(base_joint(model)[0], links[-1].name, model.root))
    back = {body: X.inverse for body, X in places.items()}
    taken = set(model.frames)
    frames = [
        replace(frame, placement=(frame.placement @ back[frame.body]).plain()) if frame.body in back else frame
        for frame in parts.frames
    ]
    for body, X in back.items():
        name = unused(f"{body}.origin", taken)
        taken.add(name)
        frames.append(FrameSpec(name, body, X))
    alone = _alone(model)
    result = replace(
        parts,
        links=tuple(_link(link, places, back, link.name in alone) for link in links),
        joints=tuple(_joint(joint, places, back) for joint in joints),
        frames=tuple(frames),
        floating_base=parts.floating_base and not floating,
    )
    result = with_extras_of(parts, result, base=base_joint(model), moved=places)
    note = f"{listed(map(repr, places))}; their old frames are called NAME.origin" if places else "none had to be moved"
    base = f"; the floating base is a joint on {links[-1].name!r}" if floating else ""
    return changed(result, f"frames put at centres of mass along principal axes: {note}{base}")


def _places(model: Robot) -> dict[str, Transform]:
    """By moving body, its new frame in its old one; frames that stay are left out."""
    children = {joint.slot: joint.child for joint in model.joints.values()}
    table = np.array([ten(inertia) for inertia in model.tree.I], dtype=np.float64)
    central, _ = central_inertias(table)
    frames: dict[str, Transform] = {}
    for slot, body in children.items():
        mass, I = table[slot, 0], central[slot]
        if not table[slot].any():
            continue  # nothing there has a centre of mass
        com = table[slot, 1:4] / mass if mass > 0.0 else np.zeros(3)
        about_origin = np.abs(table[slot, 4:]).max()
        size = math.sqrt(about_origin / mass) if mass > 0.0 else 1.0
        if np.abs(com).max() <= _THERE * size:
            com = np.zeros(3)
        R = _principal_axes(I, about_origin)
        X = Transform(Mat3(*(Vec3(*map(float, axis)) for axis in R.T)), Vec3(*map(float, com)))
        if X != _IDENTITY:
            frames[body] = X
    return frames


def _principal_axes(I: NDArray[np.float64], size: float) -> NDArray[np.float64]:
    """A rotation whose columns are principal axes of I: of all choices, the nearest to the present axes."""
    off_diagonal = np.abs(I - np.diag(np.diag(I))).max()
    if off_diagonal <= _THERE * size:
        return np.eye(3)
    moments, vectors = np.linalg.eigh(I)
    order = max(permutations(range(3)), key=lambda p: sum(abs(vectors[k, p[k]]) for k in range(3)))
    moments, R = moments[list(order)], vectors[:, list(order)]
    R = R * np.where(np.diag(R) < 0.0, -1.0, 1.0)
    if np.linalg.det(R) < 0.0:
        R[:, np.argmin(np.abs(np.diag(R)))] *= -1.0
    for j, k in ((0, 1), (1, 2), (2, 0)):
        if abs(moments[j] - moments[k]) <= _SAME * np.abs(moments).max():
            angle = math.atan2(R[j, k] - R[k, j], R[j, j] + R[k, k])
            # The rotation in their plane that brings both nearest to the axes j and k.
            s, c = math.sin(angle), math.cos(angle)
            R[:, [j, k]] = np.stack([c * R[:, j] + s * R[:, k], c * R[:, k] - s * R[:, j]], axis=1)
    return R


def _alone(model: Robot) -> set[str]:
    """The moving bodies with nothing fixed to them that has inertia."""
    count: dict[int, int] = {}
    for body in model.bodies.values():
        count[body.slot] = count.get(body.slot, 0) + (body.inertia != Inertia.zero())
    return {joint.child for joint in model.joints.values() if count[joint.slot] == 1}


def _link(link: LinkSpec, places: Mapping[str, Transform], back: Mapping[str, Transform], alone: bool) -> LinkSpec:
    if link.name not in places:
        return link
    X = back[link.name]

    def turned(one: LinkSpec) -> LinkSpec:
        shapes = tuple(replace(shape, placement=(shape.placement @ X).plain()) for shape in one.geometry)
        return replace(one, inertia=X.back(one.inertia), geometry=shapes)

    link = link.changed(turned)
    if alone:  # off the diagonal only rounding errors are left
        I = link.inertia.I
        link = replace(link, inertia=Inertia(link.inertia.mass, Vec3.zero(), Sym3(I.xx, I.yy, I.zz, 0.0, 0.0, 0.0)))
    return link


def _joint(spec: JointSpec, places: Mapping[str, Transform], back: Mapping[str, Transform]) -> JointSpec:
    if spec.parent in back:
        spec = replace(spec, placement=(spec.placement @ back[spec.parent]).plain())
    if isinstance(spec.kind, Fixed) or spec.child not in places:
        return spec
    return replace(spec, kind=_placed(spec, places[spec.child]), rotor=_rotor(spec))


def _placed(spec: JointSpec, X: Transform) -> Placed:
    """A `Placed` kind around the given kind itself, even if that is already placed."""
    if isinstance(spec.kind, Placed):
        return Placed(spec.kind.kind, X @ spec.kind.after, spec.kind.before)
    return Placed(spec.kind, X)


def _rotor(spec: JointSpec) -> Rotor | None:
    """The rotor with an explicit axis, for a placed joint has none of its own."""
    if spec.rotor is None or spec.rotor.axis is not None:
        return spec.rotor
    x, y, z = map(float, spec.rotor.axis_on(spec.kind).components())
    return replace(spec.rotor, axis=(x, y, z))
