"""`kinetree info`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kinetree as kt
from kinetree import zoo
from tests.robots import every_joint

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
    assert "ROBOT" in result.err


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


def rows_of(out: str) -> dict[str, list[str]]:
    """The words of each line of the table, by its first."""
    table = out[out.index("(SI units)") :]
    return {
        line.split()[0]: line.split()[1:] for line in table.splitlines()[1:] if line.startswith("  ") and line.strip()
    }


def geared() -> kt.Model:
    """A leader, its follower, and two planar joints of six freedoms on one shared coordinate."""
    builder = kt.ModelBuilder("geared")
    for name in ("base", "a", "b", "c", "d"):
        builder.add_body(name, kt.solids.box(0.3, 0.2, 0.1, mass=1.0))
    leader, one = kt.Revolute([0, 0, 1]), (1.0,)
    builder.add_joint(
        "leader", leader, "base", "a", damping=[0.25], stiffness=[3.0], rest=[0.5], rotor=kt.model.Rotor(0.001, 30.0)
    )
    limits = kt.model.Limits((-0.75,), (0.75,), one, one)
    builder.add_joint(
        "tail", leader, "a", "b", limits=limits, mimic=kt.model.Mimic("leader", -0.5, 0.125), friction=[0.375]
    )
    builder.add_joint("left", kt.joints.Planar(), "b", "c", damping=[1.5, 2.5, 3.5])
    builder.add_joint("right", kt.joints.Planar(), "c", "d")
    matrix = [[1.0], [0.0], [-2.0], [0.5], [0.0], [1.0]]
    builder.add_coupling("drive", ["left", "right"], matrix, coordinates=["turn"], offset=[0, 0.25, 0, 0, 0, -1])
    return builder.build()


def test_followers_and_coupled_joints_stand_under_their_own_names(kinetree: Command) -> None:
    kt.save(geared(), "geared.json")
    result = kinetree("info", "geared.json")
    assert (result.code, result.err) == (0, "")
    rows = rows_of(result.out)
    assert rows["joint"] == [
        "lower", "upper", "velocity", "effort", "damping", "friction", "stiffness", "rest", "rotor", "gear", "follows",
    ]  # fmt: skip
    assert rows["leader"] == ["0.25", "3", "0.5", "0.001", "30"]
    assert rows["left.angle"] == ["3.5", "drive"]
    assert rows["right.y"] == ["drive"]
    lines = result.out.splitlines()
    assert any(line.split() == ["tail", "-0.75", "0.75", "1", "1", "0.375", "leader"] for line in lines)
    for formula in (
        "tail = -0.5 leader + 0.125",
        "left.x = drive.turn",
        "left.y = 0.25",
        "left.angle = -2 drive.turn",
        "right.x = 0.5 drive.turn",
        "right.y = 0",
        "right.angle = drive.turn - 1",
    ):
        assert formula in lines


def test_a_robot_of_every_joint_keeps_to_the_page(kinetree: Command) -> None:
    robot = every_joint()
    kt.save(robot, "every.json")
    result = kinetree("info", "every.json")
    table = result.out[result.out.index("(SI units)") :].splitlines()
    assert result.code == 0
    assert max(map(len, table)) <= 120
    assert len({len(line) for line in table if line.startswith("  ")}) == 1
    names = [line.split()[0] for line in table if line.startswith("  ") and line.strip()][1:]
    assert len(names) == sum(joint.kind.nv for joint in robot.joints.values())
    assert len(set(names)) == len(names)
    assert "follower = -0.5 revolute + 0.1" in table
    assert "left = wrist.pitch + wrist.roll" in table
    assert "right = wrist.pitch - wrist.roll" in table


def test_a_robot_that_nothing_limits_has_no_empty_columns(kinetree: Command) -> None:
    builder = kt.ModelBuilder("bare")
    builder.add_body("base")
    builder.add_body("ball", kt.solids.box(0.1, 0.1, 0.1, mass=1.0))
    builder.add_joint("hinge", kt.joints.Continuous([0, 0, 1]), "base", "ball")
    kt.save(builder.build(), "bare.json")
    result = kinetree("info", "bare.json")
    assert "nothing limits or drives the joints" in result.out
    assert "lower" not in result.out


def test_degrees_of_freedom_without_a_motor_are_reported(kinetree: Command) -> None:
    rows = rows_of(kinetree("info", "quadruped").out)
    assert "none" in rows["root_joint.vx"]
    assert "none" not in rows["front_left_knee"]
    robot = every_joint().with_actuation({"wrist": [True, False]})
    kt.save(robot, "every.json")
    assert "wrist.roll has no motor" in kinetree("info", "every.json").out.splitlines()


def test_each_fault_is_printed_once(kinetree: Command) -> None:
    """Among the notes of the robot, and not as a warning as well."""
    names = ["left", "right"]
    links = "".join(
        f'<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="9"/>'
        f'</inertial></link><joint name="{name}_joint" type="continuous"><parent link="base"/><child link="{name}"/>'
        "</joint>"
        for name in names
    )
    Path("flat.urdf").write_text(f'<robot name="flat"><link name="base"/>{links}</robot>', encoding="utf-8")
    result = kinetree("info", "flat.urdf")
    assert (result.code, result.err) == (0, "")
    for name in names:
        assert f'note: flat.urdf:1: <inertial> in <link name="{name}">: body {name!r}' in result.out
        assert (result.out + result.err).count(f"body {name!r}") == 1
    assert "warning: " in kinetree("simulate", "flat.urdf", "--duration", "0.002").err


def test_json_has_the_numbers_of_each_degree_of_freedom(kinetree: Command) -> None:
    Path("geared.json").write_text(kt.to_text(geared()), encoding="utf-8")
    result = kinetree("info", "geared.json", "--json")
    assert (result.code, result.err) == (0, "")
    data = json.loads(result.out)
    robot = geared()
    assert (data["name"], data["nq"], data["nv"], data["floating_base"]) == ("geared", robot.nq, robot.nv, False)
    assert data["mass"] == pytest.approx(robot.mass)
    assert (data["q_names"], data["v_names"]) == (list(robot.q_names), list(robot.v_names))
    assert [body["name"] for body in data["bodies"]] == list(robot.bodies)
    rows = {row["name"]: row for joint in data["joints"] for row in joint["degrees_of_freedom"]}
    assert rows["leader"] == {
        "name": "leader", "damping": 0.25, "stiffness": 3.0, "rest": 0.5, "rotor": 0.001, "gear": 30.0
    }  # fmt: skip
    assert rows["tail"] == {
        "name": "tail", "velocity": 1.0, "effort": 1.0, "lower": -0.75, "upper": 0.75, "friction": 0.375,
        "follows": "leader",
    }  # fmt: skip
    assert "tail = -0.5 leader + 0.125" in data["followers"]


@pytest.mark.parametrize("name", ["humanoid", "quadruped"])
def test_json_of_a_robot_of_the_zoo_has_no_infinite_number(kinetree: Command, name: str) -> None:
    data = json.loads(kinetree("info", name, "--json").out, parse_constant=pytest.fail)
    assert [joint["name"] for joint in data["joints"]] == list(zoo.load(name).joints)
