"""All commands that load a robot have the same options for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from kinetree.cli.app import app
from tests.unit.cli.conftest import Command

LOADING = ("info", "check", "convert", "export", "simulate", "compare", "bench", "view", "sweep", "identify")
SHARED = {"floating_base", "package_root", "ros_packages", "source", "srdf", "xacro", "xacro_arg"}
XACRO = """<robot name="pair" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="mass" default="1"/>
<link name="a"/><link name="b"><inertial><mass value="$(arg mass)"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""
SRDF = '<robot name="pair"><group name="all"><joint name="{}"/></group></robot>'
RUNS: dict[str, tuple[str, ...]] = {
    "info": ("info", "{}"),
    "check": ("check", "{}"),
    "convert": ("convert", "{}", "out.json"),
    "export": ("export", "{}", "--function", "center_of_mass"),
    "simulate": ("simulate", "{}", "--duration", "0.002", "--quiet"),
    "compare": ("compare", "{}", "{}"),
    "bench": ("bench", "{}", "-n", "1"),
    "view": ("view", "{}", "--picture", "out.png"),
}


def run(kinetree: Command, name: str, robot: str, *options: str) -> Any:
    return kinetree(*(word.replace("{}", robot) for word in RUNS[name]), *options)


def test_they_have_the_same_options() -> None:
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    options = {
        name: {option.name: (option.opts, option.secondary_opts, option.help) for option in command.params}
        for name, command in commands.items()
    }
    assert {name for name, own in options.items() if "source" in own} == set(LOADING)
    for name in LOADING:
        for option in SHARED | ({"mimic"} if name != "bench" else set()):
            assert options[name][option] == options["info"][option]


@pytest.mark.parametrize("name", ["info", "check", "convert", "export", "simulate", "compare"])
def test_each_takes_a_source_and_an_srdf_file(kinetree: Command, name: str) -> None:
    Path("right.srdf").write_text(SRDF.format("base_yaw").replace("pair", "arm6"), encoding="utf-8")
    Path("wrong.srdf").write_text(SRDF.format("nothing").replace("pair", "arm6"), encoding="utf-8")
    assert run(kinetree, name, "arm6", "--source", "zoo").code == 0
    assert run(kinetree, name, "arm6", "--source", "zoo", "--srdf", "right.srdf").code == 0
    wrong = run(kinetree, name, "arm6", "--source", "zoo", "--srdf", "wrong.srdf")
    assert wrong.code == 1
    assert "nothing" in wrong.out + wrong.err
    none = run(kinetree, name, "arm9", "--source", "zoo")
    assert none.code == 2
    assert "the zoo has no robot 'arm9': did you mean 'arm" in none.err


@pytest.mark.parametrize("name", ["info", "check", "convert", "export", "simulate", "compare"])
def test_each_takes_arguments_of_a_xacro_file(kinetree: Command, name: str) -> None:
    pytest.importorskip("xacro")
    Path("pair.xacro").write_text(XACRO, encoding="utf-8")
    assert "--xacro" in run(kinetree, name, "pair.xacro").err + run(kinetree, name, "pair.xacro").out
    assert run(kinetree, name, "pair.xacro", "--xacro").code == 0
    assert run(kinetree, name, "pair.xacro", "--xacro-arg", "mass=2").code == 0
    negative = run(kinetree, name, "pair.xacro", "--xacro-arg", "mass=-2")
    assert negative.code == 1
    assert "-2" in negative.out + negative.err
    assert run(kinetree, name, "pair.xacro", "--xacro-arg", "mass").code == 2


@pytest.mark.parametrize("library", ["mujoco", "pinocchio"])
def test_other_libraries_read_what_a_xacro_file_makes(kinetree: Command, library: str) -> None:
    pytest.importorskip("xacro")
    pytest.importorskip({"mujoco": "mujoco", "pinocchio": "pinocchio"}[library])
    Path("pair.xacro").write_text(XACRO, encoding="utf-8")
    result = kinetree("compare", "pair.xacro", "--with", library, "--xacro-arg", "mass=3", "--json")
    assert result.code == 0, result.out
    assert json.loads(result.out)["counterparts"][0]["unread"] == ""


def test_a_zoo_robot_is_read_as_asked(kinetree: Command) -> None:
    """With its own base only where none is asked for."""
    assert "floating base" in kinetree("info", "quadruped").out
    assert "fixed base" in kinetree("info", "quadruped", "--fixed-base").out
    assert kinetree("check", "quadruped").code == 0
