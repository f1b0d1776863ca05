"""Names, sentences and paths from files cannot command a terminal: control characters are written out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import visible
from tests.unit.cli.conftest import Command

HIDDEN = (
    "\x1b[2J",
    "\x1b]0;owned\x07",
    "\r",
    "\x9b31m",
    "\u202e",
    "\u2066",
    "\x85",
    "\u2028",
    "\x00",
    "\x08",
    "\ud800",
)
INERTIA = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def is_harmless(text: str) -> bool:
    return all(c.isprintable() or c == "\n" for c in text)


def strings(content: Any) -> Iterator[str]:
    """All strings in JSON."""
    if isinstance(content, str):
        yield content
    for one in content.values() if isinstance(content, dict) else content if isinstance(content, list) else ():
        yield from strings(one)


@pytest.mark.parametrize("hidden", [*HIDDEN, "\n"])
def test_names_of_a_robot_have_no_such_characters(hidden: str) -> None:
    """A line end would let a name look like a line of kinetree's own."""
    name = f"a{hidden}b"
    with pytest.raises(kt.errors.ModelError, match="characters that control the output") as caught:
        kt.ModelBuilder(name)
    assert is_harmless(str(caught.value))
    assert [found.code for found in caught.value.problems] == ["bad-name"]
    builder = kt.ModelBuilder("robot")
    for add in (
        lambda: builder.add_body(name, kt.zoo.load("arm6").bodies["forearm"].inertia),
        lambda: builder.add_frame(name, "base", np.eye(4)),
    ):
        with pytest.raises(kt.errors.ModelError, match="characters that control the output"):
            add()


@pytest.mark.parametrize("name", ["ärm", "手", "ذراع", "👨‍👩‍👧", "a b", "x" * 300])
def test_names_in_every_language_are_possible(name: str) -> None:
    assert kt.ModelBuilder(name).name == name
    assert visible(name) == name


@pytest.mark.parametrize("hidden", HIDDEN)
def test_errors_and_warnings(hidden: str) -> None:
    for kind in (kt.KinetreeError, kt.errors.NameNotFoundError, kt.errors.ModelWarning, kt.errors.SimulationWarning):
        assert is_harmless(str(kind(f"a{hidden}b\nc")))
    assert "\n" in str(kt.errors.ModelError("a\nb"))


@pytest.mark.parametrize("hidden", [x for x in HIDDEN if x not in ("\x00", "\ud800")])
def test_paths_in_what_the_commands_print(kinetree: Command, hidden: str) -> None:
    path = Path(f"a{hidden}b.urdf")
    path.write_text(f'<robot name="r"><link name="a">{INERTIA}</link></robot>', encoding="utf-8")
    for arguments in (
        ("info", str(path)), ("check", str(path)), ("check", str(path), "--json"), ("check", str(path), "--sarif"),
        ("compare", str(path), str(path)), ("compare", str(path), str(path), "--json"), ("info", f"none{path}"),
        ("simulate", str(path), "--duration", "0.01", "--out", f"x{hidden}"), ("info", str(path), f"--{hidden}"),
        ("view", str(path), "--html", f"x{hidden}.html"), ("view", str(path), "--q", hidden),
    ):  # fmt: skip
        result = kinetree(*arguments)
        assert is_harmless(result.out), (arguments, result.out)
        assert is_harmless(result.err), (arguments, result.err)
        if arguments[-1] == "--json":
            assert hidden in "".join(strings(json.loads(result.out)))
    assert is_harmless(repr(kt.load(path)))
    assert is_harmless(str(kt.check(path)))


def test_a_name_in_a_file_is_refused_with_its_place(kinetree: Command) -> None:
    Path("r.urdf").write_text(f'<robot name="r"><link name="a&#x9b;31m">{INERTIA}</link></robot>', encoding="utf-8")
    result = kinetree("info", "r.urdf")
    assert result.code == 1
    assert "r.urdf:1" in result.err
    assert r"'a\x9b31m'" in result.err
    assert is_harmless(result.err)
