"""Arguments of wrong types, sizes and names are refused with a message for people, never by an accident inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.expr import Scalar
from kinetree.joints import JointKind
from kinetree.spatial import Inertia, Transform, Vec3

from .bodies import ball


def _sort(wrong: object) -> str:
    """A name for a case that is the same in every process."""
    return type(wrong).__name__


Z = kt.Revolute([0, 0, 1])
TURN = np.array(kt.lie.placement(rpy=(1, 1, 1)).E.components()).reshape(3, 3)
WITH_AXIS: dict[str, Callable[[Any], JointKind]] = {
    "Revolute": kt.Revolute,
    "Continuous": kt.joints.Continuous,
    "Prismatic": kt.Prismatic,
    "Helical": lambda axis: kt.joints.Helical(axis, 0.1),
    "Cylindrical": kt.joints.Cylindrical,
    "Planar": kt.joints.Planar,
    "Universal, first": lambda axis: kt.joints.Universal(axis, [0, 1, 0]),
    "Universal, second": lambda axis: kt.joints.Universal([1, 0, 0], axis),
    "Screw, angular": lambda axis: kt.joints.Screw(angular=axis, linear=[0, 0, 1]),
    "Screw, linear": lambda axis: kt.joints.Screw(angular=[0, 0, 1], linear=axis),
}
NO_AXES = ["x", "123", b"abc", None, 3, True, [1, 2], [], [[1, 0, 0]], ["1", "0", "0"], {}, {1: 0, 2: 0, 3: 0}]
NO_AXES += [{1, 2, 3}, object(), [1j, 0, 0], [10**400, 0, 0], np.zeros((3, 3)), np.array(5.0)]


def builder() -> kt.ModelBuilder:
    made = kt.ModelBuilder("arm")
    for name in ("base", "a body", "b body"):
        made.add_body(name, ball())
    made.add_joint("a", Z, "base", "a body")
    return made


def arm(kind: JointKind = Z, **options: Any) -> kt.Model:
    made = builder()
    made.add_joint("b", kind, "a body", "b body", **options)
    return made.build()


def couple(**changes: Any) -> kt.Model:
    made = builder()
    made.add_joint("b", Z, "a body", "b body")
    made.add_coupling(**{"name": "pair", "joints": ["a", "b"], "matrix": [[1], [2]], "coordinates": ["s"], **changes})
    return made.build()


def extended(method: str, *given: Any, **options: Any) -> kt.Model:
    """An arm with a third body, and one more call of a method of the builder."""
    made = builder()
    made.add_joint("b", Z, "a body", "b body")
    getattr(made, method)(*given, **options)
    return made.build()


def refused(call: Callable[[], Any], *words: str, error: type[Exception] = kt.errors.ModelError) -> None:
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("axis", NO_AXES, ids=_sort)
@pytest.mark.parametrize("name", WITH_AXIS)
def test_a_wrong_axis_is_refused_by_every_kind_that_has_one(name: str, axis: Any) -> None:
    refused(lambda: WITH_AXIS[name](axis), " must be three numbers, not ")


@pytest.mark.parametrize("name", WITH_AXIS)
def test_an_axis_may_be_an_array_or_made_of_numpys_numbers(name: str) -> None:
    make = WITH_AXIS[name]
    expected = make([0.6, 0.0, 0.8])
    assert make(np.array([0.6, 0.0, 0.8])) == make(tuple(map(np.float64, (0.6, 0.0, 0.8)))) == expected
    single = make([np.float32(1.0), np.float32(0.0), np.float32(2.0)])
    assert single == make([1.0, 0.0, 2.0])
    assert all(
        type(x) is float for vector in vars(single).values() if isinstance(vector, Vec3) for x in vector.components()
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"limits": 3}, ["its limits must be Limits(lower, upper, velocity, effort), not 3"]),
        ({"limits": "x"}, ["its limits must be Limits"]),
        ({"limits": (1, 2, 3)}, ["its limits must be Limits"]),
        ({"limits": kt.model.Limits(1, 2, 3, 4)}, ["its lower limits must be a sequence of numbers, not 1"]),  # type: ignore[arg-type]
        ({"limits": kt.model.Limits((0.0,), None, (1.0,), (1.0,))}, ["its upper limits", "not None"]),  # type: ignore[arg-type]
        ({"limits": kt.model.Limits((0.0,), (1.0,), "1", (1.0,))}, ["its velocity limits", "not '1'"]),  # type: ignore[arg-type]
        ({"limits": kt.model.Limits((0.0,), (1.0,), (1.0,), np.array(3.0))}, ["its effort limits"]),  # type: ignore[arg-type]
        ({"limits": kt.model.Limits((0.0,), ("1",), (1.0,), (1.0,))}, ["has '1' among its upper limits"]),  # type: ignore[arg-type]
        ({"limits": kt.model.Limits(np.zeros((1, 2)), (1.0,), (1.0,), (1.0,))}, ["among its lower limits"]),  # type: ignore[arg-type]
        ({"limits": kt.model.Limits((0.0,), (10**400,), (1.0,), (1.0,))}, ["has nan among its upper limits"]),
        ({"mimic": "a"}, ["it needs mimic=kinetree.model.Mimic('a')"]),
        ({"mimic": 3}, ["its mimic must be a Mimic", "not 3"]),
        ({"mimic": kt.model.Mimic(3)}, ["its mimic must name the joint that it follows, not 3"]),  # type: ignore[arg-type]
        ({"mimic": kt.model.Mimic(["a"])}, ["its mimic must name the joint that it follows, not ['a']"]),  # type: ignore[arg-type]
        ({"mimic": kt.model.Mimic("a", "2")}, ["the multiplier of its mimic must be a number, not '2'"]),  # type: ignore[arg-type]
        ({"mimic": kt.model.Mimic("a", None)}, ["the multiplier of its mimic must be a number, not None"]),  # type: ignore[arg-type]
        ({"mimic": kt.model.Mimic("a", 1.0, [0])}, ["the offset of its mimic must be a number, not [0]"]),  # type: ignore[arg-type]
        ({"mimic": kt.model.Mimic("a", 10**400)}, ["multiplier or an offset that is not finite"]),
        ({"placement": np.eye(3)}, ["its placement must be a Transform, such as", "an array (4, 4), not", "(3, 3)"]),
        ({"placement": 0}, ["its placement must be a Transform, such as", "not 0"]),
        ({"placement": Transform(3, Vec3.zero())}, ["its placement has entries that are not numbers"]),  # type: ignore[arg-type]
        ({"rotor": 3}, ["give a Rotor(inertia, ratio)"]),
        ({"rotor": kt.model.Rotor(1e300, 1e300)}, ["ratio² inertia overflows"]),
        ({"rotor": kt.model.Rotor(10**400, 1.0)}, ["a rotor whose inertia is nan"]),
        ({"rotor": kt.model.Rotor("1", 1.0)}, ["a rotor whose inertia is '1'"]),  # type: ignore[arg-type]
        ({"rotor": kt.model.Rotor(1.0, 1.0, 5)}, ["give three numbers of length one"]),  # type: ignore[arg-type]
        ({"rotor": kt.model.Rotor(1.0, 1.0, np.array(5.0))}, ["give three numbers of length one"]),  # type: ignore[arg-type]
        ({"rotor": kt.model.Rotor(1.0, 1.0, np.eye(3))}, ["give three numbers of length one"]),  # type: ignore[arg-type]
        ({"damping": "1"}, ["damping must be a sequence of numbers, not '1'"]),
        ({"damping": ["1"]}, ["damping must be a sequence of numbers, not ['1']"]),
        ({"damping": {1.0}}, ["damping must be a sequence of numbers"]),
        ({"damping": [10**400]}, ["damping must be a sequence of numbers"]),
    ],
    ids=_sort,
)
def test_what_a_joint_cannot_have_is_refused_by_its_name(options: dict[str, Any], words: Sequence[str]) -> None:
    refused(lambda: arm(**options), "joint 'b'", *words)


@pytest.mark.parametrize("wrong", [3, None, ["base"], np.zeros(3)], ids=_sort)
def test_bodies_are_named_by_strings(wrong: Any) -> None:
    def joint(*names: Any) -> None:
        builder().add_joint("x", Z, *names)

    refused(lambda: joint(wrong, "base"), "joint 'x': its parent must be the name of a body, not ")
    refused(lambda: joint("base", wrong), "joint 'x': its child must be the name of a body, not ")
    frame = lambda: builder().add_frame("tip", wrong, Transform.identity())  # noqa: E731
    refused(frame, "frame 'tip': its body must be the name of a body, not ")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"joints": ["a", 3]}, ["its joints must be a list of names", "not ['a', 3]"]),
        ({"joints": ["a", ["b"]]}, ["its joints must be a list of names"]),
        ({"joints": 3}, ["its joints must be a list of names", "not 3"]),
        ({"joints": None}, ["its joints must be a list of names", "not None"]),
        ({"joints": {"a", "b"}}, ["its joints must be a list of names"]),
        ({"joints": b"ab"}, ["its joints must be a list of names"]),
        ({"coordinates": 3}, ["its coordinates must be a list of names", "not 3"]),
        ({"coordinates": [3]}, ["its coordinates must be a list of names", "not [3]"]),
        ({"coordinates": None}, ["its coordinates must be a list of names"]),
        ({"matrix": [1, 2]}, ["a row of its matrix must be a sequence of numbers, not 1"]),
        ({"matrix": "12"}, ["a row of its matrix must be a sequence of numbers"]),
        ({"name": "a"}, ["coupling 'a' has the name of joint 'a'; rename one"]),
    ],
    ids=_sort,
)
def test_what_a_coupling_cannot_have_is_refused_by_its_name(changes: dict[str, Any], words: Sequence[str]) -> None:
    refused(lambda: couple(**changes), f"coupling {changes.get('name', 'pair')!r}", *words)


@pytest.mark.parametrize(
    ("method", "given", "options", "words"),
    [
        ("add_parts", (3,), {}, ["add_parts takes the parts of a robot, Model.parts, not 3"]),
        ("add_parts", (None,), {}, ["not None"]),
        ("add_body", ("c",), {"geometry": 5}, ["body 'c': its geometry must be a list of Geometry, not 5"]),
        ("add_body", ("c",), {"geometry": [3]}, ["body 'c': its geometry must be a list of Geometry, not [3]"]),
        ("add_body", ("c",), {"geometry": "box"}, ["body 'c': its geometry must be a list of Geometry"]),
        ("add_body", ("c",), {"geometry": np.zeros(2)}, ["body 'c': its geometry must be a list of Geometry"]),
        ("add_body", ("c", Inertia(1.0, (0, 0, 0), (1, 1, 1, 0, 0, 0))), {}, ["body 'c'", "a Vec3 as h"]),  # type: ignore[arg-type]
        ("add_body", ("c", Inertia(1.0, Vec3.zero(), 3)), {}, ["body 'c'", "a Sym3 as I"]),  # type: ignore[arg-type]
        ("add_body", ("c", 0), {}, ["body 'c': its inertia must be an Inertia, not 0"]),
        (
            "add_frame",
            ("tip", "base", None),
            {},
            ["frame 'tip': its placement must be a Transform, such as", "not None"],
        ),
        ("note", (3,), {}, ["a note must be a sentence, a string, not 3"]),
        ("suspect", ("robot.xml:3", 3), {}, ["robot.xml:3: the suspicion must be a sentence, a string, not 3"]),
    ],
)
def test_other_wrong_parts_are_refused(
    method: str, given: tuple[Any, ...], options: dict[str, Any], words: Sequence[str]
) -> None:
    refused(lambda: extended(method, *given, **options), *words)


def test_numbers_of_numpy_become_pythons() -> None:
    rotor = kt.model.Rotor(np.float64(1e-4), np.float32(2), np.array([0, 0, 1]))  # type: ignore[arg-type]
    limits = kt.model.Limits(np.array([-1.0]), [np.float32(1)], (2,), (np.int64(3),))  # type: ignore[arg-type]
    robot = arm(rotor=rotor, limits=limits, damping=np.array([0.5]))
    joint = robot.joints["b"]
    assert joint.rotor == kt.model.Rotor(1e-4, 2.0, (0.0, 0.0, 1.0))
    assert joint.rotor is not None
    assert joint.rotor.axis is not None
    assert joint.limits == kt.model.Limits((-1.0,), (1.0,), (2.0,), (3.0,))
    numbers = [joint.rotor.inertia, joint.rotor.ratio, *joint.rotor.axis, *joint.limits.lower, *joint.limits.upper]
    assert all(type(x) is float for x in [*numbers, *joint.limits.velocity, *joint.limits.effort, *joint.damping])
    assert kt.from_text(kt.to_text(robot)) == robot
    follower = arm(mimic=kt.model.Mimic("a", np.float32(2), np.int64(1))).joints["b"].mimic  # type: ignore[arg-type]
    assert follower == kt.model.Mimic("a", 2.0, 1.0)
    assert follower is not None
    assert type(follower.multiplier) is type(follower.offset) is float


class Cam(JointKind):
    """A hinge, to be spoiled."""

    nq = nv = 1

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> kt.joints.JointMotion:
        return Z.calc(q, v)


def spoiled(**attributes: Any) -> JointKind:
    return type("Cam", (Cam,), attributes)()  # type: ignore[no-any-return]


def _raises(_: Any) -> Any:
    raise KeyError("nothing here")


def test_an_unspoiled_kind_is_accepted() -> None:
    assert arm(Cam()).q_names == ["a", "b"]
    assert arm(spoiled(q_names=("angle",), q_units=["rad"], description="cam")).q_names == ["a", "b.angle"]


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"q_units": 3}, "its q_units must be a tuple of strings, one a coordinate, not 3"),
        ({"q_units": ("m", "m")}, "its q_units must be 1 in number, one a coordinate, not 2"),
        ({"q_units": (3,)}, "its q_units must be a tuple of strings"),
        ({"q_names": 3}, "its q_names must be a tuple of strings"),
        ({"q_names": "a"}, "its q_names must be a tuple of strings"),
        ({"q_names": ["a", "b"]}, "its q_names must be 1 in number"),
        ({"q_names": ()}, "its q_names must be 1 in number"),
        ({"v_names": None}, "its v_names must be a tuple of strings, one a degree of freedom, not None"),
        ({"v_names": ("a", "b")}, "its v_names must be 1 in number, one a degree of freedom"),
        ({"description": 3}, "its description must be a string, not 3"),
        ({"quaternions": 3}, "its quaternions must be a tuple of the places"),
        ({"quaternions": (0,)}, "its quaternions must be a tuple of the places"),
        ({"q_names": property(_raises)}, "its q_names raised KeyError: 'nothing here'"),
        ({"q_names": _raises}, "its q_names must be a tuple of strings"),
    ],
    ids=_sort,
)
def test_a_kind_with_wrong_names_is_refused_by_the_joints_name(attributes: dict[str, Any], words: str) -> None:
    refused(lambda: arm(spoiled(**attributes)), "joint 'b': ", words)


def test_names_within_a_kind_differ() -> None:
    kind = type("Twin", (kt.joints.Universal,), {"q_names": ("x", "x")})([1, 0, 0], [0, 1, 0])
    refused(lambda: arm(kind), "joint 'b': its q_names must differ from each other")


@pytest.mark.parametrize("wrong", ["no", 0, 1.0, [True]], ids=_sort)
def test_floating_base_is_true_or_false(wrong: Any) -> None:
    refused(lambda: builder_of_one().build(floating_base=wrong), "floating_base must be", error=kt.errors.OptionError)


def builder_of_one() -> kt.ModelBuilder:
    made = kt.ModelBuilder("ball")
    made.add_body("ball", ball())
    return made


def test_numpys_true_makes_a_floating_base() -> None:
    robot = builder_of_one().build(floating_base=np.bool_(True))  # type: ignore[arg-type]
    assert robot.floating_base is True
    assert robot == builder_of_one().build(floating_base=True)


@pytest.mark.parametrize("first", ["ball", "ball.qx"])
def test_two_coordinates_of_one_name_are_refused(first: str) -> None:
    kinds = {"ball": kt.joints.Spherical(), "ball.qx": Z}
    order = [first, *(name for name in kinds if name != first)]
    made = kt.ModelBuilder("arm")
    made.add_body("base", ball())
    for name in order:
        made.add_body(f"{name} body", ball())
        made.add_joint(name, kinds[name], "base", f"{name} body")
    refused(made.build, "joint 'ball' and joint 'ball.qx' both have coordinates named 'ball.qx'; rename one of them")


def test_two_degrees_of_freedom_of_one_name_are_refused() -> None:
    made = builder()
    v_name = kt.joints.Spherical().v_names[0]
    made.add_joint("s", kt.joints.Spherical(), "a body", "b body")
    made.add_body("c body", ball())
    made.add_joint(f"s.{v_name}", Z, "b body", "c body")
    assert v_name not in kt.joints.Spherical().q_names
    refused(made.build, f"joint 's' and joint 's.{v_name}' both have degrees of freedom named 's.{v_name}'")


def test_coordinates_of_a_coupling_meet_those_of_joints_and_couplings() -> None:
    made = builder()
    made.add_joint("b", Z, "a body", "b body")
    for name in ("pair.s", "d"):
        made.add_body(f"{name} body", ball())
        made.add_joint(name, Z, "base", f"{name} body")
    made.add_coupling("pair", ["a", "b"], [[1], [2]], coordinates=["s"])
    refused(made.build, "coupling 'pair' and joint 'pair.s' both have coordinates named 'pair.s'")
    made.add_coupling("pair.s", ["pair.s", "d"], [[1], [2]], coordinates=[""])
    refused(made.build, "coupling 'pair.s' has the name of joint 'pair.s'")


def test_a_coordinate_of_a_coupling_may_have_no_name() -> None:
    assert couple(coordinates=[""]).q_names == ["pair"]


def test_names_that_a_follower_or_a_coupled_joint_does_not_use_are_free() -> None:
    made = builder()
    made.add_joint("b", kt.joints.Spherical(), "a body", "b body")
    made.add_body("c body", ball())
    made.add_joint("b.qx", Z, "b body", "c body", mimic=kt.model.Mimic("a"))
    robot = made.build()
    assert robot.q_names == ["a", "b.qx", "b.qy", "b.qz", "b.qw"]


def test_a_coupling_does_not_take_the_name_of_a_floating_base() -> None:
    made = builder()
    made.add_joint("b", Z, "a body", "b body")
    made.add_coupling("root_joint", ["a", "b"], [[1], [2]], coordinates=["s"])
    robot = made.build(floating_base=True)
    assert next(iter(robot.joints)) == "root_joint_"
    assert len(set(robot.q_names)) == robot.nq == 8


@pytest.mark.parametrize("order", [5, None, True, "a", b"a", {"a", "b"}, np.array(5.0)], ids=_sort)
def test_an_order_of_joints_that_is_no_list_is_refused(order: Any) -> None:
    if order is None:
        assert kt.interop.Layout(arm(), "mujoco", joint_order=None).joint_order == ("a", "b")
        return
    refused(
        lambda: kt.interop.Layout(arm(), "mujoco", joint_order=order),
        "joint_order is a list",
        error=kt.errors.DTypeError,
    )


@pytest.mark.parametrize("order", [[["a"]], [3, "a"], [None], np.eye(2)], ids=_sort)
def test_an_order_of_joints_that_are_no_names_is_refused(order: Any) -> None:
    refused(
        lambda: kt.interop.Layout(arm(), "mujoco", joint_order=order),
        "no such joint",
        error=kt.errors.NameNotFoundError,
    )


@pytest.mark.parametrize("path", [None, 3, ["a.stl"], b"a.stl"], ids=_sort)
def test_the_path_of_a_mesh_is_a_path(path: Any) -> None:
    pytest.importorskip("trimesh")
    refused(lambda: kt.solids.mesh_file(path, mass=1.0), "mesh_file takes the path", error=kt.errors.DTypeError)
    refused(lambda: kt.solids.mesh_file(Path("no such.stl"), mass=1.0), "there is no such file")


@pytest.mark.parametrize(
    "call",
    [
        lambda: kt.solids.inertia(1.0, (0, 0, 0), np.eye(3), about=(1e308, 0, 0)),
        lambda: kt.solids.inertia(1.0, (1e200, 0, 0), np.eye(3)),
        lambda: kt.solids.inertia(1e308, (0, 0, 0), np.eye(3), about=(1e3, 0, 0)),
        lambda: kt.solids.inertia(1.0, (0, 0, 0), 1.7e308 * np.ones((3, 3)), axes=TURN),
        lambda: kt.solids.sphere(1e200, density=1.0),
        lambda: kt.solids.capsule(1e-200, 1e-200, density=1.0),
        lambda: kt.solids.box("1", 1.0, 1.0, mass=1.0),  # type: ignore[arg-type]
        lambda: kt.solids.box(1.0, 1.0, 10**400, mass=1.0),
    ],
)
def test_solids_of_no_size_or_an_endless_one_are_refused(call: Callable[[], Any]) -> None:
    refused(call, error=kt.errors.OptionError)


def test_a_mesh_that_overflows_is_refused() -> None:
    corners = 1e200 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    refused(lambda: kt.solids.mesh(corners, faces, mass=1.0), "1e+200 m", "overflows")


def test_solids_take_numbers_of_numpy() -> None:
    two, half = np.float32(2.0), np.float64(0.5)
    assert kt.solids.sphere(half, mass=two) == kt.solids.sphere(0.5, mass=2.0)  # type: ignore[arg-type]
    assert kt.solids.inertia(two, np.zeros(3, np.float32), np.eye(3)) == kt.solids.inertia(2.0, (0, 0, 0), np.eye(3))  # type: ignore[arg-type]


def test_numpys_true_and_false_switch_passive_forces_and_limits() -> None:
    robot = kt.zoo.load("cart_pole")
    state: tuple[Any, ...] = ([0.1, 0.2], [2.0, 1.0], [80.0, 0.0])
    for on in (True, False):
        given = kt.aba(robot, *state, passive=np.bool_(on), limits=np.bool_(on))  # type: ignore[arg-type]
        assert given.tolist() == kt.aba(robot, *state, passive=on, limits=on).tolist()
