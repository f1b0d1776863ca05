"""Commands take robots by name from installed packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.io.arm import ARM, write
from tests.robots import robot_path

from .conftest import Command


def test_a_robot_of_a_package_is_shown(kinetree: Command) -> None:
    result = kinetree("info", "panda", "--source", "example-robot-data")
    assert result.code == 0
    assert str(robot_path("panda")) in result.out
    assert kinetree("info", "quadruped", "--source", "zoo").out == kinetree("info", "quadruped").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pnda", "--source", "example-robot-data"), "has no robot 'pnda': did you mean 'panda'"),
        (
            ("panda", "--source", "example-robot"),
            "no source of robots 'example-robot': did you mean 'example-robot-data'",
        ),
        (("panda",), "a robot of this name is loaded with --source example-robot-data"),
        (("nobody",), "there is no such file, and the zoo has no robot of that name"),
    ],
)
def test_a_wrong_name_is_reported(kinetree: Command, arguments: tuple[str, ...], message: str) -> None:
    result = kinetree("info", *arguments)
    assert result.code == (2 if "--source" in arguments else 1)
    assert message in result.err


def test_a_file_takes_precedence_over_names(kinetree: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, ARM, "panda_description")
    assert "Model 'arm'" in kinetree("info", "panda_description").out


def test_a_xacro_file_gets_its_arguments(kinetree: Command, tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    text = """<robot xmlns:xacro="x" name="arm"><xacro:arg name="name" default="base"/>
    <link name="$(arg name)"/></robot>"""
    path = str(write(tmp_path, text, "arm.xacro"))
    refused = kinetree("info", path)
    assert refused.code == 1
    assert "--xacro on the command line" in refused.err
    assert " base" in kinetree("info", path, "--xacro").out
    assert " foot=2" in kinetree("info", path, "--xacro-arg", "name=foot=2").out
    result = kinetree("info", path, "--xacro-arg", "name")
    assert result.code == 2
    assert "'name' is not an argument of the form name=value" in " ".join(result.err.replace("│", " ").split())
