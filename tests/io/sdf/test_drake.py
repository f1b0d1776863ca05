"""SDF files beside Drake: its numbers, kept in drake.json, and Drake itself where it is installed.

Drake is not among the packages of the tests, as it takes 170 MB: `pip install drake`. With it,
`python -m tests.io.sdf.test_drake` writes drake.json again.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kinetree as kt
from tests.io.sdf.random_models import random_model
from tests.io.sdf.robots import ROBOTS
from tests.io.sdf.written import read
from tests.laws.reference import reference

Array = NDArray[np.float64]
KEPT = Path(__file__).with_name("drake.json")
TOLERANCE = 1e-9
DIGITS = 13


def state(robot: kt.Model) -> tuple[Array, Array]:
    rng = np.random.default_rng(11)
    return robot.random(rng), rng.normal(size=robot.nv)


def ours(robot: kt.Model, q: Array, v: Array) -> dict[str, Array]:
    """Everything that is compared, by name."""
    answers = {}
    if robot.nv:
        answers["M"] = reference(kt.mass_matrix, robot, q)
        answers["bias"] = reference(kt.bias_forces, robot, q, v)
    for name, body in robot.bodies.items():
        if name != "world":
            inertia = body.inertia
            numbers = [inertia.mass, *inertia.h.components(), *inertia.I.components()]
            answers[f"inertia of {name}"] = np.array(numbers, dtype=np.float64)
    for name in robot.frames:
        if name != "world":
            answers[f"placement of {name}"] = reference(kt.frame_placement, robot, q, frame=name)[:3]
    return answers


def theirs(path: Path, robot: kt.Model, q: Array, v: Array) -> dict[str, Array]:
    """The same by Drake."""
    from tests.io.sdf.drake_side import Drake

    drake = Drake(path, robot)
    assert drake.plant.num_velocities() == robot.nv
    M, bias = drake.dynamics(q, v)
    answers = {"M": M, "bias": bias} if robot.nv else {}
    answers |= {f"inertia of {name}": drake.inertia(name) for name in robot.bodies if name != "world"}
    answers |= {f"placement of {name}": drake.placement(name)[:3] for name in robot.frames if name != "world"}
    return answers


def agree(mine: dict[str, Array], others: dict[str, Any]) -> None:
    assert mine.keys() == others.keys()
    for what, numbers in mine.items():
        other = np.asarray(others[what])
        size = max(1.0, float(np.abs(other).max()))
        assert np.abs(numbers - other).max() <= TOLERANCE * size, what


@pytest.mark.parametrize("name", ROBOTS)
def test_the_robot_is_the_one_that_drake_read(name: str, tmp_path: Path) -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))[name]
    robot = read(tmp_path, ROBOTS[name], mimic=False)
    agree(ours(robot, np.array(kept["q"]), np.array(kept["v"])), kept["answers"])


def test_drake_read_at_least_forty() -> None:
    assert len(json.loads(KEPT.read_text(encoding="utf-8"))) == len(ROBOTS) >= 40


@pytest.mark.parametrize("name", ROBOTS)
def test_drake_itself(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pydrake", reason="Drake takes 170 MB; its numbers are in drake.json")
    robot = read(tmp_path, ROBOTS[name], mimic=False)
    q, v = state(robot)
    agree(ours(robot, q, v), theirs(tmp_path / "robot.sdf", robot, q, v))


@pytest.mark.parametrize("seed", range(25))
def test_random_models_compared_with_drake(seed: int, tmp_path: Path) -> None:
    pytest.importorskip("pydrake", reason="Drake takes 170 MB")
    robot = read(tmp_path, random_model(seed))
    q, v = state(robot)
    agree(ours(robot, q, v), theirs(tmp_path / "robot.sdf", robot, q, v))


def _rounded(x: Array) -> Any:
    return json.loads(
        json.dumps(np.vectorize(lambda e: float(f"{e:.{DIGITS}g}") + 0.0)(x).tolist()) if x.size else "[]"
    )


def _keep() -> None:
    kept = {}
    for name, text in ROBOTS.items():
        with tempfile.TemporaryDirectory() as folder:
            robot = read(Path(folder), text, mimic=False)
            q, v = map(_rounded, state(robot))
            answers = theirs(Path(folder) / "robot.sdf", robot, np.array(q), np.array(v))
            kept[name] = {"q": q, "v": v, "answers": {what: _rounded(x) for what, x in answers.items()}}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(case)}" for name, case in kept.items())
    KEPT.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(_keep())
