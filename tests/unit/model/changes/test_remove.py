"""Taking branches off a robot."""

from __future__ import annotations

import pytest

import kinetree as kt
from tests.unit.model.bodies import ball, shift
from tests.unit.model.changes.test_lock import hand


def test_frames_joints_and_couplings_go_with_their_bodies() -> None:
    builder = kt.ModelBuilder.of(hand())
    builder.add_body("bench", ball())
    builder.add_joint("on the bench", kt.Prismatic([1, 0, 0]), "bench", "palm")
    robot = builder.build()
    rest, part = robot.detach("palm")
    assert (list(rest.bodies), rest.nq, list(rest.couplings)) == (["bench"], 0, [])
    assert part.root == part.name == "palm"
    assert part.q_names == hand().q_names
    assert part.gravity == robot.gravity
    assert "tip" in part.frames
    assert "tip" not in rest.frames
    assert rest.notes[0] == "detached body 'palm' and all that hung on it by joint 'on the bench' (7 bodies)"
    assert part.notes[0] == "detached from robot 'hand' at joint 'on the bench'"
    assert robot.remove("palm").notes[0] == "removed body 'palm' and all that hung on it (7 bodies)"


def test_a_follower_may_be_removed_and_a_leader_with_all_its_followers() -> None:
    assert hand().remove("second body").q_names == ["wrist", "fingers.pitch", "fingers.roll"]
    robot = hand().remove("second body").remove("first body").remove("wrist body")
    assert robot.q_names == ["fingers.pitch", "fingers.roll"]


def test_a_floating_base_stays_with_the_rest() -> None:
    rest, part = hand(floating_base=True).detach("nail")
    assert rest.floating_base
    assert not part.floating_base


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        (
            "wrist body",
            kt.errors.ModelError,
            "'wrist body' cannot be taken off: joint 'first' mimics 'wrist', .*lock 'wrist'",
        ),
        ("first body", kt.errors.ModelError, "joint 'second' mimics 'first'"),
        ("left body", kt.errors.ModelError, "coupling 'fingers' couples 'right' with 'left', .* lock 'fingers' first"),
        ("palm", kt.errors.ModelError, "body 'palm' is the root of 'hand'"),
        ("pal", kt.errors.NameNotFoundError, "no body 'pal': did you mean 'palm'"),
    ],
)
def test_what_cannot_be_taken_off_is_refused(body: str, error: type[Exception], message: str) -> None:
    for change in (hand().remove, hand().detach):
        with pytest.raises(error, match=message):
            change(body)


def test_a_follower_whose_leader_stays_cannot_be_a_robot_of_its_own() -> None:
    builder = kt.ModelBuilder("chain")
    for name in "abcd":
        builder.add_body(name, ball())
    builder.add_joint("ab", kt.Revolute([0, 0, 1]), "a", "b")
    builder.add_joint("bc", kt.Revolute([0, 0, 1]), "b", "c", shift(1.0))
    builder.add_joint("cd", kt.Revolute([0, 0, 1]), "c", "d", shift(1.0), mimic=kt.model.Mimic("ab"))
    robot = builder.build()
    with pytest.raises(kt.errors.ModelError, match="joint 'cd' mimics 'ab'"):
        robot.detach("c")
    assert robot.remove("c").q_names == ["ab"]
