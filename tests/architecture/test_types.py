"""The type checker tells a motion from a force inside an algorithm."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ABA = ROOT / "src" / "kinetree" / "algorithms" / "aba.py"
WRONG = {
    "        v[i] = X[i] @ v[p] + v_J\n": (
        "        v[i] = v[i] + pA[i]\n",
        'operand types for \\+ \\("Motion" and "Force"\\)',
    ),
    "        IA[i] = tree.I[i].articulated\n": (
        "        IA[i] = tree.I[i] @ pA[p]\n",
        'operand types for @ \\("Inertia" and "Force"\\)',
    ),
    "        a[i] = a_p + S[i] @ qdd[i]\n": (
        "        a[i] = X[i] @ (tree.I[i] @ a[p])\n",
        '"__matmul__" of "Transform" matches argument type "Force"',
    ),
}
"""A line of the articulated-body algorithm, a wrong line to follow it, and what the type checker says of that one."""


@pytest.mark.deep
def test_a_motion_added_to_a_force_inside_an_algorithm_is_a_type_error(tmp_path: Path) -> None:
    text, numbers = ABA.read_text(), []
    for line, (wrong, _) in WRONG.items():
        assert text.count(line) == 1
        text = text.replace(line, line + wrong)
    for wrong, _ in WRONG.values():
        numbers.append(text[: text.index(wrong)].count("\n") + 1)
    changed = tmp_path / "aba.py"
    changed.write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"), str(changed)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    found = {int(n): said for n, said in re.findall(r"aba\.py:(\d+): error: (.*)", done.stdout)}
    assert sorted(found) == sorted(numbers), done.stdout + done.stderr
    for number, (_, expected) in zip(numbers, WRONG.values(), strict=True):
        assert re.search(expected, found[number])
