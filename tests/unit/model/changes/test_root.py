"""Another root: what is turned round, and what cannot be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import kinetree as kt
from kinetree.expr import Scalar
from kinetree.joints import JointKind, JointMotion
from kinetree.model import Rotor
from tests.laws.reference import close, reference
from tests.unit.model.bodies import ball, chain, shift


class Slider(JointKind):
    """A user's kind that says nothing of its reverse."""

    nq = nv = 1

    def calc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointMotion:
        return kt.Prismatic([1, 0, 0]).calc(q, v)


@pytest.mark.parametrize(
    "kind", [kt.Revolute([1, 2, 2]), kt.joints.Planar([0, 1, 0]), kt.joints.Helical([0, 0, 1], 0.2)], ids=repr
)
def test_a_placed_joint_leads_back_from_both_of_its_placements(kind: JointKind) -> None:
    after = kt.lie.placement([0.1, -0.2, 0.3], rpy=[0.4, 0.5, 0.6])
    before = kt.lie.placement([-0.3, 0.2, 0.5], rpy=[-0.7, 0.2, 1.1])
    builder = kt.ModelBuilder("two bodies")
    builder.add_body("base", ball())
    builder.add_body("link", ball())
    builder.add_joint("joint", kt.joints.Placed(kind, after, before), "base", "link", shift(0.1, 0.2, 0.3))
    robot = builder.build()
    back = robot.rerooted("link")
    q = 0.4 + 0.3 * np.arange(kind.nq)
    there = reference(kt.frame_placement, robot, q, frame="link")
    close(reference(kt.frame_placement, back, q, frame="base"), np.linalg.inv(there))


def test_joints_on_the_way_lead_the_other_way_and_the_others_stay() -> None:
    dog = kt.zoo.load("quadruped")
    hip, knee = (
        next(j for j in dog.joints.values() if j.child == name) for name in ("hind_left_hip", "hind_left_shank")
    )
    robot = dog.rerooted("hind_left_shank")
    assert robot.root == "hind_left_shank"
    assert robot.q_names == dog.q_names
    assert robot.joints[knee.name].parent == "hind_left_shank"
    assert robot.joints[hip.name].limits == dog.joints[hip.name].limits
    assert set(dog.bodies) < set(robot.bodies)
    assert set(dog.frames) < set(robot.frames)
    assert robot.mass == pytest.approx(dog.mass, rel=1e-12)
    assert robot.notes[0].startswith("rerooted from 'trunk' to 'hind_left_shank', which floats; these joints now lead")


def test_no_body_is_added_where_the_frames_coincide() -> None:
    robot = chain([(kt.Revolute([0, 0, 1]), ball()), (kt.Revolute([0, 1, 0]), ball())])
    assert list(robot.rerooted("b2").bodies) == ["b0", "b1", "b2"]
    assert robot.rerooted("b2").joints["j1"].child == "b0"


def test_bodies_do_not_pile_up_when_the_root_goes_to_and_fro() -> None:
    robot = chain([(kt.Revolute([0, 0, 1]), ball()), (kt.Revolute([0, 1, 0]), ball())], offset=shift(1.0))
    once = robot.rerooted("b2").rerooted("b0")
    assert len(once.rerooted("b2").rerooted("b0").bodies) == len(once.bodies)


def test_fixed_joints_turn_round_without_a_trace() -> None:
    robot = kt.zoo.load("arm6").rerooted("tool")
    assert robot.root == "tool"
    assert "flange" in robot.bodies


@pytest.mark.parametrize("floats", [True, False])
def test_the_base_floats_if_that_is_asked_for(floats: bool) -> None:
    robot = kt.zoo.load("quadruped").rerooted("trunk", floating_base=floats)
    assert robot.floating_base is floats
    assert robot.nq == 12 + 7 * floats


def test_mimics_and_couplings_hold_as_before() -> None:
    builder = kt.ModelBuilder("led")
    for name in "abc":
        builder.add_body(name, ball())
    builder.add_joint("ab", kt.Revolute([0, 0, 1]), "a", "b", shift(1.0))
    builder.add_joint("bc", kt.Revolute([0, 0, 1]), "b", "c", shift(1.0), mimic=kt.model.Mimic("ab", 2.0, 0.5))
    robot = builder.build().rerooted("c")
    assert robot.joints["bc"].mimic == kt.model.Mimic("ab", 2.0, 0.5)
    assert robot.q_names == ["ab"]


def robot_with(kind: JointKind, **drive: object) -> kt.Model:
    builder = kt.ModelBuilder("pair")
    builder.add_body("a", ball())
    builder.add_body("b", ball())
    builder.add_joint("ab", kind, "a", "b", shift(1.0), **drive)  # type: ignore[arg-type]
    return builder.build()


@pytest.mark.parametrize(
    ("robot", "message"),
    [
        (robot_with(Slider()), r"joint 'ab' is of a kind that cannot be turned round \(Slider\); choose a root"),
        (robot_with(kt.Free(), damping=[0.1] * 6), "joint 'ab' has damping of the degrees of freedom that it loses"),
        (robot_with(kt.Free(), armature=[0.1] * 6), "joint 'ab' has armature of the degrees of freedom that it loses"),
        (
            robot_with(kt.Free(), limits=kt.model.Limits((-1.0,) * 7, (1.0,) * 7, (1.0,) * 6, (1.0,) * 6)),
            "joint 'ab' has limits of the degrees of freedom that it loses",
        ),
        (
            robot_with(kt.Revolute([0, 0, 1]), rotor=Rotor(0.01, 50.0, (1.0, 0.0, 0.0))),
            "joint 'ab' has a rotor about an axis that turns as the joint moves",
        ),
        (robot_with(kt.Revolute([0, 0, 1]), rotor=Rotor(0.01, 1.0)), "joint 'ab' has a rotor of the ratio 1, .* slow"),
        (robot_with(kt.Revolute([0, 0, 1]), rotor=Rotor(0.01, 2.0)), "joint 'ab' has a rotor of the ratio 2"),
    ],
)
def test_what_cannot_be_turned_round_is_refused_by_name(robot: kt.Model, message: str) -> None:
    with pytest.raises(kt.errors.ModelError, match=message):
        robot.rerooted("b")
    assert robot.rerooted("a").root == "a"


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(kt.errors.NameNotFoundError, match="did you mean 'tool'"):
        kt.zoo.load("arm6").rerooted("tol")
