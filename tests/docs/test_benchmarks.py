"""docs/benchmarks.md, which benchmarks/summary.py writes: its tables say what was measured."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
PAGE = (FOLDER.parent / "docs" / "benchmarks.md").read_text(encoding="utf-8")


@pytest.fixture
def summary(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("KINETREE_OPTIMIZE", "quick")  # importing timing would set it
    import summary

    return summary


def test_the_page_is_of_this_script_and_names_the_machine(summary: ModuleType) -> None:
    assert re.findall("^## .*", PAGE, re.MULTILINE) == re.findall("^## .*", summary.TEXT, re.MULTILINE)
    for name in ("processor", "cores", "Python", "pin", "mujoco", "drake", "mjbatch"):
        assert re.search(rf"^\| {name} \| \S.* \|$", PAGE, re.MULTILINE)
    assert "The machine was " in PAGE
    first = PAGE.partition("## One call")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\| (?:UR5|Panda|ANYmal|Talos) \|", first, re.MULTILINE)) == 16


def test_ratios_and_units(summary: ModuleType) -> None:
    one = {"UR5": {"aba": {"aba out=": 2e-7, "aba": 9.0, "pinocchio": 1e-6}}}
    assert summary.calls(one).splitlines()[-1] == "| UR5 | forward dynamics (ABA) | 0.20 | 5.0× | – |"
    many = {"Panda": {"crba": (9, 500, 2e-8, 1e-6)}}
    assert summary.batches(many).splitlines()[-1] == "| Panda | mass matrix (CRBA) | 9 | 20 | 50.0× |"
    found = summary.contact_rollouts.Measured(
        {"kinetree": 1e-6, "mujoco.rollout": 5e-6, "mjbatch": 4e-6}, 3.0, 0.05, np.array([1.0, 3e-9, 0.0]), "m"
    )
    assert (
        summary.rollouts({"go2": found}).splitlines()[-1]
        == "| go2 | 1.00 | 5.0× | – | 4.0× | 3.0 s, 0.05 s | 3e-09 m |"
    )
    assert summary.scaling({"UR5": {2: (4.0, 2.5, 2.0)}}).splitlines()[-1] == "| UR5 | 2 | 1.60× | 2.00× |"
    assert [summary.thread_counts(n) for n in (1, 2, 6, 8)] == [[], [2], [2, 4, 6], [2, 4, 8]]
    assert "**The machine was busy" in summary.load_of(0.3)
    assert "quiet" in summary.load_of(0.05)
    sys.modules.pop("summary")
