"""Motions on disk: in pieces, whole after every interruption, and to the bits of motions in memory."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.files import create_locked
from kinetree.pictures.moments import divergences
from kinetree.sim import stream as stream_module
from kinetree.sim.task import Piece
from kinetree.sim.trajectory_file import PER_MOTION
from kinetree.store.arrays import StoredArray

pytestmark = pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")

ROBOT = kt.zoo.load("double_pendulum")
START: dict[str, Any] = {"q": [1.0, 0.5], "duration": 0.95}
stream = sys.modules[stream_module.__name__]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece has a hundred rows or so."""
    monkeypatch.setattr(stream, "_NUMBERS_PER_PIECE", 1500)


def in_folder(
    path: Any, *, record: kt.sim.Recording | None = None, progress: Any = None, **options: Any
) -> kt.sim.TrajectoryFolder:
    """The motion of `kt.simulate` with these options, in a folder."""
    recording = replace(record or kt.sim.Recording(), stream=path)
    return kt.simulate(ROBOT, record=recording, view=kt.sim.Viewing(page=False, progress=progress), **options)


def same(read: kt.Trajectory, whole: kt.Trajectory) -> None:
    for name in ("time", *PER_MOTION, "ended"):
        np.testing.assert_array_equal(getattr(read, name), getattr(whole, name), err_msg=name)
    assert [*read.recorded] == [*whole.recorded]
    for name, x in whole.recorded.items():
        np.testing.assert_array_equal(read.recorded[name], x, err_msg=name)
    events = [[(one.name, one.time, one.sample) for one in motion.events] for motion in (read, whole)]
    assert events[0] == events[1]
    assert (read.diverged, read.substeps) == (whole.diverged, whole.substeps)


@kt.program(t=(), q=2, v=2, integral=2)
def pulls(t, q, v, integral):  # type: ignore[no-untyped-def]
    return {"tau": 0.1 * np.sin(t) - 0.2 * q - 0.1 * v - integral, "integral": integral + 1e-3 * q, "speed": v[0]}


CASES: dict[str, dict[str, Any]] = {
    "one motion": START,
    "some of its rows": START | {"record": kt.sim.Recording(["energies", "frames"], every=7)},
    "torques of each step": START | {"tau": np.linspace(0.0, 0.2, 1900).reshape(950, 2)},
    "a program": START | {"tau": pulls},
    "a batch": START | {"q": [[1.0, 0.5], [0.2, 0.1]], "tau": pulls},
    "an event": START
    | {"duration": 3.0, "until": kt.program(lambda q: q[0], q=2), "record": kt.sim.Recording(every=3)},
    "a held command": START | {"tau": lambda t, _q, v: 0.1 * np.cos(t) - 0.1 * v, "control_dt": 0.013},
}


@pytest.mark.parametrize("case", CASES)
def test_a_motion_on_disk_has_the_bits_of_one_in_memory(case: str, tmp_path: Path) -> None:
    reports: list[tuple[int, int]] = []
    motion = in_folder(tmp_path / "run", progress=lambda *at: reports.append(at), **CASES[case])
    whole = kt.simulate(ROBOT, **CASES[case])
    assert motion.pieces > 1
    assert motion.is_complete
    assert reports == sorted(reports)
    same(motion.read(), whole)
    assert np.concatenate([piece.time for piece in motion]).tolist() == whole.time.tolist()
    if whole.end is not None:
        np.testing.assert_array_equal(motion.snapshot().q, whole.snapshot().q)
    else:
        with pytest.raises(kt.errors.OptionError, match="has no snapshot: an event ended the motion"):
            motion.snapshot()
    assert not [name for name in os.listdir(motion.path) if "lock" in name or name.startswith(".")]
    again = in_folder(tmp_path / "run", progress=pytest.fail, **CASES[case])  # it is there
    assert again.pieces == motion.pieces


def test_an_event_between_the_last_row_of_a_piece_and_the_first_of_the_next_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "_rows_per_piece", lambda _: 10)
    noon = kt.sim.Event(kt.program(lambda t: t - 0.0655, t=()), terminal=False)
    given: dict[str, Any] = START | {"duration": 0.2, "until": {"noon": noon}, "record": kt.sim.Recording(every=10)}
    motion = in_folder(tmp_path / "run", **given)
    assert [piece.time[-1] for piece in motion] == pytest.approx([0.06, 0.13, 0.2])
    assert [len(piece.events) for piece in motion] == [1, 0, 0]
    same(motion.read(), kt.simulate(ROBOT, **given))
    for begin, end, events in ((0.065, 0.2, 1), (0.0, 0.066, 1), (0.066, 0.2, 0), (0.0, 0.065, 0)):
        assert len(motion.read(begin, end).events) == events


def test_parts_of_it_are_read_lazily(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_folder(tmp_path / "run", **START)
    motion, whole = kt.load_trajectory(tmp_path / "run"), kt.simulate(ROBOT, **START)
    np.testing.assert_array_equal(motion.time, whole.time)
    assert repr(motion).endswith("of 'double_pendulum': 9 pieces, complete>")
    assert (motion.robot, motion.dt, motion.steps) == ("double_pendulum", 0.001, 950)
    read: list[tuple[str, int]] = []
    load = StoredArray._chunk

    def counted(array: StoredArray, number: int, low: int, high: int) -> Any:
        read.append((array.path.name, number))
        return load(array, number, low, high)

    monkeypatch.setattr(StoredArray, "_chunk", counted)
    some = motion.read(0.25, 0.45, every=10)
    np.testing.assert_array_equal(some.q, whole.q[250:451:10])
    assert [number for name, number in read if name == "q"] == [2, 3, 4]
    with pytest.raises(kt.errors.OptionError, match="has no rows from t = 2 s to 3 s"):
        motion.read(2.0, 3.0)
    with pytest.raises(kt.errors.OptionError, match="every must be a whole number of rows from 1 on, not 0"):
        motion.read(every=0)


@pytest.mark.parametrize("case", ["one motion", "some of its rows", "a program", "a batch", "a held command"])
def test_ctrl_c_keeps_what_was_done_and_the_same_call_goes_on(case: str, tmp_path: Path) -> None:
    settings, stops = CASES[case], [1, 130, 131, 480, 900]

    def interrupt(done: int, _: int) -> None:
        if stops and done >= stops[0]:
            stops.pop(0)
            raise KeyboardInterrupt

    while stops:
        with pytest.raises(KeyboardInterrupt) as stopped:
            in_folder(tmp_path / "run", progress=interrupt, **settings)
    assert isinstance(stopped.value, kt.sim.SimulationInterrupted)
    assert str(stopped.value).endswith(f"is in the folder {tmp_path / 'run'}, from which the same call goes on")
    whole = kt.simulate(ROBOT, **settings)
    part = kt.load_trajectory(tmp_path / "run")
    assert not part.is_complete
    assert part.time.tolist() == whole.time[: len(part.time)].tolist()
    assert part.time[-1] > 0.85
    same(in_folder(tmp_path / "run", **settings).read(), whole)


def test_ctrl_c_after_the_last_step_loses_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Piece.run

    def interrupted(piece: Piece, *given: Any) -> None:
        run(piece, *given)
        if piece.end().step == 950:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Piece, "run", interrupted)
        with pytest.raises(kt.sim.SimulationInterrupted):
            in_folder(tmp_path / "run", **START)
    assert not kt.load_trajectory(tmp_path / "run").is_complete  # type: ignore[union-attr]
    motion = in_folder(tmp_path / "run", **START)
    assert motion.is_complete
    same(motion.read(), kt.simulate(ROBOT, **START))


@pytest.mark.parametrize("case", ["no motion", "nothing touches", "goes on", "truth values"])
def test_motions_with_little_in_them(case: str, tmp_path: Path) -> None:
    """And one that goes on between two rows."""
    falls = kt.program(lambda q: {"tau": 0.0 * q, "falls": q[0] > 0.5}, q=2)
    given: dict[str, Any] = {
        "no motion": {"q": np.zeros((0, 2))},
        "nothing touches": {"contact": True, "record": kt.sim.Recording(["contacts"])},
        "goes on": {"resume": kt.simulate(ROBOT, duration=0.003).snapshot(), "record": kt.sim.Recording(every=7)},
        "truth values": {"tau": falls},
    }[case]
    given = {"q": None if case == "goes on" else [1.0, 0.5], "duration": 0.3, **given}
    motion, whole = in_folder(tmp_path / "run", **given), kt.simulate(ROBOT, **given)
    assert motion.is_complete
    same(motion.read(begin=-1.0), whole)
    assert [x.dtype for x in motion.read().recorded.values()] == [x.dtype for x in whole.recorded.values()]


def test_xarray_reads_the_rows(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    pytest.importorskip("zarr", reason="zarr is not installed")
    motion = in_folder(tmp_path / "run", **START | {"q": [[1.0, 0.5], [0.2, 0.1]]})
    data = xarray.open_zarr(motion.path / "rows")
    assert (data["q"].dims, data["q"].shape) == (("time", "motion_0", "q_0"), (951, 2, 2))
    np.testing.assert_array_equal(np.moveaxis(data["q"].values, 0, 1), motion.configurations())
    np.testing.assert_array_equal(data["time"], motion.time)


SCRIPT = """
import importlib, os, signal, sys
import kinetree as kt
from kinetree.sim import stream
importlib.import_module("kinetree.sim.stream")._NUMBERS_PER_PIECE = 1500
def progress(done, steps):
    if done > 500 and sys.argv[2] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
record, view = kt.sim.Recording(stream=sys.argv[1]), kt.sim.Viewing(page=False, progress=progress)
kt.simulate(kt.zoo.load("double_pendulum"), q=[1.0, 0.5], duration=0.95, record=record, view=view)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the open files as Linux lists them")
def test_files_are_closed_after_a_motion(tmp_path: Path) -> None:
    counts = []
    for k in range(3):
        in_folder(tmp_path / str(k), **START)
        counts.append(len(os.listdir("/proc/self/fd")))
    assert counts[0] == counts[1] == counts[2]


@pytest.mark.skipif(sys.platform == "win32", reason="a process of Windows cannot be killed in this way")
def test_a_process_that_is_killed_loses_no_whole_piece(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path / "run"), "die"], check=False)
    assert run.returncode == -signal.SIGKILL
    motion = kt.load_trajectory(tmp_path / "run")
    assert motion.pieces >= 4
    kept = [(tmp_path / "run" / "rows" / "q" / "c" / f"{k}" / "0").stat().st_mtime_ns for k in range(4)]
    whole = kt.simulate(ROBOT, **START)
    same(in_folder(tmp_path / "run", **START).read(), whole)
    assert kept == [(tmp_path / "run" / "rows" / "q" / "c" / f"{k}" / "0").stat().st_mtime_ns for k in range(4)]


@pytest.mark.parametrize("number", [22, 23, 30, 32, 33, 50])
def test_a_full_disk_says_what_is_kept(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the first snapshot, at the second piece's rows, its end and its snapshot, and later."""
    real, calls = os.fsync, 0

    def full(file: int) -> None:
        nonlocal calls
        calls += 1
        if calls > number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(file)

    with monkeypatch.context() as patch:
        patch.setattr("kinetree.files.os.fsync", full)
        with pytest.raises(
            kt.errors.SaveError, match=r"\d(\.json|\.npz)?: cannot be written: No space left on device; "
        ) as error:
            in_folder(tmp_path / "run", **START)
    assert error.value.errno == errno.ENOSPC
    assert str(error.value).endswith("free some space, and the same call goes on from there")
    motion, whole = kt.load_trajectory(tmp_path / "run"), kt.simulate(ROBOT, **START)
    assert f"the motion until t = {motion.time[-1]:g} s is whole in" in str(error.value)
    assert motion.time.tolist() == whole.time[: len(motion.time)].tolist()
    assert [name for name in os.listdir(motion.path) if name.startswith(".")] == []
    same(in_folder(tmp_path / "run", **START).read(), whole)


@pytest.mark.parametrize("name", ["rows/q/c/2/0", "rows/q/c/2", "pieces/000002.json", "snapshot-000003.npz"])
def test_nothing_is_written_through_links_in_the_folder(name: str, tmp_path: Path) -> None:
    """The folder may come from somebody else; what its links lead to is not the motion's."""

    def interrupt(done: int, _: int) -> None:
        if done >= 130:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_folder(tmp_path / "run", progress=interrupt, **START)
    place, elsewhere = tmp_path / "run" / name, tmp_path / "elsewhere"
    assert not place.exists()
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(elsewhere)
    with pytest.raises((kt.errors.SaveError, kt.errors.TrajectoryFileError)):
        in_folder(tmp_path / "run", **START)
    assert not elsewhere.exists()


def test_a_disk_that_is_full_from_the_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("kinetree.files.os.fsync", full)
    with pytest.raises(kt.errors.SaveError, match=r"motion\.json: cannot be written: No space left on device"):
        in_folder(tmp_path / "run", **START)


def test_a_motion_that_diverges_keeps_what_there_was(tmp_path: Path) -> None:
    tau = np.zeros((95, 2))
    tau[60] = 1e308
    options: dict[str, Any] = {"q": [1.0, 0.5], "tau": tau, "duration": 0.95, "dt": 0.01}
    with pytest.raises(kt.errors.SimulationError, match="no longer finite") as error:
        in_folder(tmp_path / "run", **options)
    kept = error.value.trajectory.read()
    assert 0.5 < kept.time[-1] < 0.62
    batch = options | {"tau": np.stack([0.0 * tau, tau])}
    motions = in_folder(tmp_path / "batch", **batch)
    same(motions.read(), kt.simulate(ROBOT, **batch))
    assert list(motions.read().diverged) == [(1,)]


def test_longer_motions_than_the_memory_holds_may_be_streamed(tmp_path: Path) -> None:
    with pytest.raises(kt.errors.OptionError, match=r'Recording\(stream="folder"\) keeps longer ones on disk'):
        kt.simulate(ROBOT, duration=1e6)

    def stop(done: int, steps: int) -> None:
        assert steps == 10**9
        if done > 300:
            raise KeyboardInterrupt

    with pytest.raises(kt.sim.SimulationInterrupted, match=r"of 1e\+06 s"):
        in_folder(tmp_path / "run", progress=stop, q=[1.0, 0.5], duration=1e6)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"dt": 0.002}, "another motion: dt is 0.001 there, and 0.002 here; take a new folder"),
        ({"q": [1.0, 0.6]}, "another motion: start is [0-9a-f]+ there"),
        ({"duration": 2.0}, "another motion: steps is 950 there, and 2000 here"),
        ({"tau": [0.1, 0.0]}, "another motion: tau is none there"),
        ({"tau": lambda t, q, v: -v}, "another motion: tau is none there, and the function <lambda> here"),  # noqa: ARG005
        ({"record": kt.sim.Recording(every=5)}, "another motion: recorded is"),
        ({"f_ext": {"tip": [0.0] * 6}}, "another motion: f_ext is none there, and 'tip': "),
        ({"integrator": "semi_implicit_euler"}, "another motion: integrator is rk4 there"),
        ({"until": kt.program(lambda q: q[0], q=2)}, "another motion: until is none there"),
    ],
)
def test_the_folder_of_another_motion_is_refused(changed: Any, text: str, tmp_path: Path) -> None:
    in_folder(tmp_path / "run", **START | {"duration": 0.95})
    before = sorted(os.listdir(tmp_path / "run"))
    with pytest.raises(kt.errors.OptionError, match=text):
        in_folder(tmp_path / "run", **START | changed)
    assert sorted(os.listdir(tmp_path / "run")) == before


def test_folders_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(kt.errors.SaveError, match="a motion is written into a folder, and this is a file"):
        in_folder(tmp_path / "file", **START)
    with pytest.raises(kt.errors.SaveError, match=r"none/run: cannot be made; make the folder .*none first"):
        in_folder(tmp_path / "none" / "run", **START)
    with pytest.raises(kt.errors.OptionError, match=r"holds other files \('file', …\) and no motion"):
        in_folder(tmp_path, **START)
    with pytest.raises(kt.errors.DTypeError, match="simulate: stream takes the path of a folder, not int"):
        in_folder(3, **START)
    if os.geteuid():
        closed = tmp_path / "closed"
        closed.mkdir(0o500)
        with pytest.raises(kt.errors.SaveError, match="no file can be made in this folder"):
            in_folder(closed, **START)
    (tmp_path / "run").mkdir()
    lock = create_locked(str(tmp_path / "run" / "writing.lock"), 0o600)
    try:
        with pytest.raises(kt.errors.SaveError, match="another process is writing a motion into this folder"):
            in_folder(tmp_path / "run", **START)
    finally:
        os.close(lock)
    in_folder(tmp_path / "run", **START)  # the lock of a dead process is removed


def test_what_is_no_motion_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(kt.errors.TrajectoryFileError, match="none cannot be read: No such file"):
        kt.load_trajectory(tmp_path / "none")
    for content, text in (
        ("[]", "not a description of a motion"),
        ("{", "cannot be read"),
        ('{"settings": {}}', "its format is"),
    ):
        (tmp_path / "motion.json").write_text(content)
        with pytest.raises(kt.errors.TrajectoryFileError, match=text):
            kt.load_trajectory(tmp_path)
    run = in_folder(tmp_path / "run", **START)
    with pytest.raises(kt.errors.TrajectoryFileError, match="cannot be read: No such file"):
        run.piece(99)
    chunk = run.path / "rows" / "q" / "c" / "1" / "0"
    for damage, text in ((lambda: chunk.write_bytes(b"torn"), "1/0 is cut off"), (chunk.unlink, "1/0 is missing")):
        damage()
        with pytest.raises(kt.errors.TrajectoryFileError, match=text):
            run.read()
        assert len(run.piece(0).time) > 10


def test_a_folder_knows_which_motions_ended_and_why(tmp_path: Path) -> None:
    tau = np.zeros((3, 950, 2))
    tau[1, 120] = 1e308  # in the second piece or so
    given: Any = START | {"q": [[1.0, 0.5], [0.2, 0.1], [0.3, 0.9]], "tau": tau}
    given["until"] = kt.program(lambda q: q[0] - 0.55, q=2)
    folder = in_folder(tmp_path / "run", **given)
    whole = kt.simulate(ROBOT, **given)
    assert [*whole.diverged] == [(1,)]
    assert folder.pieces > 4
    for motion in (folder, kt.load_trajectory(folder.path)):
        assert motion.diverged == whole.diverged
        np.testing.assert_array_equal(motion.ended, whole.ended)
        assert [(one.time, one.sample) for one in motion.events] == [(one.time, one.sample) for one in whole.events]
        assert "complete; 1 of 3 motions diverged, 1 of 3 motions ended before the others>" in repr(motion)
        np.testing.assert_array_equal(divergences("film", motion), divergences("film", whole))


def test_a_folder_of_a_motion_that_goes_on_knows_those_that_ended_before(tmp_path: Path) -> None:
    tau = np.zeros((2, 100, 2))
    tau[1, 20] = 1e308
    first = kt.simulate(ROBOT, q=[[1.0, 0.5], [0.2, 0.1]], tau=tau, duration=0.1)
    rest = in_folder(tmp_path / "run", resume=first.snapshot(), duration=0.1)
    assert rest.diverged == {}
    assert rest.ended.tolist() == [0.2, first.diverged[1,].time]
    assert repr(rest).endswith("complete; 1 of 2 motions ended before the others>")
