"""`kinetree sweep`, and the files that it reads."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.sweeps import Anywhere, Grid, LogUniform, Normal, load_study
from kinetree.sweeps.folder import StudyFolder
from kinetree.sweeps.study_file import read_study_file

from .conftest import Command

STUDY = """
robot = "double_pendulum"
samples = 3
seed = 4
every = 0.01
chunk = 1
[motion]
duration = 0.02
dt = 0.01
[vary]
"q, v" = {uniform = [-1.0, 1.0]}
"body.lower_rod.mass" = {grid = [0.5, 1.0], relative = true}
"""


def test_a_study_of_a_file(kinetree: Command) -> None:
    Path("swings.toml").write_text(STUDY)
    result = kinetree("sweep", "swings.toml")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Study of 'double_pendulum': 6 samples, all computed; results q, v; varied q, v, body")
    study = load_study("swings")
    assert study.results["q"].shape == (6, 3, 2)
    np.testing.assert_array_equal(study.inputs["q"], study.inputs["v"])
    vary: dict[Any, Any] = {
        ("q", "v"): kt.sweeps.Uniform(-1.0, 1.0),
        "body.lower_rod.mass": Grid([0.5, 1.0], relative=True),
    }
    robot = kt.zoo.load("double_pendulum")
    same = kt.sweep(robot, "same", vary=vary, samples=3, seed=4, every=0.01, duration=0.02, dt=0.01)
    np.testing.assert_array_equal(study.results["q"], same.results["q"])
    assert kinetree("sweep", "swings.toml", "--quiet").out == ""


def test_failures_are_reported(kinetree: Command) -> None:
    Path("fails.toml").write_text(STUDY.replace('"q, v" = {uniform = [-1.0, 1.0]}', "v = {values = [[0, 0], [nan, 0]]}")
                                  .replace("samples = 3", "").replace('"body', '#"body'))  # fmt: skip
    result = kinetree("sweep", "fails.toml", "--out", "results")
    assert result.code == 0
    assert "1 failed" in result.out
    assert "warning: 1 of 2 samples failed: sample 1: v must be finite" in result.err


@pytest.mark.skipif(os.name == "nt", reason="a process of Windows cannot send itself signals")
def test_a_signal_leaves_what_is_computed(kinetree: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("swings.toml").write_text(STUDY)
    write = StudyFolder.write_chunk

    def written(self: StudyFolder, work: Any, number: int) -> int:
        if number == 2 and os.environ.get("KILLED") != "1":
            os.environ["KILLED"] = "1"
            os.kill(os.getpid(), signal.SIGTERM)
        return write(self, work, number)

    monkeypatch.setenv("KILLED", "0")
    monkeypatch.setenv("KINETREE_NUM_THREADS", "1")
    monkeypatch.setattr(StudyFolder, "write_chunk", written)
    result = kinetree("sweep", "swings.toml", "--out", "run")
    assert result.code == 143
    assert "terminated; 2 of 6 samples are in run, and the same command goes on from there" in result.err
    assert load_study("run").done == 2
    assert kinetree("sweep", "swings.toml", "--out", "run").code == 0
    assert load_study("run").is_complete


def test_all_that_a_file_may_say(tmp_path: Path) -> None:
    (tmp_path / "mine.urdf").write_text("<robot/>")
    file = tmp_path / "study.toml"
    file.write_text("""
robot = "mine.urdf"
folder = "out"
keep = ["q"]
record = {frames = ["tip"]}
[motion]
contact = true
[vary]
q = {anywhere = true}
v = {normal = [0.0, [0.1, 0.2]]}
a = {log_uniform = [0.1, 1.0], relative = true}
""")
    read = read_study_file(file)
    assert (read.robot, read.folder) == (str(tmp_path / "mine.urdf"), tmp_path / "out")
    vary = read.options["vary"]
    assert {name: x for name, x in read.options.items() if name != "vary"} == {
        "keep": ["q"], "record": {"frames": ["tip"]}, "contact": True,
    }  # fmt: skip
    assert repr(vary) == repr({"q": Anywhere(), "v": Normal(0.0, [0.1, 0.2]), "a": LogUniform(0.1, 1.0, True)})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("robot = ", "this study cannot be read"),
        ("", "robot must be a file or a robot of the zoo"),
        ('robot = "arm6"\nsample = 3', "there is no 'sample' in a study: did you mean 'samples'"),
        ('robot = "arm6"\nfolder = 3', "folder must be the path of a folder"),
        ('robot = "arm6"\nmotion = 3', r"\[motion\] must be a table"),
        ('robot = "arm6"\n[motion]\ndurations = 3', "did you mean 'duration'"),
        ('robot = "arm6"\n[motion]\nstream = "x"', r"\[motion\] has no 'stream'"),
        ('robot = "arm6"\n[vary]\nq = [1]', r"\[vary\] q must be one table"),
        ('robot = "arm6"\n[vary]\nq = {uniform = [1, 2], grid = [1]}', "must be one table"),
        ('robot = "arm6"\n[vary]\nq = {uniform = [1, 2], seed = 1}', "'seed' has no meaning together with 'uniform'"),
        ('robot = "arm6"\n[vary]\nq = {uniform = [1, 2], relative = 1}', "relative is true or false"),
        ('robot = "arm6"\n[vary]\nq = {normal = [1]}', "has two entries, the mean and the standard deviation, not 1"),
        ('robot = "arm6"\n[vary]\nq = {grid = 1}', "grid must be a list"),
        ('robot = "arm6"\n[vary]\nq = {anywhere = 1}', "write anywhere = true"),
        ('robot = "arm6"', "vary must be a dict"),
    ],
)
def test_wrong_files_are_refused_with_what_is_wrong(kinetree: Command, text: str, message: str) -> None:
    Path("study.toml").write_text(text)
    result = kinetree("sweep", "study.toml")
    assert result.code == 2
    assert re.search(message, result.err), result.err
    assert kinetree("sweep", "none.toml").code == 2
