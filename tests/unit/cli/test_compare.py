"""`kinetree compare`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pinocchio as pin
import pytest

import kinetree as kt
from tests.unit.comparison.arm import ARM, changed

from .conftest import Command

OTHER = changed(('xyz="0 0.1 0.4"', 'xyz="0 0.103 0.4"'))
SENTENCE = (
    "different: b.urdf: first difference: origin of joint 'elbow' on upper: (0, 0.1, 0.4) m here, (0, 0.103, 0.4) m "
    "there (3 mm apart); 2 more"
)


@pytest.fixture
def files(kinetree: Command) -> Command:
    """The command in a folder with two files."""
    Path("a.urdf").write_text(ARM, encoding="utf-8")
    Path("b.urdf").write_text(OTHER, encoding="utf-8")
    return kinetree


def test_a_file_compared_with_the_installed_libraries(files: Command) -> None:
    result = files("compare", "a.urdf", "--with", "mujoco,pinocchio")
    assert (result.code, result.err) == (0, "")
    for word in ("arm compared with mujoco", "with pinocchio", "mass matrix", "note: mujoco merged", "relative to"):
        assert word in result.out
    assert result.out.splitlines()[-1].startswith("equal within 1e-09: 'arm' and mujoco")


def test_two_files(files: Command) -> None:
    result = files("compare", "a.urdf", "b.urdf")
    assert (result.code, result.err) == (1, "")
    assert result.out.splitlines()[-1] == SENTENCE
    assert files("compare", "a.urdf", "a.urdf").code == 0


def test_a_second_file_as_a_library_reads_it(files: Command) -> None:
    result = files("compare", "a.urdf", "b.urdf", "--with", "pinocchio", "--samples", "2", "--seed", "3")
    assert result.code == 1
    assert "arm compared with pinocchio" in result.out


def test_a_robot_of_the_zoo(kinetree: Command) -> None:
    result = kinetree("compare", "quadruped", "--with", "pinocchio", "--floating-base")
    assert (result.code, result.err) == (0, "")


def test_the_tolerance(files: Command) -> None:
    assert files("compare", "a.urdf", "b.urdf", "--tolerance", "0.5").code == 0
    result = files("compare", "a.urdf", "b.urdf", "--tolerance", "-1")
    assert result.code == 2
    assert "tolerance must be a number from 0 on" in " ".join(result.err.split())


def test_json(files: Command) -> None:
    result = files("compare", "a.urdf", "b.urdf", "--json")
    found = json.loads(result.out)
    assert result.code == 1
    assert found["equal"] is False
    assert found["verdict"] == SENTENCE
    assert found["counterparts"][0]["differences"][0]["body"] == "lower"
    result = files("compare", "a.urdf", "--with", "pinocchio", "--json")
    assert (result.code, json.loads(result.out)["equal"]) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a.urdf", "--with", "mujocco"], "there is no library 'mujocco' to compare with"),
        (["a.urdf", "--with", ""], "no peers were named"),
        (["a.urdf", "--samples", "0"], "--samples"),
        ([], "Missing argument"),
    ],
)
def test_wrong_usage(files: Command, arguments: list[str], words: str) -> None:
    result = files("compare", *arguments)
    assert result.code == 2
    assert words in " ".join(result.err.replace("│", " ").split())


def test_a_library_that_is_not_installed(files: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pydrake", "mujoco"):
        monkeypatch.setitem(sys.modules, module, None)
    result = files("compare", "a.urdf", "--with", "drake")
    assert result.code == 2
    assert "drake is not installed (pip install drake)" in " ".join(result.err.replace("│", " ").split())
    result = files("compare", "a.urdf")
    assert result.code == 0
    assert "mujoco is not installed (pip install mujoco)" in result.out.splitlines()
    assert result.out.splitlines()[-1].startswith("equal")


def test_a_library_that_fails(files: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(pin, "buildModelFromUrdf", refuse)
    result = files("compare", "a.urdf", "--with", "pinocchio,mujoco")
    assert result.code == 0
    assert "pinocchio cannot read it: ZeroDivisionError" in result.out.splitlines()
    result = files("compare", "a.urdf", "--with", "pinocchio")
    assert (result.code, result.out.splitlines()[-1]) == (1, "nothing was compared")


@pytest.mark.parametrize("name", ["nowhere.urdf", "broken.urdf"])
def test_files_that_are_no_robots(files: Command, name: str) -> None:
    Path("broken.urdf").write_text("<robot", encoding="utf-8")
    for arguments in ((name,), ("a.urdf", name), (name, "a.urdf")):
        result = files("compare", *arguments)
        assert result.code == 1
        assert result.err.startswith("error: ")
        assert "Traceback" not in result.err


def test_kinetree_s_own_text(files: Command) -> None:
    kt.save(kt.load("a.urdf"), "a.json")
    assert files("compare", "a.urdf", "a.json").code == 0
    result = files("compare", "a.json", "--with", "mujoco")
    assert result.code == 1
    assert "mujoco does not read kinetree's own text" in result.out


def test_names_with_markup_are_printed_as_they_are(files: Command) -> None:
    Path("c.urdf").write_text(changed(('"elbow"', '"[red]elbow[/nonsense]"')), encoding="utf-8")
    result = files("compare", "c.urdf", "a.urdf")
    assert result.code == 1
    assert "'[red]elbow[/nonsense]' here, 'elbow' there" in result.out
