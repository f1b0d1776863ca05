"""A sound robot, and the faults that tests plant in it."""

from __future__ import annotations

from pathlib import Path

import kinetree as kt

__all__ = ["SOUND", "codes", "planted"]

SOUND = """<robot name="sound">
  <link name="base">
    <collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision>
  </link>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.15"/>
      <mass value="2.5"/>
      <inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.002"/>
    </inertial>
    <visual name="shell"><origin xyz="0 0 0.15"/><geometry><cylinder radius="0.04" length="0.3"/></geometry></visual>
  </link>
  <link name="lower">
    <inertial>
      <origin xyz="0 0 0.1"/>
      <mass value="1.5"/>
      <inertia ixx="0.006" ixy="0" ixz="0" iyy="0.006" iyz="0" izz="0.001"/>
    </inertial>
    <visual name="rod"><origin xyz="0 0 0.1"/><geometry><cylinder radius="0.03" length="0.2"/></geometry></visual>
  </link>
  <link name="tool">
    <inertial>
      <mass value="0.5"/>
      <inertia ixx="0.0002" ixy="0" ixz="0" iyy="0.0002" iyz="0" izz="0.0002"/>
    </inertial>
    <visual name="ball"><geometry><sphere radius="0.03"/></geometry></visual>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <origin xyz="0 0 0.05" rpy="0 0 0"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="2" velocity="3" effort="40"/>
    <dynamics damping="0.7" friction="0.2"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/>
    <child link="lower"/>
    <origin xyz="0 0 0.3"/>
    <axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="5" effort="6"/>
  </joint>
  <joint name="wrist" type="revolute">
    <parent link="lower"/>
    <child link="tool"/>
    <origin xyz="0 0 0.2"/>
    <axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" velocity="5" effort="6"/>
  </joint>
</robot>
"""


def planted(folder: Path, *pairs: tuple[str, str], name: str = "robot.urdf") -> Path:
    """The file of the sound robot with the first place of each text replaced by another; it must be there."""
    text = SOUND
    for old, new in pairs:
        assert old in text, f"{old!r} is not in the robot"
        text = text.replace(old, new, 1)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def codes(report: kt.checking.Report, severity: str = "") -> list[str]:
    """The codes of a report's problems, in their order."""
    return [found.code for found in report.problems if not severity or found.severity == severity]
