"""Every script of examples/ runs by itself, prints its result, and its checks hold; docs/examples.md lists them."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
LONG = ("identification", "inverse_kinematics", "panda_grasp", "quadruped_trot", "ragdoll_motion")
"""Scripts that take ten seconds; shorter ones of their kind are on the pages."""


def test_there_are_scripts() -> None:
    assert len(SCRIPTS) >= 14


@pytest.mark.parametrize(
    "script",
    [pytest.param(x, id=x.stem, marks=pytest.mark.deep if x.stem in LONG else ()) for x in SCRIPTS],
)
def test_a_script_runs(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In an empty folder, where it may write, and with warnings as errors, as everywhere in the tests."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip()
    assert "assert " in script.read_text(), "it checks nothing"


def test_the_page_lists_each_script_with_the_first_line_of_its_docstring() -> None:
    page = (ROOT / "docs" / "examples.md").read_text()
    listed = dict(re.findall(r"^\| \[[\w.]+\]\(\.\./examples/([\w.]+)\) \| (.*?) \| .+ \|$", page, re.M))
    said = {script.name: (ast.get_docstring(ast.parse(script.read_text())) or "").split("\n")[0] for script in SCRIPTS}
    assert listed == said
