"""The mirror image of a robot: a left arm from a right one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ModelError, OptionError
from kinetree.inputs import holds_symbols, samples
from kinetree.joints import JointKind
from kinetree.model.changes.common import Changed, base_joint, changed, shapes_renamed
from kinetree.model.changes.extras import with_extras_of
from kinetree.model.changes.images import Image
from kinetree.model.changes.kinds import same_kind
from kinetree.model.elements import Geometry, Joint, Rotor
from kinetree.model.robot import Robot
from kinetree.model.specs import CouplingSpec, FrameSpec, JointSpec, LinkSpec, Parts, floating_joint
from kinetree.spatial import Inertia, Motion, Sym3
from kinetree.spatial.mirror import mirror_image, mirror_image_of_placement, mirror_image_of_turn
from kinetree.symbolic import by_sample
from kinetree.tree.drive import Limits

__all__ = ["Rename", "mirrored", "mirrored_configuration", "mirrored_velocity"]

Rename = Callable[[str], str] | tuple[str, str]


def mirrored(model: Robot, normal: str = "y", *, rename: Rename | None = None) -> Changed:
    """See `Model.mirrored`."""
    k = _axis(normal)
    parts = model.parts
    image = replace(
        parts,
        links=tuple(
            link.changed(lambda one: replace(one, inertia=_inertia(one.inertia, k), geometry=_shapes(one, k)))
            for link in parts.links
        ),
        joints=tuple(_joint(spec, k) for spec in parts.joints),
        frames=tuple(replace(frame, placement=mirror_image_of_placement(frame.placement, k)) for frame in parts.frames),
    )
    if rename is not None:
        image = _renamed(image, rename)
    image = with_extras_of(
        parts,
        image,
        base=base_joint(model),
        rename=None if rename is None else _renaming(rename),
        factors=lambda spec: (1.0,) * spec.kind.nq if spec.kind.is_flat else None,
        mirror=k,
    )
    has_meshes = any(shape.shape == "mesh" for link in parts.links for shape in link.geometry)
    meshes = "; meshes by a negative scale, their files as they are" if has_meshes else ""
    return changed(
        image, f"mirrored in the plane across {normal}; gravity, limits, drives and the robot's name as before{meshes}"
    )


def mirrored_configuration(model: Robot, q: ArrayLike, normal: str = "y") -> NDArray[np.float64]:
    """See `Model.mirrored_configuration`."""
    return _by_owner(model, "q", q, model.nq, normal, Image.configuration)


def mirrored_velocity(model: Robot, v: ArrayLike, normal: str = "y") -> NDArray[np.float64]:
    """See `Model.mirrored_velocity`."""
    return _by_owner(model, "v", v, model.nv, normal, Image.velocity)


def _by_owner(
    model: Robot, name: str, x: ArrayLike, n: int, normal: str, image: Callable[[Image, list[Any]], list[Any]]
) -> NDArray[np.float64]:
    k = _axis(normal)
    array = samples(name, x, (n,), repr(model.name)).astype(np.float64)
    specs = {spec.name: spec for spec in model.parts.joints}

    def mirrored(numbers: Sequence[Any]) -> list[Any]:
        """The numbers of the image, from those of q or v."""
        result = list(numbers)
        for owner in model.owners:
            if isinstance(owner, Joint) and not owner.kind.is_flat:
                place = owner.q_slice if name == "q" else owner.v_slice
                spec = specs.get(owner.name) or floating_joint(owner.name, owner.parent, owner.child)
                result[place] = image(_image(spec, _kind(spec, k), k), result[place])
        return result

    if holds_symbols(array):
        inside: NDArray[np.float64] = by_sample(mirrored, [array], [(n,)], (n,))
        return inside
    if name == "q":
        model.check_configuration(array)
    return np.stack(mirrored(list(np.moveaxis(array, -1, 0))), axis=-1) if n else array


def _axis(normal: object) -> int:
    if not isinstance(normal, str) or normal not in ("x", "y", "z"):
        raise OptionError(f'normal must be "x", "y" or "z", the axis across the mirror, not {normal!r:.60}')
    return "xyz".index(normal)


# -- images of each sort of quantity


def _motion(m: Motion, k: int) -> Motion:
    return Motion(mirror_image_of_turn(m.angular, k), mirror_image(m.linear, k))


def _inertia(inertia: Inertia, k: int) -> Inertia:
    """Mirror an inertia: the two products of inertia that involve the normal change sign."""
    xx, yy, zz, xy, xz, yz = inertia.I.components()
    xy, xz, yz = (0.0 - x if k in pair else x for x, pair in ((xy, (0, 1)), (xz, (0, 2)), (yz, (1, 2))))
    return Inertia(inertia.mass, mirror_image(inertia.h, k), Sym3(xx, yy, zz, xy, xz, yz))


def _shapes(link: LinkSpec, k: int) -> tuple[Geometry, ...]:
    """Shapes are their own mirror images; a mesh's scale along the normal turns negative."""
    return tuple(
        replace(
            shape,
            placement=mirror_image_of_placement(shape.placement, k),
            size=tuple(-s if j == k else s for j, s in enumerate(shape.size)) if shape.shape == "mesh" else shape.size,
        )
        for shape in link.geometry
    )


def _kind(spec: JointSpec, k: int) -> JointKind:
    kind = spec.kind
    other = same_kind(
        spec,
        "mirrored",
        lambda: kind.mirrored(k),
        "the mirror image of the joint",
        (lambda q: q) if kind.is_flat else None,
        lambda X: mirror_image_of_placement(X, k),
    )
    if other is None:
        raise ModelError(
            f"joint {spec.name!r} ({kind.description}) has no mirror image: {type(kind).__name__}.mirrored gives none; "
            "replace the joint, or give its kind that method"
        )
    return other


def _image(spec: JointSpec, other: JointKind, k: int) -> Image:
    return Image.of(
        spec.name, spec.kind, other, lambda motion: _motion(motion, k), lambda X: mirror_image_of_placement(X, k)
    )


def _joint(spec: JointSpec, k: int) -> JointSpec:
    kind = _kind(spec, k)
    image = replace(
        spec, kind=kind, placement=mirror_image_of_placement(spec.placement, k), rotor=_rotor(spec, kind, k)
    )
    if not spec.kind.is_flat:
        coordinates = _image(spec, kind, k)
        image.drive = replace(spec.drive, rest=tuple(map(float, coordinates.configuration(spec.rest))))
        image.limits = _limits(spec, coordinates)
        _check_motors(spec, coordinates)
    return image


def _check_motors(spec: JointSpec, coordinates: Image) -> None:
    """Reject motors on some degrees of freedom that a mirror mixes with others without a motor."""
    motors = spec.actuated or ()
    if any(motors[i] != motors[j] for i, j in np.argwhere(coordinates.P)) if motors else False:
        raise ModelError(
            f"joint {spec.name!r} ({spec.kind.description}) has motors on some of its degrees of freedom, which are "
            "not simply turned round in a mirror; give it motors on all or none of them first (with_actuation)"
        )


def _limits(spec: JointSpec, coordinates: Image) -> Limits:
    """The limits of a joint whose coordinates change sign."""
    limits = spec.limits
    if not np.isfinite((*limits.lower, *limits.upper)).any():
        return limits
    ends = []
    for low, high, factor in zip(limits.lower, limits.upper, coordinates.factors(), strict=True):
        if not np.isfinite((low, high)).any():
            ends.append((low, high))
        elif abs(abs(factor) - 1.0) < 1e-9:
            ends.append((low, high) if factor > 0.0 else (-high, -low))
        else:
            raise ModelError(
                f"joint {spec.name!r} ({spec.kind.description}) has limits on coordinates that are not simply turned "
                "round in a mirror; remove its limits first"
            )
    lower, upper = zip(*ends, strict=True)
    return replace(limits, lower=lower, upper=upper)


def _rotor(spec: JointSpec, kind: JointKind, k: int) -> Rotor | None:
    """Mirror a rotor: it spins the other way; its axis is given where it differs from the image joint's own."""
    if spec.rotor is None:
        return None
    axis = mirror_image_of_turn(spec.rotor.axis_on(spec.kind), k)
    if spec.rotor.axis is None and axis == kind.rotor_axis:
        return spec.rotor
    x, y, z = map(float, axis.components())
    return replace(spec.rotor, axis=(x, y, z))


# -- names


def _renamed(parts: Parts, rename: Rename) -> Parts:
    new = _renaming(rename)
    for what, names in (
        ("bodies or frames", [*(link.name for link in parts.links), *(frame.name for frame in parts.frames)]),
        ("joints", [spec.name for spec in parts.joints]),
        ("couplings", [spec.name for spec in parts.couplings]),
    ):
        owner: dict[str, str] = {}
        for name in names:
            if owner.setdefault(new(name), name) != name:
                raise ModelError(
                    f"rename gives two {what}, {owner[new(name)]!r} and {name!r}, the name {new(name)!r}; they need "
                    "different ones"
                )
    return replace(
        parts,
        links=tuple(replace(shapes_renamed(link, new), name=new(link.name)) for link in parts.links),
        joints=tuple(_joint_names(parts.joints, new)),
        frames=tuple(_frame_names(parts.frames, new)),
        couplings=tuple(_coupling_names(parts.couplings, new)),
    )


def _joint_names(joints: tuple[JointSpec, ...], new: Callable[[str], str]) -> Iterator[JointSpec]:
    for spec in joints:
        mimic = None if spec.mimic is None else replace(spec.mimic, joint=new(spec.mimic.joint))
        yield replace(spec, name=new(spec.name), parent=new(spec.parent), child=new(spec.child), mimic=mimic)


def _frame_names(frames: tuple[FrameSpec, ...], new: Callable[[str], str]) -> Iterator[FrameSpec]:
    for spec in frames:
        yield replace(spec, name=new(spec.name), body=new(spec.body))


def _coupling_names(couplings: tuple[CouplingSpec, ...], new: Callable[[str], str]) -> Iterator[CouplingSpec]:
    for spec in couplings:
        yield replace(
            spec,
            name=new(spec.name),
            joints=tuple(map(new, spec.joints)),
            coordinates=tuple(map(new, spec.coordinates)),
        )


def _renaming(rename: Rename) -> Callable[[str], str]:
    """A function from an old name to a new one."""
    if callable(rename):

        def called(name: str) -> str:
            given = rename(name)
            if not isinstance(given, str) or not given.strip():
                raise ModelError(f"rename makes {given!r:.60} of {name!r}; it must return a name")
            return given

        return called
    if not isinstance(rename, tuple | list) or len(rename) != 2 or not all(isinstance(w, str) and w for w in rename):
        raise OptionError(f'rename must be a function, or two words such as ("left", "right"), not {rename!r:.60}')
    one, other = rename
    if one == other:
        raise OptionError(f"rename exchanges {one!r} with itself; give two different words")
    exchanged = {one: other, other: one}
    either = re.compile("|".join(map(re.escape, sorted(exchanged, key=len, reverse=True))))
    return lambda name: either.sub(lambda found: exchanged[found[0]], name)
