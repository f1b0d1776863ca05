"""`kinetree check`: output for people, JSON, SARIF, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kinetree.problems import CODES
from tests.checking.planted import SOUND
from tests.unit.cli.conftest import Command

LIMIT = 'lower="-1.5" upper="2"'


@pytest.fixture
def files(kinetree: Command) -> None:  # noqa: ARG001 - in its folder
    Path("sound.urdf").write_text(SOUND, encoding="utf-8")
    Path("odd.urdf").write_text(SOUND.replace(LIMIT, 'lower="-90" upper="90"', 1), encoding="utf-8")
    Path("bad.urdf").write_text(SOUND.replace(LIMIT, 'lower="2" upper="-2"', 1), encoding="utf-8")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["sound.urdf"], 0),
        (["odd.urdf"], 0),
        (["odd.urdf", "--strict"], 1),
        (["sound.urdf", "--strict"], 0),
        (["bad.urdf"], 1),
        (["sound.urdf", "bad.urdf"], 1),
        (["sound.urdf", "odd.urdf", "--json"], 0),
        (["bad.urdf", "--sarif"], 1),
        (["nowhere.urdf"], 1),
        ([], 2),
        (["sound.urdf", "--json", "--sarif"], 2),
        (["sound.urdf", "--colour"], 2),
    ],
)
def test_exit_codes(kinetree: Command, arguments: list[str], code: int) -> None:
    result = kinetree("check", *arguments)
    assert result.code == code, result.out + result.err
    assert "Traceback" not in result.err


@pytest.mark.usefixtures("files")
def test_problems_are_blocks_with_line_element_reason_and_advice(kinetree: Command) -> None:
    result = kinetree("check", "bad.urdf", "sound.urdf")
    assert result.out == (
        "bad.urdf:33: error [bad-limits]\n"
        '  in <limit> in <joint name="shoulder">\n'
        "  lower=2 is above upper=-2\n"
        "  → exchange them\n"
        "  repair=True: they are exchanged: -2 … 2\n"
        "\n"
        "bad.urdf: 1 error\n"
        "sound.urdf: no problems\n"
    )
    assert result.err == ""


@pytest.mark.usefixtures("files")
def test_notes_can_be_left_out(kinetree: Command) -> None:
    Path("noted.urdf").write_text(SOUND.replace("</robot>", "<gazebo/></robot>"), encoding="utf-8")
    assert "noted.urdf:50: note [kept-as-data]" in kinetree("check", "noted.urdf").out
    assert kinetree("check", "noted.urdf", "--no-notes").out == "noted.urdf: 1 note\n"


@pytest.mark.usefixtures("files")
def test_json(kinetree: Command) -> None:
    found = json.loads(kinetree("check", "sound.urdf", "odd.urdf", "--json").out)
    assert [report["file"] for report in found] == ["sound.urdf", "odd.urdf"]
    assert found[0] == {"file": "sound.urdf", "robot": "sound", "ok": True, "problems": [], "left_out": 0}
    (problem,) = found[1]["problems"]
    assert problem.keys() == {"severity", "code", "file", "line", "element", "sentence", "advice", "repair"}
    assert (problem["severity"], problem["code"], problem["line"]) == ("warning", "degrees", 28)


@pytest.mark.usefixtures("files")
def test_sarif(kinetree: Command) -> None:
    log = json.loads(kinetree("check", "bad.urdf", "odd.urdf", "nowhere.urdf", "--sarif").out)
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "kinetree"
    rules = driver["rules"]
    assert [rule["id"] for rule in rules] == ["bad-limits", "degrees", "unreadable-file"]
    assert all(rule["shortDescription"]["text"] == CODES[rule["id"]] for rule in rules)
    places = []
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        places.append((physical["artifactLocation"]["uri"], physical["region"]["startLine"]))
    assert places == [("bad.urdf", 33), ("odd.urdf", 28), ("nowhere.urdf", 1)]


def test_addresses_in_sarif_are_quoted(kinetree: Command) -> None:
    (run,) = json.loads(kinetree("check", "my robots/a#1.urdf", "--sarif").out)["runs"]
    (location,) = run["results"][0]["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "my%20robots/a%231.urdf"


@pytest.mark.usefixtures("files")
def test_an_srdf_file_is_checked_with_the_robot(kinetree: Command) -> None:
    Path("a.srdf").write_text('<robot name="sound">\n<passive_joint name="elbo"/></robot>', encoding="utf-8")
    result = kinetree("check", "sound.urdf", "--srdf", "a.srdf")
    assert result.code == 1
    assert "a.srdf:2: error" in result.out
    assert "'elbow'" in result.out
    Path("a.srdf").write_text('<robot name="sound"/>', encoding="utf-8")
    assert kinetree("check", "sound.urdf", "--srdf", "a.srdf").code == 0


def test_arguments_of_xacro_files(kinetree: Command) -> None:
    pytest.importorskip("xacro")
    text = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="mass" default="1"/>
    <link name="a"><inertial><mass value="$(arg mass)"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    Path("r.xacro").write_text(text, encoding="utf-8")
    assert kinetree("check", "r.xacro", "--xacro-arg", "mass=2").code == 0
    result = kinetree("check", "r.xacro", "--xacro-arg", "mass=-2")
    assert result.code == 1
    assert "negative-mass" in result.out
    assert kinetree("check", "r.xacro", "--xacro-arg", "mass").code == 2
