"""A robot's text form: it comes back to the last bit, and what is not a robot is refused where it is wrong."""

from __future__ import annotations

import copy
import json
import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import fields, replace
from inspect import isabstract
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree import joints
from kinetree.compiler.forms.aligned import aligned
from kinetree.compiler.forms.parameters import with_parameters
from kinetree.expr import Scalar, cos, sin
from kinetree.io.native.forms import Fields
from kinetree.io.native.kinds import Kinds
from kinetree.io.native.parts import COUPLING, FRAME, joint_fields
from kinetree.joints import JointKind, JointMotion, Placed
from kinetree.model import Coupling, Geometry, Limits, Mimic, Rotor
from kinetree.model.fingerprint import digest
from kinetree.model.specs import CouplingSpec, FrameSpec, JointSpec
from kinetree.spatial import Inertia, Motion, Subspace, Sym3, Transform, Turn, Vec3
from kinetree.spatial.rotations import from_rpy
from kinetree.tree.drive import Drive
from tests.robots import REFUSED, load_robot, robot_files
from tests.strategies import law, trees

TURNED = Transform(from_rpy(0.1, 0.2, 0.3), Vec3(0.1, -0.2, 1 / 3))
BODY = Inertia.from_com(1.0, Vec3(0.1, 0.2, 0.3), Sym3(0.2, 0.25, 0.3, 0.01, 0.02, 0.03))
KINDS: list[JointKind] = [
    kt.Revolute([1, 2, 3]),
    kt.Revolute([0, 0, -1]),
    kt.joints.Continuous([1, 0, 0]),
    kt.Prismatic([0, 1, 1]),
    kt.Fixed(),
    kt.Free(),
    kt.joints.Spherical(),
    kt.joints.FloatingBase(),
    kt.joints.Helical([1, 2, 3], 0.25),
    kt.joints.Cylindrical([1, 1, 0]),
    kt.joints.Universal([1, 0, 0], [0, 1, 1]),
    kt.joints.Planar(),
    kt.joints.Planar((1, 1, 0)),
    kt.joints.Translation(),
    kt.joints.Screw(angular=[1, 2, 3], linear=[0, 1, 0]),
    kt.joints.Composite([kt.Revolute([1, 2, 3]), (kt.Fixed(), TURNED), kt.joints.Composite([kt.Prismatic([0, 1, 3])])]),
    kt.joints.MultiDof.angular_first([[0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 2, 0]]),
    kt.joints.Euler("ZYX"),
    kt.joints.Euler("XZX"),
    kt.joints.ExponentialMap(),
    kt.joints.FreeRPY(),
    kt.joints.Ellipsoid([0.1, 0.2, 0.3]),
    Placed(kt.joints.Planar(), TURNED, TURNED),
]


class Swinging(JointKind):
    """A kind of a user's own: a turn about y, whose attributes are all that text can hold."""

    nq = nv = 1

    def __init__(self, arm: Vec3, *, names: tuple[str, ...] = (), table: object = None) -> None:
        self.arm = arm if isinstance(arm, Vec3) else Vec3(*arm)
        self.names = names
        self.table = table
        self.most = math.inf
        self.parts = [kt.Revolute([3, 2, 1]), TURNED, Motion(Vec3(1.0, 2.0, 3.0), Vec3(0.0, -0.0, 0.1)), None, True]

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        X_J = Transform(Transform.turning(Turn(1, sin(q[0]), cos(q[0]))).E, Vec3.zero())
        S = Subspace((Motion(Vec3(0.0, 1.0, 0.0), Vec3.zero()),))
        return JointMotion(X_J, S, S @ v, Motion.zero())


class Secretive(Swinging):
    """Its constructor takes what it does not keep."""

    def __init__(self, seed: int) -> None:
        super().__init__(Vec3(float(seed), 0.0, 0.0))


def one_joint(kind: JointKind, **options: Any) -> kt.Model:
    builder = kt.ModelBuilder("one joint")
    builder.add_body("base", BODY)
    builder.add_body("tip", BODY)
    builder.add_joint("j", kind, "base", "tip", TURNED, **options)
    return builder.build()


def came_back(robot: kt.Model, kinds: Sequence[type[JointKind]] = ()) -> kt.Model:
    """Read from its own text; the same in all that counts, and the same text."""
    text = kt.to_text(robot)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)  # the robot was warned of when it was made
        again = kt.from_text(text, kinds=kinds)
    assert again == robot
    assert hash(again) == hash(robot)
    assert digest(again) == digest(robot)
    assert again.parts.notes == robot.parts.notes
    assert again.source == robot.source
    assert kt.to_text(again) == text
    return again


@law(50)
@given(trees())
def test_a_random_robot_comes_back_exactly(robot: kt.Model) -> None:
    came_back(robot)


@pytest.mark.parametrize("name", kt.zoo.names())
def test_a_robot_of_the_zoo_comes_back_exactly(name: str) -> None:
    came_back(kt.zoo.load(name))


@pytest.mark.parametrize("name", [file for file in robot_files() if file not in REFUSED][::6])
def test_a_real_robot_comes_back_exactly(name: str) -> None:
    came_back(load_robot(name, floating_base=True, mimic=True))


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_a_kind_comes_back_exactly_and_so_do_its_relatives(kind: JointKind) -> None:
    relatives = [kind, kind.aligned()[0], kind.reversed(), kind.mirrored(0), kind.scaled(0.3)]
    for relative in relatives:
        if relative is not None and not isinstance(relative, kt.Fixed):
            robot = one_joint(relative)
            again = came_back(robot).joints["j"].kind
            assert type(again) is type(relative)
            assert repr(again) == repr(relative)


def test_the_list_of_kinds_has_all_of_them() -> None:
    ours = {getattr(joints, name) for name in joints.__all__}
    ours = {c for c in ours if isinstance(c, type) and issubclass(c, JointKind) and not isabstract(c)}
    tried = {type(k) for k in KINDS} | {type(k.reversed()) for k in KINDS} | {type(k.aligned()[0]) for k in KINDS}
    wrappers = {c for c in ours if c.__name__ in ("Placed", "Reversed")}  # what `aligned` and `reversed` may return
    assert ours - tried - wrappers == set()


@pytest.mark.parametrize(
    ("part", "fields_of_text"),
    [(JointSpec, joint_fields(Kinds())), (FrameSpec, FRAME), (CouplingSpec, COUPLING)],
    ids=["joint", "frame", "coupling"],
)
def test_the_text_and_its_page_have_every_field(part: type, fields_of_text: Fields) -> None:
    names = {entry.name for entry in fields(part) if entry.compare}
    if part is JointSpec:
        names = names - {"drive"} | set(Drive.__slots__)
    assert names == {*fields_of_text._needed, *fields_of_text._optional}, (
        "io/native/parts.py has other fields than the record"
    )
    page = (Path(__file__).parents[2] / "docs" / "model_text.md").read_text()
    assert [name for name in sorted(names) if f"`{name}`" not in page] == [], "docs/model_text.md has no row for these"


def test_everything_about_a_joint_comes_back() -> None:
    builder = kt.ModelBuilder("all of it", gravity=(0.0, -0.0, -1.62), source="here")
    builder.note("a note with \n lines, “signs” and \u4e2d\u6587")
    shape = Geometry(
        "visual", "mesh", (1.0, 2.0, 3.0), TURNED, "hull", "package://hull.stl", None, (0.1, 0.2, 0.3, 1.0)
    )
    builder.add_body("base", BODY, geometry=[shape, Geometry("collision", "sphere", (0.1,), Transform.identity())])
    for k in range(5):
        builder.add_body(f"body {k}", BODY)
    builder.add_joint(
        "a", kt.Revolute([0, 0, 1]), "base", "body 0", TURNED,
        limits=Limits((-1.0,), (math.inf,), (3.0,), (1 / 3,)), damping=[0.1], friction=[0.2], friction_speed=[0.3],
        stiffness=[0.4], rest=[-0.0], armature=[0.5], rotor=Rotor(1e-5, -101.0, (0.6, 0.0, 0.8)),
    )  # fmt: skip
    builder.add_joint("b", kt.Prismatic([1, 1, 0]), "body 0", "body 1", mimic=Mimic("a", -0.25, 0.125))
    builder.add_joint("c", kt.Revolute([1, 0, 0]), "body 1", "body 2", rotor=Rotor(1e-5, 3))
    builder.add_joint("d", kt.Revolute([0, 1, 0]), "body 2", "body 3", limits=Limits((-1,), (2,), (3,), (4,)))
    builder.add_joint("e", kt.Fixed(), "body 3", "body 4", Transform.turning(Turn(2, math.sin(0.3), math.cos(0.3))))
    builder.add_coupling("wrist", ["c", "d"], [[1, 1], [1, -1]], coordinates=["pitch", "roll"], offset=[0.1, 0.0])
    builder.add_frame("tool", "body 4", TURNED)
    robot = builder.build(floating_base=True)
    again = came_back(robot)
    assert again.parts == robot.parts
    assert again.notes == robot.notes
    assert isinstance(again.couplings["wrist"], Coupling)
    assert math.copysign(1.0, again.joints["a"].rest[0]) == -1.0


def test_a_kind_of_ones_own_comes_back_if_its_class_is_passed() -> None:
    kind = Swinging(Vec3(1.0, 1 / 3, -0.0), names=("a", "b"), table={"x": [1, 2.0], 3: (math.inf,)})
    robot = one_joint(kind)
    again = came_back(robot, [Swinging]).joints["j"].kind
    assert isinstance(again, Swinging)
    assert repr(again) == repr(kind)
    with pytest.raises(
        kt.errors.ModelError, match=r"joints\[0\]\.kind: there is no kind of joint named 'Swinging'.*kinds="
    ):
        kt.from_text(kt.to_text(robot))


def test_a_kind_whose_constructor_takes_something_else_is_restored_from_what_it_holds() -> None:
    came_back(one_joint(Secretive(3)), [Secretive])


def test_a_kind_that_holds_what_has_no_text_form_is_refused_by_name() -> None:
    kind = Swinging(Vec3.zero(), table=np.zeros)
    with pytest.raises(kt.errors.ModelError, match=r"joint 'j': the table .* Swinging holds <.*no text form"):
        kt.to_text(one_joint(kind))


def test_two_classes_of_one_name_are_refused() -> None:
    other = type("Swinging", (Swinging,), {})
    with pytest.raises(kt.errors.OptionError, match="two classes named 'Swinging'"):
        kt.from_text("{}", kinds=[Swinging, other])
    with pytest.raises(kt.errors.OptionError, match="two classes named 'Revolute'"):
        kt.from_text("{}", kinds=[type("Revolute", (Swinging,), {})])
    with pytest.raises(kt.errors.ModelError, match="two classes of joints named 'Free'"):
        kt.to_text(one_joint(type("Free", (Swinging,), {})(Vec3.zero())))


@pytest.mark.parametrize("kinds", [Swinging, [3], [Swinging(Vec3.zero())], "Swinging"])
def test_kinds_that_are_none_are_refused(kinds: Any) -> None:
    with pytest.raises(kt.errors.OptionError, match="kinds must be"):
        kt.from_text("{}", kinds=kinds)


def test_a_robot_with_other_numbers_than_its_parts_has_no_text_form() -> None:
    robot = kt.zoo.load("arm6")
    moon = with_parameters(robot, ["gravity"], [(0.0, 0.0, -1.62)])
    heavy = with_parameters(robot, [f"body.{robot.root}.mass"], [(5.0,)])
    for changed in (moon, heavy, aligned(robot)):
        assert changed != robot
        with pytest.raises(kt.errors.ModelError, match="other numbers than the parts"):
            kt.to_text(changed)


def test_the_text_is_read_by_people() -> None:
    text = kt.to_text(one_joint(kt.Revolute([0, 0, 1])))
    assert text.splitlines()[:6] == [
        "{",
        '  "kinetree": "model",',
        '  "version": 1,',
        '  "name": "one joint",',
        '  "gravity": [0.0, 0.0, -9.81],',
        '  "floating_base": false,',
    ]
    assert '"kind": {"Revolute": {"axis": [0.0, 0.0, 1.0]}}' in text
    assert "damping" not in text  # defaults are left out


# -- what is refused


BASE = json.loads(kt.to_text(one_joint(kt.Revolute([0, 0, 1]))))


def changed(*path: Any, to: Any) -> str:
    """The text of a good robot with one value changed."""
    text = copy.deepcopy(BASE)
    place = text
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return json.dumps(text)


def without(field: str) -> str:
    return json.dumps({key: value for key, value in BASE.items() if key != field})


def turned(axis: int) -> str:
    """With a turn about an axis that its axes know nothing of."""
    turn = {"axis": axis, "sin": 1, "cos": 0}
    return changed("joints", 0, "placement", to={"turns": [turn], "before": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]})


def kind(value: Any) -> str:
    return changed("joints", 0, "kind", to=value)


REFUSED: list[tuple[str, str]] = [
    ("", "line 1, column 1: this is not JSON"),
    ('{"kinetree": "model",\n "version" 1}', "line 2, column 12: this is not JSON: expecting ':'"),
    ("[1, 2]", "this is not a robot: its text begins with"),
    ("{}", "this is not a robot: its text begins with"),
    ('{"kinetree": "scene", "version": 1}', "kinetree: is 'scene'; a robot has \"model\""),
    (changed("version", to=4), "version: is 4, but this kinetree reads versions up to 3; use a newer one"),
    ('{"kinetree": "model", "version": 9, "new": 1}', "version: is 9"),
    (changed("version", to="1"), "version: must be a whole number"),
    (changed("version", to=True), "version: must be a whole number"),
    (without("version"), 'has no field "version"'),
    (without("bodies"), 'has no field "bodies"; add it'),
    (changed("bodys", to=[]), "has a field 'bodys', which is unknown: did you mean 'bodies'?"),
    (changed("bodies", to={}), r"bodies: must be an array […], not an object"),
    (changed("bodies", 0, to=3), r"bodies[0]: must be an object {…}, not 3"),
    (changed("bodies", 0, "name", to=3), "bodies[0].name: must be a string, not 3"),
    (changed("bodies", 0, "name", to=" "), "bodies[0]: the name of a body"),
    (changed("bodies", 0, "mass", to="1.0"), 'bodies[0].mass: must be a number, "inf" or "-inf", not "1.0"'),
    (changed("bodies", 0, "mass", to=-1.0), "bodies[0]: body 'base' has the negative mass"),
    (changed("bodies", 0, "mass", to="inf"), "bodies[0]: body 'base' has a mass"),
    (changed("bodies", 0, "inertia", to=[1, 2]), "bodies[0].inertia: must be an array of 6 numbers, not one of 2"),
    (changed("bodies", 1, "name", to="base"), "bodies[1]: there are two bodies named 'base'"),
    (changed("joints", 0, "parent", to="bass"), "joints[0]: joint 'j' has the parent 'bass'"),
    (changed("joints", 0, "damping", to=[1, "x"]), "joints[0].damping[1]: must be a number"),
    (changed("joints", 0, "damping", to=[1, 2]), "joints[0]: joint 'j' needs 1 values of damping"),
    (changed("joints", 0, "limits", to={"lower": None}), "joints[0].limits.lower: must be an array of numbers"),
    (changed("joints", 0, "limits", to={"low": [0]}), "joints[0].limits: has a field 'low'"),
    (changed("joints", 0, "mimic", to={"joint": "k"}), "joints[0]: joint 'j' mimics 'k'"),
    (changed("joints", 0, "rotor", to={"inertia": 1}), 'joints[0].rotor: has no field "ratio"'),
    (changed("joints", 0, "placement", to={"axes": [[1, 0, 0]]}), "joints[0].placement.axes: must be three rows"),
    (
        changed("joints", 0, "placement", "axes", 0, to=[1, 1, 0]),
        "joints[0]: joint 'j': the E of its placement is not a rotation matrix",
    ),
    (
        turned(2),
        'joints[0].placement: its "turns"',
    ),
    (
        turned(3),
        "joints[0].placement.turns[0].axis: must be 0, 1 or 2",
    ),
    (changed("gravity", to=["inf", 0, 0]), "gravity must be three finite numbers"),
    (changed("gravity", to=[0, 0]), "gravity: must be an array of 3 numbers, not one of 2"),
    (changed("floating_base", to=0), "floating_base: must be true or false, not 0"),
    (changed("couplings", to=[{"name": "w"}]), 'couplings[0]: has no field "joints"'),
    (changed("frames", to=[{"name": "t", "body": "x"}]), "frames[0]: frame 't' sits on 'x'"),
    (kind("Wobbly"), "joints[0].kind: there is no kind of joint named 'Wobbly'"),
    (kind("Revolute"), "joints[0].kind: has no field 'axis', which a Revolute needs"),
    (kind({}), "joints[0].kind: must be the name of a kind"),
    (kind({"Revolute": [0, 0, 1]}), "joints[0].kind.Revolute: must be an object"),
    (kind({"Revolute": {"axis": [0, 0, 2]}}), "joints[0].kind.Revolute: has the axis (0, 0, 2), of which"),
    (kind({"Revolute": {"axis": [0, 0, 0]}}), "joints[0].kind: a joint axis must be three finite numbers"),
    (kind({"Revolute": {"axis": "abc"}}), "joints[0].kind: a joint axis must be three numbers, not 'abc'"),
    (kind({"Revolute": {"axis": [0, 0, 1], "calc": 1}}), "has 'calc', which a Revolute does not hold"),
    (kind({"Revolute": {"axis": {"Vec4": [0, 0, 1]}}}), "is a 'Vec4', which is unknown: did you mean 'Vec3'?"),
    (kind({"Composite": {"parts": [{"kind": "Foo"}]}}), "parts[0].kind: there is no kind of joint named 'Foo'"),
    (kind({"Composite": {"parts": 3}}), "joints[0].kind: "),
    (kind({"Euler": {"order": "ABC"}}), "joints[0].kind: the order of Euler angles is one of"),
    ('{"a": 1, "b": 2, "a": 3}', "an object has the field 'a' twice"),
    ('{"name": "x", "a": NaN}', "NaN is not a JSON number"),
    ('{"a": 1e999}', "the number 1e999 is too large"),
    ('{"a": ' + "1" * 5000 + "}", "has 5,000 digits; the limit is 30"),
    ("[" * 100_000, "nested too deep"),
    ('{"a":' * 100_000, "nested too deep"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_is_no_robot_is_refused_where_it_is_wrong(text: str, message: str) -> None:
    with pytest.raises(kt.errors.ModelError, match=re.escape(message)):
        kt.from_text(text)


@pytest.mark.parametrize("depth", [20, 150, 300, 600, 900])
@pytest.mark.parametrize(
    ("before", "inside", "after"),
    [
        ("[", "1.0", "]"),
        ('{"list": [', "1.0", "]}"),
        ('{"Composite": {"parts": [{"kind": ', '"Translation"', "}]}}"),
    ],
)
def test_deeply_nested_values_end_in_an_error_or_in_a_robot(depth: int, before: str, inside: str, after: str) -> None:
    nested = before * depth + inside + after * depth
    if "kind" not in before:
        nested = f'{{"Revolute": {{"axis": {nested}}}}}'
    text = json.dumps(BASE).replace(json.dumps(BASE["joints"][0]["kind"]), nested)
    message = ""
    try:
        robot = kt.from_text(text)
    except kt.errors.ModelError as error:
        message = str(error)
    else:
        assert "kind" in before
        assert robot.nv == 3
    assert len(message) < 2000


def rich() -> Any:
    """The text of a robot that has something of everything."""
    builder = kt.ModelBuilder("rich", source="here")
    builder.note("a note")
    builder.add_body("base", BODY, geometry=[Geometry("visual", "box", (1.0, 2.0, 3.0), TURNED, color=(0, 0, 0, 1))])
    for k, kind in enumerate((kt.Revolute([1, 2, 3]), kt.Prismatic([0, 0, 1]), kt.Revolute([1, 0, 0]), KINDS[15])):
        builder.add_body(f"body {k}", BODY)
        builder.add_joint(
            f"joint {k}", kind, "base", f"body {k}", TURNED, damping=[0.1] * kind.nv,
            mimic=Mimic("joint 0", 2.0, 0.1) if k == 1 else None, rotor=Rotor(0.1, 3.0) if k == 2 else None,
        )  # fmt: skip
    builder.add_coupling("one", ["joint 2"], [[2.0]], coordinates=["z"])
    builder.add_frame("tool", "base", Transform.turning(Turn(2, math.sin(0.3), math.cos(0.3))))
    return json.loads(kt.to_text(builder.build(floating_base=True)))


RICH = rich()


@law(300)
@given(st.data())
def test_a_spoilt_text_is_refused_or_read_and_never_fails_otherwise(data: st.DataObject) -> None:
    """One value anywhere in a rich text is replaced by another."""
    text = copy.deepcopy(RICH)
    place: Any = text
    while True:
        step = data.draw(st.sampled_from(range(len(place)) if isinstance(place, list) else sorted(place)))
        if not (isinstance(place[step], list | dict) and place[step]) or data.draw(st.integers(0, 3)) == 0:
            break
        place = place[step]
    wrong = [None, True, -1, 0.0, 1e308, "inf", "x", [], {}, [[]], [1, 2, 3], {"kind": "Free"}, {"Free": {}}, 10**29]
    place[step] = data.draw(st.sampled_from(wrong))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        message = ""
        try:
            kt.from_text(json.dumps(text))
        except kt.KinetreeError as error:
            message = str(error)
    assert len(message) < 2000


def test_text_that_is_no_string_is_refused() -> None:
    with pytest.raises(kt.errors.DTypeError, match="from_text takes a string, not bytes"):
        kt.from_text(b"{}")  # type: ignore[arg-type]


def test_what_is_left_out_has_its_default() -> None:
    """A text with nothing but what it must have, and the robot that docs/model_text.md says it is."""
    axis = {"Revolute": {"axis": [0, 0, 1]}}
    text = {
        "kinetree": "model", "version": 1, "name": "bare", "gravity": [0, 0, -1], "floating_base": False,
        "bodies": [
            {"name": "a", "geometry": [{"role": "visual", "shape": "sphere", "size": [1]}]},
            *({"name": name, "mass": 1, "inertia": [1, 1, 1, 0, 0, 0]} for name in "bcd"),
        ],
        "joints": [
            {"name": "j", "kind": axis, "parent": "a", "child": "b", "rotor": {"inertia": 1, "ratio": 2}},
            {"name": "k", "kind": axis, "parent": "b", "child": "c", "mimic": {"joint": "j"}},
            {"name": "l", "kind": axis, "parent": "c", "child": "d"},
        ],
        "frames": [{"name": "f", "body": "b"}],
        "couplings": [{"name": "w", "joints": ["l"], "matrix": [[2]], "coordinates": ["z"]}],
    }  # fmt: skip
    nowhere, kind = Transform.identity(), kt.Revolute([0, 0, 1])
    builder = kt.ModelBuilder("bare", gravity=(0, 0, -1))
    builder.add_body("a", geometry=[Geometry("visual", "sphere", (1.0,), nowhere, "", None, None, None, None)])
    for name in "bcd":
        builder.add_body(name, Inertia(1.0, Vec3.zero(), Sym3(1.0, 1.0, 1.0, 0.0, 0.0, 0.0)))
    free = Limits((-math.inf,), (math.inf,), (math.inf,), (math.inf,))
    bare: dict[str, Any] = {
        "limits": free, "damping": [0], "friction": [0], "friction_speed": [0.01], "stiffness": [0], "rest": [0],
        "armature": [0],
    }  # fmt: skip
    builder.add_joint("j", kind, "a", "b", nowhere, rotor=Rotor(1.0, 2.0, None), actuated=True, **bare)
    builder.add_joint("k", kind, "b", "c", nowhere, mimic=Mimic("j", 1.0, 0.0), actuated=False, **bare)
    builder.add_joint("l", kind, "c", "d", nowhere, actuated=True, **bare)
    builder.add_frame("f", "b", nowhere)
    builder.add_coupling("w", ["l"], [[2]], coordinates=["z"], offset=[0], actuated=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        robot = builder.build()
        assert kt.from_text(json.dumps(text)) == robot
    written = json.loads(kt.to_text(robot))
    assert written.pop("couplings") == [{**text["couplings"][0], "offset": [0.0]}]  # type: ignore[index]
    assert written == {key: value for key, value in text.items() if key != "couplings"}


def test_limits_that_are_missing_are_none() -> None:
    robot = one_joint(kt.Revolute([0, 0, 1]), limits=replace(Limits.none(kt.Revolute([0, 0, 1])), effort=(5.0,)))
    assert json.loads(kt.to_text(robot))["joints"][0]["limits"] == {"effort": [5.0]}
    assert came_back(robot).joints["j"].limits == Limits((-math.inf,), (math.inf,), (math.inf,), (5.0,))
