"""The tables of docs/coming_from.md: both sides of each line run, and give the same numbers.

The tables of Drake, DART and RBDL run where these are installed; see tests/oracles/test_drake.py and test_dart.py.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt

PAGE = (Path(__file__).parents[2] / "docs" / "coming_from.md").read_text()
MODULES = {
    "Pinocchio": "import pinocchio as pin",
    "MuJoCo": "import mujoco",
    "Drake": "import pydrake.all as drake",
    "DART": "import dartpy as dart",
    "RBDL": "import rbdl",
}
ANGULAR_FIRST = "angular part first there"
OTHER_NUMBERS = "other numbers"
"""In the last column of a line: what is not the same."""


def rows(library: str) -> list[list[str]]:
    """The cells of a library's table: task, code there, code here, difference."""
    section = re.search(rf"^## {library}$(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    assert section is not None
    lines = [line for line in section[1].splitlines() if line.startswith("| ") and "`" in line]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def value(code: str, names: dict[str, Any]) -> Any:
    """Run statements, and return the value of the last one if it is an expression."""
    assert re.fullmatch(r"`[^`]+`", code), f"not one piece of code: {code}"
    *before, last = ast.parse(code.strip("`")).body
    exec(compile(ast.Module(before, []), "<table>", "exec"), names)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "<table>", "eval"), names)
    exec(compile(ast.Module([last], []), "<table>", "exec"), names)
    return None


def numbers(x: Any) -> list[np.ndarray]:
    """What a library returned as arrays: poses (4, 4), motions and forces (6,)."""
    if isinstance(x, tuple):
        return [array for part in x for array in numbers(part)]
    for name in ("vector", "homogeneous", "GetAsMatrix4", "get_coeffs"):
        if hasattr(x, name):
            x = getattr(x, name)
            x = x() if callable(x) else x
    return [np.asarray(x, dtype=np.float64)]


def given(path: str) -> dict[str, Any]:
    """The names that the page says are given."""
    rng = np.random.default_rng(0)
    qs, vs, taus = rng.uniform(-0.5, 0.5, (3, 100, 6))
    taus *= 0.1
    robot = kt.load(path)
    return {
        "np": np, "path": path, "rng": rng, "qs": qs, "vs": vs, "taus": taus,
        "q": qs[1], "v": vs[1], "tau": taus[1], "qdd": 2.0 * vs[2], "wrench": 10.0 * qs[2],
        "point": np.array([0.3, 0.2, 0.1]), "target": kt.frame_placement(robot, qs[3], "hand"),
    }  # fmt: skip


@pytest.fixture
def arm(tmp_path: Path) -> str:
    """The zoo's arm without the friction of its joints."""
    path = tmp_path / "arm.urdf"
    text = kt.zoo.path("arm6").read_text(encoding="utf-8")
    path.write_text(re.sub(r"<dynamics[^>]*/>", "", text), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("library", MODULES)
def test_both_sides_of_each_line_agree(library: str, arm: str) -> None:
    pytest.importorskip(MODULES[library].split()[1])
    theirs, ours = given(arm), {**given(arm), "kt": kt}
    exec(MODULES[library], theirs)
    table = rows(library)
    compared = 0
    for task, there, here, difference in table:
        a, b = value(there, theirs), value(here, ours)
        if a is None or b is None:
            continue
        compared += 1
        for x, y in zip(numbers(a), numbers(b), strict=True):
            assert x.shape == y.shape, task
            if difference.startswith(ANGULAR_FIRST):
                x = np.concatenate([x[3:], x[:3]])
            if not difference.startswith(OTHER_NUMBERS):
                np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-8, err_msg=task)
    assert len(table) >= 20
    assert compared >= 15
