"""Type checkers distinguish motions from forces inside algorithms, and know the types of all that users can reach."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import kinetree as kt
from tests.robots import stork

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
USER = """
from pathlib import Path
from typing import assert_type
from numpy import float64
from numpy.typing import NDArray
import kinetree as kt
from kinetree.programs import BareFunction, DeviceFunction, Program

robot = kt.zoo.load("arm7")
f = kt.compile(robot, kt.frame_placement, frame="tool")
assert_type(f, BareFunction)
assert_type(f(robot.neutral(), threads=1).ndim, int)
assert_type(f.__self__.program.operation_counts().total(), int)
assert_type(kt.compile(robot, kt.aba, device="cuda"), DeviceFunction)


@kt.program(x=3)
def square(x: NDArray[float64]) -> NDArray[float64]:
    return x * x


assert_type(square, Program)
assert_type(square.compile(dtype="float32"), BareFunction)
assert_type(square.compile(device="cuda:1").device, str)
assert_type(kt.simulate(robot, duration=1.0), kt.Trajectory)
assert_type(kt.simulate(robot, record=["frames"]), kt.Trajectory)
assert_type(kt.simulate(robot, record=kt.sim.Recording({"frames": ["tool"]}, every=10)), kt.Trajectory)
assert_type(kt.simulate(robot, record=kt.sim.Recording(stream="run")), kt.sim.TrajectoryFolder)
assert_type(kt.simulate(robot, record=kt.sim.Recording(stream=Path("run"))), kt.sim.TrajectoryFolder)
folder: str | None = input() or None
assert_type(kt.simulate(robot, record=kt.sim.Recording(stream=folder)), kt.Trajectory | kt.sim.TrajectoryFolder)
f(robot.neutral(), stream=0)  # Unexpected keyword argument "stream"
f.program  # "BareFunction" has no attribute "program"
"""
"""A program of a user's, and what the type checker says of its wrong lines."""
MOST_UNKNOWN = 0.01
"""The part of the public names whose types another type checker could infer differently, or cannot infer. To lower it,
annotate the attributes that the test lists: what takes an object of their classes counts too."""


@cache
def reported(folder: Path) -> dict[str, dict[int, str]]:
    """The messages of mypy about the algorithm with wrong lines and about the user's program."""
    text = ABA.read_text()
    for line, (wrong, _) in WRONG.items():
        assert text.count(line) == 1
        text = text.replace(line, line + wrong)
    (folder / "aba.py").write_text(text)
    (folder / "user.py").write_text(USER)
    files = [str(folder / name) for name in ("aba.py", "user.py")]
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"), *files]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    errors = re.findall(r"(\w+\.py):(\d+): error: (.*)", done.stdout)
    assert errors, done.stdout + done.stderr
    return {name: {int(n): said for file, n, said in errors if file == name} for name in ("aba.py", "user.py")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("types")


@pytest.mark.deep
def test_a_motion_added_to_a_force_inside_an_algorithm_is_a_type_error(folder: Path) -> None:
    found, text = reported(folder)["aba.py"], (folder / "aba.py").read_text()
    numbers = [text[: text.index(wrong)].count("\n") + 1 for wrong, _ in WRONG.values()]
    assert sorted(found) == sorted(numbers), found
    for number, (_, expected) in zip(numbers, WRONG.values(), strict=True):
        assert re.search(expected, found[number])


@pytest.mark.deep
def test_compiled_functions_and_programs_have_types_for_users(folder: Path) -> None:
    expected = {n: line.partition("# ")[2] for n, line in enumerate(USER.splitlines(), 1) if "# " in line}
    found = reported(folder)["user.py"]
    assert {n: said.partition(" for ")[0].partition("  [")[0] for n, said in found.items()} == expected


def test_what_is_compiled_has_the_attributes_of_its_type() -> None:
    robot, feet = stork(), [kt.constraints.Contact("shank", at=[0.0, 0.0, -0.4])]
    bare = kt.compile(robot, kt.aba), kt.compile(robot, kt.constraints.constrained_dynamics, constraints=feet)
    for f in (*bare, kt.program(lambda x: x, x=3).compile()):
        assert f.__self__.program.name == f.__self__.name


@pytest.mark.deep
def test_public_names_have_types_that_every_checker_knows() -> None:
    command = [sys.executable, "-m", "pyright", "--outputjson", "--verifytypes", "kinetree", "--ignoreexternal"]
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # Pyright asks the first Python
    environment = {**os.environ, "PATH": paths}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)["typeCompleteness"]
    assert sum(report["exportedSymbolCounts"].values()) > 10_000
    causes = [
        f"{symbol['name']}: {said['message']}"
        for symbol in report["symbols"]
        for said in symbol["diagnostics"]
        if said["severity"] == "error" and "partially unknown" not in said["message"]  # because of another name
    ]
    assert report["completenessScore"] >= 1.0 - MOST_UNKNOWN, "\n".join(causes)
