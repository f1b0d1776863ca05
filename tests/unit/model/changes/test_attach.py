"""Putting robots and bodies on a robot, and robots side by side."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.spatial import Inertia, Mat3, Sym3, Transform, Vec3
from tests.laws.reference import close, reference
from tests.unit.model.bodies import ball, chain, shift

ARM = chain([(kt.Revolute([0, 1, 0]), ball()), (kt.Revolute([1, 0, 0]), ball())], offset=shift(z=0.5))


def gripper(**build: bool) -> kt.Model:
    builder = kt.ModelBuilder("gripper")
    for name in ("mount", "finger", "thumb"):
        builder.add_body(name, ball())
    builder.add_joint("slide", kt.Prismatic([1, 0, 0]), "mount", "finger", where="gripper.urdf:7")
    builder.add_joint("opposite", kt.Prismatic([-1, 0, 0]), "mount", "thumb", mimic=kt.model.Mimic("slide"))
    builder.add_frame("grip", "finger", shift(z=0.1))
    builder.note("the thumb follows")
    return builder.build(**build)


def differential() -> kt.Model:
    builder = kt.ModelBuilder("differential")
    for name in ("case", "one", "two"):
        builder.add_body(name, ball())
    builder.add_joint("left", kt.Revolute([0, 0, 1]), "case", "one")
    builder.add_joint("right", kt.Revolute([0, 0, 1]), "case", "two")
    builder.add_coupling("gear", ["left", "right"], [[1, 1], [1, -1]], coordinates=["a", "b"])
    return builder.build()


def test_a_robot_is_fixed_to_a_body() -> None:
    both = ARM.attach(gripper(), "b2", shift(z=0.2))
    assert both.q_names == ["j1", "j2", "slide"]
    assert both.joints["opposite"].mimic == kt.model.Mimic("slide")
    assert both.bodies["mount"].is_fixed
    assert both.notes[0] == "attached robot 'gripper' to 'b2' by joint 'b2_to_mount' (fixed)"
    assert "gripper: the thumb follows" in both.notes
    q = np.array([0.3, 0.4, 0.1])
    close(
        reference(kt.frame_placement, both, q, frame="mount"),
        reference(kt.frame_placement, both, q, frame="b2") @ np.array(shift(z=0.2).homogeneous()).reshape(4, 4),
    )


def test_a_robot_is_put_on_a_frame_by_a_joint_that_has_a_name() -> None:
    first = ARM.attach(gripper(), "b2")
    both = first.attach(gripper(), "grip", prefix="small ", joint=kt.Revolute([0, 0, 1]), name="turn")
    assert both.q_names == ["j1", "j2", "slide", "turn", "small slide"]
    assert both.joints["turn"].parent == "finger"
    assert both.joints["small opposite"].mimic == kt.model.Mimic("small slide")
    assert both.frames["small grip"].body == "small finger"


def test_what_is_put_on_a_frame_stands_where_the_frame_says() -> None:
    """A placement in the frame, which is itself placed on its body: robots and single bodies alike."""
    place = kt.lie.placement([0.1, -0.2, 0.3], rpy=[0.4, 0.5, 0.6])
    builder = kt.ModelBuilder("hand")
    builder.add_body("palm", ball())
    builder.add_frame("pad", "palm", kt.lie.placement([0.0, 0.1, 0.05], rpy=[1.0, 0.0, 0.5]))
    hand = builder.build()
    for both, name in (
        (hand.attach(ARM, "pad", place), "b0"),
        (hand.attach_body("lamp", ball(), "pad", place), "lamp"),
    ):
        pad, on_it = (reference(kt.frame_placement, both, both.neutral(), frame=frame) for frame in ("pad", name))
        close(on_it, pad @ np.array(place.homogeneous()).reshape(4, 4))


def test_couplings_come_along_under_the_prefix() -> None:
    both = ARM.attach(differential(), "b1", prefix="x ")
    assert both.couplings["x gear"].joints == ("x left", "x right")
    assert both.q_names == ["j1", "j2", "x gear.a", "x gear.b"]


def test_a_base_that_floated_does_so_no_longer_and_a_note_says_so() -> None:
    both = ARM.attach(gripper(floating_base=True), "b2")
    assert both.nq == 3
    assert both.notes[0].endswith("its base, 'mount', no longer floats")


def test_where_parts_come_from_is_kept() -> None:
    both = ARM.attach(gripper(), "b2", prefix="x ")
    assert next(spec.where for spec in both.parts.joints if spec.name == "x slide") == "gripper.urdf:7"


def test_a_payload_hangs_on_a_joint_if_one_is_given() -> None:
    loaded = ARM.attach_body("bucket", ball(2.0), "b2", shift(z=-0.1), joint=kt.Revolute([0, 1, 0]))
    assert loaded.q_names == ["j1", "j2", "b2_to_bucket"]
    assert loaded.notes[0] == "attached body 'bucket' (2 kg) to 'b2' by joint 'b2_to_bucket' (revolute about y)"
    assert not loaded.bodies["bucket"].is_fixed


def test_a_payload_that_no_body_can_be_is_warned_of_and_what_was_known_is_not() -> None:
    odd = Inertia.from_com(1.0, Vec3.zero(), Sym3(1.0, 1.0, 5.0, 0.0, 0.0, 0.0))
    with pytest.warns(kt.errors.ModelWarning, match="'first' .* triangle inequality"):
        once = ARM.attach_body("first", odd, "b2")
    twice = once.attach_body("second", ball(), "b2").lock("j1")
    assert any("'first'" in note and "triangle inequality" in note for note in twice.notes)
    assert kt.model.merge([once, twice], name="both", prefixes=["a ", "b "]).nq == 3
    with pytest.warns(kt.errors.ModelWarning, match="'third'") as caught:
        twice.attach_body("third", odd, "b2")
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            lambda: ARM.attach(ARM, "b2"),
            kt.errors.ModelError,
            "both have bodies or frames named 'b0', 'b1', 'b2'; .* prefix",
        ),
        (lambda: ARM.attach("gripper.urdf", "b2"), kt.errors.ModelError, "the attached robot must be a Model"),
        (lambda: ARM.attach(gripper(), "c2"), kt.errors.NameNotFoundError, "no body or frame 'c2': did you mean 'b2'"),
        (lambda: ARM.attach(gripper(), "b2", [0, 0, 1]), kt.errors.ModelError, "a placement must be a Transform"),
        (lambda: ARM.attach(gripper(), "b2", prefix=3), kt.errors.ModelError, "a prefix must be a string"),
        (lambda: ARM.attach(gripper(), "b2", joint="hinge"), kt.errors.ModelError, "must be a joint kind"),
        (lambda: ARM.attach(gripper(), "b2", name="slide"), kt.errors.ModelError, "a joint named 'slide' already"),
        (lambda: ARM.attach_body("b1", ball(), "b2"), kt.errors.ModelError, "has a body named 'b1' already"),
        (
            lambda: ARM.attach(gripper(), "b2").attach_body("grip", ball(), "b2"),
            kt.errors.ModelError,
            "a frame named 'grip'",
        ),
        (lambda: ARM.attach_body("load", 2.0, "b2"), kt.errors.ModelError, "'load': its inertia must be an Inertia"),
        (lambda: ARM.attach_body("load", ball(), "b9"), kt.errors.NameNotFoundError, "'b9'"),
        (
            lambda: kt.model.merge([ARM, ARM], name="x"),
            kt.errors.ModelError,
            "both have bodies or frames .*; give prefixes",
        ),
        (lambda: kt.model.merge([], name="x"), kt.errors.ModelError, "nothing to merge"),
        (lambda: kt.model.merge(ARM, name="x"), kt.errors.ModelError, "takes a list of robots"),
        (lambda: kt.model.merge([ARM, 3], name="x"), kt.errors.ModelError, r"robots\[1\] must be a Model"),
        (lambda: kt.model.merge([ARM], name="x", prefixes=["a", "b"]), kt.errors.ShapeError, "2 prefixes for 1 robots"),
        (lambda: kt.model.merge([ARM], name="x", prefixes="a"), kt.errors.ShapeError, "prefixes must be a list"),
        (
            lambda: kt.model.merge([ARM], name="x", placements=shift()),
            kt.errors.ShapeError,
            "placements must be a list",
        ),
        (
            lambda: kt.model.merge([ARM], name="x", placements=[3]),
            kt.errors.ModelError,
            "a placement must be a Transform",
        ),
        (
            lambda: kt.model.merge([ARM], name="x", gravity=[0, 0]),
            kt.errors.ModelError,
            "gravity must be three finite numbers",
        ),
        (lambda: kt.model.merge([ARM], name=""), kt.errors.ModelError, "the name of a robot"),
    ],
)
def test_what_cannot_be_put_together_is_refused(change: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        change()  # type: ignore[operator]


def test_a_placement_that_is_no_rotation_is_refused() -> None:
    with pytest.raises(kt.errors.ModelError, match="not a rotation matrix"):
        ARM.attach_body("load", ball(), "b2", Transform(Mat3.identity() + Mat3.identity(), Vec3.zero()))


def test_a_floating_robot_that_both_have_a_base_joint_for_is_refused() -> None:
    other = gripper(floating_base=True)
    arm = chain([(kt.Revolute([0, 1, 0]), ball())])
    with pytest.raises(kt.errors.ModelError, match="joints named 'root_joint'"):
        kt.model.merge([other, kt.ModelBuilder.of(arm).build(floating_base=True)], name="x")


def test_robots_side_by_side_keep_their_bases() -> None:
    merged = kt.model.merge([gripper(floating_base=True), ARM], name="scene", placements=[shift(1.0), None])
    assert merged.q_names[:2] == ["root_joint.x", "root_joint.y"]
    assert merged.q_names[7:] == ["slide", "j1", "j2"]
    assert (merged.root, merged.floating_base, merged.bodies["world"].inertia) == ("world", False, Inertia.zero())
    assert merged.notes[0] == "merged robots 'gripper', 'chain' side by side on the body 'world'"


def test_robots_of_different_gravity_need_a_choice() -> None:
    builder = kt.ModelBuilder("on the moon", gravity=(0.0, 0.0, -1.62))
    builder.add_body("lander", ball())
    lander = builder.build(floating_base=True)
    with pytest.raises(kt.errors.ModelError, match=r"gravity of 'chain' is .* 'on the moon' .*gravity=\(x, y, z\)"):
        kt.model.merge([ARM, lander], name="x")
    assert kt.model.merge([ARM, lander], name="x", gravity=[0, 0, -1.62]).gravity == (0.0, 0.0, -1.62)
    assert "gave way to (0.0, 0.0, -9.81)" in ARM.attach(lander, "b2").notes[0]


def test_a_world_that_is_there_already_is_not_taken_for_the_new_one() -> None:
    builder = kt.ModelBuilder("with a world")
    builder.add_body("world", ball())
    assert kt.model.merge([builder.build()], name="x").root == "world_"
