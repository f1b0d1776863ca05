"""The first second of examples/panda_grasp.py, which holds its things for ten."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

GRASP = Path(__file__).parents[2] / "examples" / "panda_grasp.py"
MOST = {"rigid": 2e-4, "rigid, accurate": 1e-7, "mujoco": 5e-4}
"""How far a thing may slip while it is shaken for 0.8 s, m: rigid contacts of one round creep by h a / 1000, accurate
ones not at all, MuJoCo's by (1 - d) a T / 2 over the `impratio`, and give way by a tenth of a millimetre."""


@pytest.fixture(name="example")
def _example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(tmp_path)
    return runpy.run_path(str(GRASP), run_name="grasp")


@pytest.mark.parametrize("name", MOST)
@pytest.mark.parametrize("thing", ["ball", "box", "mug"])
def test_a_thing_stays_in_a_hand_that_is_shaken(example: dict[str, Any], thing: str, name: str) -> None:
    setting, _ = example["settings"][name]
    motion, moved, turned = example["shaken"](example["scene"](thing), thing, 1.0, **setting)
    assert np.abs(np.diff(motion.v[:, 1])).max() > 5.0 * example["dt"]  # it is shaken
    assert moved.max() < MOST[name]
    assert turned.max() < 0.01
    assert np.diff(motion.dissipated).min() > -1e-5


def test_a_hand_with_too_little_friction_lets_a_thing_fall(example: dict[str, Any]) -> None:
    """2 μ 20 N is less than the 1.96 N of the box."""
    _, moved, _ = example["shaken"](example["scene"]("box"), "box", 0.5, setting="rigid", friction=0.03)
    assert moved.max() > 0.01
