"""URDF to the letter of its versions 1.0 to 1.2, and what of it is only data."""

from __future__ import annotations

import math
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.extras import (
    Calibration,
    MotionLimits,
    SafetyLimits,
    Texture,
    Transmission,
    TransmissionActuator,
    TransmissionJoint,
    Unused,
)
from tests.io.arm import ARM, spoil, write

LIMIT = '<limit lower="-1.5" upper="2" velocity="3" effort="40"/>'


def at(version: str | None, text: str = ARM) -> str:
    """The text with a version on <robot>."""
    return text if version is None else text.replace('<robot name="arm">', f'<robot name="arm" version="{version}">')


@pytest.mark.parametrize("version", [None, "1.0", "1.1", "1.2", " 1.0", "01.0"])
def test_versions_that_are_known(tmp_path: Path, version: str | None) -> None:
    assert kt.load(write(tmp_path, at(version))) == kt.load(write(tmp_path, ARM))


@pytest.mark.parametrize("version", ["", "1", "1.3", "0.9", "2.0", "1.0.0", "1.0~pre6", "1.", ".1", "-1.0", "a.b"])
def test_versions_that_urdfdom_refuses_are_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(
        kt.errors.ModelError, match=r'arm.urdf:2: <robot name="arm">: version=".*" is not a version of URDF'
    ):
        kt.load(write(tmp_path, at(version)))


def test_a_quaternion_gives_the_same_placement_as_in_pinocchio(tmp_path: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    quaternion = np.array([0.1, -0.2, 0.3, 0.9])
    words = " ".join(f"{x:.17g}" for x in quaternion / np.linalg.norm(quaternion))
    text = at("1.1", spoil('<origin xyz="0 0 0.2" rpy="0 0 1.5"/>', f'<origin xyz="0 0 0.2" quat_xyzw="{words}"/>'))
    robot = kt.load(write(tmp_path, text))
    peer = pin.buildModelFromXML(text)
    placement = peer.jointPlacements[peer.getJointId("elbow")]
    np.testing.assert_allclose(robot.joints["elbow"].placement.rotation, placement.rotation, atol=1e-15)
    assert kt.load(write(tmp_path, text.replace('version="1.1"', 'version="1.2"'))) == robot


@pytest.mark.parametrize(
    ("version", "origin", "message"),
    [
        ("1.0", 'quat_xyzw="0 0 0 1"', 'quat_xyzw came with version 1.1 of URDF; write version="1.1"'),
        (None, 'quat_xyzw="0 0 0 1"', "came with version 1.1"),
        ("1.1", 'quat_xyzw="0 0 0 1" rpy="0 0 0"', "has both rpy and quat_xyzw"),
        ("1.1", 'quat_xyzw="0 0 0 0"', "quat_xyzw has length 0"),
        ("1.1", 'quat_xyzw="0 0 0 2"', "quat_xyzw has length 2"),
        ("1.1", 'quat_xyzw="0 0 1"', "holds 3 numbers; expected 4"),
    ],
)
def test_quaternions_that_are_refused(tmp_path: Path, version: str | None, origin: str, message: str) -> None:
    text = at(version, spoil('<origin xyz="0.1 0 0"/>', f"<origin {origin}/>"))
    with pytest.raises(kt.errors.ModelError, match=f"arm.urdf:56: <origin>.*{message}"):
        kt.load(write(tmp_path, text))


def test_a_capsule_is_kept_whatever_the_version_and_noted_before_1_1(tmp_path: Path) -> None:
    text = spoil('<box size="0.1 0.2 0.3"/>', '<capsule radius="0.1" length="0.2"/>')
    for version, noted in ((None, True), ("1.0", True), ("1.1", False)):
        robot = kt.load(write(tmp_path, at(version, text)))
        assert robot.bodies["lower"].geometry[0].shape == "capsule"
        assert any("capsules came with" in note for note in robot.notes) == noted


def test_limits_of_acceleration_deceleration_and_jerk(tmp_path: Path) -> None:
    more = LIMIT.replace("/>", ' acceleration="5" deceleration="6" jerk="7"/>')
    robot = kt.load(write(tmp_path, at("1.2", spoil(LIMIT, more))))
    assert robot.extras.motion_limits == (MotionLimits("shoulder", 5.0, 6.0, 7.0),)
    only = LIMIT.replace("/>", ' acceleration="5"/>')
    robot = kt.load(write(tmp_path, at("1.2", spoil(LIMIT, only))))
    assert robot.extras.motion_limits == (MotionLimits("shoulder", 5.0, 5.0, math.inf),)
    assert not any("came with version 1.2" in note for note in robot.notes)
    assert any(
        "kept as data in robot.extras, without effect on the motion: motion limits (1)" in n for n in robot.notes
    )
    older = kt.load(write(tmp_path, spoil(LIMIT, only)))
    assert older.extras == robot.extras
    assert any("came with version 1.2 of URDF and were kept all the same: shoulder" in note for note in older.notes)


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ('<limit lower="-1" velocity="1" effort="1"/>', "needs both lower and upper"),
        ('<limit upper="1" velocity="1" effort="1"/>', "needs both lower and upper"),
        ('<limit lower="2" upper="1" velocity="1" effort="1"/>', "lower=2 is above upper=1"),
        (LIMIT.replace("/>", ' jerk="-7"/>'), "jerk=-7 is negative"),
        (LIMIT.replace("/>", ' acceleration="fast"/>'), "'fast' is not a number"),
        (LIMIT.replace('effort="40"', 'effort="-1"'), "effort=-1 is negative"),
    ],
)
def test_limits_that_version_1_2_refuses(tmp_path: Path, limit: str, message: str) -> None:
    with pytest.raises(kt.errors.ModelError, match=f"arm.urdf:43: <limit> in <joint.*{message}"):
        kt.load(write(tmp_path, at("1.2", spoil(LIMIT, limit))))


def test_velocity_and_effort_need_not_be_given_from_1_2_on(tmp_path: Path) -> None:
    robot = kt.load(write(tmp_path, at("1.2", spoil(LIMIT, '<limit lower="-1" upper="1"/>'))))
    assert robot.joints["shoulder"].limits == kt.model.Limits((-1.0,), (1.0,), (math.inf,), (math.inf,))
    assert not any("taken as unlimited" in note for note in robot.notes)


def test_safety_controllers_and_calibrations(tmp_path: Path) -> None:
    more = '<safety_controller k_velocity="10" k_position="5" soft_lower_limit="-1" soft_upper_limit="1.5"/>'
    text = spoil(LIMIT, f'{LIMIT}{more}<calibration rising="0.5" reference_position="0.25"/>')
    robot = kt.load(write(tmp_path, text))
    assert robot.extras.safety_limits == (SafetyLimits("shoulder", 10.0, 5.0, -1.0, 1.5),)
    assert robot.extras.calibrations == (Calibration("shoulder", rising=0.5, reference_position=0.25),)
    least = kt.load(write(tmp_path, spoil(LIMIT, f'{LIMIT}<safety_controller k_velocity="10"/>')))
    assert least.extras.safety_limits == (SafetyLimits("shoulder", 10.0),)
    for wrong, message in (
        (more.replace('k_velocity="10" ', ""), 'has no attribute "k_velocity"'),
        (more.replace("1.5", "-2"), "soft_lower_limit=-1 is above soft_upper_limit=-2"),
        (more.replace('k_position="5"', 'k_position="x"'), "'x' is not a number"),
    ):
        with pytest.raises(kt.errors.ModelError, match=f"arm.urdf:43: <safety_controller> in <joint.*{message}"):
            kt.load(write(tmp_path, spoil(LIMIT, LIMIT + wrong)))


NEW_STYLE = """<transmission name="drive"><type>transmission_interface/SimpleTransmission</type>
<joint name="shoulder"><hardwareInterface>EffortJointInterface</hardwareInterface><offset>0.5</offset>
<dead>1</dead></joint>
<actuator name="motor"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>"""
OLD_STYLE = """<transmission name="drive" type="pr2_mechanism_model/SimpleTransmission"><actuator name="motor"/>
<joint name="shoulder"/><mechanicalReduction>63.16</mechanicalReduction><use_simulated_gripper_joint/></transmission>"""


def test_transmissions_of_both_styles(tmp_path: Path) -> None:
    def only(text: str) -> Transmission:
        (found,) = kt.load(write(tmp_path, ARM.replace("</robot>", f"{text}</robot>"))).extras.transmissions
        return found

    joint = TransmissionJoint("shoulder", ("EffortJointInterface",), offset=0.5, other=(Unused("dead", text="1"),))
    actuator = TransmissionActuator("motor", 50.0)
    assert only(NEW_STYLE) == Transmission("drive", "transmission_interface/SimpleTransmission", (joint,), (actuator,))
    assert only(OLD_STYLE) == Transmission(
        "drive",
        "pr2_mechanism_model/SimpleTransmission",
        (TransmissionJoint("shoulder"),),
        (TransmissionActuator("motor"),),
        63.16,
        (Unused("use_simulated_gripper_joint"),),
    )


def test_a_transmission_of_no_joint_is_kept_as_it_is_and_a_wrong_number_in_one_refused(tmp_path: Path) -> None:
    text = ARM.replace("</robot>", NEW_STYLE.replace("shoulder", "hip") + "</robot>")
    robot = kt.load(write(tmp_path, text))
    assert robot.extras.transmissions == ()
    assert [part.tag for part in robot.extras.unused] == ["transmission"]
    assert any("name joints which the robot does not have" in note and "drive" in note for note in robot.notes)
    text = ARM.replace("</robot>", NEW_STYLE.replace("50", "fifty") + "</robot>")
    with pytest.raises(
        kt.errors.ModelError, match=r"arm.urdf:61: <mechanicalReduction> in .*'fifty', which is not a number"
    ):
        kt.load(write(tmp_path, text))


def test_parts_for_simulators_are_kept_as_they_are_written(tmp_path: Path) -> None:
    gazebo = '<gazebo reference="upper">\n  <mu1>0.2</mu1>\n  <sensor type="imu"><a:b c="d"/>text</sensor></gazebo>'
    robot = kt.load(write(tmp_path, ARM.replace("</robot>", f'{gazebo}<ros2_control name="x"/></robot>')))
    inside = (Unused("mu1", text="0.2"), Unused("sensor", (("type", "imu"),), (Unused("a:b", (("c", "d"),)),), "text"))
    assert robot.extras.unused == (
        Unused("gazebo", (("reference", "upper"),), inside),
        Unused("ros2_control", (("name", "x"),)),
    )
    assert str(robot.extras.unused[0].where).endswith("arm.urdf:58: <gazebo>")
    assert any("without effect on the motion: <gazebo> (1), <ros2_control> (1)" in note for note in robot.notes)
    assert not any("skipped" in note for note in robot.notes)


def test_deep_data_can_be_kept_compared_and_written(tmp_path: Path) -> None:
    deep = "<gazebo>" + "<a>" * 60 + "</a>" * 60 + "</gazebo></robot>"
    robot = kt.load(write(tmp_path, ARM.replace("</robot>", deep)))
    assert kt.from_text(kt.to_text(robot)) == robot
    assert pickle.loads(pickle.dumps(robot)) == robot
    assert repr(robot.extras)
    with pytest.raises(kt.errors.ModelError, match="nested more than 60 deep"):
        kt.load(
            write(tmp_path, ARM.replace("</robot>", deep.replace("<a>" * 60 + "</a>" * 60, "<a>" * 61 + "</a>" * 61)))
        )


def test_images_on_shapes(tmp_path: Path) -> None:
    image = '<material name="blue"><color rgba="0 0 1 1"/><texture filename="package://arm/wood.png"/></material>'
    text = ARM.replace('<material name="blue">\n    <color rgba="0 0 1 1"/>\n  </material>', image)
    assert text != ARM
    robot = kt.load(write(tmp_path, text))
    assert robot.extras.textures == (Texture("upper", 0, "package://arm/wood.png", "blue"),)
    assert robot.bodies["upper"].geometry[0].color == (0.0, 0.0, 1.0, 1.0)


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2"])
def test_what_pinocchio_refuses_of_these_is_refused_or_a_known_difference(tmp_path: Path, version: str) -> None:
    """The differences are those that docs/urdf.md lists."""
    pin = pytest.importorskip("pinocchio")
    more_lenient = {
        '<limit lower="-1" upper="1" effort="1"/>',
        '<limit lower="-1" upper="1" velocity="1"/>',
        '<limit lower="-inf" upper="inf" velocity="1" effort="1"/>',
        "",
        f"{LIMIT}<dynamics/>",
    }
    for limit in (
        *more_lenient,
        LIMIT,
        LIMIT.replace("/>", ' acceleration="2"/>'),
        f'{LIMIT}<safety_controller k_position="1"/>',
        '<limit lower="nan" upper="1" velocity="1" effort="1"/>',
        '<limit lower="x" upper="1" velocity="1" effort="1"/>',
        f'{LIMIT}<calibration rising="x"/>',
        f"{LIMIT}<mimic/>",
    ):
        start, end = ARM.split(LIMIT)
        text = at(version, start + limit + end.replace('<dynamics damping="0.7" friction="0.2"/>', "", 1))
        try:
            pin.buildModelFromXML(text)
        except ValueError:
            theirs = False
        else:
            theirs = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                kt.load(write(tmp_path, text))
            except kt.errors.ModelError:
                ours = False
            else:
                ours = True
        assert ours == theirs or (limit in more_lenient and ours), (limit, ours, theirs)
