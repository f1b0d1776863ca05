"""Shapes as <visual> and <collision>."""

from __future__ import annotations

import math

from kinetree.io.chains import distinct_names
from kinetree.io.losses import Losses
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.model.elements import Geometry
from kinetree.model.specs import LinkSpec

__all__ = ["shape_names", "write_geometry"]

_LISTS = {"box": "size", "sphere": "radius", "ellipsoid": "radii", "plane": "size"}
"""Shapes whose lengths are in one element."""
_ROUND = ("capsule", "cone", "cylinder")


def write_geometry(link: Tag, shape: Geometry, name: str, body: LinkSpec, losses: Losses) -> Tag | None:
    """Add a shape under a name, without its pose, and return its element; None if SDF has no such shape."""
    role, kind, lose = shape.role, shape.shape, losses.lost.append
    what = f"body {body.name!r}: the {role} shape {name!r}"
    if losses.lose_unfit(shape, what):
        return None
    is_known = kind in _LISTS or kind in _ROUND or kind in ("mesh", "heightfield")
    if not is_known or not all(map(math.isfinite, shape.size)):
        lose(f"{what} is of kind {kind!r}{' without bounds' if is_known else ''}, which SDF does not have")
        return None
    element = link.add(role, name=name)
    inside = element.add("geometry").add("heightmap" if kind == "heightfield" else kind)
    if kind == "mesh":
        inside.add("uri", shape.mesh)
        if shape.size != (1.0, 1.0, 1.0):
            inside.add("scale", shown_numbers(shape.size))
    elif kind == "heightfield":
        inside.add("uri", shape.mesh)
        inside.add("size", shown_numbers(shape.size[:3]))
        if any(shape.size[3:]):
            lose(f"{what}: the depth of the ground below a heightfield has no place in SDF")
    elif kind in _LISTS:
        inside.add(_LISTS[kind], shown_numbers(shape.size))
    else:
        for tag, length in zip(("radius", "length"), shape.size, strict=True):
            inside.add(tag, shown_number(length))
    if shape.color is not None:
        if role == "visual":
            material = element.add("material")
            material.add("ambient", shown_numbers(shape.color))
            material.add("diffuse", shown_numbers(shape.color))
        else:
            losses.leave_out("colours of collision shapes", f"{name!r} of {body.name!r}")
    return element


def shape_names(link: LinkSpec, losses: Losses) -> list[str]:
    """A name for each shape of a link: SDF requires one, which no other shape of the same role has."""
    names = [""] * len(link.geometry)
    for role in dict.fromkeys(shape.role for shape in link.geometry):
        places = [k for k, shape in enumerate(link.geometry) if shape.role == role]
        places.sort(key=lambda k: not link.geometry[k].name.strip())  # own names come first
        for k, name in zip(
            places, distinct_names([link.geometry[k].name.strip() or role for k in places]), strict=True
        ):
            names[k] = name
    for shape, name in zip(link.geometry, names, strict=True):
        own = shape.name.strip()
        if name != own:
            losses.changed.append(
                f"body {link.name!r}: a {shape.role} shape gets the name {name!r}, as SDF wants each to differ"
            )
        elif own != shape.name:
            losses.lost.append(f"body {link.name!r}: blanks around the name of the shape {shape.name!r} are not kept")
    return names
