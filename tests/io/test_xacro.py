"""xacro files, which the package xacro expands."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

import kinetree as kt
from tests.io.arm import ARM, write

MACRO = """<?xml version="1.0"?>
<robot name="pair" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="prefix" default=""/>
  <xacro:arg name="heavy" default="false"/>
  <xacro:property name="mass" value="${2 if 'true' == str(xacro.arg('heavy')).lower() else 1}"/>
  <xacro:macro name="part" params="side">
    <link name="$(arg prefix)${side}"><inertial><mass value="${mass}"/>
      <inertia ixx="${mass / 2}" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="$(arg prefix)${side}_joint" type="continuous"><parent link="base"/>
      <child link="$(arg prefix)${side}"/></joint>
  </xacro:macro>
  <link name="base"/>
  <xacro:part side="left"/>
  <xacro:part side="right"/>
</robot>
"""


def test_a_xacro_file_is_expanded(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    path = write(tmp_path, MACRO, "pair.urdf.xacro")
    robot = kt.load(path, xacro=True)
    assert list(robot.bodies) == ["base", "left", "right"]
    assert robot.source == str(path)
    other = kt.load(path, xacro_args={"prefix": "a_", "heavy": True})
    assert list(other.bodies) == ["base", "a_left", "a_right"]
    assert other.mass == 4.0
    assert kt.load(path, xacro=True) == robot  # arguments do not outlive a call


@pytest.mark.parametrize(
    "name", ["pair.urdf", *(pytest.param(name, marks=pytest.mark.deep) for name in ("pair.xacro", "pair.urdf.XACRO"))]
)
def test_files_are_expanded_only_if_that_is_asked_for(tmp_path: Path, name: str) -> None:
    """They are programs, which a user may take for files of numbers."""
    pytest.importorskip("xacro")
    proof = tmp_path / "proof"
    # xacro looks for such names, but not inside a function.
    subclasses = "().__class__.__base__.__subclasses__()"
    warnings = f"[c for c in {subclasses} if c.__name__ == 'catch_warnings'][0]()._module"
    evil = f"${{(lambda: {warnings}.__builtins__['open']('{proof}', 'w').close())()}}"
    path = write(tmp_path, MACRO.replace("${mass / 2}", f"1{evil}"), name)
    for read in (kt.load, lambda path: kt.compare(path, path)):
        with pytest.raises(
            kt.errors.ModelError, match=r"program.*xacro=True, or --xacro|xacro=True, or --xacro.*program"
        ):
            read(path)
    assert kt.check(path).errors[0].code == "unexpanded-macro"
    assert not proof.exists()
    with pytest.raises(kt.errors.ModelError, match=r"xacro|number"):
        kt.load(path, xacro=True)
    assert proof.exists()
    for asked in ({"xacro": True}, {"xacro_args": {}}, {"xacro": True, "xacro_args": {"prefix": "a_"}}):
        assert kt.load(write(tmp_path, MACRO, name), **asked).nq == 2


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("cbuiltins\\nopen\\n(V{}\\nVw\\ntR.", "an answer that cannot be read"),  # a pickle that makes a file
        ('[null, [["{}"]]]\\n', "xacro: "),
        ('["SystemExit", "{}"]\\n', "its expansion failed"),
        ('[null, ""]\\n{}', "not well-formed XML"),
    ],
)
def test_an_expansion_that_writes_its_own_answer_runs_nothing_here(tmp_path: Path, answer: str, sentence: str) -> None:
    pytest.importorskip("xacro")
    proof = tmp_path / "proof"
    subclasses = "().__class__.__base__.__subclasses__()"
    module = f"[c for c in {subclasses} if c.__name__ == 'catch_warnings'][0]()._module"
    system = f"{module}.__builtins__['__import__']('os')"
    lines = answer.format(proof).replace('"', '\\"')
    evil = f"${{(lambda: [(os.write(1, '{lines}'.encode()), os._exit(0)) for os in [{system}]])()}}".replace(
        '"', "&quot;"
    )
    with pytest.raises(kt.errors.ModelError, match=sentence):
        kt.load(write(tmp_path, MACRO.replace("${mass / 2}", evil), "pair.xacro"), xacro=True)
    assert not proof.exists()


def test_a_robot_of_a_xacro_file_is_not_expanded_again_unasked(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    pytest.importorskip("mujoco")
    robot = kt.load(write(tmp_path, MACRO, "pair.xacro"), xacro=True)
    with pytest.raises(kt.errors.ModelError, match="xacro=True"):
        kt.compare(robot, peers=["mujoco"])
    assert kt.compare(robot, peers=["mujoco"], xacro=True).counterparts


@pytest.mark.parametrize(
    ("expression", "sentence"),
    [
        ("${max(a * b for a in range(10**6) for b in range(10**6))}", "takes more than 1 s"),
        ("${'a' * 10**10}", "takes more than 1,024 MiB of memory"),
    ],
)
def test_an_expansion_is_limited_in_time_and_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expression: str, sentence: str
) -> None:
    pytest.importorskip("xacro")
    monkeypatch.setattr("kinetree.io.macros._SECONDS", 1)
    path = write(tmp_path, MACRO.replace("${mass / 2}", expression), "pair.xacro")
    begun = time.monotonic()
    with pytest.raises(kt.errors.ModelError, match=sentence):
        kt.load(path, xacro=True)
    assert time.monotonic() - begun < 20.0  # 1 s of a processor's time, ten times longer if others need it too


def test_an_expansion_has_a_limited_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xacro")
    monkeypatch.setattr("kinetree.io.macros.MAX_BYTES", 2**20)
    path = write(tmp_path, MACRO.replace("${mass / 2}", "${'1' * 2**20}"), "pair.xacro")
    with pytest.raises(kt.errors.ModelError, match="expands to more than 1 MiB, the limit") as caught:
        kt.load(path, xacro=True)
    assert [found.code for found in caught.value.problems] == ["too-large"]


def test_an_expansion_changes_nothing_in_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("xacro")
    monkeypatch.delitem(sys.modules, "xacro")
    kt.load(write(tmp_path, MACRO, "pair.xacro"), xacro=True)
    assert "xacro" not in sys.modules
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MACRO.replace("${mass}", "${weight}"), r"xacro: in the macro 'part': name 'weight' is not defined"),
        (MACRO.replace('side="left"', 'hand="left"'), r"xacro: .*hand"),
        (MACRO.replace("</robot>", ""), r"xacro: no element found"),
        (MACRO.replace("${mass / 2}", "${mass / 0}"), r"xacro: .*division by zero"),
        (MACRO.replace('<link name="base"/>', '<xacro:include filename="none.xacro"/>'), r"xacro: .*none.xacro"),
        (
            MACRO.replace('<xacro:part side="left"/>', '<xacro:macro name="a"><xacro:a/></xacro:macro><xacro:a/>'),
            "deep",
        ),
        (MACRO.replace("${mass}", "heavy"), r"lines are those of the expanded file"),
    ],
)
def test_errors_of_xacro_name_the_file_and_what_xacro_said(tmp_path: Path, text: str, message: str) -> None:
    pytest.importorskip("xacro")
    with pytest.raises(kt.errors.ModelError, match=rf"pair.xacro:.*{message}"):
        kt.load(write(tmp_path, text, "pair.xacro"), xacro=True)


def test_errors_of_xacro_name_each_file_once_and_where_in_it(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    (tmp_path / "parts").mkdir()
    parts = tmp_path / "parts" / "leg.xacro"
    top = write(
        tmp_path, MACRO.replace('<link name="base"/>', '<xacro:include filename="parts/leg.xacro"/>'), "top.xacro"
    )
    said = []
    for text in (
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="${nope}"/></robot>',
        "<robot><link",
        None,
    ):
        if text is not None:
            parts.write_text(text, encoding="utf-8")
        else:
            parts.unlink()
        with pytest.raises(kt.errors.ModelError) as caught:
            kt.load(top, xacro=True)
        assert [found.code for found in caught.value.problems] == ["bad-macro"]
        said.append(str(caught.value))
    inside = f"{top}: xacro: in the included file '{parts}': "
    assert said == [
        f"{inside}name 'nope' is not defined when evaluating expression 'nope'",
        f"{inside}unclosed token: line 1, column 7",
        f"{top}: xacro: the file '{parts}' cannot be read: No such file or directory",
    ]
    macro = write(tmp_path, MACRO.replace('<mass value="${mass}"/>', '<mass value="${side.x}" a="1"/>'), "macro.xacro")
    with pytest.raises(
        kt.errors.ModelError, match=rf"^{macro}: xacro: in the macro 'part': 'str' object has no attribute 'x'"
    ):
        kt.load(macro, xacro=True)


def test_a_check_of_a_xacro_file_says_what_its_lines_are(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    report = kt.check(write(tmp_path, MACRO.replace("${mass}", "heavy"), "pair.xacro"), xacro=True)
    assert [found.code for found in report.errors] == ["bad-number", "bad-number"]
    assert "lines are those of the expanded file" in str(report.notes)


def test_arguments_that_are_none_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, ARM)
    wrong: object
    for wrong, message in (
        (["a"], "values by name"),
        ({1: "a"}, "values by name"),
        ({"a": None}, "'a' must be a string"),
    ):
        with pytest.raises(kt.errors.OptionError, match=message):
            kt.load(path, xacro_args=wrong)  # type: ignore[arg-type]


def test_without_the_package_the_command_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(kt.errors.MissingPackageError, match=r"pair.xacro: .*pip install 'kinetree\[xacro\]'"):
        kt.load(write(tmp_path, MACRO, "pair.xacro"), xacro=True)


def test_a_xacro_file_that_is_none_or_missing(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    with pytest.raises(kt.errors.ModelError, match=r"none.xacro: cannot be read"):
        kt.load(tmp_path / "none.xacro")
    (tmp_path / "folder.xacro").mkdir()
    with pytest.raises(kt.errors.ModelError, match=r"folder.xacro: this is a folder"):
        kt.load(tmp_path / "folder.xacro")
