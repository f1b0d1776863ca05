"""`kinetree simulate --ctrl` and `--ctrl-file`, and values of `--contact` that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt

from .conftest import Command

QUICK = ("--duration", "0.003", "--quiet")
ARM = """<mujoco model="arm"><worldbody><body><joint name="hip" axis="0 1 0"/><geom size=".1" pos="0 0 .2"/>
  <body pos="0 0 .4"><joint name="knee" axis="0 1 0"/><geom size=".1" pos="0 0 .2"/></body></body></worldbody>
<actuator><motor name="lift" joint="hip" gear="5"/><position name="bend" joint="knee" kp="3"/></actuator></mujoco>"""


@pytest.fixture
def arm(kinetree: Command) -> str:  # noqa: ARG001
    """Its file, in the folder that the command runs in."""
    Path("arm.xml").write_text(ARM)
    return "arm.xml"


def ctrl() -> Any:
    return kt.Trajectory.load("arm.npz").recorded["ctrl"].tolist()


@pytest.mark.parametrize(("text", "row"), [("0.1,-2", [0.1, -2.0]), ("bend=0.5", [0.0, 0.5])])
def test_constant_commands(kinetree: Command, arm: str, text: str, row: list[float]) -> None:
    assert kinetree("simulate", arm, "--ctrl", text, *QUICK).code == 0
    assert ctrl() == [row] * 4


def test_commands_from_files(kinetree: Command, arm: str) -> None:
    Path("c.csv").write_text("time,bend\n0,1\n0.002,3\n")
    assert kinetree("simulate", arm, "--ctrl-file", "c.csv", *QUICK).code == 0
    assert ctrl() == [[0.0, 1.0], [0.0, 1.0], [0.0, 3.0], [0.0, 3.0]]
    Path("arm.npz").rename("before.npz")
    assert kinetree("simulate", arm, "--ctrl-file", "before.npz", *QUICK).code == 0  # replayed
    assert ctrl()[2] == [0.0, 3.0]
    np.savez("c.npz", ctrl=np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    assert kinetree("simulate", arm, "--ctrl-file", "c.npz", *QUICK).code == 0
    assert ctrl() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [5.0, 6.0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--ctrl", "1"), "1 number was given, but 'arm' has 2 actuators here (lift, bend); give one number each"),
        (("--ctrl", "lft=1"), "'arm' has no actuator 'lft': did you mean 'lift'?"),
        (("--ctrl", "lift=x"), "'x' is not a finite number"),
        (("--ctrl", "1,2", "--ctrl-file", "c.csv"), "give either --ctrl or --ctrl-file"),
        (("--ctrl-file", "c.csv"), "c.csv:1: 'arm' has no actuator 'hip': available"),
        (("--ctrl-file", "t.npz"), 't.npz: there is no array "ctrl" in it'),
        (("--ctrl-file", "s.npz"), "s.npz: the commands have shape (3, 5), but 'arm' needs rows of 2"),
        (("--ctrl", "1,2", "--compare", "mujoco"), "actuators act on neither side of a comparison"),
    ],
)
def test_commands_that_do_not_fit(kinetree: Command, arm: str, arguments: tuple[str, ...], message: str) -> None:
    Path("c.csv").write_text("hip\n1\n")
    np.savez("t.npz", tau=np.zeros((3, 2)))
    np.savez("s.npz", ctrl=np.zeros((3, 5)))
    result = kinetree("simulate", arm, *arguments, *QUICK)
    assert result.code in (1, 2)
    assert message in " ".join(result.err.split())
    assert not Path("arm.npz").exists()


def test_robots_without_actuators(kinetree: Command) -> None:
    result = kinetree("simulate", "double_pendulum", "--ctrl", "1", *QUICK)
    assert result.err.startswith("error: 'double_pendulum' has no actuators")


@pytest.mark.parametrize("arguments", [("ragdoll", "--contact", "soft"), ("--contact", "soft", "ragdoll")])
def test_settings_of_contacts_that_are_none(kinetree: Command, arguments: tuple[str, ...]) -> None:
    result = kinetree("simulate", *arguments)
    assert result.code == 2
    assert "--contact: 'soft' is not one of all, partial, mujoco, compliant, rigid, and not a robot" in result.err
