"""The order of joints that `kt.interop.Layout` takes by default is the one that each library gives them itself."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import pinocchio as pin
import pytest

import kinetree as kt
from tests.oracles.mujoco_oracle import bare_urdf
from tests.oracles.shuffled_urdf import shuffled_urdf
from tests.robots import each_robot_file, load_robot, robot_path

REAL = pytest.mark.parametrize("file", each_robot_file())
_INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
"""In place of every link's own, as MuJoCo refuses some of them."""


def pinocchio_order(path: Path, *base: object, mimic: bool = False) -> list[str]:
    """The joints of Pinocchio's own reading that have coordinates."""
    model = pin.buildModelFromUrdf(str(path), *base, mimic=mimic)
    return [name for name, joint in list(zip(model.names, model.joints, strict=True))[1:] if joint.nq]


def mujoco_order(urdf: str) -> list[str]:
    model = mujoco.MjModel.from_xml_string(urdf)
    return [model.joint(k).name for k in range(model.njnt)]


def ordered(robot: kt.Model, library: str) -> list[str]:
    return list(kt.interop.Layout(robot, library).joint_order)


@REAL
def test_pinocchio_s_order_of_every_file(file: str) -> None:
    robot = load_robot(file)
    assert ordered(robot, "pinocchio") == pinocchio_order(robot_path(file))


@pytest.mark.parametrize("file", ["talos_reduced", "anymal_b_simple_description/robots/anymal.urdf", "icub"])
def test_pinocchio_s_floating_base_comes_first(file: str) -> None:
    robot = load_robot(file, floating_base=True)
    assert ordered(robot, "pinocchio") == pinocchio_order(robot_path(file), pin.JointModelFreeFlyer())
    assert ordered(robot, "pinocchio")[0] == "root_joint"


@pytest.mark.parametrize("file", ["panda", "tiago"])
def test_pinocchio_s_order_without_followers(file: str) -> None:
    robot = load_robot(file, mimic=True)
    assert ordered(robot, "pinocchio") == pinocchio_order(robot_path(file), mimic=True)


@REAL
def test_mujoco_s_order_of_every_file(file: str) -> None:
    robot = load_robot(file)
    urdf = ET.fromstring(bare_urdf(robot_path(file), robot))
    for link in urdf.iter("link"):
        link[:] = [ET.fromstring(_INERTIAL)]
    assert ordered(robot, "mujoco") == mujoco_order(ET.tostring(urdf, encoding="unicode"))


@pytest.mark.parametrize("seed", range(20))
def test_orders_of_shuffled_trees_with_fixed_joints(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "shuffled.urdf"
    path.write_text(text := shuffled_urdf(seed), encoding="utf-8")
    robot = kt.load(path)
    assert ordered(robot, "pinocchio") == pinocchio_order(path)
    for fuse in ("true", "false"):
        compiler = f'<mujoco><compiler fusestatic="{fuse}"/></mujoco></robot>'
        assert ordered(robot, "mujoco") == mujoco_order(text.replace("</robot>", compiler))
    afloat = kt.load(path, floating_base=True)
    assert ordered(afloat, "pinocchio") == pinocchio_order(path, pin.JointModelFreeFlyer())


def test_mujoco_goes_through_its_own_format_in_the_same_way() -> None:
    """Depth first in the order of the elements: the order of a URDF with the same bodies and joints in that order."""
    parents = {"b": "base", "z": "b", "a": "base", "y": "b", "c": "a"}
    builder = kt.ModelBuilder("tree")
    builder.add_body("base")
    for name, parent in parents.items():
        builder.add_body(name, kt.solids.sphere(0.1, mass=1.0))
        builder.add_joint(f"to {name}", kt.Revolute([0, 0, 1]), parent, name)
    elements = {name: ET.Element("body", name=name) for name in parents}
    world = ET.Element("worldbody")
    for name, parent in parents.items():
        ET.SubElement(elements[name], "joint", name=f"to {name}")
        ET.SubElement(elements[name], "geom", size="0.1")
        elements.get(parent, world).append(elements[name])
    mjcf = f"<mujoco>{ET.tostring(world, encoding='unicode')}</mujoco>"
    assert ordered(builder.build(), "mujoco") == mujoco_order(mjcf) == [f"to {name}" for name in "bzyac"]


def test_a_reduced_model_keeps_the_order_of_what_remains() -> None:
    robot = load_robot("talos_reduced", floating_base=True)
    model = pin.buildModelFromUrdf(str(robot_path("talos_reduced")), pin.JointModelFreeFlyer())
    names = [name for k, name in enumerate(robot.joints) if k % 3 == 1]
    reduced = pin.buildReducedModel(model, [model.getJointId(name) for name in names], pin.neutral(model))
    assert ordered(robot.lock(names), "pinocchio") == list(reduced.names)[1:]
