"""Locking joints: who goes along, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.model import Rotor
from kinetree.model.fingerprint import fingerprint
from kinetree.spatial import Transform
from tests.laws.reference import close, reference
from tests.unit.model.bodies import ball, shift


def hand(floating_base: bool = False) -> kt.Model:
    """A wrist, two coupled fingers, and a finger that follows the wrist, with another that follows it."""
    builder = kt.ModelBuilder("hand")
    builder.add_body("palm", ball())
    for k, name in enumerate(("wrist", "left", "right", "first", "second"), 1):
        builder.add_body(f"{name} body", ball(com=(0.1, 0.0, 0.0)))
        mimic = {"first": kt.model.Mimic("wrist", 2.0, 0.1), "second": kt.model.Mimic("first", -1.0, 0.0)}.get(name)
        builder.add_joint(
            name, kt.Revolute([0, 0, 1]), "palm", f"{name} body", shift(0.1 * k), mimic=mimic, damping=[0.1 * k],
            rotor=Rotor(0.01, 20.0), limits=kt.model.Limits((-1.0,), (1.0,), (5.0,), (6.0,)),
        )  # fmt: skip
    builder.add_body("nail", ball())
    builder.add_joint("glue", kt.Fixed(), "left body", "nail", shift(z=0.1))
    builder.add_coupling("fingers", ["left", "right"], [[1, 1], [1, -1]], coordinates=["pitch", "roll"])
    builder.add_frame("tip", "second body", shift(0.1))
    return builder.build(floating_base=floating_base)


def test_joints_are_locked_where_they_are_neutral() -> None:
    robot = hand().lock("wrist")
    assert robot.q_names == ["fingers.pitch", "fingers.roll"]
    assert robot.bodies["wrist body"].is_fixed


def test_followers_are_locked_with_their_leader_where_it_takes_them() -> None:
    full = hand()
    robot = full.lock({"wrist": 0.3})
    assert list(robot.joints) == ["left", "right"]
    for frame in ("wrist body", "first body", "second body", "tip"):
        close(
            reference(kt.frame_placement, robot, [0.2, 0.1], frame=frame),
            reference(kt.frame_placement, full, [0.3, 0.2, 0.1], frame=frame),
        )


def test_a_leader_may_be_named_with_those_who_follow_it() -> None:
    assert fingerprint(hand().lock(["second", "wrist"])) == fingerprint(hand().lock(["wrist"]))


@pytest.mark.parametrize("names", [["fingers"], ["left", "right"], {"fingers": [0.2, 0.1]}])
def test_a_coupling_is_locked_by_its_name_or_by_all_of_its_joints(names: object) -> None:
    full = hand()
    robot = full.lock(names) if isinstance(names, dict) else full.lock(names, [0.0, 0.2, 0.1])
    assert not robot.couplings
    assert robot.q_names == ["wrist"]
    for frame in full.frames:
        close(
            reference(kt.frame_placement, robot, [0.4], frame=frame),
            reference(kt.frame_placement, full, [0.4, 0.2, 0.1], frame=frame),
        )


def test_a_floating_base_is_locked_where_it_is() -> None:
    full = hand(floating_base=True)
    q = full.random(3)
    robot = full.lock("root_joint", q)
    assert not robot.floating_base
    assert robot.root == "world"
    assert robot.q_names == full.q_names[7:]
    close(reference(kt.frame_placement, robot, q[7:], frame="tip"), reference(kt.frame_placement, full, q, frame="tip"))


def test_a_floating_base_locked_at_the_origin_needs_no_other_body() -> None:
    robot = hand(floating_base=True).lock("root_joint")
    assert fingerprint(robot) == fingerprint(hand())


def test_all_that_moves_can_be_locked() -> None:
    full = hand()
    robot = full.lock([*full.joints])
    assert (robot.nq, robot.nv, len(robot.joints)) == (0, 0, 0)
    assert robot.mass == full.mass


def test_what_was_done_stands_first_among_the_notes_and_older_ones_stay() -> None:
    once = hand().lock({"wrist": 0.25})
    twice = once.lock({"fingers": [0.5, 0.0]})
    assert once.notes[0] == "locked: 'wrist' at 0.25 rad; 'first' at 0.6 rad; 'second' at -0.6 rad"
    assert twice.notes[:2] == ("locked: 'left' at 0.5 rad; 'right' at 0.5 rad", once.notes[0])


def test_a_locked_joint_has_nothing_left_to_damp_and_the_others_keep_theirs() -> None:
    robot = hand().lock("wrist")
    assert [joint.damping for joint in robot.joints.values()] == [(0.2,), (0.30000000000000004,)]
    assert robot.joints["left"].limits.upper == (1.0,)
    assert robot.joints["left"].rotor == Rotor(0.01, 20.0)


def test_the_robot_itself_stays_as_it_is() -> None:
    robot = hand()
    before = fingerprint(robot)
    robot.lock(["wrist"])
    assert fingerprint(robot) == before
    assert robot.nq == 3


@pytest.mark.parametrize(
    ("names", "q", "error", "message"),
    [
        (
            "first",
            None,
            kt.errors.ModelError,
            "joint 'first' mimics 'wrist' and has no coordinate of its own; lock 'wrist'",
        ),
        ("second", None, kt.errors.ModelError, "joint 'second' mimics 'wrist'"),
        ({"first": 0.1}, None, kt.errors.ModelError, "joint 'first' mimics 'wrist'"),
        ("left", None, kt.errors.ModelError, "joint 'left' is coupled with 'right' by 'fingers', .* lock 'fingers'"),
        ({"left": 0.1, "right": 0.2}, None, kt.errors.ModelError, "'left' has no coordinates of its own; .* 'fingers'"),
        ("glue", None, kt.errors.ModelError, "joint 'glue' is fixed already"),
        ("rist", None, kt.errors.NameNotFoundError, "no joint or coupling 'rist': did you mean 'wrist'"),
        ({"rist": 0.0}, None, kt.errors.NameNotFoundError, "did you mean 'wrist'"),
        (3, None, kt.errors.ModelError, "lock takes the names of joints, or values by name, not 3"),
        ({"wrist": 0.1}, [0.0, 0.0, 0.0], kt.errors.ModelError, "values by name or a configuration q, not both"),
        ({"wrist": [0.1, 0.2]}, None, kt.errors.ShapeError, r"'wrist' needs a number .* shape \(2,\)"),
        ({"fingers": 0.1}, None, kt.errors.ShapeError, "'fingers' needs 2 numbers"),
        ({"wrist": "far"}, None, kt.errors.DTypeError, "the value of 'wrist' must be an array of real numbers"),
        ("wrist", [0.0, 0.0], kt.errors.ShapeError, r"q has shape \(2,\), .* one q of \(3,\)"),
        ("wrist", np.zeros((4, 3)), kt.errors.ShapeError, r"q has shape \(4, 3\)"),
        ("wrist", [0.0, np.nan, 0.0], kt.errors.ConfigurationError, "a configuration is finite"),
        ("wrist", ["a", "b", "c"], kt.errors.DTypeError, "q must be an array of real numbers"),
    ],
)
def test_what_cannot_be_locked_is_refused(names: object, q: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        hand().lock(names, q)  # type: ignore[arg-type]


def test_a_quaternion_without_direction_is_refused() -> None:
    robot = hand(floating_base=True)
    q = robot.neutral()
    q[6] = 0.0
    with pytest.raises(kt.errors.ConfigurationError, match="quaternion"):
        robot.lock("root_joint", q)


def test_the_names_of_the_world_and_of_the_base_joint_may_be_taken() -> None:
    builder = kt.ModelBuilder("awkward")
    builder.add_body("base", ball())
    builder.add_body("world", ball())
    builder.add_joint("root_joint", kt.Revolute([0, 0, 1]), "base", "world", Transform.identity())
    full = builder.build(floating_base=True)
    q = full.random(1)
    robot = full.lock("root_joint_", q)
    assert robot.root == "world_"
    assert robot.q_names == ["root_joint"]
