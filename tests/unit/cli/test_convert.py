"""`kinetree convert`."""

from __future__ import annotations

from pathlib import Path

import pytest

import kinetree as kt
from tests.robots import robot_path

from .conftest import Command


def test_a_robot_in_another_format_and_back(kinetree: Command) -> None:
    result = kinetree("convert", "arm6", "arm.json")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[0] == "arm.json: arm6, written as kinetree's text form"
    assert kinetree("convert", "arm.json", "arm.urdf").code == 0
    assert kt.load("arm.urdf") == kt.zoo.load("arm6")


def test_assumptions_are_reported(kinetree: Command) -> None:
    result = kinetree("convert", str(robot_path("panda")), "panda.urdf")
    assert result.code == 0
    assert "assumed about the robot:\n  " in result.out
    assert "mimic another follow it" in result.out
    assert "lost" not in result.out
    assert kinetree("convert", "panda.urdf", "free.json", "--no-mimic").code == 0
    assert kt.load("free.json").nq > kt.load("panda.urdf").nq


def test_losses_end_it_with_code_1_unless_they_are_accepted(kinetree: Command) -> None:
    result = kinetree("convert", "arm6", "arm.urdf", "--floating-base")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: 'arm6' cannot be written as URDF without loss:\n  the base floats")
    assert "--lossy" in result.err
    assert not Path("arm.urdf").exists()
    result = kinetree("convert", "arm6", "arm.urdf", "--floating-base", "--lossy")
    assert (result.code, result.err) == (0, "")
    assert "\nlost:\n  the base floats" in result.out
    assert kt.load("arm.urdf") == kt.zoo.load("arm6", floating_base=False)


def test_a_real_robot_becomes_mjcf_without_further_options(kinetree: Command) -> None:
    """Velocity limits, transmissions and parts for Gazebo are listed, and do not end the command."""
    result = kinetree("convert", str(robot_path("solo12")), "solo.xml")
    assert (result.code, result.err) == (0, "")
    assert "left out, as no simulation of MJCF computes with it:\n" in result.out
    assert "  velocity limits of joints (12): 'FL_HAA', 'FL_HFE'" in result.out
    assert kt.load("solo.xml").nv == 12


def test_what_cannot_be_written_at_all_has_code_1(kinetree: Command) -> None:
    result = kinetree("convert", "ragdoll", "doll.urdf", "--lossy")
    assert result.code == 1
    assert "joint 'neck' (spherical) has neither a word in URDF nor a substitute" in result.err
    assert not Path("doll.urdf").exists()


def test_wrong_usage_has_code_2(kinetree: Command) -> None:
    assert kinetree("convert", "arm6").code == 2
    for arguments in (("arm.usd",), ("arm",), ("arm.urdf", "--format", "urfd")):
        result = kinetree("convert", "arm6", *arguments)
        assert result.code == 2
        assert "urdf" in result.err
    assert kinetree("convert", "arm6", "arm", "--format", "urdf").code == 0
    assert kt.load("arm") == kt.zoo.load("arm6")


def test_a_file_that_cannot_be_read_or_written_has_code_1(kinetree: Command) -> None:
    assert kinetree("convert", "nowhere.urdf", "a.json").code == 1
    result = kinetree("convert", "arm6", "no/folder/a.json")
    assert result.code == 1
    assert "make the folder" in result.err


def test_addresses_of_meshes_are_mentioned_where_the_folder_changes(kinetree: Command) -> None:
    robot = (
        '<robot name="r"><link name="a"><visual><geometry><mesh filename="a.stl"/></geometry></visual></link></robot>'
    )
    Path("r.urdf").write_text(robot, encoding="utf-8")
    Path("other").mkdir()
    assert "copy the meshes along (a.stl, …)" in kinetree("convert", "r.urdf", "other/r.json").out
    assert "copy the meshes" not in kinetree("convert", "r.urdf", "s.json").out


@pytest.mark.parametrize("name", ["robot", "robot.abc", "robot.txt"])
def test_a_suffix_that_promises_no_format_is_wrong_usage(kinetree: Command, name: str) -> None:
    result = kinetree("convert", "arm6", name)
    assert result.code == 2
    assert "has no suffix that says in which format" in " ".join(result.err.split())
    assert not Path(name).exists()
    assert kinetree("convert", "arm6", name, "--format", "native").code == 0


def test_a_device_is_no_robot_file(kinetree: Command) -> None:
    result = kinetree("info", "/dev/null")
    assert result.code == 1
    assert result.err == "error: /dev/null: this is not a regular file; name a robot file\n"


def test_a_robot_file_is_not_overwritten_by_itself(kinetree: Command) -> None:
    text = kt.zoo.path("double_pendulum").read_bytes()
    path = Path("robot.urdf")
    path.write_bytes(text)
    for target in ("robot.urdf", "./robot.urdf"):
        result = kinetree("convert", "robot.urdf", target)
        assert result.code == 2
        assert "is the robot file itself" in result.err
    assert path.read_bytes() == text
