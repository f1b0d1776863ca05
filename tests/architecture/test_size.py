"""kinetree gets smaller: no room has more lines than here, and no call takes a longer way through the files.

The numbers may only fall. A room that needs more lines says why in a decision record (docs/decisions), with what the
lines buy; a new mechanism replaces an old one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import kinetree as kt

SOURCE = Path(kt.__file__).parent
MOST_LINES = {
    "": 3444, "actuation": 854, "algorithms": 10479, "appearance": 2801, "charts": 163, "checking": 723, "cli": 3975,
    "codegen": 10617, "collision": 3668, "comparison": 3055, "compiler": 4442, "contact_model": 3214, "control": 9683,
    "expr": 5460, "functions": 14799, "identification": 3888, "interop": 3967, "io": 15651, "joints": 2740, "layouts":
    943, "learning": 5559, "lie": 775, "model": 11520, "number_files": 577, "pictures": 3037, "plots": 1094,
    "programs": 2772, "sim": 7272, "solids": 2252, "spatial": 2239, "store": 377, "sweeps": 1863, "symbolic": 3742,
    "tree": 3509, "viewer": 3474, "zoo": 75,
}  # fmt: skip
"""The lines of each room; "" stands for the files beside the rooms."""
MOST_FILES = 998
MOST_CALLS = {"aba": (1, 1), "jvp": (30, 9), "rollout": (112, 16), "simulate": (298, 46)}
"""Calls of kinetree's Python functions, and files that they are in, when a function is called again."""
SLACK = 0.01
"""How far a room may be below its number before the number must fall."""


@cache
def lines() -> dict[str, int]:
    found = dict.fromkeys(MOST_LINES, 0)
    for path in SOURCE.rglob("*.py"):
        room, *inside = path.relative_to(SOURCE).parts
        name = room if inside else ""
        found[name] = found.get(name, 0) + path.read_bytes().count(b"\n")
    return found


@pytest.mark.parametrize("room", MOST_LINES)
def test_no_room_grows(room: str) -> None:
    now, most = lines()[room], MOST_LINES[room]
    assert now <= most, f"{room or 'kinetree itself'} has {now} lines, and may have {most}: see this file's docstring"
    assert now >= most * (1.0 - SLACK) - 10, f"{room} has {now} lines: lower its number, {most}"


def test_all_rooms_have_a_number() -> None:
    assert lines().keys() == MOST_LINES.keys()


def test_there_are_no_more_files() -> None:
    now = sum(1 for _ in SOURCE.rglob("*.py"))
    assert now <= MOST_FILES, f"kinetree has {now} files, and may have {MOST_FILES}: see this file's docstring"
    assert now >= MOST_FILES * (1.0 - SLACK), f"kinetree has {now} files: lower the number, {MOST_FILES}"


@pytest.mark.parametrize("name", MOST_CALLS)
def test_a_call_takes_no_longer_way_than_before(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinetree.sim.blocks.SECONDS_PER_BLOCK", 1e9)  # or a busy machine takes more blocks
    robot = kt.zoo.load("arm7")
    q, v, tau = robot.neutral(), np.full(robot.nv, 0.1), np.zeros(robot.nv)
    calls: dict[str, Callable[[], object]] = {
        "aba": lambda: kt.aba(robot, q, v, tau),
        "jvp": lambda: kt.jvp(robot, kt.aba, (q, v, tau), {"q": np.ones(robot.nv)}),
        "rollout": lambda: kt.rollout(robot, q, v, np.zeros((100, robot.nv)), 1e-3),
        "simulate": lambda: kt.simulate(robot, q=q, v=v, duration=0.1, dt=1e-3),
    }
    calls[name]()
    calls[name]()
    files: list[str] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(SOURCE)):
            files.append(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        calls[name]()
    finally:
        sys.setprofile(before)
    most_calls, most_files = MOST_CALLS[name]
    assert len(files) <= most_calls
    assert len(set(files)) <= most_files
