"""Numbers, flags and names of NumPy's make the very robot that Python's own make: in text, hash and fingerprint."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import JointKind
from kinetree.model import Geometry
from kinetree.model.extras.by_name import Records
from kinetree.model.fingerprint import digest, fingerprint
from kinetree.spatial import Inertia, Mat3, Motion, Sym3, Transform, Vec3


class Types(NamedTuple):
    """In what a robot is given."""

    f: Callable[[float], Any]
    whole: Callable[[int], Any]
    s: Callable[[str], Any]
    flag: Callable[[bool], Any]


OWN = Types(float, float, str, bool)
OTHERS = {
    "NumPy's": Types(np.float64, np.int64, np.str_, np.bool_),
    "NumPy's short ones": Types(np.float32, np.int8, np.str_, np.bool_),
    "whole numbers": Types(float, int, str, bool),
}


def turned(t: Types) -> Transform:
    one, no = t.whole(1), t.whole(0)
    return Transform(Mat3(Vec3(no, one, no), Vec3(-one, no, no), Vec3(no, no, one)), Vec3(t.f(0.5), no, one))


KINDS: dict[str, Callable[[Types], JointKind]] = {
    "revolute": lambda t: kt.Revolute([t.whole(0), t.whole(0), t.whole(1)]),
    "revolute about a Vec3": lambda t: kt.Revolute(Vec3(t.whole(0), t.f(0.0), t.whole(1))),
    "continuous": lambda t: kt.joints.Continuous((t.whole(0), t.whole(1), t.f(0.0))),
    "prismatic": lambda t: kt.Prismatic([t.f(0.0), t.whole(1), t.whole(0)]),
    "helical": lambda t: kt.joints.Helical([t.whole(0), t.whole(0), t.whole(1)], t.f(0.25)),
    "helical of a whole pitch": lambda t: kt.joints.Helical([0, 0, 1], t.whole(2)),
    "screw": lambda t: kt.joints.Screw(
        angular=[t.whole(0), t.whole(0), t.whole(1)], linear=[t.f(0.5), t.f(0.0), t.whole(0)]
    ),
    "cylindrical": lambda t: kt.joints.Cylindrical([t.whole(0), t.whole(0), t.whole(1)]),
    "universal": lambda t: kt.joints.Universal([t.whole(1), 0, 0], [0, t.whole(1), 0]),
    "planar": lambda t: kt.joints.Planar([t.whole(0), t.whole(0), t.whole(1)], [t.whole(1), t.whole(0), t.whole(0)]),
    "Euler": lambda t: kt.joints.Euler(t.s("ZYX"), signs=[t.whole(1), t.f(-1.0), t.whole(1)], inverse=t.flag(True)),
    "ellipsoid": lambda t: kt.joints.Ellipsoid(
        [t.f(0.5), t.whole(1), t.f(2.0)], signs=[t.whole(1)] * 3, pole=t.whole(-1)
    ),
    "exponential map": lambda t: kt.joints.ExponentialMap(signs=[t.whole(1), t.whole(-1), t.f(1.0)]),
    "free, by roll, pitch and yaw": lambda t: kt.joints.FreeRPY(signs=[t.whole(1), t.whole(-1), t.f(1.0)] * 2),
    "several degrees of freedom": lambda t: kt.joints.MultiDof(
        [Motion(Vec3(t.whole(0), t.whole(0), t.f(1.0)), Vec3(t.whole(0), t.f(0.5), t.whole(0)))]
    ),
    "composite": lambda t: kt.joints.Composite(
        [(kt.Revolute([0, 0, t.whole(1)]), turned(t)), kt.Prismatic([t.whole(1), 0, 0])]
    ),
    "placed": lambda t: kt.joints.Placed(kt.Revolute([0, t.whole(0), 1]), turned(t), turned(t)),
    "reversed": lambda t: kt.joints.Reversed(kt.joints.Euler(t.s("XYZ"))),
}


def robot(t: Types, kind: JointKind) -> kt.Model:
    """A robot of every sort of part, all of whose values are powers of two and so the same in every type."""
    builder = kt.ModelBuilder(t.s("robot"), gravity=[t.whole(0), t.f(0.0), t.whole(-8)], source=t.s("a source"))
    builder.note(t.s("a note"))
    solid = Inertia(t.whole(2), Vec3(t.whole(0), t.f(0.5), t.f(0.0)), Sym3(*map(t.whole, (4, 4, 4, 0, 0, 0))))
    shape = Geometry(
        t.s("visual"), t.s("box"), (t.whole(1), t.f(0.5), t.f(2.0)), turned(t), t.s("hull"), t.s("a.stl"), None,
        (t.f(0.5), t.whole(0), t.whole(0), t.whole(1)),
    )  # fmt: skip
    builder.add_body(t.s("base"))
    for name in ("link", "left", "right", "lead", "follower"):
        builder.add_body(t.s(name), solid, geometry=[shape])
    row = [t.f(0.5)] * kind.nv
    builder.add_joint(
        t.s("joint"), kind, t.s("base"), t.s("link"), turned(t),
        limits=kt.model.Limits(*([t.whole(-2)] * kind.nq, [t.whole(2)] * kind.nq, row, row)),
        damping=row, friction=row, friction_speed=row, stiffness=row, rest=[t.whole(0)] * kind.nq, armature=row,
    )  # fmt: skip
    for name in ("left", "right", "lead"):
        axis = (t.whole(0), t.whole(0), t.whole(1))
        rotor = kt.model.Rotor(t.f(0.25), t.whole(8), axis) if name == "lead" else None
        builder.add_joint(t.s(f"to {name}"), kt.Revolute(axis), t.s("link"), t.s(name), rotor=rotor)
    mimic = kt.model.Mimic(t.s("to lead"), t.whole(2), t.f(0.5))
    builder.add_joint(t.s("to follower"), kt.Revolute([0, 0, 1]), "link", t.s("follower"), mimic=mimic)
    builder.add_coupling(
        t.s("both"), [t.s("to left"), t.s("to right")], [[t.whole(1)], [t.f(-0.5)]], coordinates=[t.s("z")],
        offset=[t.whole(0), t.f(0.5)],
    )  # fmt: skip
    builder.add_frame(t.s("tool"), t.s("link"), turned(t))
    return builder.build(floating_base=t.flag(False))


def odd(value: Any, place: str) -> Iterator[str]:
    """The places of all that is of a type that no text form knows."""
    if isinstance(value, JointKind):
        value = vars(value)
    if isinstance(value, dict):
        for name, x in value.items():
            yield from odd(x, f"{place}.{name}")
    elif is_dataclass(value):
        for field in fields(value):
            yield from odd(getattr(value, field.name), f"{place}.{field.name}")
    elif type(value) in (tuple, list, Records):
        for k, x in enumerate(value):
            yield from odd(x, f"{place}[{k}]")
    elif value is not None and type(value) not in (
        (int,) if place.endswith((".axis", ".present")) else (float, str, bool)
    ):
        yield f"{place}: {type(value).__name__}"


@pytest.mark.parametrize("types", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_robot_given_in_other_types_is_the_very_same(types: Types, kind: Callable[[Types], JointKind]) -> None:
    one, other = robot(OWN, kind(OWN)), robot(types, kind(types))
    assert list(odd(other.parts, "parts")) == []
    assert other == one
    assert hash(other) == hash(one)
    assert fingerprint(other) == fingerprint(one) is not None
    assert digest(other.parts) == digest(one.parts) is not None
    assert kt.to_text(other) == kt.to_text(one)
    assert kt.from_text(kt.to_text(other)) == one
    assert pickle.loads(pickle.dumps(other)) == one


class Wobbly(kt.Revolute):
    """A user's kind, which keeps what it is given."""

    def __init__(self, axis: Any, gain: Any = 1.0, soft: Any = False, word: Any = "") -> None:
        super().__init__(axis)
        self.gain, self.soft, self.word = gain, soft, word


@pytest.mark.parametrize("types", OTHERS.values(), ids=OTHERS)
def test_a_users_kind_that_holds_them_has_a_text_form(types: Types) -> None:
    one, other = (robot(t, Wobbly([0, 0, 1], t.f(0.5), t.flag(True), t.s("w"))) for t in (OWN, types))
    assert other == one
    assert hash(other) == hash(one)
    assert kt.from_text(kt.to_text(other), kinds=[Wobbly]) == one
    assert kt.to_text(other) == kt.to_text(one)


@pytest.mark.parametrize(
    "make",
    [
        lambda t: kt.constraints.Contact(t.s("tool"), t.s("fixed"), axes=t.s("local"), velocity_gain=t.whole(2)),
        lambda t: kt.constraints.Contact(
            t.s("tool"), [t.whole(0), t.whole(0), t.whole(1)], at=[t.f(0.5)] * 3, position_gain=t.f(4.0)
        ),
        lambda t: kt.constraints.Contact(t.s("tool"), "fixed", at=turned(t)),
        lambda t: kt.constraints.Loop(
            t.s("tool"), t.s("left"), t.s("distance"), length=t.whole(2), position_gain=t.f(0.5)
        ),
    ],
)
@pytest.mark.parametrize("types", OTHERS.values(), ids=OTHERS)
def test_a_constraint_given_in_other_types_is_the_very_same(types: Types, make: Callable[[Types], Any]) -> None:
    one, other = make(OWN), make(types)
    assert other == one
    assert hash(other) == hash(one)
    assert digest(other) == digest(one) is not None
    assert list(odd(other, "")) == []


def test_options_in_other_types_ask_for_the_very_same_function() -> None:
    arm = kt.zoo.load("double_pendulum")
    tip = list(arm.frames)[-1]
    mass = f"body.{list(arm.bodies)[-1]}.mass"
    for function, options, others in (
        (
            kt.frame_jacobian,
            {"frame": tip, "expressed_in": "world"},
            {"frame": np.str_(tip), "expressed_in": np.str_("world")},
        ),
        (kt.aba, {"passive": ["damping"], "limits": True}, {"passive": [np.str_("damping")], "limits": np.bool_(True)}),
        (kt.aba, {"parameters": [mass], "f_ext": [tip]}, {"parameters": [np.str_(mass)], "f_ext": (np.str_(tip),)}),
    ):
        given = kt.compile(kt.from_text(kt.to_text(arm)), function, **others).__self__
        own = kt.compile(arm, function, **options).__self__
        assert given.source.key("single") == own.source.key("single") is not None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kt.joints.Euler("ZYX", inverse="no"), "inverse must be True or False"),
        (lambda: kt.joints.Euler("ZYX", signs=5), "signs must be 3 numbers"),
        (lambda: kt.joints.Euler("ZYX", signs="111"), "signs must be 3 numbers"),
        (lambda: kt.joints.Ellipsoid([1, 1, 1], pole=np.ones(2)), "pole must be 1 or -1"),
        (lambda: kt.joints.Ellipsoid([1, 1, 10**400]), "three positive numbers"),
        (lambda: kt.joints.Ellipsoid("123"), "three positive numbers"),
        (lambda: kt.joints.Helical([0, 0, 1], 10**400), "the pitch must be a finite number"),
        (lambda: kt.joints.Helical([0, 0, 1], True), "the pitch must be a finite number"),
        (lambda: kt.joints.MultiDof.angular_first([[10**400] * 6]), "row 1 must be six numbers"),
        (lambda: kt.joints.MultiDof.angular_first(["123456"]), "row 1 must be six numbers"),
        (lambda: kt.lie.placement((10**400, 0, 0)), "position must be finite"),
        (lambda: kt.lie.placement("123"), "position must be 3 numbers"),
    ],
)
def test_silly_values_are_refused_in_words(make: Callable[[], object], message: str) -> None:
    with pytest.raises(kt.KinetreeError, match=message):
        make()
