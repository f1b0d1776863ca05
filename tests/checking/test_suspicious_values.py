"""Each suspicious value is found where it is planted, and nothing is found in sound robots."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

import kinetree as kt
from tests.checking.planted import SOUND, codes, planted

UPPER = '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.002"/>'
LIMIT = '<limit lower="-1.5" upper="2" velocity="3" effort="40"/>'
ELBOW_AXIS = '<axis xyz="0 0 1"/>'
SHELL = '<visual name="shell"><origin xyz="0 0 0.15"/>'

PLANTED: dict[str, tuple[list[tuple[str, str]], str, str]] = {
    "an inertia in g·mm²": (
        [(UPPER, '<inertia ixx="2e7" ixy="0" ixz="0" iyy="2e7" iyz="0" izz="2e6"/>')],
        "inertia-units",
        "give kg·m² if this is in g·mm²",
    ),
    "an inertia in kg·mm²": (
        [(UPPER, '<inertia ixx="2e4" ixy="0" ixz="0" iyy="2e4" iyz="0" izz="2e3"/>')],
        "inertia-units",
        "give kg·m² if this is in kg·mm²",
    ),
    "an inertia that is 10³ too large": (
        [(UPPER, '<inertia ixx="20" ixy="0" ixz="0" iyy="20" iyz="0" izz="2"/>')],
        "inertia-units",
        "give kg·m² if this is in g·m²",
    ),
    "an inertia that no shape of that size has": (
        [(UPPER, '<inertia ixx="0.35" ixy="0" ixz="0" iyy="0.35" iyz="0" izz="0.35"/>')],
        "inertia-size",
        "no shape of that size has it",
    ),
    "an inertia that is 10⁶ too small": (
        [(UPPER, '<inertia ixx="2e-8" ixy="0" ixz="0" iyy="2e-8" iyz="0" izz="2e-9"/>')],
        "inertia-units",
        "radius of gyration of only",
    ),
    "an inertia that breaks the triangle inequality": (
        [(UPPER, '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.002" iyz="0" izz="0.002"/>')],
        "inconsistent-inertia",
        "no rigid body can have",
    ),
    "a centre of mass in millimetres": (
        [('<origin xyz="0 0 0.15"/>', '<origin xyz="0 0 150"/>')],
        "center-of-mass-outside",
        "outside of its shapes",
    ),
    "all masses one": (
        [(f'<mass value="{x}"/>', '<mass value="1"/>') for x in ("2.5", "1.5", "0.5")],
        "all-masses-equal",
        "all 3 bodies with mass have 1 kg",
    ),
    "limits of zero": ([(LIMIT, '<limit effort="1" velocity="1"/>')], "zero-range", "cannot move"),
    "an effort of zero": ([('effort="40"', 'effort="0"')], "zero-limit", "the effort limit 0"),
    "a velocity of zero": ([('velocity="3"', 'velocity="0"')], "zero-limit", "the velocity limit 0"),
    "limits of ±90 degrees": ([('lower="-1.5" upper="2"', 'lower="-90" upper="90"')], "degrees", "more than two turns"),
    "limits of ±360 degrees": ([('lower="-1.5" upper="2"', 'lower="-360" upper="360"')], "degrees", "-360 … 360 rad"),
    "a rotation in degrees": ([('rpy="0 0 0"', 'rpy="0 90 0"')], "degrees", "give radians if these are degrees"),
    "an axis of length two": ([('"0 1 0"', '"0 2 0"')], "axis-length", "has the length 2"),
    "two joints about one axis": (
        [('"0 1 0"', '"0 0 1"')],
        "singular-everywhere",
        "joints 'shoulder' and 'elbow' move the robot in only one way",
    ),
    "three joints along directions of one plane": (
        [('type="revolute"', 'type="prismatic"')] * 3 + [('xyz="1 0 0"', 'xyz="0 0.6 0.8"')],
        "singular-everywhere",
        "joints 'shoulder', 'elbow' and 'wrist' move the robot in only two ways",
    ),
    "a massless body that moves": (
        [('<mass value="0.5"/>', '<mass value="0"/>'), ('ixx="0.0002"', 'ixx="0"'), ('iyy="0.0002"', 'iyy="0"'),
         ('izz="0.0002"', 'izz="0"')],
        "massless-moving-body",
        "joint 'wrist' moves nothing that has inertia",
    ),
    "a mesh that is missing": (
        [('<sphere radius="0.03"/>', '<mesh filename="hand.stl"/>')],
        "missing-mesh",
        "the mesh 'hand.stl' is not found",
    ),
    "a mesh outside the roots": (
        [('<sphere radius="0.03"/>', '<mesh filename="../../hand.stl"/>')],
        "missing-mesh",
        "outside the folder of the file; name its folder in package_roots",
    ),
    "names that differ in case": ([('"lower"', '"Upper"')] * 3, "similar-names", "'upper' and 'Upper'"),
    "two shapes of one name": (
        [(SHELL, '<visual name="shell"><geometry><sphere radius="0.1"/></geometry></visual>' + SHELL)],
        "repeated-shape-name",
        "two visual shapes named 'shell'",
    ),
    "a heavy body on a light one": (
        [('<mass value="2.5"/>', '<mass value="1e-7"/>'), (UPPER, re.sub("0.002|0.02", "1e-9", UPPER))],
        "mass-ratio",
        "hangs on body 'upper' (1e-07 kg)",
    ),
    "negative damping": ([('damping="0.7"', 'damping="-0.7"')], "negative-damping", "feeds energy in"),
    "no limits": ([(LIMIT, "")], "missing-limits", "has no <limit>"),
    "a misspelt element": ([("<dynamics", "<dynamic"),], "unknown-element", "did you mean 'dynamics'"),
    "a misspelt attribute": ([('effort="40"', 'efort="40"')], "unknown-attribute", "did you mean 'effort'"),
}  # fmt: skip


@pytest.mark.parametrize(("pairs", "code", "words"), PLANTED.values(), ids=PLANTED.keys())
def test_a_suspicious_value_is_found(pairs: list[tuple[str, str]], code: str, words: str, tmp_path: Path) -> None:
    report = kt.check(planted(tmp_path, *pairs))
    assert report.ok
    found = [each for each in report.warnings if each.code == code]
    assert len(found) == 1, str(report)
    assert words in found[0].what
    assert found[0].line is not None or code == "all-masses-equal"
    others = {each.code for each in report.warnings} - {code, "inertia-units"}
    assert not others, str(report)


def test_no_mass_at_all_is_one_warning(tmp_path: Path) -> None:
    text = '<robot name="r"><link name="a"/><link name="b"/>{}</robot>'
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    path = tmp_path / "r.urdf"
    path.write_text(text.format(joint), encoding="utf-8")
    assert codes(kt.check(path), "warning") == ["all-masses-equal"]


@pytest.mark.parametrize(("scale", "code"), [("", "mesh-units"), ('scale="0.001 0.001 0.001"', "")])
def test_a_mesh_in_millimetres(scale: str, code: str, tmp_path: Path) -> None:
    corners = [(0.0, 0.0, 0.0), (60.0, 0.0, 0.0), (0.0, 60.0, 60.0)]
    triangle = struct.pack("<12fH", 0, 0, 1, *(x for corner in corners for x in corner), 0)
    (tmp_path / "ball.stl").write_bytes(bytes(80) + struct.pack("<I", 1) + triangle)
    mesh = f'<mesh filename="ball.stl" {scale}/>'
    report = kt.check(planted(tmp_path, ('<sphere radius="0.03"/>', mesh)))
    assert [each.code for each in report.warnings if each.code == "mesh-units"] == [code] * bool(code)


@pytest.mark.parametrize("name", kt.zoo.names())
def test_a_robot_of_the_zoo_is_sound(name: str) -> None:
    report = kt.check(kt.zoo.path(name))
    assert report.errors + report.warnings == ()


def test_the_sound_robot_is_sound(tmp_path: Path) -> None:
    report = kt.check(planted(tmp_path))
    assert report.problems == ()
    assert report.ok
    assert report.robot == "sound"
    assert str(report).endswith("robot.urdf: no problems")
    assert SOUND in (tmp_path / "robot.urdf").read_text(encoding="utf-8")
