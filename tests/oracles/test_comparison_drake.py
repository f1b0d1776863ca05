"""`kt.compare` beside Drake, where it is installed; see test_drake.py."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import kinetree as kt
from tests.io.sdf.robots import ROBOTS
from tests.io.sdf.written import written
from tests.robots import robot_path

pytest.importorskip("pydrake")


def compared(file: str, floating_base: bool = False) -> kt.comparison.Comparison:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.ModelWarning)
        return kt.compare(robot_path(file), peers=["drake"], floating_base=floating_base, samples=2)


@pytest.mark.parametrize("floating_base", [False, True])
@pytest.mark.parametrize("file", ["panda", "ur5_robot", "talos_full_v2", "z1", "simple_humanoid"])
def test_files_that_it_reads_alike(file: str, floating_base: bool) -> None:
    """The root of two of these is called "world"."""
    found = compared(file, floating_base)
    assert found.is_equal, found.text


@pytest.mark.parametrize(
    ("file", "body", "words"),
    [
        ("bolt", "FL_FOOT", "drake puts a sphere of water of 1 kg in the place of an inertia that no body could have"),
        ("b1", "base", "drake puts a sphere of water in the place of an inertia that no body could have"),
        ("quadruped", "FL_shank", "drake takes equal limits for none"),
        ("kinova", "j2s6s200_link_1", "drake takes the limits of a continuous joint, which URDF ignores"),
    ],
)
def test_where_it_parts(file: str, body: str, words: str) -> None:
    first = compared(file).counterparts[0].first
    assert first is not None
    assert first.body == body
    assert words in first.text


@pytest.mark.parametrize(
    "name", ["a nested model", "a world", "a static model", "poses in nested models", "an included file"]
)
def test_sdf_files(name: str, tmp_path: Path) -> None:
    """Models in models, whose names come first, and packages in the folders that kinetree was given."""
    path = written(tmp_path, ROBOTS[name])
    found = kt.compare(path, peers=["drake"], package_roots=(tmp_path,), samples=2)
    assert found.is_equal, found.text


def test_its_errors_and_warnings_are_reported(capfd: pytest.CaptureFixture[str]) -> None:
    (refused,) = compared("talos_left_arm").counterparts
    assert refused.unread.startswith("drake cannot read it: Joint 'gripper_left_inner_double_joint' which has 0 DOF")
    (warned,) = compared("z1").counterparts
    assert any("drake warns:" in note for note in warned.notes)
    assert capfd.readouterr().err == ""
