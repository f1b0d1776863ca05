"""Trajectories on disk."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from kinetree import zoo
from kinetree.errors import TrajectoryFileError
from kinetree.sim import Trajectory, simulate


@pytest.fixture(scope="module")
def motion() -> Trajectory:
    robot = zoo.load("quadruped")
    return simulate(robot, q=robot.random(2), tau=np.linspace(-1.0, 1.0, robot.nv), duration=0.02)


def test_what_is_saved_comes_back(motion: Trajectory, tmp_path: Path) -> None:
    path = motion.save(tmp_path / "run.1")
    assert path == tmp_path / "run.1.npz"
    back = Trajectory.load(path)
    for field in fields(Trajectory):
        before, after = getattr(motion, field.name), getattr(back, field.name)
        assert type(before) is type(after), field.name
        np.testing.assert_array_equal(before, after)


def test_a_field_that_is_missing_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", time=np.zeros(3), q=np.zeros((3, 1)))
    with pytest.raises(TrajectoryFileError, match=r"other\.npz is no trajectory: it lacks robot, integrator"):
        Trajectory.load(tmp_path / "other.npz")


@pytest.mark.parametrize("content", [b"", b"not a file of numbers", b"PK\x03\x04 torn"])
def test_another_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    path.write_bytes(content)
    with pytest.raises(TrajectoryFileError, match=r"x\.npz is no trajectory"):
        Trajectory.load(path)


def test_an_array_alone_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(3))
    with pytest.raises(TrajectoryFileError, match="is no trajectory"):
        Trajectory.load(tmp_path / "x.npy")


@pytest.mark.parametrize("byte", [60, 100, 1000])
def test_a_damaged_file_is_refused(byte: int, motion: Trajectory, tmp_path: Path) -> None:
    path = motion.save(tmp_path / "x.npz")
    content = bytearray(path.read_bytes())
    content[byte] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(TrajectoryFileError, match=r"x\.npz is no trajectory"):
        Trajectory.load(path)
