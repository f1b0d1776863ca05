"""`kinetree info`."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinetree import zoo

from .conftest import Command


@pytest.mark.parametrize("name", zoo.names())
def test_every_robot_of_the_zoo(kinetree: Command, name: str) -> None:
    result = kinetree("info", name)
    robot = zoo.load(name)
    assert (result.code, result.err) == (0, "")
    assert repr(robot) in result.out
    for joint in robot.v_names:
        assert joint in result.out


def test_limits_and_friction_stand_in_the_row_of_their_joint(kinetree: Command) -> None:
    rows = {line.split()[0]: line.split()[1:] for line in kinetree("info", "arm6").out.splitlines() if line.strip()}
    assert rows["elbow_pitch"] == ["-2.6", "2.6", "3.2", "100", "0.4", "0.3"]


def test_the_base_can_be_chosen(kinetree: Command) -> None:
    assert "root_joint.vx" in kinetree("info", "humanoid").out
    assert "root_joint.vx" not in kinetree("info", "humanoid", "--fixed-base").out


def test_no_robot_is_wrong_usage(kinetree: Command) -> None:
    result = kinetree("info")
    assert result.code == 2
    assert "MODEL" in result.err


def test_a_very_large_robot_is_abbreviated(kinetree: Command) -> None:
    joints = "".join(
        f'<link name="l{k}"/><joint name="j{k}" type="continuous"><parent link="root"/><child link="l{k}"/></joint>'
        for k in range(1000)
    )
    Path("many.urdf").write_text(f'<robot name="many"><link name="root"/>{joints}</robot>', encoding="utf-8")
    result = kinetree("info", "many.urdf")
    assert result.code == 0
    assert result.out.splitlines()[-1] == "… and 700 more"
    assert len(result.out.splitlines()) < 500
