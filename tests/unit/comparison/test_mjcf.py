"""MJCF files beside MuJoCo: the names and coordinates that its bodies and joints have here."""

from __future__ import annotations

from pathlib import Path

import kinetree as kt
from tests.unit.comparison.arm import write

WALKER = """<mujoco model="walker">
  <compiler angle="degree"/>
  <option gravity="0 0 -5"/>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="torso" pos="0 0 1" euler="10 20 30">
      <freejoint name="root"/>
      <geom type="box" size="0.1 0.2 0.3" mass="3" pos="0.01 0.02 0.03"/>
      <body name="leg" pos="0.1 0 -0.2">
        <joint name="x" axis="1 0 0" range="-30 40" armature="0.1" damping="0.3"/>
        <joint axis="0 1 0" pos="0.05 0 0" ref="20" stiffness="2" frictionloss="0.1"/>
        <geom type="capsule" size="0.05 0.2" mass="1"/>
        <body name="pad" pos="0 0 -0.3">
          <geom type="sphere" size="0.05" mass="0.2"/>
          <body pos="0.1 0 0"><joint type="slide" axis="1 1 0"/><geom type="sphere" size="0.05" mass="0.2"/></body>
        </body>
      </body>
      <body name="arm" pos="0 0.3 0.1">
        <joint type="ball" name="shoulder"/><geom type="cylinder" size="0.05 0.2" pos="0 0 0.2" mass="1"/>
      </body>
    </body>
    <body name="hand" mocap="true" pos="1 1 1"><geom type="sphere" size="0.1"/></body>
  </worldbody>
</mujoco>
"""


def test_joints_of_all_types_several_on_a_body_and_without_names(tmp_path: Path) -> None:
    found = kt.compare(write(tmp_path, "walker.xml", WALKER), peers=["mujoco"])
    assert found.is_equal, found.text
    (beside,) = found.counterparts
    assert beside.notes == ("mujoco lets users move 'hand' (mocap); the place in the file is taken",)
    counts = {quantity.name: quantity.count for quantity in beside.quantities}
    assert counts["frames"] == 2  # the pad, and the hand
    assert counts["joint axes"] == 5


def test_gravity_that_is_switched_off(tmp_path: Path) -> None:
    text = WALKER.replace('<option gravity="0 0 -5"/>', '<option gravity="0 0 -5"><flag gravity="disable"/></option>')
    assert kt.compare(write(tmp_path, "walker.xml", text), peers=["mujoco"]).is_equal


def test_a_file_compared_with_mujocos_reading_of_another(tmp_path: Path) -> None:
    other = WALKER.replace('pos="0.05 0 0"', 'pos="0.06 0 0"')
    found = kt.compare(write(tmp_path, "a.xml", WALKER), write(tmp_path, "b.xml", other), peers=["mujoco"])
    for beside in found.counterparts:
        assert beside.first is not None
        assert beside.first.subject.startswith("joint 'leg_joint2'")
        assert beside.first.what in ("origin", "point on the axis")


def test_a_urdf_file_compared_with_the_same_robot_as_mjcf(tmp_path: Path) -> None:
    """A fixed base's mass is the world's in one and a body's in the other."""
    inertia = 'mass="2" diaginertia="0.02 0.03 0.04"'
    mjcf = f"""<mujoco><compiler autolimits="true" angle="radian"/><worldbody><body name="base">
      <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <body name="rod" pos="0 0 0.5"><joint name="hinge" axis="0 1 0" range="-1 2" actuatorfrcrange="-5 5"/>
      <inertial pos="0 0 0.2" {inertia}/></body></body></worldbody></mujoco>"""
    urdf = """<robot name="rod"><link name="base"><inertial><mass value="1"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="rod"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
      <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hinge" type="revolute"><origin xyz="0 0 0.5"/><parent link="base"/><child link="rod"/>
      <axis xyz="0 1 0"/><limit lower="-1" upper="2" velocity="3" effort="5"/></joint></robot>"""
    found = kt.compare(write(tmp_path, "a.urdf", urdf), write(tmp_path, "b.xml", mjcf), peers=["mujoco"])
    for beside in found.counterparts:
        errors = {quantity.name: quantity.error for quantity in beside.quantities}
        assert max(errors[name] for name in ("mass matrix", "bias forces", "gravity forces", "placements")) < 1e-12
        assert {difference.what for difference in beside.differences} <= {
            "velocity limit", "effort limit", "only there",
        }, found.text  # fmt: skip
