"""Studies: the same bits however they are cut, interrupted and continued; failures are reported and stop nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.files import create_locked
from kinetree.sweeps import Grid, Study, Uniform, load_study

ROBOT = kt.zoo.load("double_pendulum")
MASS = "body.lower_rod.mass"
VARY: dict[Any, Any] = {"q": Uniform(-1.0, 1.0), MASS: Uniform(0.5, 1.5, relative=True)}
MOTION: dict[str, Any] = {"duration": 0.08, "dt": 0.01, "samples": 10}


def crosses(t: float, q: Any, v: Any) -> Any:  # noqa: ARG001
    return v[..., 0]


def fastest(motion: kt.Trajectory) -> dict[str, Any]:
    return {
        "fastest": abs(motion.v).max(axis=(1, 2)),
        "turned": motion.q[:, -1] > 0.0,
        "rows": np.full(motion.shape, len(motion.time)),
    }


def same(one: Study, other: Study) -> None:
    assert sorted(one.results) == sorted(other.results)
    for mine, theirs in ((one.results, other.results), (one.inputs, other.inputs)):
        for name in mine:
            np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)
    assert one.failures == other.failures


def test_a_study_is_the_motions_of_its_samples(tmp_path: Path) -> None:
    study = kt.sweep(ROBOT, tmp_path / "study", vary=VARY, **MOTION)
    q, mass = study.inputs["q"], study.inputs[MASS]
    motion = kt.simulate(ROBOT, q=q, parameters={MASS: mass}, duration=0.08, dt=0.01)
    np.testing.assert_array_equal(study.results["q"], motion.q[:, -1])
    np.testing.assert_array_equal(study.results["v"], motion.v[:, -1])
    np.testing.assert_array_equal(study.motion(7).kinetic, motion[7].kinetic)
    assert study.results["status"].tolist() == [1] * 10
    np.testing.assert_allclose(study.results["ended"], 0.08)
    assert (study.done, study.is_complete, study.failed, study.model) == (10, True, 0, ROBOT)


def test_tolerances_of_a_study_are_entries_of_its_file(tmp_path: Path) -> None:
    own = {"vary": VARY, "integrator": kt.sim.RK45(1e-4), **MOTION}
    study = kt.sweep(ROBOT, tmp_path / "study", **own)
    entries = json.loads((tmp_path / "study" / "study.json").read_text())["motion"]["options"]
    assert (entries["integrator"], entries["rtol"], entries["atol"]) == ("rk45", 1e-4, 1e-8)
    np.testing.assert_array_equal(load_study(tmp_path / "study").motion(3).q, study.motion(3).q)
    with pytest.warns(DeprecationWarning, match=r"write integrator=kt.sim.RK45\(rtol=…\) instead of rtol=") as caught:
        again = kt.sweep(ROBOT, tmp_path / "study", **{**own, "integrator": "rk45"}, rtol=1e-4)
    assert (again.settings, caught[0].filename) == (study.settings, __file__)
    with pytest.raises(kt.errors.OptionError, match=r"holds another study: rtol is 0\.0001 there"):
        kt.sweep(ROBOT, tmp_path / "study", **{**own, "integrator": kt.sim.RK45()})


def test_a_study_of_version_0_1_has_tolerances_that_are_not_given(tmp_path: Path) -> None:
    study = kt.sweep(ROBOT, tmp_path / "study", vary=VARY, **MOTION)
    about = json.loads((tmp_path / "study" / "study.json").read_text())
    assert "rtol" not in about["motion"]["options"]
    about["motion"]["options"] |= {"rtol": None, "atol": None}
    (tmp_path / "study" / "study.json").write_text(json.dumps(about))
    np.testing.assert_array_equal(load_study(tmp_path / "study").motion(3).q, study.motion(3).q)


def test_rows_measures_and_recordings(tmp_path: Path) -> None:
    more: dict[str, Any] = {"every": 0.02, "record": {"frames": ["tip"]}, "measure": fastest}
    study = kt.sweep(ROBOT, tmp_path / "study", vary=VARY, keep=["frame.tip", "kinetic"], **more, **MOTION)
    shapes = {name: x.shape for name, x in study.results.items()}
    assert shapes == {
        "ended": (10,), "status": (10,), "time": (5,), "fastest": (10,), "turned": (10, 2), "rows": (10,),
        "frame.tip": (10, 5, 4, 4), "kinetic": (10, 5),
    }  # fmt: skip
    np.testing.assert_allclose(study.results["time"], 0.02 * np.arange(5))
    motion = study.motion(3, every=2)
    assert study.results["fastest"][3] == abs(motion.v).max()
    assert study.results["turned"].dtype == bool
    np.testing.assert_array_equal(study.results["kinetic"][3], motion.kinetic)


@pytest.mark.parametrize(
    "more", [{}, {"every": 3, "keep": ["q", "v", "tau", "work", "qdd"], "until": crosses, "tau": [0.1, 0.0]}]
)
def test_no_bit_depends_on_chunks_or_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    vary = {**VARY, "v": Uniform(-0.5, 0.5)} if more else VARY

    def study(chunk: int) -> Study:
        monkeypatch.setenv("KINETREE_NUM_THREADS", "3" if chunk == 1 else "1")
        return kt.sweep(ROBOT, tmp_path / str(chunk), vary=vary, chunk=chunk, measure=fastest, **MOTION, **more)

    whole, *others = map(study, (10, 1, 4))
    if more:
        assert sorted(np.unique(whole.results["status"])) == [1, 2]
        assert whole.results["ended"].min() < 0.08
    for other in others:
        same(other, whole)


def test_values_in_a_grid_and_of_a_table(tmp_path: Path) -> None:
    vary: dict[Any, Any] = {
        "q": Grid([[0.1, 0.2], [0.3, 0.4]]),
        "v.elbow": Grid([0.0, 1.0, 2.0]),
        MASS: np.linspace(0.5, 1.0, 12),
    }
    study = kt.sweep(ROBOT, tmp_path / "study", vary=vary, **{**MOTION, "samples": 2})
    assert (study.grid, study.samples) == ({"q": 2, "v.elbow": 3}, 12)
    q = study.results["q"].reshape(2, 3, 2, 2)
    motion = kt.simulate(ROBOT, q=[0.3, 0.4], v=[0.0, 1.0], parameters={MASS: vary[MASS][9]}, duration=0.08, dt=0.01)
    np.testing.assert_array_equal(q[1, 1, 1], motion.q[-1])


def test_an_interrupted_study_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETREE_NUM_THREADS", "1")
    whole = kt.sweep(ROBOT, tmp_path / "whole", vary=VARY, chunk=2, **MOTION)
    seen = []

    def stop(done: int, samples: int) -> None:
        seen.append((done, samples))
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kt.sweep(ROBOT, tmp_path / "study", vary=VARY, chunk=2, progress=stop, **MOTION)
    half = load_study(tmp_path / "study")
    assert (half.done, half.is_complete, repr(half).count("4 of them computed")) == (4, False, 1)
    assert np.isnan(half.results["q"][4:]).all()
    status = tmp_path / "study" / "results" / "status" / "c" / "1"
    written = status.stat().st_mtime_ns
    same(kt.sweep(ROBOT, tmp_path / "study", vary=VARY, progress=lambda *x: seen.append(x), **MOTION), whole)
    assert seen == [(2, 10), (4, 10), (6, 10), (8, 10), (10, 10)]
    assert status.stat().st_mtime_ns == written


def test_a_killed_process_loses_no_more_than_a_chunk(tmp_path: Path) -> None:
    whole = kt.sweep(ROBOT, tmp_path / "whole", vary=VARY, chunk=2, **MOTION)
    script = f"""
import os, signal
os.environ["KINETREE_NUM_THREADS"] = "1"
import kinetree as kt
from kinetree.store.arrays import StoredArray
write, count = StoredArray.write, []
def killed(self, number, rows):
    count.append(number)
    if len(count) == 13:  # in the middle of the third chunk
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, number, rows)
StoredArray.write = killed
U = kt.sweeps.Uniform
kt.sweep(kt.zoo.load("double_pendulum"), {str(tmp_path / "study")!r}, chunk=2, samples=10, duration=0.08, dt=0.01,
         vary={{"q": U(-1.0, 1.0), {MASS!r}: U(0.5, 1.5, relative=True)}})
"""
    ended = subprocess.run([sys.executable, "-c", script], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert load_study(tmp_path / "study").done == 4
    same(kt.sweep(ROBOT, tmp_path / "study", vary=VARY, **MOTION), whole)


def test_samples_that_fail_do_not_stop_the_others(tmp_path: Path) -> None:
    values = np.zeros((6, 2))
    values[1], values[4], values[5] = 1e200, np.nan, 1e200
    with pytest.warns(kt.errors.SimulationWarning, match="3 of 6 samples failed"):
        study = kt.sweep(ROBOT, tmp_path / "study", vary={"v": values}, duration=0.08, dt=0.01, chunk=3)
    assert study.results["status"].tolist() == [1, 3, 1, 1, 4, 3]
    diverged, refused, later = study.failures
    assert [(one.sample, one.cause) for one in (diverged, later)] == [(1, "state"), (5, "state")]
    assert (refused.sample, refused.time, refused.name) == (4, None, "")
    assert "v must be finite" in refused.cause or "must be finite" in refused.cause
    assert np.isnan(study.results["q"][4]).all()
    alone = kt.simulate(ROBOT, v=[0.0, 0.0], duration=0.08, dt=0.01)
    np.testing.assert_array_equal(study.results["q"][5], alone.q[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.errors.SimulationWarning)
        same(kt.sweep(ROBOT, tmp_path / "other", vary={"v": values}, duration=0.08, dt=0.01), study)


def test_another_study_is_not_continued(tmp_path: Path) -> None:
    def go(**changes: Any) -> None:
        kt.sweep(ROBOT, tmp_path / "study", **{"vary": {"q": Uniform(-1.0, 1.0)}, **MOTION, **changes})

    go()
    cases: list[tuple[dict[str, Any], str]] = [
        ({"seed": 1}, "seed is 0 there, and 1 here"),
        ({"samples": 11}, "samples is 10 there"),
        ({"vary": {"q": Uniform(-1.0, 2.0)}}, r"Uniform\(-1.0, 1.0, relative=False\) there"),
        ({"dt": 0.02}, "dt is 0.01 there"),
        ({"keep": ["q"]}, "keep is"),
        ({"every": 2}, "at the end there, and every 2 steps here|recorded is"),
        ({"measure": fastest}, "measure is none there, and fastest here"),
        ({"tau": [1.0, 0.0]}, "tau is none there"),
    ]
    for changes, what in cases:
        with pytest.raises(kt.errors.OptionError, match=what):
            go(**changes)


def test_folders_that_hold_something_else(tmp_path: Path) -> None:
    vary: dict[Any, Any] = {"q": Uniform(-1.0, 1.0)}
    options = MOTION
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(kt.errors.OptionError, match=r"holds other files \('notes.txt', …\) and no study"):
        kt.sweep(ROBOT, tmp_path, vary=vary, **options)
    with pytest.raises(kt.errors.SaveError, match="this is a file"):
        kt.sweep(ROBOT, tmp_path / "notes.txt", vary=vary, **options)
    with pytest.raises(kt.errors.SaveError, match="make the folder"):
        kt.sweep(ROBOT, tmp_path / "no" / "study", vary=vary, **options)
    (tmp_path / "busy").mkdir()
    lock = create_locked(str(tmp_path / "busy" / "writing.lock"), 0o666)
    with pytest.raises(kt.errors.SaveError, match="another process is writing a study"):
        kt.sweep(ROBOT, tmp_path / "busy", vary=vary, **options)
    os.close(lock)


def test_damaged_studies_are_reported(tmp_path: Path) -> None:
    study = kt.sweep(ROBOT, tmp_path / "study", vary={"q": Uniform(-1.0, 1.0)}, **MOTION)
    place = tmp_path / "study" / "results" / "q" / "c" / "0" / "0"
    place.write_bytes(place.read_bytes()[:-8])
    with pytest.raises(kt.errors.TrajectoryFileError, match="is cut off"):
        study.results["q"]
    with pytest.raises(kt.errors.NameNotFoundError, match="has nothing called 'p' among its results"):
        study.results["p"]
    about = tmp_path / "study" / "study.json"
    for text in ("[]", "{", json.dumps({"format": 7})):
        about.write_text(text)
        with pytest.raises(kt.errors.TrajectoryFileError, match=r"study.json cannot be read"):
            load_study(tmp_path / "study")


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"vew": True}, kt.errors.OptionError, "'vew' is not one"),
        ({"view": True}, kt.errors.OptionError, "'view' is not one"),
        ({"q": np.zeros((3, 2))}, kt.KinetreeError, "q can vary if it is constant|are those of one motion"),
        ({"act": [1.0]}, kt.errors.OptionError, "act"),
        ({"v": np.zeros((10, 2))}, kt.errors.ShapeError, "give what differs from sample to sample in vary"),
        ({"keep": "q"}, kt.errors.OptionError, "a list of names"),
        ({"keep": ["p"]}, kt.errors.NameNotFoundError, "nothing called 'p' to keep"),
        ({"chunk": 0}, kt.errors.OptionError, "chunk must be"),
        ({"chunk": 10**7}, kt.errors.OptionError, "take smaller chunks"),
        ({"measure": 3}, kt.errors.OptionError, "measure must be a function"),
        ({"measure": lambda _: [1]}, kt.errors.OptionError, "not a dict"),
        ({"measure": lambda motion: {"all": motion.q.sum()}}, kt.errors.ShapeError, "one value per motion"),
        ({"measure": lambda motion: {"q": motion.q}}, kt.errors.OptionError, "is kept already"),
        ({"measure": lambda _: {"x": np.array(["a"])}}, kt.errors.OptionError, "only numbers and truth values"),
        ({"progress": 3}, kt.errors.OptionError, "progress must be a function"),
        ({"duration": -1.0}, kt.errors.OptionError, "duration must be"),
        ({"scheduler": 3}, kt.errors.DTypeError, "scheduler is a distributed.Client"),
    ],
)
def test_unusable_arguments_are_refused_at_once(
    tmp_path: Path, changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        kt.sweep(ROBOT, tmp_path / "study", **{"vary": {"q": Uniform(-1.0, 1.0)}, **MOTION, **changes})


def test_robots_that_cannot_exist_are_failures(tmp_path: Path) -> None:
    masses, moments = np.ones(6), np.tile([1.0, 1.0, 1.0, 0.0, 0.0, 0.0], (6, 1))
    masses[[1, 4]], moments[3, 3] = -1.0, 1.5
    vary: dict[str | tuple[str, ...], Any] = {MASS: masses, "body.upper_rod.inertia": moments}
    with pytest.warns(kt.errors.SimulationWarning, match="3 of 6 samples failed"):
        study = kt.sweep(ROBOT, tmp_path / "study", vary=vary, **{**MOTION, "samples": 6})
    assert study.results["status"].tolist() == [1, 4, 1, 4, 4, 1]
    assert [one.sample for one in study.failures] == [1, 3, 4]
    assert study.failures[0].cause == f"{MASS} is negative: -1"
    assert "negative principal moment -0.5 kg" in study.failures[1].cause
    np.testing.assert_array_equal(study.results["q"][5], study.motion(5).q[-1])
    with pytest.raises(kt.errors.OptionError, match=r"sample 4 was refused: .* is negative"):
        load_study(tmp_path / "study").motion(4)
    with pytest.raises(kt.errors.OptionError, match="is negative"):
        kt.sweep(ROBOT, tmp_path / "none", vary={MASS: -masses}, **{**MOTION, "samples": 6})


def test_a_loaded_study_says_what_it_cannot_do(tmp_path: Path) -> None:
    study = kt.sweep(ROBOT, tmp_path / "study", vary={"q": Uniform(-1.0, 1.0)}, **MOTION)
    loaded = load_study(tmp_path / "study")
    same(loaded, study)
    assert (loaded.model, repr(loaded)) == (ROBOT, repr(study))
    again = loaded.motion(4)
    np.testing.assert_array_equal(again.q, study.motion(4).q)
    np.testing.assert_array_equal(again.q[-1], study.results["q"][4])
    with pytest.raises(kt.errors.OptionError, match="there are samples 0 to 9"):
        study.motion(10)
    with pytest.raises(kt.errors.OptionError, match="tau would change the motion"):
        study.motion(1, tau=[0.0, 1.0])
    kt.sweep(ROBOT, tmp_path / "other", vary={"q": Uniform(-1.0, 1.0)}, tau=lambda _t, _q, v: -v, **MOTION)
    with pytest.raises(kt.errors.OptionError, match=r"long arrays, here tau; call kt\.sweep with the arguments"):
        load_study(tmp_path / "other").motion(0)
    shutil.rmtree(tmp_path / "study")
    with pytest.raises(kt.errors.TrajectoryFileError, match="holds no study"):
        load_study(tmp_path / "study")


@pytest.mark.parametrize(
    "name",
    ["results", "results/q", "results/q/c", "results/q/c/1", "results/q/c/1/0", "results/status", "inputs/q/c/1/0"],
)
def test_nothing_is_written_through_links_in_the_folder(name: str, tmp_path: Path) -> None:
    """The folder may come from somebody else; what its links lead to is not the study's."""
    study, elsewhere = tmp_path / "study", tmp_path / "elsewhere"
    kt.sweep(ROBOT, study, vary=VARY, chunk=2, **MOTION)
    (study / "results/status/c/1").unlink()  # this chunk is computed again
    for group in ("inputs", "results"):
        (study / group / "q/c/1/0").write_bytes(b"mine")
    place = study / name
    if place.exists():
        place.rename(elsewhere)
    place.symlink_to(elsewhere)
    before = _contents(elsewhere)
    with pytest.raises(kt.errors.SaveError, match=f"{place} is a link, which would be written through; remove it"):
        kt.sweep(ROBOT, study, vary=VARY, chunk=2, **MOTION)
    assert _contents(elsewhere) == before


def test_a_study_may_be_reached_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "study").symlink_to(tmp_path / "real")
    assert kt.sweep(ROBOT, tmp_path / "study", vary=VARY, **MOTION).is_complete


def _contents(path: Path) -> dict[str, bytes]:
    files = path.rglob("*") if path.is_dir() else [path]
    return {str(file): file.read_bytes() for file in files if file.is_file()}
