"""Promises of docs/command_line.md about all commands: examples, names of values, JSON; and `kinetree doctor`."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.main

import kinetree as kt
import kinetree.cli.bench as bench_module
from kinetree.cli.app import app
from kinetree.guide import pages_folder

from .conftest import Command
from .test_sweep import STUDY

_FOLDER = pages_folder()
assert _FOLDER is not None
PAGE = (_FOLDER / "command_line.md").read_text(encoding="utf-8")
KEYS = {
    name: keys.removeprefix("a list: ").split(", ")
    for name, keys in re.findall(r"^\| `([a-z ]+)` \| ([a-z_:, ]+) \|$", PAGE.partition("## JSON")[2], re.MULTILINE)
}
"""The keys of each command's document."""
VALUES = re.findall(r"`([A-Z=]+)`", PAGE.partition("## Names of values")[2].partition("\n## ")[0])


def commands() -> Iterator[tuple[str, Any]]:
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        for inner, one in getattr(command, "commands", {"": command}).items():
            yield f"{name} {inner}".strip(), one


COMMANDS = dict(commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_of_each_help_is_understood(kinetree: Command, name: str) -> None:
    command = COMMANDS[name]
    example = re.fullmatch(r"Example: `kinetree (.*)`", command.epilog)
    assert example is not None
    assert example[1].startswith(name)
    command.make_context(name, shlex.split(example[1].removeprefix(name)))  # raises for wrong usage
    assert example[1].split()[-1] in kinetree(*name.split(), "--help").out.rstrip().splitlines()[-1]


def test_values_have_the_same_names_in_all_helps() -> None:
    given = {x.metavar for command in COMMANDS.values() for x in command.params if x.metavar}
    assert {word for text in given for word in re.split(r"[|.]", text) if word.isupper()} == set(VALUES) - {"COMMAND"}


def test_the_page_lists_all_commands_that_print_json() -> None:
    assert KEYS.keys() == {
        name for name, one in COMMANDS.items() if any("--json" in parameter.opts for parameter in one.params)
    }


@pytest.mark.parametrize(
    "command",
    [
        "info arm7", "zoo", "check double_pendulum nowhere.urdf", "compare cart_pole --with mujoco -n 1",
        "convert cart_pole new.json", "simulate double_pendulum -t 0.003", "simulate double_pendulum -t 0.003 -n 2",
        "simulate cart_pole -t 0.003 --compare mujoco", "sweep swings.toml", "bench cart_pole -n 2",
        "find mass matrix", "cache info", "doctor",
    ],
)  # fmt: skip
def test_json_is_one_document_with_the_keys_of_the_page(
    kinetree: Command, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_module, "_ROUNDS", 1)
    monkeypatch.setattr(bench_module, "_SECONDS", 1e-5)
    Path("swings.toml").write_text(STUDY)
    result = kinetree(*command.split(), "--json")
    document = json.loads(result.out, parse_constant=pytest.fail)
    name = next(name for name in KEYS if command.startswith(name))
    for one in document if isinstance(document, list) else [document]:
        assert list(one) == KEYS[name]
    if "-n 2" in command and "simulate" in command:
        assert [document["motions"], len(document["energy"]["total"]["end"])] == [[2], 2]
    assert result.code == (1 if "nowhere" in command else 0)


def test_json_has_the_bits_of_the_motion(kinetree: Command) -> None:
    document = json.loads(kinetree("simulate", "double_pendulum", "-t", "0.003", "--json").out)
    motion = kt.load_trajectory(document["files"][0])
    assert document["energy"]["kinetic"] == {"start": motion.kinetic[0], "end": motion.kinetic[-1]}
    assert document["energy"]["largest_balance_error"] == np.abs(motion.balance_error).max()


def test_a_command_that_fails_prints_no_json(kinetree: Command) -> None:
    result = kinetree("info", "humanoit", "--json")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: humanoit: there is no such file")
    assert kinetree("simulate", "arm7", "--json", "--view").code == 2


def test_numbers_that_json_has_not_are_null(capsys: pytest.CaptureFixture[str]) -> None:
    from kinetree.cli.output import print_json

    print_json({"a": np.array([[0.1, np.nan]]), "b": Path("x"), "c": (np.inf, None, True), "d": np.float32(0.5)})
    assert json.loads(capsys.readouterr().out) == {"a": [[0.1, None]], "b": "x", "c": [None, None, True], "d": 0.5}


def test_the_doctor_has_what_a_report_needs_and_no_home(
    kinetree: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "cache"))
    result = kinetree("doctor")
    assert (result.code, result.err) == (0, "")
    lines = {line[:14].strip(): line[14:] for line in result.out.splitlines()}
    assert list(lines) == KEYS["doctor"]
    assert lines["numpy"] == np.__version__
    assert lines["compiling"].startswith("works yes, seconds ")
    assert "float64_lanes " in lines["processor"]
    assert lines["cache"].startswith(f"folder {Path('~') / 'cache'}, ")
    assert str(tmp_path) not in result.out
    assert not (tmp_path / "cache").exists()
    assert os.environ["KINETREE_CACHE_DIR"] == str(tmp_path / "cache")


@pytest.mark.parametrize("fault", ["error", "numbers"])
def test_the_doctor_reports_that_compiling_fails(
    kinetree: Command, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    def broken(*arguments: Any) -> Any:
        if fault == "error":
            raise RuntimeError("no LLVM")
        return 0.0 * arguments[-1] + 1.0

    monkeypatch.setattr("kinetree.rnea", broken)
    result = kinetree("doctor", "--json")
    document = json.loads(result.out)
    assert (result.code, document["compiling"]["works"]) == (1, False)
    assert {"error": "no LLVM", "numbers": "wrong results"}[fault] in document["compiling"]["problem"]


def test_the_doctor_reports_a_machine_without_the_compiler(kinetree: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ImportError("no library of LLVM")

    monkeypatch.setattr("kinetree.codegen.llvm.target.host", broken)
    monkeypatch.setattr("kinetree.rnea", lambda *_: broken())
    result = kinetree("doctor")
    assert result.code == 1
    assert result.out.count("no library of LLVM") == 2
    assert "works no" in result.out


def test_the_doctor_reports_sources_that_are_not_installed(kinetree: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on PYTHONPATH: there is no metadata."""

    def missing(name: str) -> Any:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", missing)
    result = kinetree("doctor", "--json")
    assert (result.code, json.loads(result.out)["kinetree"]) == (0, kt.__version__)
