"""A small valid URDF file that the tests of the reader spoil in one place at a time."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ARM", "line_of", "spoil", "write"]

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <material name="blue">
    <color rgba="0 0 1 1"/>
  </material>
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.1" rpy="0.1 0.2 0.3"/>
      <mass value="2.5"/>
      <inertia ixx="0.11" ixy="0.001" ixz="0.002" iyy="0.12" iyz="0.003" izz="0.13"/>
    </inertial>
    <visual name="shell">
      <origin xyz="0 0 0.05" rpy="0 0 0"/>
      <geometry>
        <cylinder radius="0.04" length="0.2"/>
      </geometry>
      <material name="blue"/>
    </visual>
  </link>
  <link name="lower">
    <inertial>
      <mass value="1.5"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
    </inertial>
    <collision>
      <geometry>
        <box size="0.1 0.2 0.3"/>
      </geometry>
    </collision>
  </link>
  <link name="tool">
    <inertial>
      <mass value="0.5"/>
      <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/>
    </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <origin xyz="0 0 1" rpy="0 0 0"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="2" velocity="3" effort="40"/>
    <dynamics damping="0.7" friction="0.2"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper"/>
    <child link="lower"/>
    <origin xyz="0 0 0.2" rpy="0 0 1.5"/>
    <axis xyz="0 0 1"/>
    <limit velocity="5" effort="6"/>
  </joint>
  <joint name="flange" type="fixed">
    <parent link="lower"/>
    <child link="tool"/>
    <origin xyz="0.1 0 0"/>
  </joint>
</robot>
"""


def write(folder: Path, text: str | bytes, name: str = "arm.urdf") -> Path:
    """The text as a file."""
    path = folder / name
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text, encoding="utf-8")
    return path


def spoil(old: str, new: str) -> str:
    """The arm with one piece of text replaced; it must be there."""
    assert old in ARM, f"{old!r} is not in the arm"
    return ARM.replace(old, new, 1)


def line_of(text: str, piece: str) -> int:
    """The line in which a piece of text begins."""
    assert piece in text, f"{piece!r} is not in the text"
    return text.count("\n", 0, text.index(piece)) + 1
