"""Trajectories on disk."""

from __future__ import annotations

import io
import os
import random
import sys
import tracemalloc
import warnings
import zipfile
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinetree import zoo
from kinetree.errors import ShapeError, TrajectoryFileError
from kinetree.model import ModelBuilder
from kinetree.number_files import arrays
from kinetree.sim import Trajectory, load_trajectory, simulate

FIELDS = [field for field in fields(Trajectory) if field.name != "end"]
"""Those that files have: a snapshot has a file of its own."""


@pytest.fixture(scope="module")
def motion() -> Trajectory:
    robot = zoo.load("quadruped")
    return simulate(robot, q=robot.random(2), tau=np.linspace(-1.0, 1.0, robot.nv) * robot.actuated, duration=0.02)


def test_what_is_saved_comes_back(motion: Trajectory, tmp_path: Path) -> None:
    path = motion.save(tmp_path / "run.1")
    assert path == tmp_path / "run.1.npz"
    back = Trajectory.load(path)
    for field in FIELDS:
        before, after = getattr(motion, field.name), getattr(back, field.name)
        assert type(before) is type(after), field.name
        np.testing.assert_array_equal(before, after)


def test_a_field_that_is_missing_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", time=np.zeros(3), q=np.zeros((3, 1)))
    with pytest.raises(TrajectoryFileError, match=r"other\.npz is not a trajectory: it lacks robot, integrator"):
        Trajectory.load(tmp_path / "other.npz")


@pytest.mark.parametrize("content", [b"", b"not a file of numbers", b"PK\x03\x04 torn"])
def test_another_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    path.write_bytes(content)
    with pytest.raises(TrajectoryFileError, match=r"x\.npz is not a trajectory"):
        Trajectory.load(path)


def test_an_array_alone_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(3))
    with pytest.raises(TrajectoryFileError, match="is not a trajectory"):
        Trajectory.load(tmp_path / "x.npy")


@pytest.mark.parametrize("byte", [60, 100, 1000])
def test_a_damaged_file_is_refused(byte: int, motion: Trajectory, tmp_path: Path) -> None:
    path = motion.save(tmp_path / "x.npz")
    content = bytearray(path.read_bytes())
    content[byte] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(TrajectoryFileError, match=r"x\.npz is not a trajectory"):
        Trajectory.load(path)


def parts(motion: Trajectory) -> dict[str, Any]:
    """The arrays of a file."""
    return {field.name: np.asarray(getattr(motion, field.name)) for field in FIELDS}


def test_a_robot_without_joints_has_a_file_too(tmp_path: Path) -> None:
    builder = ModelBuilder("statue")
    builder.add_body("stone")
    motion = simulate(builder.build(), duration=0.003)
    back = Trajectory.load(motion.save(tmp_path / "x"))
    assert back.q.shape == (4, 0)
    assert back.q_names == ()
    np.savez(tmp_path / "old.npz", **parts(motion))  # without entries the names were numbers once
    assert Trajectory.load(tmp_path / "old.npz").v_names == ()


@pytest.mark.parametrize("order", [">", "F"])
def test_other_orders_of_the_same_numbers_are_read(order: str, motion: Trajectory, tmp_path: Path) -> None:
    arrays = parts(motion)
    arrays["q"] = arrays["q"].astype(">f8") if order == ">" else np.asfortranarray(arrays["q"])
    np.savez(tmp_path / "x.npz", **arrays)
    back = Trajectory.load(tmp_path / "x.npz")
    np.testing.assert_array_equal(back.q, motion.q)
    assert back.q.dtype == np.float64


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"time": np.zeros(0)}, "'q' has 21 rows, but 'time' has 0"),
        ({"time": np.arange(20.0)}, "'q' has 21 rows, but 'time' has 20"),
        ({"time": np.arange(21.0)[::-1].copy()}, "'time' does not increase from row 0 to the next"),
        ({"time": np.r_[np.arange(20.0), 19.0]}, "'time' does not increase from row 19 to the next"),
        ({"time": np.r_[0.0, np.nan, np.arange(2.0, 21.0)]}, r"'time' holds a number that is not finite \(row 1\)"),
        ({"time": np.array(0.0)}, r"'time' has the shape \(\), but 1 axes are expected"),
        ({"q": np.zeros((21, 18))}, "'q_names' has 19 coordinates, but 'q' has 18"),
        ({"q": np.zeros((19, 21))}, "'q' has 19 rows, but 'time' has 21"),
        ({"q": np.full((21, 19), np.inf)}, "'q' holds a number that is not finite"),
        ({"q": np.zeros((21, 19), np.float32)}, "'q' is of type float32, not float64"),
        ({"q": np.zeros((21, 19), complex)}, "'q' is of type complex128, not float64"),
        ({"v": np.full((21, 18), np.nan)}, "'v' holds a number that is not finite"),
        ({"tau": np.zeros((21, 17))}, "'tau' has 17 degrees of freedom, but 'v' has 18"),
        ({"kinetic": np.zeros((21, 1))}, "'kinetic' has the shape"),
        ({"work": np.array(["much"] * 21)}, "'work' is of type <U4, not float64"),
        ({"dt": np.array("short")}, "'dt' is of type <U5, not float64"),
        ({"dt": np.array(0.0)}, "'dt' is 0, not a positive number"),
        ({"substeps": np.array(1.5)}, "'substeps' is of type float64, not an integer"),
        ({"substeps": np.array(0)}, "'substeps' is 0, not a number of parts"),
        ({"robot": np.array(3.0)}, "'robot' is of type float64, not text"),
        ({"robot": np.array(["a", "b"])}, r"'robot' has the shape \(2,\)"),
        ({"q_names": np.array(["a", "b"])}, "'q_names' has 2 coordinates, but 'q' has 19"),
        ({"v_names": np.arange(18)}, "'v_names' is of type int64, not text"),
        ({"q_units": np.frombuffer(b"\xff" * 76, "<U1")}, "'q_units' holds numbers that are not characters"),
        ({"integrator": np.array(object())}, "'integrator' holds Python objects, which are not read"),
    ],
)
def test_fields_that_do_not_fit_are_refused(
    changes: dict[str, Any], message: str, motion: Trajectory, tmp_path: Path
) -> None:
    np.savez(tmp_path / "x.npz", **{**parts(motion), **changes})
    with pytest.raises(TrajectoryFileError, match=rf"x\.npz is not a trajectory: {message}"):
        Trajectory.load(tmp_path / "x.npz")


def test_a_file_without_rows_is_refused(motion: Trajectory, tmp_path: Path) -> None:
    rows = {name for name, array in parts(motion).items() if array.shape[:1] == (21,)}
    np.savez(tmp_path / "x.npz", **{name: x[:0] if name in rows else x for name, x in parts(motion).items()})
    with pytest.raises(TrajectoryFileError, match="it has no rows"):
        Trajectory.load(tmp_path / "x.npz")


def array(x: np.ndarray[Any, Any]) -> bytes:
    """What a member holds."""
    file = io.BytesIO()
    np.save(file, x)
    return file.getvalue()


def test_members_that_are_no_arrays_are_refused(motion: Trajectory, tmp_path: Path) -> None:
    whole = motion.save(tmp_path / "whole")
    for name, content, message in (
        ("work", array(motion.work) + b"more", ".*of float64, 168 bytes, but 172 bytes are there"),
        ("work", array(motion.work)[:-8], ".*of float64, 168 bytes, but 160 bytes are there"),
        ("q", b"text", "'q' is not a NumPy array"),
        ("q", b"", "'q' is not a NumPy array"),
        ("q", b"\x93NUMPY\x01\x00\x04\x00{{{\n", "'q' is damaged: "),
        ("time", b"\x93NUMPY\x02\x00\xff\xff\xff\x7f{", "the header of 'time' has 2,147,483,647 bytes"),
        ("q", b"\x93NUMPY\x01\x00\x46\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 19), }".ljust(69)
         + b"\n", "'q' has the shape"),
    ):  # fmt: skip
        path = tmp_path / "x.npz"
        with zipfile.ZipFile(whole) as old, zipfile.ZipFile(path, "w") as new:
            for member in old.namelist():
                new.writestr(member, content if member == f"{name}.npy" else old.read(member))
        with pytest.raises(TrajectoryFileError, match=rf"x\.npz is not a trajectory: ({message})"):
            Trajectory.load(path)
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as new:  # numpy.load would give these as bytes
        for field in FIELDS:
            new.writestr(field.name, b"text")
    with pytest.raises(TrajectoryFileError, match="it lacks robot"):
        Trajectory.load(tmp_path / "x.npz")


@pytest.mark.parametrize(
    ("method", "message"), [(zipfile.ZIP_BZIP2, "is packed by a method that NumPy does not use"), (None, "2 times")]
)
def test_archives_that_numpy_would_not_write_are_refused(
    method: int | None, message: str, motion: Trajectory, tmp_path: Path
) -> None:
    whole, path = motion.save(tmp_path / "whole"), tmp_path / "x.npz"
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(path, "w", method or 0) as new, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for member in (*old.namelist(), *(() if method else old.namelist())):
            new.writestr(member, old.read(member))
    with pytest.raises(TrajectoryFileError, match=message):
        Trajectory.load(path)


def test_what_would_fill_the_memory_is_not_unpacked(motion: Trajectory, tmp_path: Path) -> None:
    rows = 100_000
    arrays = parts(motion) | {"q": np.zeros((rows, 50)), "tau": np.zeros((rows, 50))}
    np.savez_compressed(tmp_path / "x.npz", **arrays)
    assert (tmp_path / "x.npz").stat().st_size < 200_000
    tracemalloc.start()
    try:
        with pytest.raises(TrajectoryFileError, match="it unpacks to 76 MiB, more than 100 times its own size"):
            Trajectory.load(tmp_path / "x.npz")
        assert tracemalloc.get_traced_memory()[1] < 2e6
    finally:
        tracemalloc.stop()


def test_a_motion_at_rest_is_saved_so_that_it_can_be_read(
    motion: Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "_PLAIN", 100_000)
    rows = 20_000
    still = {
        name: np.zeros((rows, *getattr(motion, name).shape[1:]))
        for name in ("q", "v", "qdd", "tau", "kinetic", "potential", "work", "dissipated")
    }
    rest = replace(motion, time=np.arange(rows, dtype=float), **still)
    np.savez_compressed(tmp_path / "packed.npz", **parts(rest))
    with pytest.raises(TrajectoryFileError, match="write it without compression"):
        Trajectory.load(tmp_path / "packed.npz")
    assert Trajectory.load(rest.save(tmp_path / "rest")).q.shape == (rows, 19)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(TrajectoryFileError, match="pipe cannot be read: this is not a regular file"):
            Trajectory.load(tmp_path / "pipe")
    with pytest.raises(TrajectoryFileError, match="cannot be read: this is a folder"):
        Trajectory.load(tmp_path)
    with pytest.raises(TrajectoryFileError, match=r"none\.npz cannot be read: No such file or directory"):
        Trajectory.load(tmp_path / "none.npz")
    with pytest.raises(TrajectoryFileError, match="cannot be read: no file can have this name"):
        Trajectory.load("a\0b")


def test_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    """Every other error, every warning and every other trajectory fails this test."""
    motion = simulate(zoo.load("double_pendulum"), q=[1.0, 0.5], duration=0.005)
    path = motion.save(tmp_path / "x")
    whole, draw = path.read_bytes(), random.Random(0)
    refused = 0
    for turn in range(600):
        content = bytearray(whole)
        if turn % 5 == 0:
            del content[draw.randrange(len(content)) :]
        elif turn % 5 == 1:
            begin = draw.randrange(len(content))
            content[begin : begin + draw.randrange(40)] = draw.randbytes(draw.randrange(40))
        else:
            for _ in range(draw.choice((1, 1, 3))):
                content[draw.randrange(len(content))] = draw.choice((0, 1, 0x7F, 0xFF, draw.randrange(256)))
        path.write_bytes(content)
        try:
            back = Trajectory.load(path)
        except TrajectoryFileError:
            refused += 1
        else:
            for field in FIELDS:
                if field.name != "kept":
                    np.testing.assert_array_equal(getattr(back, field.name), getattr(motion, field.name))
            assert back.kept in (None, motion.kept)  # with the name of its member lost, it is like an older file
    assert refused > 400


def test_mutated_headers_are_read_or_refused(motion: Trajectory, tmp_path: Path) -> None:
    """Checksums hide what is behind them from mutations; here they are right."""
    whole, path, draw = motion.save(tmp_path / "whole"), tmp_path / "x.npz", random.Random(1)
    with zipfile.ZipFile(whole) as old:
        members = {name: old.read(name) for name in old.namelist()}
    for _ in range(150):
        with zipfile.ZipFile(path, "w") as new:
            for name, data in members.items():
                content = bytearray(data)
                if draw.random() < 0.2:
                    content[draw.randrange(min(90, len(content)))] = draw.choice(
                        b"\0\xff(-[{'9\\,<>fUO" + draw.randbytes(3)
                    )
                new.writestr(name, bytes(content))
        with zipfile.ZipFile(path) as archive:
            assert len(archive.namelist()) == len(members)
        try:
            Trajectory.load(path)
        except TrajectoryFileError as error:
            assert "is not a trajectory" in str(error)  # noqa: PT017


def test_states_that_something_else_computed_are_a_motion(tmp_path: Path) -> None:
    robot = zoo.load("double_pendulum")
    whole = simulate(robot, q=[[1.0, 0.5], [0.3, 0.2]], duration=0.05, dt=0.01)
    given = {"action": np.arange(12.0).reshape(2, 6, 1)}
    motion = Trajectory.of_states(
        robot, whole.q, whole.v, 0.01, integrator="a plan", recorded=given, ended=[0.02, 0.05]
    )
    np.testing.assert_allclose(motion.time, whole.time)
    read = load_trajectory(motion.save(tmp_path / "plan"))
    for one in (motion, read):
        np.testing.assert_array_equal(one.q, whole.q)
        np.testing.assert_array_equal(one.recorded["action"], given["action"])
        np.testing.assert_array_equal(one.ended, [0.02, 0.05])
        assert np.isnan(one.kinetic).all()
    assert read.model is not None
    assert read[0].strip(size=(64, 32), moments=2).shape == (32, 64, 3)
    for q, v in ((whole.q[..., :1], whole.v), (whole.q, whole.v[:, :-1]), (whole.q[0, 0], whole.v[0, 0])):
        with pytest.raises(ShapeError):
            Trajectory.of_states(robot, q, v, 0.01)
    with pytest.raises(ShapeError, match=r"recorded\['x'\]"):
        Trajectory.of_states(robot, whole.q, whole.v, 0.01, recorded={"x": np.zeros(6)})
