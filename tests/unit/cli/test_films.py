"""`kinetree simulate --film`, and the picture of the robot beside the plots."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

import kinetree as kt
from tests.unit.cli.conftest import Command

Image = pytest.importorskip("PIL.Image")

RUN = ("simulate", "double_pendulum", "--q", "1,0.5", "--duration", "0.1", "--out", "run")


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw small frames, as nothing here depends on their size."""
    real = kt.Trajectory.film

    def small(self: Any, path: Path, **options: Any) -> Path:
        return real(self, path, **options, size=(64, 36))

    monkeypatch.setattr(kt.Trajectory, "film", small)


def test_a_film_is_written_with_the_rest(kinetree: Command) -> None:
    result = kinetree(*RUN, "--film", "run.gif")
    assert (result.code, result.err) == (0, "")
    assert [line for line in result.out.splitlines() if line.startswith("wrote")] == [
        "wrote run.npz", "wrote run.png", "wrote run.motion.png", "wrote run.gif",
    ]  # fmt: skip
    with Image.open("run.gif") as film:
        assert film.n_frames == 4
    with Image.open("run.motion.png") as strip:
        assert strip.size == (160, 40)


def test_of_many_motions_the_film_shows_some(kinetree: Command) -> None:
    result = kinetree(*RUN[:2], *RUN[4:], "--samples", "20", "--film", "run.gif")
    assert result.code == 0
    assert "note: the film shows the first 16 of 20 motions\n" in result.err


@pytest.mark.parametrize(
    ("film", "message"),
    [
        ("run.avi", "--film: the name of a film must end with .mp4, .gif, .webp, and 'run.avi' does not"),
        ("no/run.mp4", "make the folder"),
        ("folder.mp4", "this is a folder"),
    ],
)
def test_impossible_films_are_reported_before_the_motion_is_computed(
    kinetree: Command, film: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinetree.sim.simulate", None)
    Path("folder.mp4").mkdir()
    result = kinetree(*RUN, "--film", film)
    assert result.code == (2 if film.endswith(".avi") else 1)
    assert message in result.err


def test_a_missing_package_is_reported_first(kinetree: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "av", None)
    result = kinetree(*RUN, "--film", "run.mp4")
    assert result.code == 1
    assert "pip install 'kinetree[view]'" in result.err
    assert os.listdir() == []


def test_a_film_that_is_interrupted_leaves_the_rest(kinetree: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("kinetree.pictures.film._fill", stop)
    result = kinetree(*RUN, "--film", "run.gif")
    assert result.code == 130
    assert result.err.strip().endswith("the computed part is in run.npz; run.gif was not written")
    assert sorted(os.listdir()) == ["run.motion.png", "run.npz", "run.png"]
