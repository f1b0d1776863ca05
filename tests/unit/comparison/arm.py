"""A small arm as a URDF file, in which differences are planted."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ARM", "changed", "write"]

ARM = """<robot name="arm">
  <link name="base"><inertial><mass value="5"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="upper"><inertial><origin xyz="0.01 0.02 0.2"/><mass value="2"/>
    <inertia ixx="0.03" iyy="0.02" izz="0.02" ixy="0.001" ixz="0.002" iyz="-0.003"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0 0 0.1" rpy="0.1 0.2 0.3"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.012" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tool"><inertial><mass value="0.3"/><inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="left"><inertial><mass value="0.1"/><inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right"><inertial><mass value="0.1"/><inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><origin xyz="0 0 0.3"/><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" velocity="3" effort="50"/><dynamics damping="0.5" friction="0.2"/></joint>
  <joint name="elbow" type="revolute"><origin xyz="0 0.1 0.4" rpy="0.2 0 0"/><parent link="upper"/><child link="lower"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1.5" velocity="3" effort="20"/></joint>
  <joint name="flange" type="fixed"><origin xyz="0 0 0.25" rpy="0 0 0.5"/><parent link="lower"/><child link="tool"/></joint>
  <joint name="finger" type="prismatic"><origin xyz="0 0.05 0.05"/><parent link="tool"/><child link="left"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.04" velocity="1" effort="5"/></joint>
  <joint name="thumb" type="prismatic"><origin xyz="0 -0.05 0.05"/><parent link="tool"/><child link="right"/><axis xyz="0 -1 0"/>
    <limit lower="0" upper="0.04" velocity="1" effort="5"/><mimic joint="finger" multiplier="0.5" offset="0.01"/></joint>
</robot>
"""  # noqa: E501


def changed(*replacements: tuple[str, str]) -> str:
    """The arm with other words in place of some; each of those must be in it."""
    text = ARM
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def write(folder: Path, name: str, text: str = ARM) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
