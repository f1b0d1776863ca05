"""What a user meets prints readably, and where it is made by one call, as that call."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import kinetree as kt
from kinetree.expr import Symbol
from kinetree.guide import public_names
from kinetree.model.elements import Geometry
from kinetree.spatial import Inertia, Mat3, Motion, Sym3, Vec3
from tests.robots import every_joint
from tests.strategies import inertias, law, transforms

INF = math.inf
TURNED = kt.lie.placement((0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6))
COPIED: dict[str, tuple[Any, str | None]] = {
    "no placement": (kt.Transform.identity(), "Transform.identity()"),
    "a translation": (kt.lie.placement((0, 0, 0.3)), "placement((0.0, 0.0, 0.3))"),
    "a quarter turn": (
        kt.lie.placement(rotation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]]),
        "Transform.from_matrix([[0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], "
        "[0.0, 0.0, 0.0, 1.0]])",
    ),
    "a placement": (TURNED, None),
    "an inertia": (
        Inertia.from_com(2.0, Vec3(0.0, 0.0, 0.5), Sym3.scalar(0.5)),
        "Inertia.about_origin(2.0, h=(0.0, 0.0, 1.0), I=(1.0, 1.0, 0.5, 0.0, 0.0, 0.0))",
    ),
    "limits": (
        kt.model.Limits((-INF,), (1.0,), (INF,), (2.0,)),
        "Limits(lower=(float('-inf'),), upper=(1.0,), velocity=(float('inf'),), effort=(2.0,))",
    ),
    "limits of nothing": (kt.model.Limits((), (), (), ()), "Limits(lower=(), upper=(), velocity=(), effort=())"),
    "limits of several": (kt.model.Limits.none(kt.joints.Planar()), None),
    "a follower": (kt.model.Mimic("lead", -1.0), "Mimic('lead', multiplier=-1.0)"),
    "a plain follower": (kt.model.Mimic("it's"), 'Mimic("it\'s")'),
    "an offset": (kt.model.Mimic("lead", offset=0.5), "Mimic('lead', offset=0.5)"),
    "a rotor": (kt.model.Rotor(1e-4, 50.0), "Rotor(inertia=0.0001, ratio=50.0)"),
    "NumPy's numbers": (
        kt.model.Mimic("lead", np.float64(2.0), np.float32(0.5)),
        "Mimic('lead', multiplier=2.0, offset=0.5)",
    ),
    "a rotor with an axis": (kt.model.Rotor(1e-4, 50.0, (1.0, 0.0, 0.0)), None),
    "a contact": (kt.constraints.Contact("foot"), "Contact('foot')"),
    "a whole frame": (
        kt.constraints.Contact("foot", "fixed", kt.lie.placement((0, 0, 1)), position_gain=4.0),
        "Contact('foot', directions='fixed', at=placement((0.0, 0.0, 1.0)), position_gain=4.0)",
    ),
    "a turned frame": (kt.constraints.Contact("foot", "fixed", TURNED, "local"), None),
    "a plane": (kt.constraints.Contact("foot", [0, 0, 2]), "Contact('foot', directions=((0.0, 0.0, 1.0),))"),
    "a loop": (kt.constraints.Loop("a", "b"), "Loop('a', 'b')"),
    "a rod": (
        kt.constraints.Loop("a", "b", "distance", length=0.5),
        "Loop('a', 'b', directions='distance', length=0.5)",
    ),
    "a wrench": (kt.dynamics.WrenchOn("tool", "world"), "WrenchOn('tool', 'world')"),
    "a force": (kt.dynamics.ForceOn("tool"), "ForceOn('tool', 'local')"),
    **{f"the kind {name}": (joint.kind, None) for name, joint in every_joint().joints.items()},
}


def evaluated(text: str) -> Any:
    """With all public names, and those of `kinetree` itself behind `kt.`."""
    return eval(text, {name: attrgetter(place)(kt) for name, place in public_names().items()} | {"kt": kt})


@pytest.mark.parametrize(("thing", "text"), COPIED.values(), ids=COPIED)
def test_what_is_printed_makes_an_equal_one(thing: Any, text: str | None) -> None:
    assert evaluated(repr(thing)) == thing
    assert "\n" not in repr(thing)
    if text is not None:
        assert repr(thing) == text


@given(transforms(), inertias())
@law(20)
def test_placements_and_inertias_are_copied_to_the_last_bit(X: kt.Transform, inertia: Inertia) -> None:
    assert evaluated(repr(X)) == X
    assert evaluated(repr(X.factored())) == X.factored()
    assert evaluated(repr(inertia)) == inertia


def test_shapes_are_copied_too() -> None:
    shape = Geometry("visual", "box", (1.0, 2.0, 3.0), TURNED, color=(1.0, 0.0, 0.0, 1.0))
    names = {"Geometry": Geometry, "Transform": kt.Transform}
    assert eval(repr(shape), names) == shape
    assert "mesh" not in repr(shape)


def test_transforms_and_inertias_of_symbols_and_arrays_print_too() -> None:
    x = np.zeros(2)
    for thing in (
        kt.Transform(Mat3.identity(), Vec3(x, 0.0, 0.0)),
        kt.Transform(Mat3.identity(), Vec3(math.nan, 0.0, 0.0)),
        kt.Transform(3, Vec3.zero()),  # type: ignore[arg-type]
        Inertia(x, Vec3.zero(), Sym3.zero()),
        Inertia(1.0, (0, 0, 0), 3),  # type: ignore[arg-type]
        Motion(Vec3(x, x, x), Vec3.zero()),
    ):
        assert type(thing).__name__ in repr(thing)
    assert Symbol.__name__ == "Symbol"


def test_parts_of_robots_print_as_one_line_for_people() -> None:
    robot = every_joint()
    dog = kt.zoo.load("quadruped")
    arm = kt.zoo.load("arm6")
    printed = {
        repr(dog.joints["root_joint"]): "<Joint 'root_joint': free, the world → 'trunk', q[0:7] v[0:6]>",
        repr(arm.joints["shoulder_pitch"]): (
            "<Joint 'shoulder_pitch': revolute about y, 'turret' → 'upper_arm', q[1] v[1], -2.2 … 2.2 rad>"
        ),
        repr(robot.joints["follower"]): (
            "<Joint 'follower': prismatic along y, 'floating body' → 'follower body', "
            "Mimic('revolute', multiplier=-0.5, offset=0.1)>"
        ),
        repr(robot.joints["left"]): (
            "<Joint 'left': revolute about z, 'free body' → 'left body', by coupling 'wrist'>"
        ),
        repr(robot.couplings["wrist"]): "<Coupling 'wrist': pitch, roll → 'left', 'right', q[62:64] v[57:59]>",
        repr(arm.bodies["turret"]): "<Body 'turret': 4 kg, center of mass (0, 0, 0.07) m>",
        repr(arm.bodies["tool"]): "<Body 'tool': massless, on a fixed joint>",
        repr(robot.frames["tool"]): "<Frame 'tool': on body 'placed body'>",
    }
    for found, expected in printed.items():
        assert found == expected


def test_a_builder_says_how_much_it_holds() -> None:
    builder = kt.ModelBuilder("arm")
    assert repr(builder) == "<ModelBuilder 'arm': empty>"
    builder.add_body("base")
    assert repr(builder) == "<ModelBuilder 'arm': 1 body>"
    again = kt.ModelBuilder.of(every_joint())
    assert repr(again) == "<ModelBuilder 'every joint': 24 bodies, 23 joints, 1 frame, 1 coupling>"


def test_names_can_be_searched() -> None:
    dog = kt.zoo.load("quadruped")
    feet = [f"{end}_{side}_foot" for end in ("front", "hind") for side in ("left", "right")]
    for pattern in ("*foot", "foot", "FOOT", "*_Foot*", "?*_*_foot", "[fh]*foot"):
        assert list(dog.frames.matching(pattern)) == feet
    assert dog.frames.matching("front*foot")["front_left_foot"] is dog.frames["front_left_foot"]
    assert list(dog.joints.matching("knee").matching("hind")) == ["hind_left_knee", "hind_right_knee"]
    assert len(dog.frames.matching("*wing*")) == 0
    assert repr(dog.frames.matching("wing")) == "frame names: []"
    placed = kt.forward_kinematics(dog, dog.neutral(), frames=list(dog.frames.matching("foot")))
    assert placed.shape == (4, 4, 4)
    with pytest.raises(kt.errors.OptionError, match=r"matching takes a pattern such as '\*foot\*', not 3"):
        dog.frames.matching(3)  # type: ignore[arg-type]


def test_shells_complete_names_in_brackets() -> None:
    dog = kt.zoo.load("quadruped")
    assert dog.joints._ipython_key_completions_() == list(dog.joints)
