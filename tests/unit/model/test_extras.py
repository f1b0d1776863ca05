"""What a robot's file says beyond the rigid bodies: how it follows changes of the robot, and is compared and kept."""

from __future__ import annotations

import json
import pickle
from dataclasses import fields, replace
from typing import Any

import pytest

import kinetree as kt
from kinetree.io.native.nodes import Node
from kinetree.io.native.records import read_fields, written_fields
from kinetree.model import Geometry
from kinetree.model.extras import (
    AbsentShape,
    BodySpheres,
    Calibration,
    CollisionPair,
    ContactParameters,
    EndEffector,
    Extras,
    JointGroup,
    JointProperty,
    JointValues,
    MotionLimits,
    NamedState,
    PassiveJoint,
    SafetyLimits,
    Sphere,
    TendonJoint,
    Texture,
    Transmission,
    TransmissionActuator,
    TransmissionJoint,
    UncheckedBody,
    Unused,
    VirtualJoint,
)
from tests.unit.model.simulated import SIMULATED

FULL = Extras(
    absent_shapes=(AbsentShape("base", "other", 0, "hills", smooth=True),),
    unused=(Unused("gazebo", (("reference", "upper"),), (Unused("mu1", text="0.2"),)),),
    motion_limits=(MotionLimits("slide", 1.0, 2.0, 3.0), MotionLimits("hinge", 5.0)),
    safety_limits=(SafetyLimits("slide", 10.0, 20.0, -0.5, 0.25), SafetyLimits("hinge", 1.0)),
    calibrations=(Calibration("slide", rising=0.125), Calibration("hinge", falling=-1.0)),
    transmissions=(
        Transmission("drive", "simple", (TransmissionJoint("hinge", ("effort",), 2.0),), (TransmissionActuator("m"),)),
        Transmission("rack", "simple", (TransmissionJoint("slide"),)),
    ),
    textures=(Texture("upper", 0, "wood.png"),),
    groups=(
        JointGroup("all", ("slide", "hinge"), groups=("tip",)),
        JointGroup("tip", (), ("hand",), (("base", "hand"),)),
    ),
    named_states=(NamedState("home", "all", (JointValues("slide", (0.5,)), JointValues("hinge", (-1.0,)))),),
    end_effectors=(EndEffector("gripper", "tip", "upper", "all"),),
    virtual_joints=(VirtualJoint("world_joint", "floating", "world", "base"),),
    passive_joints=(PassiveJoint("hinge"),),
    joint_properties=(JointProperty("hinge", "drive", "x"),),
    collision_pairs=(CollisionPair("base", "upper", False, "Adjacent"), CollisionPair("base", "hand", True)),
    unchecked_bodies=(UncheckedBody("hand"),),
    body_spheres=(BodySpheres("hand", (Sphere((0.5, 0.25, 1.0), 0.125),)),),
)


def robot(extras: Extras = FULL) -> kt.Model:
    """A hinge on a slide, and a hand fixed to it."""
    builder = kt.ModelBuilder("robot")
    solid = kt.solids.box(0.1, 0.2, 0.3, mass=1.0, placement=kt.lie.placement([0.1, 0.2, 0.3]))
    for name in ("base", "upper", "lower", "hand"):
        builder.add_body(
            name, solid, geometry=[Geometry("visual", "box", (1.0, 1.0, 1.0), kt.lie.placement([0, 0, 0]))]
        )
    builder.add_joint("slide", kt.Prismatic([1, 0, 0]), "base", "upper")
    builder.add_joint("hinge", kt.Revolute([0, 1, 0]), "upper", "lower", kt.lie.placement([0.0, 0.0, 1.0]))
    builder.add_joint("weld", kt.Fixed(), "lower", "hand")
    builder.extras = extras
    return builder.build()


def test_every_field_of_the_extras_is_in_these_tests() -> None:
    assert all(getattr(FULL, entry.name) or getattr(SIMULATED, entry.name) for entry in fields(Extras))


def test_a_text_and_pickles_hold_what_simulations_use() -> None:
    text = kt.to_text(robot(SIMULATED))
    again = kt.from_text(text)
    assert again.extras == SIMULATED
    assert again == robot(SIMULATED)
    assert kt.to_text(again) == text
    assert pickle.loads(pickle.dumps(again)) == again
    assert again.extras.actuators["motor"].gear[0] == 3.0
    assert again.extras.keyframes["home"].q(again).tolist() == [0.5, -1.0]
    assert again.extras.keyframes["home"].v(again).tolist() == [0.0, 2.0]


def test_what_simulations_use_follows_new_names() -> None:
    arm = kt.zoo.load("arm6")
    both = arm.attach(robot(SIMULATED), "tool", prefix="x_").extras
    assert both.actuators["x_motor"].target == "x_hinge"
    assert both.actuators["x_other"].target == "x_sum"
    assert both.tendons["x_sum"].path[1] == TendonJoint("x_slide", -1.0)
    assert both.equalities["x_weld"].first == "x_lower"
    assert both.sensors["x_speed"].object == "x_hinge"
    assert both.sites["x_a"].body == "x_lower"
    assert both.keyframes["x_home"].joints[0].joint == "x_slide"
    assert both.contact_exclusions[0].body2 == "x_lower"


def test_what_moves_no_longer_has_no_actuators_tendons_or_sensors() -> None:
    locked = robot(SIMULATED).lock("hinge")
    assert locked.extras.actuators == ()  # the second acted on a tendon that the hinge moved
    assert locked.extras.tendons.names == ["string"]
    assert locked.extras.sensors == ()
    assert locked.extras.equalities.names == ["weld"]
    assert locked.extras.keyframes["home"].q(locked).tolist() == [0.5]
    assert any("'motor', 'other'" in note for note in locked.notes)


def test_keyframes_are_scaled_and_settings_in_metres_are_dropped() -> None:
    scaled = robot(SIMULATED).scaled(length=2.0)
    assert scaled.extras.keyframes["home"].q(scaled).tolist() == [1.0, -1.0]
    assert scaled.extras.keyframes["home"].v(scaled).tolist() == [0.0, 2.0]
    assert scaled.extras.actuators == ()
    assert any("were dropped" in note and "'motor'" in note for note in scaled.notes)


def test_records_are_had_by_name_or_by_place() -> None:
    actuators = robot(SIMULATED).extras.actuators
    assert actuators[0] is actuators["motor"]
    assert actuators[:1] == (actuators["motor"],)
    assert "motor" in actuators
    assert "" not in actuators
    assert actuators == SIMULATED.actuators
    assert hash(actuators) == hash(tuple(actuators))
    with pytest.raises(kt.errors.NameNotFoundError, match="no record here has the name 'mottor': did you mean 'motor'"):
        actuators["mottor"]


def test_a_text_holds_the_extras_exactly() -> None:
    text = kt.to_text(robot())
    again = kt.from_text(text)
    assert again.extras == FULL
    assert again == robot()
    assert kt.to_text(again) == text
    assert '"version": 2' in text
    assert '{"record": "MotionLimits", "joint": "hinge", "acceleration": 5.0}' in text  # defaults are left out
    assert '"version": 1' in kt.to_text(robot(Extras()))


def test_a_text_holds_contacts_of_shapes() -> None:
    contact = ContactParameters(condim=6, friction=(0.5, 0.1, 1e-300))
    builder = kt.ModelBuilder("ball")
    builder.add_body(
        "ball", geometry=[Geometry("collision", "sphere", (1.0,), kt.lie.placement([0, 0, 0]), contact=contact)]
    )
    ball = builder.build()
    assert ball.bodies["ball"].geometry[0].contact == contact
    assert kt.from_text(kt.to_text(ball)) == ball


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"acceleration": 5.0', '"acceleration": "fast"', r"extras.motion_limits\[1\].acceleration: must be a number"),
        ('"acceleration": 5.0', '"speed": 5.0', r"extras.motion_limits\[1\]: has a field 'speed', which is unknown"),
        (
            '"joint": "slide", "acc',
            '"joints": "slide", "acc',
            r"a field 'joints', which is unknown: did you mean 'joint'\?",
        ),
        ('"record": "PassiveJoint", ', "", r"passive_joints\[0\]: has no field \"record\""),
        ('"record": "PassiveJoint"', '"record": "MotionLimits"', r"is 'MotionLimits', which is unknown here"),
        ('"joint": "hinge", "name"', '"name"', r"joint_properties\[0\]: has no field \"joint\""),
        ('"center": [0.5, 0.25, 1.0]', '"center": [0.5, 0.25]', r"spheres\[0\].center: must be an array of 3, not"),
        ('"checked": true', '"checked": 1', r"checked: must be true or false, not 1"),
        ('"motion_limits"', '"motion_limit"', r"extras: has a field 'motion_limit', which is unknown: did you mean"),
        ('"version": 2', '"version": 1', r'extras: "extras" came with version 2'),
    ],
)
def test_a_text_with_wrong_extras_is_refused_at_its_place(old: str, new: str, message: str) -> None:
    text = kt.to_text(robot())
    assert old in text
    with pytest.raises(kt.errors.ModelError, match=message):
        kt.from_text(text.replace(old, new, 1))


def test_what_an_annotation_does_not_allow_is_not_written() -> None:
    wrong: Any = "fast"
    with pytest.raises(kt.errors.ModelError, match=r"MotionLimits.acceleration must be a number, not 'fast'"):
        kt.to_text(robot(Extras(motion_limits=(MotionLimits("hinge", wrong),))))


def test_every_record_of_extras_has_a_text_form() -> None:
    """Also of classes that no file of ours uses: annotations are all that counts."""
    text = json.dumps(written_fields(FULL))
    assert read_fields(Node(json.loads(text), ""), Extras) == FULL


def test_equality_hash_and_pickles_count_extras() -> None:
    full, bare = robot(), robot(Extras())
    other = robot(replace(FULL, calibrations=()))
    assert full == robot()
    assert hash(full) == hash(robot())
    assert len({full, bare, other}) == 3
    assert [pickle.loads(pickle.dumps(one)).extras for one in (full, bare, other)] == [FULL, Extras(), other.extras]


def test_changes_that_concern_no_extras_keep_them() -> None:
    one = robot()
    assert one.with_gravity((0, 0, 0)).extras == FULL
    assert one.attach_body("load", kt.solids.sphere(0.1, mass=1.0), "hand").extras == FULL
    assert one.with_actuation({"hinge": False}).extras == FULL


def test_a_locked_joint_has_no_limits_values_or_transmissions_any_longer() -> None:
    locked = robot().lock("hinge")
    extras = locked.extras
    assert [limits.joint for limits in extras.motion_limits] == ["slide"]
    assert [part.name for part in extras.transmissions] == ["rack"]
    assert extras.named_states == (NamedState("home", "all", (JointValues("slide", (0.5,)),)),)
    assert extras.groups == FULL.groups  # a fixed joint can be in a group
    assert extras.unused == FULL.unused
    notes = "\n".join(locked.notes)
    assert "motion limits: 'hinge'" in notes
    assert "transmissions: 'drive'" in notes
    assert "joint 'hinge' of state 'home'" in notes


def test_names_that_go_with_a_body_are_dropped() -> None:
    less = robot().remove("lower")
    assert less.extras.textures == FULL.textures
    assert less.extras.collision_pairs == (CollisionPair("base", "upper", False, "Adjacent"),)
    assert less.extras.groups == (JointGroup("all", ("slide",), groups=("tip",)), JointGroup("tip"))
    assert less.extras.body_spheres == ()
    assert "body spheres: 'hand'" in "\n".join(less.notes)
    part = robot().detach("lower")[1]
    assert part.extras.unchecked_bodies == FULL.unchecked_bodies
    assert part.extras.unused == ()  # it names a body that is not there
    assert part.extras.virtual_joints == ()  # they are about the old root


def test_a_prefix_is_put_before_the_names_in_extras() -> None:
    pair = kt.model.merge([robot(), robot()], name="pair", prefixes=["l_", "r_"])
    extras = pair.extras
    assert [limits.joint for limits in extras.motion_limits] == ["l_slide", "l_hinge", "r_slide", "r_hinge"]
    assert [group.name for group in extras.groups] == ["l_all", "l_tip", "r_all", "r_tip"]
    assert extras.groups[0].groups == ("l_tip",)
    assert extras.groups[1].chains == (("l_base", "l_hand"),)
    assert extras.unused == ()
    assert "unused: 'gazebo'" in "\n".join(pair.notes)
    assert extras.named_states[1].group == "r_all"
    attached = robot().attach(robot(), "hand", prefix="second_")
    assert attached.extras.virtual_joints == FULL.virtual_joints  # the second root is on no base of its own
    assert attached.extras.collision_pairs[2].body1 == "second_base"


def test_robots_with_groups_of_one_name_are_not_merged() -> None:
    one = Extras(groups=(JointGroup("arm"),))
    names = iter("ab")

    def small() -> kt.Model:
        builder = kt.ModelBuilder("small")
        builder.add_body(next(names))
        builder.extras = one
        return builder.build()

    with pytest.raises(kt.errors.ModelError, match="both have groups named 'arm'"):
        kt.model.merge([small(), small()], name="two")


def test_a_mirror_keeps_joint_numbers_and_mirrors_points() -> None:
    image = robot().mirrored("y", rename=("hinge", "pivot"))
    extras = image.extras
    assert extras.motion_limits[1] == MotionLimits("pivot", 5.0)
    assert extras.named_states[0].values[1] == JointValues("pivot", (-1.0,))
    assert extras.body_spheres[0].spheres[0].center == (0.5, -0.25, 1.0)
    assert extras.joint_properties == ()
    assert extras.unused == ()
    assert "joint properties: 'drive'" in "\n".join(image.notes)
    assert image.mirrored("y", rename=("pivot", "hinge")).extras.body_spheres == FULL.body_spheres


def test_scaling_converts_what_is_in_metres_and_drops_what_it_cannot_convert() -> None:
    large = robot().scaled(2.0)
    extras = large.extras
    assert extras.motion_limits == (MotionLimits("slide", 2.0, 4.0, 6.0), MotionLimits("hinge", 5.0))
    assert extras.safety_limits[0] == SafetyLimits("slide", 10.0, 20.0, -1.0, 0.5)
    assert extras.calibrations == (Calibration("slide", rising=0.25), Calibration("hinge", falling=-1.0))
    assert [part.name for part in extras.transmissions] == ["drive"]
    assert extras.named_states[0].values == (JointValues("slide", (1.0,)), JointValues("hinge", (-1.0,)))
    assert extras.body_spheres[0].spheres[0] == Sphere((1.0, 0.5, 2.0), 0.25)
    assert extras.unused == ()
    assert "unused: 'gazebo'; transmissions: 'rack'" in "\n".join(large.notes)


def test_another_root_and_other_axes() -> None:
    turned = robot().rerooted("hand")
    assert turned.extras == replace(FULL, virtual_joints=())
    aligned = robot().in_principal_axes()
    assert aligned.extras.body_spheres == FULL.body_spheres  # the hand is fixed to a body that moves, and stays
    assert aligned.extras.collision_pairs == FULL.collision_pairs
    assert aligned.extras.unused == ()


def test_the_state_of_a_floating_base_stays_with_it() -> None:
    state = NamedState(
        "home", "all", (JointValues("root_joint", (0, 0, 1.0, 0, 0, 0, 1.0)), JointValues("hinge", (1.0,)))
    )
    builder = kt.ModelBuilder.of(robot(Extras(named_states=(state,))))
    for base in (True, False):  # a file's state is for a floating base, even if this robot's is fixed
        one = builder.build(floating_base=base)
        assert one.lock("slide").extras.named_states == (state,)
        (large,) = one.scaled(2.0).extras.named_states
        assert large.values[0].values == (0, 0, 2.0, 0, 0, 0, 1.0)
        (mirrored,) = one.mirrored().extras.named_states
        assert [part.joint for part in mirrored.values] == ["hinge"]
        assert one.attach(robot(Extras()), "hand", prefix="b_").extras.named_states == (state,)
        assert [
            part.joint for part in robot(Extras()).attach(one, "hand", prefix="b_").extras.named_states[0].values
        ] == ["b_hinge"]
    assert builder.build(floating_base=True).lock("root_joint").extras.named_states[0].values == state.values[1:]
