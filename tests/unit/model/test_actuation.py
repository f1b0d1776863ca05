"""Which degrees of freedom have a motor: what is declared, kept by changes and text, and refused."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.joints import JointKind
from kinetree.model import Joint
from kinetree.model.changes.images import Image
from kinetree.model.changes.mirror import _check_motors
from kinetree.model.fingerprint import fingerprint
from tests.unit.model.bodies import ball, shift

Z = [0, 0, 1]


def robot(kind: JointKind | None = None, *, floating_base: bool = False, **options: Any) -> kt.Model:
    builder = kt.ModelBuilder("robot")
    builder.add_body("base", ball())
    builder.add_body("arm", ball(com=(0.1, 0.0, 0.0)))
    builder.add_joint("j", kind or kt.Revolute(Z), "base", "arm", shift(0.1), **options)
    return builder.build(floating_base=floating_base)


def hand(fingers: Any = None, wrist: Any = None, **floating: bool) -> kt.Model:
    """A passive elbow, a wrist, a finger that follows the wrist, and two fingers that share coordinates."""
    builder = kt.ModelBuilder("hand")
    names = ("elbow", "wrist", "first", "left", "right")
    builder.add_body("palm", ball())
    for k, name in enumerate(names, 1):
        builder.add_body(f"{name} body", ball(com=(0.1, 0.0, 0.0)))
        options: dict[str, Any] = {"elbow": {"actuated": False}, "first": {"mimic": kt.model.Mimic("wrist", 2.0)}}.get(
            name, {}
        )
        if name == "wrist":
            options = {"actuated": wrist}
        builder.add_joint(name, kt.Revolute(Z), "palm", f"{name} body", shift(0.1 * k), **options)
    builder.add_coupling(
        "fingers", ["left", "right"], [[1, 1], [1, -1]], coordinates=["pitch", "roll"], actuated=fingers
    )
    return builder.build(**floating)


def motors(robot: kt.Model) -> dict[str, bool]:
    return dict(zip(robot.v_names, robot.actuated.tolist(), strict=True))


def test_every_joint_has_a_motor_unless_it_is_said_otherwise() -> None:
    assert robot().actuated.tolist() == [True]
    assert robot(actuated=False).actuated.tolist() == [False]
    assert robot(kt.joints.Spherical()).joints["j"].actuated == (True, True, True)
    planar = robot(kt.joints.Planar(), actuated=[True, np.False_, True])
    assert planar.actuated.tolist() == [True, False, True]
    assert planar.joints["j"].actuated == (True, False, True)


def test_a_floating_base_has_none() -> None:
    floating = robot(floating_base=True)
    assert floating.actuated.tolist() == [False] * 6 + [True]
    assert floating.joints["root_joint"].actuated == (False,) * 6


FREE = [
    kt.Free(),
    kt.joints.FloatingBase(),
    kt.joints.FreeRPY(),
    kt.joints.Placed(kt.Free(), shift(0.1)),
    kt.Free().reversed(),
]


@pytest.mark.parametrize("kind", FREE, ids=repr)
def test_nor_has_a_free_joint_unless_it_is_said_so(kind: JointKind) -> None:
    assert not robot(kind).actuated.any()
    assert robot(kind, actuated=True).actuated.all()


def test_couplings_say_it_of_their_coordinates_and_followers_have_none() -> None:
    usual = {"elbow": False, "wrist": True, "fingers.pitch": True, "fingers.roll": True}
    assert motors(hand()) == usual
    assert motors(hand(fingers=[True, False])) == {**usual, "fingers.roll": False}
    joints = hand().joints
    assert {name: joint.actuated for name, joint in joints.items()} == {
        "elbow": (False,), "wrist": (True,), "first": (False,), "left": (False,), "right": (False,)
    }  # fmt: skip
    assert hand(fingers=False).couplings["fingers"].actuated == (False, False)


def test_the_selection_matrix_takes_motor_torques_to_forces() -> None:
    robot = hand(fingers=[False, True], floating_base=True)
    S = robot.selection_matrix
    assert S.shape == (2, 10)
    np.testing.assert_array_equal(S @ S.T, np.eye(2))
    np.testing.assert_array_equal(S.T @ S, np.diag(robot.actuated))
    tau = S.T @ [3.0, 4.0]
    assert dict(zip(robot.v_names, tau, strict=True)) | {"wrist": 3.0, "fingers.roll": 4.0} == dict(
        zip(robot.v_names, tau, strict=True)
    )
    robot.check_actuation(tau)


def test_a_robot_without_motors_or_joints_has_an_empty_selection_matrix() -> None:
    assert robot(actuated=False).selection_matrix.shape == (0, 1)
    builder = kt.ModelBuilder("rock")
    builder.add_body("rock", ball())
    rock = builder.build()
    assert rock.selection_matrix.shape == (0, 0)
    rock.check_actuation([])


def test_the_flags_cannot_be_changed() -> None:
    flags = robot().actuated
    with pytest.raises(ValueError, match="read-only"):
        flags[0] = False


def test_robots_with_other_motors_are_other_robots() -> None:
    one, other = robot(), robot(actuated=False)
    assert one != other
    assert fingerprint(one) != fingerprint(other)
    assert hand() != hand(fingers=False)
    assert robot(actuated=True) == one == robot(actuated=[True])
    assert fingerprint(robot(actuated=True)) == fingerprint(one)
    assert hand(fingers=[True, True]) == hand()
    for again in (pickle.loads(pickle.dumps(other)), copy.deepcopy(other)):
        assert again == other
        assert not again.actuated.any()


def test_a_robot_s_description_names_what_has_none() -> None:
    assert "without a motor: elbow, fingers.roll\n" in f"{hand(fingers=[True, False], floating_base=True)!r}\n"
    assert "without a motor: elbow, fingers\n" in f"{hand(fingers=False)!r}\n"
    assert "motor" not in repr(robot(floating_base=True))


# -- text


@pytest.mark.parametrize("given", [None, True, False, [True, False, True]])
def test_the_text_form_has_what_is_not_usual(given: Any) -> None:
    planar = robot(kt.joints.Planar(), actuated=given)
    text = kt.to_text(planar)
    written = json.loads(text)["joints"][0]
    assert written.get("actuated") == (None if given is True else given)
    again = kt.from_text(text)
    assert again == planar
    assert kt.to_text(again) == text


def test_a_motor_on_a_free_joint_is_in_the_text() -> None:
    free = robot(kt.Free(), actuated=True)
    assert '"actuated": true' in kt.to_text(free)
    assert kt.from_text(kt.to_text(free)).actuated.all()
    assert "actuated" not in kt.to_text(robot(kt.Free()))


@pytest.mark.parametrize("given", [False, [True, False]])
def test_so_are_those_of_couplings(given: Any) -> None:
    robot = hand(fingers=given)
    assert json.loads(kt.to_text(robot))["couplings"][0]["actuated"] == given
    assert kt.from_text(kt.to_text(robot)) == robot


def test_a_follower_that_is_read_as_a_joint_of_its_own_has_a_motor(tmp_path: Path) -> None:
    path = kt.save(hand(), tmp_path / "hand.json")
    assert "first" not in motors(kt.load(path))
    assert motors(kt.load(path, mimic=False))["first"]


@pytest.mark.parametrize("given", [1, "true", None, [True, 1], {}])
def test_a_text_says_true_or_false(given: Any) -> None:
    text = json.loads(kt.to_text(robot()))
    text["joints"][0]["actuated"] = given
    with pytest.raises(kt.errors.ModelError, match=r"joints\[0\]\.actuated(\[1\])?:? must be true or false"):
        kt.from_text(json.dumps(text))


# -- changes


def test_changes_keep_it() -> None:
    planar = robot(kt.joints.Planar(), actuated=[True, False, False])
    for changed in (
        planar.mirrored("x"),
        planar.scaled(2.0),
        planar.rerooted("arm"),
        planar.in_principal_axes(),
        planar.attach_body("load", ball(), "arm"),
        kt.ModelBuilder.of(planar).build(),
        kt.model.merge([planar], name="world"),
    ):
        assert changed.actuated.tolist() == [True, False, False]
    full = hand(fingers=[False, True])
    assert motors(full.lock("wrist")) == {"elbow": False, "fingers.pitch": False, "fingers.roll": True}
    assert motors(full.lock("fingers")) == {"elbow": False, "wrist": True}
    assert motors(full.remove("elbow body")) == {"wrist": True, "fingers.pitch": False, "fingers.roll": True}
    assert motors(full.mirrored(rename=("left", "right"))) == motors(full)
    both = full.attach(planar, "palm", prefix="p_")
    assert both.actuated.tolist() == [False, True, False, True, True, False, False]


def test_a_free_base_stays_without_motors_where_a_change_makes_it_a_joint_of_its_own() -> None:
    dog = kt.zoo.load("quadruped")
    for changed in (kt.model.merge([dog, dog], name="two", prefixes=["a_", "b_"]), dog.in_principal_axes()):
        np.testing.assert_array_equal(changed.actuated, np.tile(dog.actuated, changed.nv // dog.nv))
    assert dog.lock("root_joint").actuated.all()
    assert not robot().rerooted("arm", floating_base=True).actuated[:6].any()
    assert not robot().attach_body("ball", ball(), "arm", joint=kt.Free()).actuated[1:].any()


def test_a_ball_that_is_turned_round_keeps_all_motors_or_none() -> None:
    for flag in (True, False):
        assert robot(kt.joints.Spherical(), actuated=flag).rerooted("arm").actuated.tolist() == [flag] * 3
    with pytest.raises(
        kt.errors.ModelError, match="joint 'j' has motors on some of the degrees of freedom that it loses"
    ):
        robot(kt.joints.Spherical(), actuated=[True, False, False]).rerooted("arm")


def test_a_ball_in_a_mirror_keeps_each_motor_unless_the_mirror_mixes_them() -> None:
    ball = robot(kt.joints.Spherical(), actuated=[True, False, False])
    assert ball.mirrored("z").actuated.tolist() == [True, False, False]
    (spec,) = ball.parts.joints
    exchanged = Image(spec.kind, spec.kind, np.eye(3)[[1, 0, 2]])
    with pytest.raises(
        kt.errors.ModelError, match=r"joint 'j' .* has motors on some .* not simply turned round in a mirror"
    ):
        _check_motors(spec, exchanged)


def test_motors_can_be_given_and_taken() -> None:
    full = hand()
    changed = full.with_actuation({"elbow": True, "wrist": False, "fingers": [True, False]})
    assert motors(changed) == {"elbow": True, "wrist": False, "fingers.pitch": True, "fingers.roll": False}
    assert changed.notes[0] == "actuation changed: 'elbow' True; 'wrist' False; 'fingers' [True, False]"
    assert changed.with_actuation({"elbow": False, "wrist": True, "fingers": True}) == full
    assert full.with_actuation({}) == full


REFUSED = {
    "a follower": ({"first": True}, kt.errors.ModelError, "joint 'first' mimics 'wrist'; name that joint instead"),
    "a coupled joint": ({"left": True}, kt.errors.ModelError, "name coupling 'fingers' instead"),
    "a floating base": ({"root_joint": True}, kt.errors.ModelError, "'root_joint' is the joint of a floating base"),
    "a fixed joint": ({"glue": True}, kt.errors.ModelError, "joint 'glue' is fixed and has no motor"),
    "a wrong name": ({"wrst": True}, kt.errors.NameNotFoundError, "no joint or coupling 'wrst': .*'wrist'"),
    "a number": ({3: True}, kt.errors.NameNotFoundError, "no joint or coupling 3"),
    "a list of names": (["wrist"], kt.errors.ModelError, "takes True or False by name"),
    "too many": (
        {"wrist": [True, False]},
        kt.errors.ModelError,
        r"'wrist' needs one flag per degree of freedom \(1\), not 2",
    ),
    "numbers": (
        {"wrist": [1.0]},
        kt.errors.ModelError,
        "'wrist' must be True, False or one of them per degree of freedom",
    ),
}


@pytest.mark.parametrize(("given", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_other_names_and_flags_are_refused(given: Any, error: type[Exception], message: str) -> None:
    builder = kt.ModelBuilder.of(hand())
    builder.add_body("nail", ball())
    builder.add_joint("glue", kt.Fixed(), "palm", "nail")
    with pytest.raises(error, match=message):
        builder.build(floating_base=True).with_actuation(given)


@pytest.mark.parametrize("given", [1, "yes", [True, 1, False], {True}, np.ones(3), 3.0])
def test_a_builder_takes_true_and_false(given: Any) -> None:
    with pytest.raises(
        kt.errors.ModelError, match=r"file 3: joint 'j': actuated must be True, False or one of them per .*\(3\)"
    ):
        robot(kt.joints.Planar(), actuated=given, where="file 3")


def test_a_builder_takes_as_many_as_there_are_degrees_of_freedom() -> None:
    with pytest.raises(
        kt.errors.ModelError, match=r"joint 'j': actuated needs one flag per degree of freedom \(3\), not 2"
    ):
        robot(kt.joints.Planar(), actuated=[True, False])
    with pytest.raises(kt.errors.ModelError, match=r"coupling 'fingers': actuated needs one flag .* \(2\), not 3"):
        hand(fingers=[True] * 3)


def test_motors_of_followers_and_coupled_joints_belong_elsewhere() -> None:
    builder = kt.ModelBuilder("two")
    for name in ("base", "a", "b"):
        builder.add_body(name, ball())
    builder.add_joint("a", kt.Revolute(Z), "base", "a", actuated=False)
    builder.add_joint("b", kt.Revolute(Z), "base", "b", mimic=kt.model.Mimic("a"), actuated=True)
    with pytest.raises(
        kt.errors.ModelError, match="joint 'b' mimics 'a', so a motor acts on that joint; leave out actuated"
    ):
        builder.build()
    coupled = kt.ModelBuilder.of(hand(wrist=False).remove("first body"))
    coupled.add_coupling("both", ["wrist"], [[2]], coordinates=["z"])
    with pytest.raises(
        kt.errors.ModelError, match="coupling 'both' couples 'wrist', which has actuated=False; motors act on"
    ):
        coupled.build()


# -- the check of forces


def test_forces_on_what_has_no_motor_are_refused_with_their_place() -> None:
    dog = kt.zoo.load("quadruped")
    tau = np.zeros((4, 2, dog.nv))
    tau[..., 6:] = 1.0
    dog.check_actuation(tau)
    tau[3, 1, 2] = -0.5
    with pytest.raises(kt.errors.ActuationError) as raised:
        dog.check_actuation(tau)
    assert str(raised.value) == (
        "tau[3, 1, 2] is -0.5, but 'root_joint.vz' of 'quadruped' has no motor, as the base floats; give 0 there, and "
        "forces from outside as f_ext, by frame name, kt.dynamics.WrenchOn or kt.dynamics.ForceOn"
    )
    with pytest.raises(
        kt.errors.ActuationError, match=r"u\[0\] is 1, but 'elbow' of .*robot.with_actuation\({'elbow': True}\)"
    ):
        hand().check_actuation([1, 2, 3, 4], "u")
    with pytest.raises(
        kt.errors.ActuationError, match=r"\[3\] is nan, but 'fingers.roll' .*with_actuation\({'fingers': True}"
    ):
        hand(fingers=[True, False]).check_actuation([0, 2, 3, np.nan])
    with pytest.raises(kt.errors.ShapeError, match=r"tau has shape \(3,\)"):
        hand().check_actuation([1, 2, 3])


def test_forward_dynamics_refuses_them_on_request() -> None:
    dog = kt.zoo.load("quadruped")
    q, v, tau = dog.neutral(), np.zeros(dog.nv), np.zeros((5, dog.nv))
    tau[2, 4] = 1.0
    allowed = kt.aba(dog, q, v, tau)
    np.testing.assert_array_equal(kt.aba(dog, q, v, tau, on_unactuated="allow"), allowed)
    for function in (kt.aba, kt.forward_dynamics):
        with pytest.raises(kt.errors.ActuationError, match=r"tau\[2, 4\] is 1, but 'root_joint.wy'"):
            function(dog, q, v, tau, on_unactuated="error")
    driven = tau * dog.actuated
    np.testing.assert_array_equal(kt.aba(dog, q, v, driven, on_unactuated="error"), kt.aba(dog, q, v, driven))


@pytest.mark.parametrize("value", ["ignore", None, True, np.zeros(2)])
def test_it_is_one_of_two_words(value: Any) -> None:
    with pytest.raises(kt.errors.OptionError, match='on_unactuated must be "allow" or "error"'):
        kt.aba(robot(), [0.0], [0.0], [0.0], on_unactuated=value)


def test_joints_have_drives_whether_or_not_they_have_a_motor() -> None:
    passive = robot(actuated=False, damping=[0.1])
    assert [joint.name for joint in passive.driven_joints] == ["j"]
    assert isinstance(passive.joints["j"], Joint)
