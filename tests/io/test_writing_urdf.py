"""URDF files that kinetree writes: what comes back of them, what they look like, and what is refused."""

from __future__ import annotations

import itertools
import math
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import kinetree as kt
from kinetree.io.decimals import about_center_of_mass, roll_pitch_yaw
from kinetree.io.texts import written
from kinetree.joints import JointKind
from kinetree.model import Geometry, Limits, Mimic, Rotor
from kinetree.model.extras import ContactParameters, Extras, Unused
from kinetree.spatial import Inertia, Sym3, Vec3
from kinetree.spatial.rotations import from_rpy
from tests.io.round_trips import BY_ANGLES, came_back, differences, quietly, urdf_robots
from tests.robots import REFUSED, load_robot, robot_files
from tests.strategies import inertias, law, rotations, roundings, trees

BODY = Inertia.from_com(1.0, Vec3(0.1, 0.2, 0.3), Sym3(0.2, 0.25, 0.3, 0.01, 0.02, 0.03))
TURNED = kt.lie.placement((0.1, -0.2, 0.3), rpy=(0.1, 0.2, 0.3))
PULL = (0.0, 0.0, -9.81)


def one_joint(kind: JointKind, *, gravity: Any = PULL, floating_base: bool = False, **options: Any) -> kt.Model:
    builder = kt.ModelBuilder("one joint", gravity=gravity)
    builder.add_body("base", BODY)
    builder.add_body("tip", BODY)
    builder.add_joint("j", kind, "base", "tip", TURNED, **options)
    return builder.build(floating_base=floating_base)


@law(15)
@given(urdf_robots())
def test_a_robot_that_urdf_can_hold_comes_back(robot: kt.Model) -> None:
    again = came_back(robot, ".urdf")
    error, where = differences(robot, again)
    assert error <= BY_ANGLES, where
    assert differences(again, came_back(again, ".urdf"))[0] <= BY_ANGLES


@law(15)
@given(trees())
def test_any_robot_comes_back_or_is_refused(robot: kt.Model) -> None:
    text, losses = written(robot, "urdf")
    if losses.lost or losses.impossible:
        with pytest.raises(kt.errors.ModelError, match="cannot be written as URDF"):
            kt.to_text(robot, "urdf")
    else:
        assert kt.to_text(robot, "urdf") == text
        again = came_back(robot, ".urdf")
        assert all(again.bodies[name].mass == 0.0 for name in robot.frames if name not in robot.bodies)
        assert losses.changed or differences(robot, again)[0] <= BY_ANGLES


def test_every_real_robot_comes_back_most_of_them_to_the_last_bit() -> None:
    exact = []
    for name in robot_files():
        if name in REFUSED:
            continue
        robot = load_robot(name, mimic=True)
        again = came_back(robot, ".urdf")
        error, where = differences(robot, again)
        assert error <= 1e-15, (name, where)
        exact.append(robot == again)
    assert sum(exact) > 0.8 * len(exact)


def test_the_text_is_short_and_readable() -> None:
    builder = kt.ModelBuilder("pendulum")
    builder.add_body("base")
    color = Geometry("visual", "box", (0.1, 0.1, 1.0), kt.lie.placement((0.0, 0.0, -0.5)), color=(1.0, 0.5, 0.0, 1.0))
    builder.add_body("bob", Inertia.from_com(2.0, Vec3(0.0, 0.0, -1.0), Sym3.scalar(0.008)), geometry=[color])
    builder.add_joint(
        "hinge", kt.Revolute([0, 1, 0]), "base", "bob", kt.lie.placement((0, 0, 2), rpy=(0.1, 0, 1.5708)), damping=[0.1]
    )
    builder.add_body("flag")
    builder.add_joint("pole", kt.Fixed(), "bob", "flag")
    assert (
        kt.to_text(builder.build(), "urdf")
        == """\
<?xml version="1.0" encoding="utf-8"?>
<robot name="pendulum">
  <material name="material_1">
    <color rgba="1 0.5 0 1"/>
  </material>
  <link name="base"/>
  <link name="bob">
    <inertial>
      <origin xyz="0 0 -1"/>
      <mass value="2"/>
      <inertia ixx="0.008" ixy="0" ixz="0" iyy="0.008" iyz="0" izz="0.008"/>
    </inertial>
    <visual>
      <origin xyz="0 0 -0.5"/>
      <geometry>
        <box size="0.1 0.1 1"/>
      </geometry>
      <material name="material_1"/>
    </visual>
  </link>
  <link name="flag"/>
  <joint name="hinge" type="revolute">
    <origin xyz="0 0 2" rpy="0.1 0 1.5708"/>
    <parent link="base"/>
    <child link="bob"/>
    <axis xyz="0 1 0"/>
    <dynamics damping="0.1"/>
    <limit lower="-1e+30" upper="1e+30" effort="1e+30" velocity="1e+30"/>
  </joint>
  <joint name="pole" type="fixed">
    <parent link="bob"/>
    <child link="flag"/>
  </joint>
</robot>
"""
    )


NAMELESS = Limits((-1.0,), (1.0,), (math.inf,), (math.inf,))
LOSSES: dict[str, tuple[dict[str, Any], str]] = {
    "gravity": ({"gravity": (0, 0, -1.62)}, r"gravity is \(0, 0, -1.62\)"),
    "floating base": ({"floating_base": True}, "the base floats"),
    "spring": ({"stiffness": [3.0]}, "joint 'j' has a spring"),
    "rest": ({"rest": [3.0]}, "joint 'j' has a spring"),
    "friction speed": ({"friction_speed": [3.0]}, "joint 'j' has a speed within which friction is smoothed"),
    "armature": ({"armature": [3.0]}, "joint 'j' has armature"),
    "rotor": ({"rotor": Rotor(0.1, 50.0)}, "joint 'j' has a rotor"),
    "motor": ({"actuated": False}, "joint 'j' has its own choice of motors"),
    "huge limit": ({"limits": Limits((-1.0,), (1.0,), (2e30,), (1.0,))}, "joint 'j' has a velocity limit of 1e30"),
}


@pytest.mark.parametrize("what", LOSSES)
def test_what_urdf_cannot_hold_is_refused_and_lost_only_if_asked(what: str, tmp_path: Path) -> None:
    options, message = LOSSES[what]
    robot = one_joint(kt.Revolute([0, 0, 1]), **options)
    path = tmp_path / "robot.urdf"
    with pytest.raises(
        kt.errors.ModelError, match=rf"^'one joint' cannot be written as URDF without loss:\n  {message}.*[^.]\n"
    ):
        kt.save(robot, path)
    assert not path.exists()
    with pytest.warns(kt.errors.ModelWarning, match=message) as warned:
        kt.save(robot, path, lossy=True)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    left = one_joint(kt.Revolute([0, 0, 1]), limits=options.get("limits"))
    if what != "huge limit":
        assert quietly(lambda: kt.load(path)) == left


OTHER_LOSSES: dict[str, tuple[JointKind, dict[str, Any], str]] = {
    "limits of a floating joint": (
        kt.Free(),
        {"limits": Limits((-1.0,) * 7, (1.0,) * 7, (1.0,) * 6, (1.0,) * 6)},
        "has limits",
    ),
    "motors of a floating base": (kt.joints.FloatingBase(), {"actuated": True}, "and without its own choice of motors"),
    "damping per degree of freedom": (kt.Free(), {"damping": range(6)}, "has one number"),
    "continuous with stops": (
        kt.joints.Continuous([0, 0, 1]),
        {"limits": NAMELESS},
        "is continuous, but has position limits",
    ),
}


@pytest.mark.parametrize("what", OTHER_LOSSES)
def test_numbers_of_some_kinds_are_lost(what: str) -> None:
    kind, options, message = OTHER_LOSSES[what]
    with pytest.raises(kt.errors.ModelError, match=message):
        kt.to_text(one_joint(kind, **options), "urdf")


def test_couplings_contacts_and_shapes_are_lost() -> None:
    builder = kt.ModelBuilder(" two ")
    builder.add_body("base", geometry=[Geometry("collision", "ellipsoid", (1.0, 2.0, 3.0), TURNED)])
    builder.add_body(
        "a", BODY, geometry=[Geometry("visual", "sphere", (1.0,), TURNED, "s", contact=ContactParameters())]
    )
    builder.add_body("b", BODY)
    builder.add_joint("left", kt.joints.Continuous([0, 0, 1]), "base", "a")
    builder.add_joint("right", kt.joints.Continuous([0, 0, 1]), "base", "b")
    builder.add_coupling("wrist", ["left", "right"], [[1, 1], [1, -1]], coordinates=["pitch", "roll"])
    builder.add_frame("tool", "b", TURNED)
    robot = builder.build()
    with pytest.raises(kt.errors.ModelError) as refused:
        kt.to_text(robot, "urdf")
    assert str(refused.value).splitlines()[1:-1] == [
        "  the robot's name ' two ' begins or ends with blanks, which are not kept",
        "  body 'base': a collision shape is of kind 'ellipsoid', which URDF does not have",
        "  body 'a': contact parameters of 1 shapes have no place in URDF",
        "  coupling 'wrist' has no place in URDF: its joints ('left', 'right') would move independently",
    ]
    again = came_back(robot, ".urdf", lossy=True)
    q = np.array([0.3, -0.4])
    expected = kt.frame_placement(robot, np.array([-0.05, 0.35]), "tool")
    assert np.allclose(kt.frame_placement(again, q, "tool"), expected, atol=1e-15)


def test_a_frame_is_a_link_without_mass(tmp_path: Path) -> None:
    builder = kt.ModelBuilder("arm")
    ball = Geometry("visual", "ellipsoid", (1.0, 2.0, 3.0), TURNED)
    builder.add_body("base")
    builder.add_body("tip", BODY, geometry=[ball])
    builder.add_joint("tool_joint", kt.joints.Continuous([0, 0, 1]), "base", "tip")
    builder.add_frame("tool", "tip", TURNED)
    robot = builder.build()
    with pytest.warns(kt.errors.ModelWarning, match=r"kinds that URDF does not have \(1\): ellipsoid of 'tip'"):
        again = kt.load(kt.save(robot, tmp_path / "arm.urdf"))
    q = np.array([0.3])
    assert again.bodies["tool"].mass == 0.0
    assert np.allclose(kt.frame_placement(again, q, "tool"), kt.frame_placement(robot, q, "tool"), atol=1e-15)
    assert (kt.crba(again, q) == kt.crba(robot, q)).all()


CHAINS: list[JointKind] = [
    kt.joints.Universal([1, 0, 0], [0, 1, 1]),
    kt.joints.Cylindrical([1, 1, 0]),
    kt.joints.Translation(),
    kt.joints.Euler("ZYX"),
    kt.joints.Euler("XZX", signs=(1, -1, 1)),
    kt.joints.Planar([0, 0, 1], along=[1, 1, 0]),
    kt.joints.Composite([kt.Revolute([1, 2, 3]), (kt.Fixed(), TURNED), kt.joints.Composite([kt.Prismatic([0, 1, 3])])]),
    kt.joints.Placed(kt.Revolute([1, 2, 3]), TURNED, TURNED),
    kt.joints.Screw(angular=[0, 0, 1], linear=[0, -0.5, 0]),
    kt.joints.MultiDof.angular_first([[0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 0.5, 0]]),
]


@pytest.mark.parametrize("kind", CHAINS, ids=repr)
def test_kinds_without_a_word_become_chains_that_move_alike(kind: JointKind) -> None:
    robot = one_joint(kind, damping=[0.1 * (k + 1) for k in range(kind.nv)])
    with pytest.raises(kt.errors.ModelError, match=r"joint 'j' \(.*\) has no word in URDF: it would become "):
        kt.to_text(robot, "urdf")
    again = came_back(robot, ".urdf", lossy=True)
    assert again.q_names == robot.q_names or kind.nq == 1 or again.nq == kind.nq
    rng = np.random.default_rng(1)
    q, v, qdd = rng.normal(size=(3, robot.nq))
    assert np.allclose(kt.crba(again, q), kt.crba(robot, q), atol=1e-13)
    assert np.allclose(kt.rnea(again, q, v, qdd), kt.rnea(robot, q, v, qdd), atol=1e-12)
    passive = ["damping"]
    assert np.allclose(
        kt.rnea(again, q, v, qdd, passive=passive), kt.rnea(robot, q, v, qdd, passive=passive), atol=1e-12
    )


@pytest.mark.parametrize("kind", [kt.joints.FreeRPY(), kt.joints.Euler("ZYX", inverse=True)], ids=repr)
def test_chains_whose_order_is_not_that_of_the_coordinates_move_alike(kind: JointKind) -> None:
    robot = one_joint(kind)
    again = came_back(robot, ".urdf", lossy=True)
    assert "tip" in again.bodies
    if kind.nq == 3:
        q = np.array([0.3, 0.4, 0.5])
        order = [robot.q_names.index(name) for name in again.q_names]
        assert np.allclose(kt.crba(again, q[order]), kt.crba(robot, q)[np.ix_(order, order)], atol=1e-13)


@pytest.mark.parametrize(
    "kind", [kt.joints.Spherical(), kt.joints.Ellipsoid([1, 2, 3]), kt.joints.Helical([0, 0, 1], 0.1)], ids=repr
)
def test_kinds_without_a_substitute_are_refused_even_with_losses(kind: JointKind, tmp_path: Path) -> None:
    with pytest.raises(
        kt.errors.ModelError, match=r"not even with losses:\n  joint 'j' .* has neither a word in URDF nor"
    ):
        kt.save(one_joint(kind), tmp_path / "robot.urdf", lossy=True)
    assert not list(tmp_path.iterdir())


def with_names(name: str, shape: str) -> kt.Model:
    builder = kt.ModelBuilder("names")
    builder.add_body("base")
    builder.add_body(name, BODY, geometry=[Geometry("visual", "mesh", (1.0, 1.0, 1.0), TURNED, shape, shape)])
    builder.add_joint(name, kt.joints.Continuous([0, 0, 1]), "base", name)
    return builder.build()


@pytest.mark.parametrize("name", ['all & of <it> "quoted"', " blank ", "\U0001f916"])
def test_names_that_xml_must_escape_come_back(name: str) -> None:
    robot = with_names(name, name)
    assert came_back(robot, ".urdf") == robot


@pytest.mark.parametrize("name", ["tab\tbed", "line\nfeed", "re\rturn"])
def test_names_of_shapes_may_have_control_characters_that_xml_escapes(name: str) -> None:
    robot = with_names("body", name)
    assert came_back(robot, ".urdf") == robot


@pytest.mark.parametrize("name", ["null\0", "bell\a", "half \ud800"])
def test_names_that_xml_has_no_place_for_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(kt.errors.ModelError, match="which XML has no place for; rename the part"):
        kt.save(with_names("body", name), tmp_path / "robot.urdf", lossy=True)


def test_a_very_long_name_is_refused() -> None:
    builder = kt.ModelBuilder("names")
    builder.add_body("n" * 5000)
    with pytest.raises(kt.errors.ModelError, match="is 5,000 characters long; the limit is 4,096"):
        kt.to_text(builder.build(), "urdf")


def test_a_very_deep_robot_is_written() -> None:
    builder = kt.ModelBuilder("chain")
    builder.add_body("0", BODY)
    for k in range(1, 2000):
        builder.add_body(str(k), BODY)
        builder.add_joint(f"j{k}", kt.joints.Continuous([0, 0, 1]), str(k - 1), str(k))
    robot = builder.build()
    assert differences(robot, came_back(robot, ".urdf"))[0] <= 1e-15


def test_the_file_is_well_formed_for_other_parsers() -> None:
    root = ET.fromstring(kt.to_text(kt.zoo.load("arm7"), "urdf").encode())
    assert [element.get("name") for element in root.iter("joint")] == [
        joint.name for joint in kt.zoo.load("arm7").parts.joints
    ]


def test_arguments_are_checked(tmp_path: Path) -> None:
    robot = kt.zoo.load("arm6")
    with pytest.raises(kt.errors.OptionError, match="there is no format 'urfd': did you mean 'urdf'"):
        kt.to_text(robot, "urfd")
    with pytest.raises(kt.errors.OptionError, match="lossy must be True or False"):
        kt.to_text(robot, "urdf", lossy="yes")  # type: ignore[arg-type]
    with pytest.raises(kt.errors.OptionError, match="lossy must be True or False"):
        kt.save(robot, tmp_path / "r.urdf", lossy=2)  # type: ignore[arg-type]
    with pytest.raises(kt.errors.ModelError, match="save takes a Model"):
        kt.save("robot", tmp_path / "r.urdf")  # type: ignore[arg-type]
    assert kt.load(kt.save(robot, tmp_path / "robot.xml", format="urdf")) == robot
    assert kt.load(kt.save(robot, tmp_path / "robot.URDF")) == robot
    assert (tmp_path / "robot.xml").read_bytes() == (tmp_path / "robot.URDF").read_bytes()
    assert kt.to_text(robot, "urdf").encode() == (tmp_path / "robot.xml").read_bytes()


def test_a_robot_with_other_numbers_than_its_parts_is_refused() -> None:
    from kinetree.compiler.forms.aligned import aligned

    robot = one_joint(kt.Revolute([1, 2, 3]))
    with pytest.raises(kt.errors.ModelError, match="has other numbers than the parts it was built from"):
        kt.to_text(aligned(robot), "urdf")


def test_no_warning_without_losses(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kt.load(kt.save(kt.zoo.load("arm6"), tmp_path / "arm.urdf", lossy=True))


# -- numbers


@law(100)
@given(rotations())
def test_angles_give_the_same_rotation(R: Any) -> None:
    made = from_rpy(*roll_pitch_yaw(R)).components()
    assert max(abs(a - b) for a, b in zip(made, R.components(), strict=True)) <= BY_ANGLES


TURNS = [
    (2.278163705225263, -1.701988983859615, 1.2658134179840792),
    *itertools.product((-2.9, -0.123456, 1.1), (-1.69, -0.7, 1.234567), (-1.9, 0.3, 2.7)),
]


def test_rotations_are_written_with_the_same_angles_twice() -> None:
    """Whatever angles are found for a rotation, the rotation that they make is found again, mostly to the last bit."""
    exact = []
    for roll, pitch, yaw in TURNS:
        for step in range(4):
            R = from_rpy(roll + 0.01 * step, pitch, yaw - 0.013 * step).T
            once = from_rpy(*roll_pitch_yaw(R))
            again = from_rpy(*roll_pitch_yaw(once))
            assert np.allclose(once.components(), R.components(), rtol=0.0, atol=4.5e-16)
            assert np.allclose(again.components(), once.components(), rtol=0.0, atol=1.2e-16)
            exact.append(again == once)
    assert np.mean(exact) > 0.97


@law(100)
@given(inertias())
def test_inertias_about_the_centre_of_mass_give_the_same_inertia(inertia: Inertia) -> None:
    com, I = about_center_of_mass(inertia)
    again = Inertia.from_com(inertia.mass, com, I)
    scale = max(map(abs, inertia.I.components()))  # type: ignore[arg-type]
    pairs = zip(again.I.components(), inertia.I.components(), strict=True)
    # The inertia about the centre of mass is at most twice as large, and rounded; so is its sum with the rest.
    assert max(abs(a - b) for a, b in pairs) <= roundings(3) * scale
    assert np.allclose(again.h.components(), inertia.h.components(), rtol=roundings(3), atol=0.0)  # h / m, and times m


def test_numbers_of_a_file_are_found_again() -> None:
    com, I = about_center_of_mass(Inertia.from_com(3.0, Vec3(0.1, 0.2, -0.7), Sym3(0.02, 0.03, 0.04, 0.001, 0.0, 1e-5)))
    assert com == Vec3(0.1, 0.2, -0.7)
    assert I.components() == (0.02, 0.03, 0.04, 0.001, 0.0, 1e-5)


def test_mimics_keep_their_numbers() -> None:
    builder = kt.ModelBuilder("gripper")
    for name in ("base", "a", "b"):
        builder.add_body(name, BODY)
    builder.add_joint("left", kt.Prismatic([1, 0, 0]), "base", "a", limits=NAMELESS)
    builder.add_joint("right", kt.joints.Continuous([0, 0, 1]), "base", "b", mimic=Mimic("left", -1.5, 0.1))
    robot = builder.build()
    assert came_back(robot, ".urdf") == robot


EXTRAS = """\
<robot name="r">
  <link name="a"/>
  <link name="b">
    <visual>
      <geometry><sphere radius="1"/></geometry>
      <material name="m"><color rgba="1 0 0 1"/><texture filename="a.png"/></material>
    </visual>
  </link>
  <joint name="j" type="revolute">
    <parent link="a"/>
    <child link="b"/>
    <limit lower="-1" upper="1" effort="2" velocity="3" acceleration="4" jerk="5"/>
    <safety_controller k_velocity="1" k_position="2" soft_lower_limit="-0.5"/>
    <calibration rising="0.25"/>
  </joint>
  <transmission name="t">
    <type>simple</type>
    <joint name="j"><hardwareInterface>effort</hardwareInterface><offset>0.5</offset></joint>
    <actuator name="m"><mechanicalReduction>50</mechanicalReduction><by year="1999">us &amp; them</by></actuator>
    <mechanicalReduction>2</mechanicalReduction>
    <other/>
  </transmission>
  <gazebo reference="b"><kp>1e6</kp><plugin name="p" filename="f">some text<deep/></plugin></gazebo>
</robot>
"""


def test_extras_of_urdf_files_come_back(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(EXTRAS, encoding="utf-8")
    robot = quietly(lambda: kt.load(path))
    again = came_back(robot, ".urdf")
    assert len(robot.extras.unused) == len(robot.extras.transmissions) == len(robot.extras.textures) == 1
    assert again.extras == robot.extras
    assert again == robot
    with pytest.raises(kt.errors.ModelError, match=r"robot.extras.transmissions \(1 of them\) has no place in SDF"):
        kt.to_text(robot, "sdf")


def test_raw_parts_of_other_formats_are_lost() -> None:
    builder = kt.ModelBuilder("r")
    builder.add_body("a")
    builder.extras = Extras(unused=(Unused("option", (("timestep", "1"),)),))
    with pytest.raises(
        kt.errors.ModelError, match="has parts of another format, <option>, which have no place in URDF"
    ):
        kt.to_text(builder.build(), "urdf")
