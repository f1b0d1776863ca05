"""Files and folders of motions, read in parts."""

from __future__ import annotations

import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.pictures.recorded import RecordedMotion
from kinetree.sim import member_parts
from kinetree.sim.plots import figure, moments
from kinetree.sim.stream import streamed

ROBOT = kt.zoo.load("double_pendulum")


def wide(samples: int, rows: int) -> kt.Trajectory:
    """Many motions, of made-up numbers that hardly shrink."""
    one = kt.simulate(ROBOT, q=[1.0, 0.5], duration=0.001)
    random = np.random.default_rng(0)

    def made(*shape: int) -> np.ndarray:
        return random.normal(size=(samples, rows, *shape))

    return replace(
        one,
        time=np.arange(rows) * 0.001,
        q=made(2), v=made(2), qdd=made(2), tau=made(2), kinetic=made(), potential=made(), work=made(),
        dissipated=made(), ended=np.full(samples, rows * 0.001),
    )  # fmt: skip


@pytest.fixture(scope="module")
def motions() -> kt.Trajectory:
    return wide(7, 900)


@pytest.fixture(scope="module", params=["packed", "stored", "folder"])
def on_disk(
    request: pytest.FixtureRequest, motions: kt.Trajectory, tmp_path_factory: pytest.TempPathFactory
) -> RecordedMotion:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "packed":
        found: RecordedMotion = kt.load_trajectory(motions.save(folder / "run"))
        return found
    if request.param == "stored":
        with np.load(motions.save(folder / "packed")) as arrays:
            np.savez(folder / "run.npz", **arrays)
        return kt.load_trajectory(folder / "run.npz")
    kt.simulate(ROBOT, q=motions.q[:, 0], duration=0.001, stream=folder / "run")
    (folder / "run" / "piece-000000.npz").unlink()
    for k, (begin, end) in enumerate([(0, 400), (400, 401), (401, 900)]):
        rows = slice(begin, end)
        names = ("q", "v", "qdd", "tau", "kinetic", "potential", "work", "dissipated")
        parts = {name: getattr(motions, name)[:, rows] for name in names}
        replace(motions, time=motions.time[rows], **parts).save(folder / "run" / f"piece-{k:06d}.npz")
    return kt.load_trajectory(folder / "run")


@pytest.mark.parametrize("rows", [slice(None), slice(10, 800, 7), slice(None, None, -100), [5, 3, -1, 5], []])
@pytest.mark.parametrize("samples", [None, [0], [6, 2, 2], np.array([-1]), []])
def test_parts_are_those_of_the_whole(
    on_disk: RecordedMotion, motions: kt.Trajectory, rows: slice | list[int], samples: list[int] | None
) -> None:
    some = np.arange(7) if samples is None else np.array(samples, int)
    for motion in (on_disk, motions):
        np.testing.assert_array_equal(motion.configurations(rows, samples), motions.q[some][:, rows])
        v, qdd = motion.rates(rows, samples)
        np.testing.assert_array_equal(v, motions.v[some][:, rows])
        np.testing.assert_array_equal(qdd, motions.qdd[some][:, rows])


def test_what_it_is_is_known(on_disk: RecordedMotion, motions: kt.Trajectory) -> None:
    assert (on_disk.robot, on_disk.shape, on_disk.q_names) == ("double_pendulum", (7,), motions.q_names)
    np.testing.assert_array_equal(on_disk.time, motions.time)
    assert on_disk.model == ROBOT
    assert "double_pendulum" in repr(on_disk)


def test_one_motion_has_no_axes_of_a_batch(tmp_path: Path) -> None:
    one = wide(1, 20)[0]
    file = kt.load_trajectory(one.save(tmp_path / "run"))
    for motion in (one, file):
        assert motion.configurations([1, 2]).shape == (2, 2)
        assert motion.configurations([1, 2], [0]).shape == (1, 2, 2)
        assert motion.configurations([1, 2], [()]).shape == (1, 2, 2)


def test_samples_may_be_indices(tmp_path: Path) -> None:
    flat = wide(6, 20)
    square = replace(flat, **{name: getattr(flat, name).reshape(2, 3, *getattr(flat, name).shape[1:]) for name in (
        "q", "v", "qdd", "tau", "kinetic", "potential", "work", "dissipated", "ended")})  # fmt: skip
    for motion in (square, kt.load_trajectory(square.save(tmp_path / "run"))):
        assert motion.configurations().shape == (2, 3, 20, 2)
        np.testing.assert_array_equal(motion.configurations(samples=[(1, 0), (0, 2)]), flat.q[[3, 2]])


@pytest.mark.parametrize(
    ("rows", "samples", "message"),
    [
        ([900], None, "there are 900 rows, numbered from 0, and so no 900"),
        ([0.5], None, "rows must be a list of whole numbers, not"),
        (3, None, "rows must be a list of whole numbers, not 3"),
        ([0], [7], "there are 7 samples, numbered from 0, and so no 7"),
        ([0], [(0, 1)], r"samples must be indices of the batch \(7,\), not"),
        ([0], [True], "samples must be a list of whole numbers"),
    ],
)
def test_rows_and_samples_that_are_not_there_are_refused(
    on_disk: RecordedMotion, motions: kt.Trajectory, rows: object, samples: object, message: str
) -> None:
    for motion in (on_disk, motions):
        with pytest.raises(kt.errors.OptionError, match=message):
            motion.configurations(rows, samples)  # type: ignore[arg-type]


def test_some_motions_are_read_with_everything_that_was_recorded(tmp_path: Path) -> None:
    turns = kt.sim.Event(lambda t, q, v: v[..., 1], terminal=False)  # noqa: ARG005
    motions = kt.simulate(
        ROBOT, q=[[1.0, 0.5], [0.3, 0.2], [0.5, 0.9]], duration=0.5, until={"turns": turns},
        record=["energies", "frames"], integrator="rk45",
    )  # fmt: skip
    some = kt.load_trajectory(motions.save(tmp_path / "run")).read([2, 0])
    assert isinstance(some, kt.Trajectory)
    picked = motions[[2, 0]]
    for name in ("time", "q", "v", "qdd", "tau", "kinetic", "work", "ended"):
        np.testing.assert_array_equal(getattr(some, name), getattr(picked, name))
    np.testing.assert_array_equal(some.recorded["frame.tip"], picked.recorded["frame.tip"])
    assert [(one.name, one.sample, one.time) for one in some.events] == [
        (one.name, one.sample, one.time) for one in picked.events
    ]
    np.testing.assert_array_equal(some.step_counts.accepted, picked.step_counts.accepted)
    assert some.model == ROBOT
    one = kt.load_trajectory(motions[0].save(tmp_path / "one"))
    with pytest.raises(kt.errors.OptionError, match=r"file of one motion, which kt\.Trajectory\.load reads"):
        one.read([0])


def test_a_packed_member_is_read_in_any_order(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """States of the unpacking are kept, and the last one goes on."""
    monkeypatch.setattr(member_parts, "_SPACING", 10_000)
    monkeypatch.setattr(member_parts, "_MOST", 1000)
    monkeypatch.setattr(member_parts, "_CHUNK", 1000)
    motions = wide(20, 500)
    file = kt.load_trajectory(motions.save(tmp_path / "run"))
    for k in np.random.default_rng(1).integers(0, 20, 40):
        np.testing.assert_array_equal(file.configurations([3, 499, 250], [int(k)]), motions.q[[k]][:, [3, 499, 250]])


def test_little_memory_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(member_parts, "_BLOCKS", 1)
    path = wide(100, 2000).save(tmp_path / "run")  # 3.2 MB of q
    tracemalloc.start()
    file = kt.load_trajectory(path)
    assert file.configurations(slice(0, None, 100)).shape == (100, 20, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_a_file_that_was_replaced_is_not_mixed_with_the_old_one(tmp_path: Path) -> None:
    file = kt.load_trajectory(wide(2, 50).save(tmp_path / "run"))
    wide(2, 60).save(tmp_path / "run")
    with pytest.raises(
        kt.errors.TrajectoryFileError, match=r"run\.npz cannot be read: it has changed since it was opened"
    ):
        file.configurations()


def test_a_damaged_member_is_told(tmp_path: Path) -> None:
    path = wide(20, 500).save(tmp_path / "run")
    content = bytearray(path.read_bytes())
    content[len(content) // 10] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(kt.errors.TrajectoryFileError, match=r"run\.npz (is no trajectory|cannot be read): 'q' "):
        kt.load_trajectory(path).configurations()


def test_numbers_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    motions = wide(2, 50)
    motions.q[1, 7] = np.nan
    file = kt.load_trajectory(motions.save(tmp_path / "run"))
    file.configurations(samples=[0])
    with pytest.raises(kt.errors.TrajectoryFileError, match="'q' holds a number that is not finite"):
        file.configurations(samples=[1])


def test_columns_are_read_as_a_whole_only(tmp_path: Path) -> None:
    motions = wide(2, 50)
    file = kt.load_trajectory(replace(motions, q=np.asfortranarray(motions.q)).save(tmp_path / "run"))
    with pytest.raises(
        kt.errors.TrajectoryFileError, match=r"column by column; kt\.Trajectory\.load reads it as a whole"
    ):
        file.configurations()


def test_a_robot_without_joints_has_configurations_too(tmp_path: Path) -> None:
    builder = kt.ModelBuilder("statue")
    builder.add_body("stone")
    motion = kt.simulate(builder.build(), duration=0.003)
    assert kt.load_trajectory(motion.save(tmp_path / "x")).configurations().shape == (4, 0)


@pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")
def test_a_file_knows_which_motions_ended_and_why(tmp_path: Path) -> None:
    tau = np.zeros((3, 20, 2))
    tau[1, 7] = 1e308
    rises = kt.program(lambda q: q[0] - 0.32, q=2)
    motions = kt.simulate(
        ROBOT, q=[[1.0, 0.5], [0.1, 0.2], [0.3, 0.1]], v=[[0, 0], [0, 0], [0.5, 0]], tau=tau, duration=0.2, dt=0.01,
        until=rises,
    )  # fmt: skip
    file = kt.load_trajectory(motions.save(tmp_path / "run"))
    assert file.diverged == motions.diverged
    assert [*file.diverged] == [(1,)]
    np.testing.assert_array_equal(file.ended, motions.ended)
    assert [(one.name, one.sample) for one in file.events] == [("until", (2,))]
    for motion in (file, motions):
        assert "; 1 of 3 motions diverged, 1 of 3 motions ended before the others>" in repr(motion)
        np.testing.assert_array_equal(motion._gone("film", [2, 1]), [np.inf, motions.diverged[1,].time])
    assert f"; {motions.diverged[1,]}>" in repr(motions[1])
    other = kt.load_trajectory(tmp_path / "run.npz")
    motions[:2].save(tmp_path / "run")
    with pytest.raises(kt.errors.TrajectoryFileError, match="it has changed since it was opened"):
        _ = other.diverged
    assert "rows>" in repr(other)


@pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")
@pytest.mark.parametrize("is_folder", [False, True])
def test_a_picture_reads_what_it_shows_and_is_the_same(
    is_folder: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moments, "_POINTS", 40)
    tau = np.zeros((4, 300, 2))
    tau[1, 120] = 1e308
    given: Any = {"q": [[1.0, 0.5], [0.1, 0.2], [0.3, 0.1], [0.5, 0.5]], "tau": tau, "duration": 0.3}
    given["record"] = ["energies", "frames"]
    motions = kt.simulate(ROBOT, **given)
    if is_folder:
        monkeypatch.setattr(sys.modules[streamed.__module__], "_NUMBERS_PER_PIECE", 9000)
        kt.simulate(ROBOT, **given, stream=tmp_path / "run")
        assert kt.load_trajectory(tmp_path / "run").pieces > 1  # type: ignore[union-attr]
    path = tmp_path / "run" if is_folder else motions.save(tmp_path / "run")
    read: list[tuple[str, int, int]] = []

    def counted(self: Any, name: str, samples: Any, rows: Any) -> Any:
        read.append((name, 4 if samples is None else len(samples), len(rows)))
        return _read(self, name, samples, rows)

    _read = kt.sim.TrajectoryFile._read
    monkeypatch.setattr(kt.sim.TrajectoryFile, "_read", counted)
    for asked, most in (
        ({"what": "positions"}, 4 * 40),
        ({"samples": [3]}, 40),
        ({"samples": [3, 1], "what": ["balance", "frame.*"], "joints": "elbow"}, 2 * 40),
        ({"beside": motions[2], "samples": [1], "what": "velocities"}, 301),
    ):
        same_picture(figure(motions, **asked), figure(kt.load_trajectory(path), **asked))
        numbers: dict[str, int] = {}
        for name, samples, rows in read:
            numbers[name] = numbers.get(name, 0) + samples * rows
        assert max(numbers.values()) <= most
        if "samples" not in asked:
            assert [*numbers] == ["q"]
        read.clear()
    beside = kt.load_trajectory(path)
    same_picture(figure(motions, beside=motions, samples=[1]), figure(motions, beside=beside, samples=[1]))
    with pytest.raises(kt.errors.OptionError, match="beside must be another trajectory, not 3"):
        figure(motions, beside=3)  # type: ignore[arg-type]


def same_picture(first: Figure, second: Figure) -> None:
    """The same words and numbers."""
    for ax, other in zip(first.axes, second.axes, strict=True):
        assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == (
            other.get_title(), other.get_xlabel(), other.get_ylabel(),
        )  # fmt: skip
        for line, its in zip(ax.get_lines(), other.get_lines(), strict=True):
            assert line.get_label() == its.get_label()
            np.testing.assert_array_equal(line.get_xydata(), its.get_xydata())
    assert (first.get_suptitle(), first.get_supxlabel()) == (second.get_suptitle(), second.get_supxlabel())
