"""Shapes as <geom>, and the assets they name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import PurePosixPath

from kinetree.io.chains import free_name
from kinetree.io.losses import Losses
from kinetree.io.mjcf.writing_numbers import pose
from kinetree.io.xml_text import Tag, shown_number, shown_numbers
from kinetree.model.elements import Geometry
from kinetree.model.extras import ContactParameters

__all__ = ["Assets", "write_geom"]

_MESHES = (".obj", ".stl", ".msh")
_USUAL = ContactParameters()
_HALVED = {
    "box": (0, 1, 2), "capsule": (1,), "cylinder": (1,), "ellipsoid": (), "heightfield": (0, 1), "sphere": (),
}  # fmt: skip
"""The entries of a shape's size that MuJoCo gives as half lengths."""


class Assets:
    """Meshes and height fields by name, each with the numbers it is written with: a scale, or MuJoCo's size."""

    def __init__(self, known: Mapping[tuple[str, str, tuple[float, ...]], str]) -> None:
        self._known = known
        self._names: dict[tuple[str, str, tuple[float, ...]], str] = {}
        self._taken = set(known.values())

    def known(self, tag: str, address: str, size: tuple[float, ...]) -> str:
        """The name of an asset that is written otherwise; "" if it is none."""
        return self._known.get((tag, address, size), "")

    def name(self, tag: str, address: str, size: tuple[float, ...]) -> str:
        """The name of an asset, which is made when it is first asked for."""
        key = tag, address, size
        if key not in self._names:
            name = self._names[key] = free_name(f"{tag}_{len(self._names) + 1}", self._taken)
            self._taken.add(name)
        return self._names[key]

    def write(self, root: Tag, others: list[Tag]) -> None:
        """Add the section with these and others, if there are any."""
        if not self._names and not others:
            return
        section = root.add("asset")
        section.children += others
        for (tag, address, size), name in self._names.items():
            if tag == "hfield":
                section.add(tag, name=name, file=address, size=shown_numbers(size))
            else:
                scale = None if size == (1.0, 1.0, 1.0) else shown_numbers(size)
                # Bodies have inertias of their own, and a flat mesh has none but that of its surface.
                section.add(tag, name=name, file=address, scale=scale, inertia="shell")


def write_geom(body: Tag, shape: Geometry, owner: str, assets: Assets, losses: Losses, asset: str = "") -> Tag | None:
    """Add a shape to a body, and return its element; `asset` is the mesh or height field that it names."""
    kind = shape.shape
    what = f"body {owner!r}: the {shape.role} shape{f' {shape.name!r}' if shape.name else ''}"
    attributes: dict[str, str | None] = {"name": shape.name or None, "type": kind}
    tag = {"mesh": "mesh", "heightfield": "hfield"}.get(kind, "")
    address = shape.mesh or ""
    asset = asset or assets.known(tag, address, shape.size)
    if not asset and losses.lose_unfit(shape, what):
        return None
    size = _half_lengths(kind, shape.size)
    if size is None and not asset and kind != "mesh":
        if shape.may_touch:
            losses.lost.append(f"{what} is of kind {kind!r} and the size {shape.size}, which MJCF does not have")
        else:
            losses.leave_out("visual shapes of kinds that MJCF does not have", f"{kind} of {owner!r}")
        return None
    if tag:
        plain = asset or (
            "://" not in address and address.lower().endswith(_MESHES if tag == "mesh" else (".png", ".bin"))
        )
        if not plain:
            if shape.may_touch:
                why = f"{what} is in {address!r}, and MuJoCo opens only {', '.join(_MESHES)} at plain paths"
                losses.lost.append(why)
            else:
                losses.leave_out("visual shapes in files that MuJoCo does not open", repr(PurePosixPath(address).name))
            return None
        attributes |= {"type": tag, tag: asset or assets.name(tag, address, size or shape.size)}
    elif size is not None:
        attributes["size"] = shown_numbers(size)
    attributes |= pose(shape.placement)
    contact = shape.contact
    if contact is None and shape.role == "visual":
        contact = ContactParameters(contype=0, conaffinity=0)
    attributes |= _contact(contact or _USUAL)
    if shape.color is not None:
        attributes["rgba"] = shown_numbers(shape.color)
    geom = body.add("geom")
    geom.attributes = {name: value for name, value in attributes.items() if value is not None}
    return geom


def _half_lengths(kind: str, size: tuple[float, ...]) -> tuple[float, ...] | None:
    """MuJoCo's size of a shape; None if it has none, or not all of it would be positive."""
    if kind == "plane":  # 0 is without bounds
        halves = [0.5 * x for x in size]
        return (*(0.0 if x == math.inf else x for x in halves), 1.0) if all(x > 0.0 for x in halves) else None
    halved = _HALVED.get(kind)
    if halved is None:
        return None
    found = tuple(0.5 * x if k in halved else x for k, x in enumerate(size))
    return found if all(0.0 < x < math.inf for x in found) else None


def _contact(contact: ContactParameters) -> dict[str, str]:
    """The attributes that are not MuJoCo's defaults."""
    written: dict[str, str] = {}
    for name in ("contype", "conaffinity", "condim", "priority", "solmix", "margin", "gap"):
        if getattr(contact, name) != getattr(_USUAL, name):
            written[name] = shown_number(getattr(contact, name))
    for name in ("friction", "solref", "solimp"):
        if getattr(contact, name) != getattr(_USUAL, name):
            written[name] = shown_numbers(getattr(contact, name))
    if contact.surface_velocity:
        written["surfacevel"] = shown_numbers(contact.surface_velocity)
    if contact.adhesion:
        written["adhesion"] = shown_numbers(contact.adhesion)
    return written
