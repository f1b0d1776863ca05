"""Folders of motions, read in parts, and files of them."""

from __future__ import annotations

import hashlib
import json
import sys
import tracemalloc
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.pictures.moments import divergences
from kinetree.plots import figure, moments
from kinetree.sim.kept_robot import KeptRobot
from kinetree.sim.motion_folder import MotionFolder
from kinetree.sim.shown import RecordedMotion
from kinetree.sim.stream import streamed

ROBOT = kt.zoo.load("double_pendulum")
DATA = Path(__file__).parents[2] / "data"


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


@pytest.fixture(scope="module", params=["file", "folder"])
def on_disk(
    request: pytest.FixtureRequest, motions: kt.Trajectory, tmp_path_factory: pytest.TempPathFactory
) -> RecordedMotion:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "file":
        found: RecordedMotion = kt.load_trajectory(motions.save(folder / "run"))
        return found
    return written(motions, folder / "run", 400, 401, 900)


def written(motions: kt.Trajectory, path: Path, *ends: int) -> kt.sim.TrajectoryFolder:
    """The folder of a motion, in pieces that end after so many rows, not where chunks end."""
    folder = MotionFolder(path)
    about = {name: getattr(motions, name) for name in ("q_names", "q_joints", "q_units", "v_names")}
    settings = {"robot": motions.robot, "dt": "0.001", "steps": f"{ends[-1] - 1}", "integrator": "rk4"}
    about |= {"format": 2, "settings": settings, "shape": [*motions.shape], "rows": ends[-1], "chunk": 150}
    with folder.only_writer():
        folder.begin(about, KeptRobot(ROBOT).text)
        for number, (begin, end) in enumerate(pairwise((0, *ends))):
            names = ("q", "v", "qdd", "tau", "kinetic", "potential", "work", "dissipated")
            parts: Any = {name: getattr(motions, name)[..., begin:end, :] for name in names[:4]}
            parts |= {name: getattr(motions, name)[..., begin:end] for name in names[4:]}
            piece = replace(motions, time=motions.time[begin:end], end=None, **parts)
            folder.write(number, piece, is_last=end == ends[-1])
    found = kt.load_trajectory(path)
    assert isinstance(found, kt.sim.TrajectoryFolder)
    return found


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
    for motion in (one, written(one, tmp_path / "run", 7, 20)):
        assert motion.configurations([1, 2]).shape == (2, 2)
        assert motion.configurations([1, 2], [0]).shape == (1, 2, 2)
        assert motion.configurations([1, 2], [()]).shape == (1, 2, 2)


def test_samples_may_be_indices(tmp_path: Path) -> None:
    flat = wide(6, 20)
    square = replace(flat, **{name: getattr(flat, name).reshape(2, 3, *getattr(flat, name).shape[1:]) for name in (
        "q", "v", "qdd", "tau", "kinetic", "potential", "work", "dissipated", "ended")})  # fmt: skip
    for motion in (square, written(square, tmp_path / "run", 20)):
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
    given: Any = {"q": [[1.0, 0.5], [0.3, 0.2], [0.5, 0.9]], "duration": 0.5, "until": {"turns": turns}}
    given |= {"integrator": "rk45"}
    picked = kt.simulate(ROBOT, **given, record=["energies", "frames"])[[2, 0]]
    folder = kt.simulate(ROBOT, **given, record=kt.sim.Recording(["energies", "frames"], stream=tmp_path / "run"))
    some = folder.part(samples=np.array([2, 0]))
    assert isinstance(some, kt.Trajectory)
    for name in ("time", "q", "v", "qdd", "tau", "kinetic", "work", "ended"):
        np.testing.assert_array_equal(getattr(some, name), getattr(picked, name))
    np.testing.assert_array_equal(some.recorded["frame.tip"], picked.recorded["frame.tip"])
    assert [(one.name, one.sample, one.time) for one in some.events] == [
        (one.name, one.sample, one.time) for one in picked.events
    ]
    for name in ("accepted", "rejected", "smallest"):
        np.testing.assert_array_equal(getattr(some.step_counts, name), getattr(picked.step_counts, name))
    assert (some.model, some.units) == (ROBOT, picked.units)


def test_the_most_parts_of_a_step_are_those_of_all_pieces(tmp_path: Path) -> None:
    folder = written(replace(wide(2, 50), substeps=3), tmp_path / "run", 20, 50)
    MotionFolder(folder.path).write(1, replace(folder.piece(1), substeps=1), is_last=True)
    assert kt.load_trajectory(folder.path).part().substeps == 3  # type: ignore[union-attr]


def test_little_memory_is_needed(tmp_path: Path) -> None:
    motions = wide(100, 2000)  # 3.2 MB of q, in chunks of 240 kB
    path = written(motions, tmp_path / "run", 2000).path
    tracemalloc.start()
    folder = kt.load_trajectory(path)
    assert folder.configurations(slice(0, None, 100)).shape == (100, 20, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_numbers_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    motions = wide(2, 50)
    motions.q[1, 7] = np.nan
    folder = written(motions, tmp_path / "run", 50)
    folder.configurations(samples=[0])
    with pytest.raises(kt.errors.TrajectoryFileError, match="'q' holds a number that is not finite"):
        folder.configurations(samples=[1])
    motions.time[20] = motions.time[19]
    with pytest.raises(kt.errors.TrajectoryFileError, match="'time' does not increase"):
        _ = written(motions, tmp_path / "again", 50).time


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"rows": 10**6}, "it has 1000000 rows of 50"),
        ({"rows": 0}, "it has 0 rows"),
        ({"rows": "many"}, "it has 'many' rows"),
        ({"ended": [1.0]}, "cannot reshape"),
        ({"substeps": 0}, "it is not a description of a piece"),
        ({"recorded": [3]}, "it is not a description of a piece"),
        ({"events": [[1]]}, "not enough values"),
        ({"step_counts": 3}, "not subscriptable"),
        ({"units": 3}, "no attribute"),
        ({"diverged": [[[0], 1.0, "q"]]}, "not enough values"),
    ],
)
def test_a_wrong_description_of_a_piece_is_reported(changes: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    place = written(wide(2, 50), tmp_path / "run", 50).path / "pieces" / "000000.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | changes))
    with pytest.raises(
        kt.errors.TrajectoryFileError, match=rf"000000\.json is not a piece of this motion: .*{sentence}"
    ):
        kt.load_trajectory(tmp_path / "run").part()


def test_pieces_that_say_more_than_there_is_are_refused(tmp_path: Path) -> None:
    """Whoever wrote the folder decides what its texts say, but the files bound the memory that is taken."""
    path = written(wide(2, 50), tmp_path / "run", 50).path
    for name, field in (("motion.json", "rows"), ("pieces/000000.json", "rows")):
        (path / name).write_text(json.dumps(json.loads((path / name).read_text()) | {field: 2**50}))
    with pytest.raises(kt.errors.TrajectoryFileError, match="fewer rows than the 1,125,899,906,842,624 of its pieces"):
        kt.load_trajectory(path).configurations()


@pytest.mark.parametrize("shape", [[50, 2, 3], [50, 3, 2], [50, 2], [50, 2, 2, 1]])
def test_an_array_that_is_not_of_the_motion_is_refused(shape: list[int], tmp_path: Path) -> None:
    place = written(wide(2, 50), tmp_path / "run", 50).path / "rows" / "q" / "zarr.json"
    grid = {"configuration": {"chunk_shape": [50, *shape[1:]]}}
    place.write_text(json.dumps(json.loads(place.read_text()) | {"shape": shape, "chunk_grid": grid}))
    with pytest.raises(kt.errors.TrajectoryFileError, match=r"q holds an array .*, which is not that of this motion"):
        kt.load_trajectory(tmp_path / "run").configurations()


def test_a_file_that_was_written_before_motions_were_in_chunks(tmp_path: Path) -> None:
    """Its numbers are those that were there then."""
    motions = kt.load_trajectory(DATA / "motions.npz")
    assert isinstance(motions, kt.Trajectory)
    assert repr(motions) == repr(kt.Trajectory.load(DATA / "motions.npz"))
    digests = {name: hashlib.sha256(getattr(motions, name).tobytes()).hexdigest()[:8] for name in ("q", "v", "qdd")}
    assert digests == {"q": "a940e220", "v": "c931202b", "qdd": "2f67cc35"}
    assert [*motions.diverged] == [(1,)]
    assert [(one.name, one.sample) for one in motions.events] == [("until", (0,))]
    np.testing.assert_allclose(motions.ended, [0.3854316289589133, 0.13, 0.4], rtol=1e-12)
    assert motions.recorded["frame.tip"].shape == (3, 11, 4, 4)
    assert motions.model == ROBOT
    back = kt.Trajectory.load(motions.save(tmp_path / "again"))
    assert (back.q.tobytes(), back.units, back.diverged) == (motions.q.tobytes(), motions.units, motions.diverged)


def test_a_robot_without_joints_has_configurations_too(tmp_path: Path) -> None:
    builder = kt.ModelBuilder("statue")
    builder.add_body("stone")
    given: Any = {"robot": builder.build(), "duration": 0.003}
    for motion in (kt.simulate(**given), kt.simulate(**given, record=kt.sim.Recording(stream=tmp_path / "run"))):
        assert motion.configurations().shape == (4, 0)
        assert motion.configurations([3, 1]).shape == (2, 0)


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
        np.testing.assert_array_equal(divergences("film", motion, [2, 1]), [np.inf, motions.diverged[1,].time])
    assert f"; {motions.diverged[1,]}>" in repr(motions[1])


@pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")
def test_a_picture_reads_what_it_shows_and_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "_POINTS", 40)
    monkeypatch.setattr(sys.modules[streamed.__module__], "_NUMBERS_PER_PIECE", 9000)
    tau = np.zeros((4, 300, 2))
    tau[1, 120] = 1e308
    given: Any = {"q": [[1.0, 0.5], [0.1, 0.2], [0.3, 0.1], [0.5, 0.5]], "tau": tau, "duration": 0.3}
    motions = kt.simulate(ROBOT, **given, record=["energies", "frames"])
    path = kt.simulate(ROBOT, **given, record=kt.sim.Recording(["energies", "frames"], stream=tmp_path / "run")).path
    assert kt.load_trajectory(path).pieces > 1  # type: ignore[union-attr]
    read: list[tuple[str, int, int]] = []

    def counted(self: MotionFolder, name: str, rows: Any, samples: Any = None) -> Any:
        read.append((name, 4 if samples is None else len(samples), len(rows) if name != "time" else 0))
        return take(self, name, rows, samples)

    take = MotionFolder.take
    monkeypatch.setattr(MotionFolder, "take", counted)
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
            assert [name for name, count in numbers.items() if count] == ["q"]
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
