"""The fields of bodies, joints, frames and couplings in the text, in SI units, with their forms and defaults."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from kinetree.io.native.forms import (
    BARE,
    FLAGS,
    IDENTITY,
    NUMBER,
    NUMBERS,
    PLACEMENT,
    SYMMETRIC,
    TEXT,
    VECTOR,
    Field,
    Fields,
    Form,
    array,
    numbers_of,
)
from kinetree.io.native.kinds import Kinds
from kinetree.io.native.nodes import Node
from kinetree.io.native.records import read_fields, written_fields
from kinetree.model.elements import Geometry, Mimic, Rotor
from kinetree.model.extras import ContactParameters
from kinetree.model.specs import LinkSpec
from kinetree.spatial import Inertia, Sym3, Vec3
from kinetree.tree.drive import Drive, Limits

__all__ = ["BODY", "COUPLING", "FRAME", "joint_fields"]

_NOTHING = Inertia.zero()


def _body(mass: float, first_moment: Vec3, inertia: Sym3, **others: Any) -> dict[str, Any]:
    return {**others, "inertia": Inertia(mass, first_moment, inertia)}


def _joint(limits: dict[str, Any] | None = None, **others: Any) -> dict[str, Any]:
    return {**others, "limits": None if limits is None else replace(Limits.none(others["kind"]), **limits)}


_SHAPE = Fields(
    Geometry,
    role=Field(TEXT),
    shape=Field(TEXT),
    size=Field(NUMBERS),
    placement=Field(PLACEMENT, IDENTITY),
    name=Field(TEXT, ""),
    mesh=Field(TEXT, None),
    color=Field(numbers_of(4), None),
    contact=Field(Form(written_fields, partial(read_fields, cls=ContactParameters)), None),
)
_OBJECT = {
    "name": Field(TEXT),
    "mass": Field(NUMBER, _NOTHING.mass, "inertia.mass"),  # kg
    "first_moment": Field(VECTOR, _NOTHING.h, "inertia.h"),  # kg·m
    "inertia": Field(SYMMETRIC, _NOTHING.I, "inertia.I"),  # kg·m², about the origin
    "geometry": Field(array(_SHAPE), ()),
}
BODY = Fields(
    _body,
    **_OBJECT,
    alternatives=Field(array(Fields(lambda **given: LinkSpec(**_body(**given)), **_OBJECT)), ()),
    present=Field(Form(lambda k: k, Node.number), 0),
)
_LIMITS = Fields(dict, **dict.fromkeys(Limits.__slots__, Field(NUMBERS, BARE)))  # lower, upper, velocity, effort
_ROTOR = Fields(Rotor, inertia=Field(NUMBER), ratio=Field(NUMBER), axis=Field(numbers_of(3), None))
_MIMIC = Fields(Mimic, joint=Field(TEXT), multiplier=Field(NUMBER, 1.0), offset=Field(NUMBER, 0.0))


def joint_fields(kinds: Kinds) -> Fields:
    """The fields of a joint, for one text: the fields of each kind are written, and read, once in it."""
    return Fields(
        _joint,
        name=Field(TEXT),
        kind=Field(kinds),
        parent=Field(TEXT),
        child=Field(TEXT),
        placement=Field(PLACEMENT, IDENTITY),
        limits=Field(_LIMITS, BARE),
        # damping, friction, friction_speed, stiffness, rest
        **{name: Field(NUMBERS, BARE, f"drive.{name}") for name in Drive.__slots__},
        armature=Field(NUMBERS, BARE),
        actuated=Field(FLAGS, None),
        rotor=Field(_ROTOR, None),
        mimic=Field(_MIMIC, None),
    )


FRAME = Fields(dict, name=Field(TEXT), body=Field(TEXT), placement=Field(PLACEMENT, IDENTITY))
COUPLING = Fields(
    dict,
    name=Field(TEXT),
    joints=Field(array(TEXT)),
    matrix=Field(array(NUMBERS)),
    offset=Field(NUMBERS, None),
    coordinates=Field(array(TEXT)),
    actuated=Field(FLAGS, None),
)
