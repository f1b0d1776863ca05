"""A check finds every problem of a file at once, with its place, and nothing that only follows from another."""

from __future__ import annotations

import json
import pickle
import warnings
from pathlib import Path

import pytest

import kinetree as kt
from kinetree.problems import CODES
from tests.checking.planted import codes, planted

BAD = """<robot name="bad">
  <link name="base"/>
  <link name="a"><inertial>
    <mass value="1kg"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="x" iyz="0" izz="1"/>
  </inertial></link>
  <link name="b"><inertial><mass value="-1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="j" type="revolute">
    <parent link="base"/><child link="a"/>
    <axis xyz="0 0 0"/>
    <limit lower="1" upper="-1" velocity="-2" effort="3"/>
  </joint>
  <joint name="j" type="revolut">
    <parent link="a"/><child link="b"/>
  </joint>
  <joint name="k" type="fixed"><parent link="aa"/><child link="b"/></joint>
  <joint name="l" type="fixed"><child link="b"/></joint>
</robot>
"""  # noqa: E501


def test_every_problem_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.urdf"
    path.write_text(BAD, encoding="utf-8")
    report = kt.check(path)
    assert not report.ok
    found = {(each.line, each.code, each.element) for each in report.errors}
    assert found == {
        (4, "bad-number", '<mass> in <link name="a">'),
        (5, "bad-number", '<inertia> in <link name="a">'),
        (7, "negative-mass", '<inertial> in <link name="b">'),
        (10, "bad-axis", '<axis> in <joint name="j">'),
        (11, "bad-limits", '<limit> in <joint name="j">'),
        (13, "bad-value", '<joint name="j">'),
        (13, "duplicate-name", '<joint name="j">'),
        (16, "unknown-body", '<joint name="k">'),
        (16, "two-parents", '<joint name="k">'),
        (17, "missing-element", '<joint name="l">'),
    }
    assert len([each for each in report.errors if each.code == "bad-limits"]) == 2
    assert all(each.code in CODES and each.file == str(path) for each in report.problems)
    with pytest.raises(kt.errors.ModelError) as caught:
        kt.load(path)
    assert len(caught.value.problems) == 1
    assert str(caught.value) == f"{path}:4: {caught.value.problems[0].element}: {caught.value.problems[0].what}"


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('<child link="upper"/>', "", "missing-element"),
        ('<parent link="upper"/>', '<parent link="uper"/>', "unknown-body"),
        ('<link name="lower">', "<link>", "missing-attribute"),
        ('<link name="lower">', '<link name="upper">', "duplicate-name"),
        ('<mass value="2.5"/>', '<mass value="2,5"/>', "bad-number"),
        ('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>', "bad-axis"),
        ('type="revolute"', 'type="revolt"', "bad-value"),
        ('<cylinder radius="0.04" length="0.3"/>', '<cylinder radius="-0.04" length="0.3"/>', "bad-shape"),
        ('<origin xyz="0 0 0.05" rpy="0 0 0"/>', '<origin xyz="0 0"/>', "bad-number"),
        ('lower="-1.5"', 'lower="nan"', "bad-number"),
        ('damping="0.7"', 'damping="no"', "bad-number"),
        ('<mass value="0.5"/>', '<mass value="-1"/>', "negative-mass"),
        ('ixx="0.0002"', 'ixx="-5"', "indefinite-inertia"),
        ('<parent link="base"/>', '<parent link="tool"/>', "circle"),
        ('name="base"', 'name="moon"', "unknown-body"),
        ("</robot>", "", "not-well-formed"),
    ],
)
def test_one_fault_is_one_problem(old: str, new: str, code: str, tmp_path: Path) -> None:
    path = planted(tmp_path, (old, new))
    with pytest.raises(kt.errors.ModelError) as caught:
        kt.load(path)
    report = kt.check(path)
    assert codes(report, "error") == [code], str(report)
    assert codes(report, "warning") == [], str(report)
    assert [*caught.value.problems] == [*report.errors]


def test_a_text_form_has_lines_too(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(
        """{"kinetree": "model", "version": 1, "name": "r", "gravity": [0, 0, -9.81], "floating_base": false,
        "bodies": [{"name": "a"},
          {"name": "b", "mass": "x"},
          {"name": "c", "mass": 1, "inertia": [1, 1, 9, 0, 0, 0]}],
        "joints": [
          {"name": "j", "kind": {"Revolute": {"axis": [0, 0, 1]}}, "parent": "a", "child": "b"},
          {"name": "k", "kind": {"Revolt": {}},
           "parent": "a", "child": "c"},
          {"name": "l", "kind": "Fixed", "parent": "a", "child": "d"}]}""",
        encoding="utf-8",
    )
    report = kt.check(path)
    assert [(each.line, each.element, each.code) for each in report.errors + report.warnings] == [
        (3, "bodies[1].mass", "bad-number"),
        (7, "joints[1].kind", "bad-value"),
        (9, "joints[2]", "unknown-body"),
        (4, "bodies[2]", "inconsistent-inertia"),
    ]


def test_an_inertia_that_overflows_is_a_problem_and_ends_nothing(tmp_path: Path) -> None:
    text = kt.to_text(kt.zoo.load("double_pendulum"))
    path = tmp_path / "heavy.json"
    path.write_text(text.replace('"first_moment": [0.0,', '"first_moment": [1e308,'))
    assert "bad-inertia" in codes(kt.check(path))


def test_what_is_no_file_is_a_problem_too(tmp_path: Path) -> None:
    assert codes(kt.check(tmp_path / "nowhere.urdf")) == ["unreadable-file"]
    assert codes(kt.check(tmp_path)) == ["unreadable-file"]
    (tmp_path / "empty.urdf").write_bytes(b"")
    assert codes(kt.check(tmp_path / "empty.urdf")) == ["not-well-formed"]


def test_errors_and_warnings_carry_their_problems(tmp_path: Path) -> None:
    path = planted(tmp_path, ('<mass value="2.5"/>', '<mass value="-1"/>'))
    with pytest.raises(kt.errors.ModelError) as caught:
        kt.load(path)
    (problem,) = caught.value.problems
    assert (problem.severity, problem.code, problem.line) == ("error", "negative-mass", 6)
    assert str(problem) == str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).problems == (problem,)


def test_a_report_in_words_and_in_plain_types(tmp_path: Path) -> None:
    path = planted(tmp_path, ('effort="40"', 'effort="-40"'))
    report = kt.check(path)
    assert repr(report) == f"<Report {str(path)!r}: 1 error>"
    text = str(report)
    assert f'{path}:33: error [bad-limits]\n  in <limit> in <joint name="shoulder">\n  effort=-40 is negative' in text
    plain = json.loads(json.dumps(report.as_dict()))
    assert plain["ok"] is False
    assert plain["problems"][0]["line"] == 33
    assert set(plain["problems"][0]) == set(kt.checking.Problem._fields)


def test_a_check_warns_of_nothing(tmp_path: Path) -> None:
    path = planted(tmp_path, ('damping="0.7"', 'damping="-0.7"'))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kt.check(path).ok
    with pytest.raises(kt.errors.DTypeError, match="check takes the path of a robot file, not int"):
        kt.check(0)  # type: ignore[arg-type]


def test_very_many_problems_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "many.urdf"
    path.write_text("<robot name='r'>" + "<link name='a'/>" * 3000 + "</robot>", encoding="utf-8")
    report = kt.check(path)
    assert len(report.errors) == 1
    path.write_text("<robot name='r'>" + "<link name='a'/>\n" * 3000 + "</robot>", encoding="utf-8")
    report = kt.check(path)
    assert len(report.errors) == 1000
    assert report.left_out == 1999
    assert "1999 more problems" in report.summary


def test_every_code_is_on_the_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "check.md").read_text(encoding="utf-8")
    table = page.partition("## Codes")[2]
    assert [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")] == list(CODES)
    assert all(f"| `{code}` | {meaning} |" in table for code, meaning in CODES.items())
