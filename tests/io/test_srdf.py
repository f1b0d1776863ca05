"""SRDF files: groups, named states and collision pairs, checked against the robot that they belong to."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.extras import (
    BodySpheres,
    CollisionPair,
    EndEffector,
    JointGroup,
    JointProperty,
    JointValues,
    NamedState,
    PassiveJoint,
    Sphere,
    UncheckedBody,
    Unused,
    VirtualJoint,
)
from tests.io.arm import ARM, spoil, write
from tests.robots import robot_path

SRDF = """<?xml version="1.0"?>
<robot name="arm">
  <virtual_joint name="world_joint" type="floating" parent_frame="world" child_link="base"/>
  <group name="all">
    <group name="lower_part"/>
    <joint name=" shoulder "/>
  </group>
  <group name="lower_part">
    <chain base_link="upper" tip_link="tool"/>
  </group>
  <group name="links">
    <link name="upper"/>
    <link name="tool"/>
  </group>
  <group_state name="home" group="all">
    <joint name="shoulder" value="0.5"/>
    <joint name="elbow" value="-1"/>
    <joint name="world_joint" value="0 0 1 0 0 0 1"/>
  </group_state>
  <group_state name="home" group="lower_part">
    <joint name="elbow" value="0.25"/>
    <joint name="flange" value="0"/>
  </group_state>
  <group_state name="bare"/>
  <end_effector name="hand" group="lower_part" parent_link="upper" parent_group="links"/>
  <passive_joint name="elbow"/>
  <joint_property joint_name="elbow" property_name="speed" value="slow"/>
  <disable_default_collisions link="tool"/>
  <enable_collisions link1="tool" link2="base"/>
  <disable_collisions link1="base" link2="upper" reason="Adjacent"/>
  <link_sphere_approximation link="tool"><sphere center="0 0.5 0" radius="0.1"/></link_sphere_approximation>
  <gripper name="g" clearance="0.1"><position>0 0 0</position></gripper>
</robot>
"""


def load(folder: Path, srdf: str = SRDF, *, floating_base: bool = False) -> kt.Model:
    """The arm with these groups and states; a base that floats has a mass."""
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    urdf = write(folder, spoil('<link name="base"/>', f'<link name="base">{inertial}</link>'))
    return kt.load(urdf, srdf=write(folder, srdf, "arm.srdf"), floating_base=floating_base)


def test_everything_that_the_file_says_is_in_the_extras(tmp_path: Path) -> None:
    robot = load(tmp_path)
    extras = robot.extras
    assert extras.groups == (
        JointGroup("all", ("shoulder",), groups=("lower_part",)),
        JointGroup("lower_part", chains=(("upper", "tool"),)),
        JointGroup("links", bodies=("upper", "tool")),
    )
    base = JointValues("world_joint", (0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    assert extras.named_states == (
        NamedState("home", "all", (JointValues("shoulder", (0.5,)), JointValues("elbow", (-1.0,)), base)),
        NamedState("home", "lower_part", (JointValues("elbow", (0.25,)),)),
        NamedState("bare", ""),
    )
    assert extras.end_effectors == (EndEffector("hand", "lower_part", "upper", "links"),)
    assert extras.virtual_joints == (VirtualJoint("world_joint", "floating", "world", "base"),)
    assert extras.passive_joints == (PassiveJoint("elbow"),)
    assert extras.joint_properties == (JointProperty("elbow", "speed", "slow"),)
    assert extras.collision_pairs == (
        CollisionPair("tool", "base", True),
        CollisionPair("base", "upper", False, "Adjacent"),
    )
    assert extras.unchecked_bodies == (UncheckedBody("tool"),)
    assert extras.body_spheres == (BodySpheres("tool", (Sphere((0.0, 0.5, 0.0), 0.1),)),)
    inside = (Unused("position", text="0 0 0"),)
    assert extras.unused == (Unused("gripper", (("name", "g"), ("clearance", "0.1")), inside),)
    notes = "\n".join(robot.notes)
    assert "are those of" in notes
    assert "fixed were left out of the named states: flange in home" in notes
    assert "extras.unused: <gripper> (1)" in notes
    assert robot.parts.notes[-1] == robot.notes[-1]
    assert kt.from_text(kt.to_text(robot)) == robot


def test_a_group_lists_its_moving_joints_in_the_order_of_q(tmp_path: Path) -> None:
    robot = load(tmp_path)
    assert robot.group("all") == ["shoulder", "elbow"]
    assert robot.group("lower_part") == ["elbow"]
    assert robot.group("links") == ["shoulder"]
    assert robot.lock(robot.group("lower_part")).q_names == ["shoulder"]
    with pytest.raises(kt.errors.NameNotFoundError, match="'arm' has no group 'al': did you mean 'all'"):
        robot.group("al")


def test_a_named_configuration_is_a_q(tmp_path: Path) -> None:
    robot = load(tmp_path)
    assert robot.named_configuration("home", group="all").tolist() == [0.5, -1.0]
    assert robot.named_configuration("home", group="lower_part").tolist() == [0.0, 0.25]
    assert robot.named_configuration("home", group="lower_part", q=[3.0, 4.0]).tolist() == [3.0, 0.25]
    assert robot.named_configuration("bare").tolist() == [0.0, 0.0]
    floating = load(tmp_path, floating_base=True)
    assert floating.named_configuration("home", group="all").tolist() == [0, 0, 1, 0, 0, 0, 1, 0.5, -1.0]
    assert floating.with_gravity((0, 0, 0)).named_configuration("bare").tolist() == floating.neutral().tolist()
    with pytest.raises(kt.errors.ModelError, match="state 'home' of several groups; name one: 'all', 'lower_part'"):
        robot.named_configuration("home")
    with pytest.raises(kt.errors.NameNotFoundError, match="has no named state 'hone': did you mean 'home'"):
        robot.named_configuration("hone")
    with pytest.raises(kt.errors.NameNotFoundError, match="is not one of group 'links'"):
        robot.named_configuration("home", group="links")
    with pytest.raises(kt.errors.ShapeError, match="takes one q of"):
        robot.named_configuration("bare", q=[1.0])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '<joint name=" shoulder "/>',
            '<joint name="sholder"/>',
            "6: <joint name=.*did you mean 'shoulder",
        ),
        (
            '<group name="lower_part"/>',
            '<group name="lower"/>',
            "5: .*has no such group; did you mean 'lower_",
        ),
        ('tip_link="tool"', 'tip_link="tol"', "9: <chain> in <group .*'arm' has no such body; did you mean 'tool'"),
        ('<link name="upper"/>', '<link name="uper"/>', "12: .*no such body; did you mean 'upper'"),
        ('value="0.5"', 'value="0.5 1"', "16: .*holds 2 numbers; expected one number"),
        ('value="0.5"', 'value="half"', "16: .*'half' is not a number"),
        ('value="0 0 1 0 0 0 1"', 'value="0 0 1"', "18: .*holds 3 numbers; expected 7"),
        ('name="elbow" value="-1"', 'name="shoulder" value="-1"', "17: .*second value for joint 'shoulder'"),
        (
            'group="lower_part">\n    <joint',
            'group="all">\n    <joint',
            "20: .*another state 'home' of the",
        ),
        ('group="all"', 'group="al"', "15: .*this file has no such group; did you mean 'all'"),
        ('<group name="links">', '<group name="all">', "11: .*another group of this name in line 4"),
        ('<chain base_link="upper" tip_link="tool"/>', '<group name="all"/>', "4: .*holds itself"),
        ('type="floating"', 'type="ball"', '3: .*type="ball" is not a type of a virtual joint'),
        ('child_link="base"', 'child_link="bas"', "3: .*no such body; did you mean 'base'"),
        ('name="world_joint" type', 'name="elbow" type', "3: .*has a joint 'elbow' of its own"),
        ('parent_link="upper"', 'parent_link="up"', "25: .*no such body"),
        ('<passive_joint name="elbow"/>', '<passive_joint name="elbo"/>', "26: .*no such joint"),
        ('joint_name="elbow"', 'joint_name="elbo"', "27: .*no such joint"),
        ('collisions link="tool"', 'collisions link="tol"', "28: .*no such body"),
        ('link1="base"', 'link1="bse"', "30: <disable_collisions>: link1='bse': .*no such body"),
        ('link2="upper"', "", '30: .*has no attribute "link2"'),
        ('radius="0.1"', 'radius="-1"', "31: .*radius=-1 is negative"),
        ('<sphere center="0 0.5 0" radius="0.1"/>', "", "31: .*has no <sphere>"),
        ("<gripper", '<link name="a"/><gripper', "2: .*this is not an SRDF file"),
    ],
)
def test_what_does_not_fit_the_robot_is_refused_at_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in SRDF
    with pytest.raises(kt.errors.ModelError, match=rf"arm.srdf:({message})"):
        load(tmp_path, SRDF.replace(old, new, 1))


def test_a_file_for_a_robot_of_another_name_is_noted(tmp_path: Path) -> None:
    robot = load(tmp_path, SRDF.replace('<robot name="arm">', '<robot name="leg">'))
    assert any("for a robot named 'leg', this one is 'arm'" in note for note in robot.notes)


def test_a_robot_that_has_groups_takes_no_others(tmp_path: Path) -> None:
    path = kt.save(load(tmp_path), tmp_path / "arm.json")
    with pytest.raises(kt.errors.ModelError, match="has groups and named states already"):
        kt.load(path, srdf=tmp_path / "arm.srdf")


def test_what_is_no_path_or_no_file_is_refused(tmp_path: Path) -> None:
    wrong: object = 3
    with pytest.raises(kt.errors.DTypeError, match="srdf takes the path of an SRDF file, not int"):
        kt.load(write(tmp_path, ARM), srdf=wrong)  # type: ignore[arg-type]
    with pytest.raises(kt.errors.ModelError, match=r"none.srdf: cannot be read"):
        kt.load(write(tmp_path, ARM), srdf=tmp_path / "none.srdf")


REAL = {
    "a1": "", "anymal-kinova": "", "b1": "", "b1-z1": "", "bolt": "", "centauro": "", "finger_edu": "", "go1": "",
    "go2": "", "icub": "", "kinova": "", "panda": "", "pr2": "", "talos": "talos_full_v2", "xarm7": "",
    "ur5_gripper": "", "ur3_gripper": "", "ur5_joint_limited_robot": "",
}  # fmt: skip
FAULTY = {
    "alex_nub_hands": "parent_link='LeftGripperYaw': 'alex_nub_hands' has no such body",
    "alex_sake_hands": "parent_link='LeftGripperYaw'",
    "borinot_flying_arm_2": "base_link='base'",
    "hextilt_flying_arm_5": "base_link='base'",
    "romeo_small": "name='LToePitch': 'romeo' has no such joint",
    "simple_humanoid": "tip_link='r_foot'",
    "simple_humanoid_classical": "tip_link='r_foot'",
    "solo": "name='FL_HAA'",
    "z1": "base_link='base'",
}
"""Files of the wheel example-robot-data that name things which their robots do not have."""


def _pair(name: str, urdf: str = "") -> tuple[Path, Path]:
    folder = robot_path(urdf or name).parents[1]
    return robot_path(urdf or name), folder / "srdf" / f"{name}.srdf"


@pytest.mark.parametrize("name", sorted(REAL))
def test_named_states_of_real_robots_are_those_of_pinocchio(name: str) -> None:
    pin = pytest.importorskip("pinocchio")
    urdf, srdf = _pair(name, REAL[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = kt.load(urdf, srdf=srdf, floating_base=True, mimic=False)
    peer = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
    pin.loadReferenceConfigurations(peer, str(srdf), False)
    theirs = (
        dict(peer.referenceConfigurations.items())
        if hasattr(peer.referenceConfigurations, "items")
        else {entry.key(): entry.data() for entry in peer.referenceConfigurations}
    )
    states = {state.name: state for state in robot.extras.named_states}
    layout = kt.interop.Layout(robot, "pinocchio")
    for state in states.values():
        q = layout.q_to(robot.named_configuration(state.name, group=state.group))
        np.testing.assert_allclose(q, theirs[state.name], atol=1e-15)
    for group in robot.extras.groups:
        assert set(robot.group(group.name)) <= set(robot.joints)


@pytest.mark.parametrize("name", sorted(FAULTY))
def test_real_files_that_do_not_fit_their_robots_are_refused(name: str) -> None:
    urdf, srdf = _pair(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(kt.errors.ModelError, match=FAULTY[name]):
            kt.load(urdf, srdf=srdf)
