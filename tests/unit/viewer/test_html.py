"""Pages in files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kinetree as kt

PENDULUM = kt.zoo.load("double_pendulum")


def test_a_motion_as_a_file(tmp_path: Path) -> None:
    motion = kt.simulate(PENDULUM, q=[1.0, 0.5], duration=1.0)
    path = motion.save_html(tmp_path / "swing")
    assert path == tmp_path / "swing.html"
    text = path.read_text()
    assert "__VISER_EMBED_DATA__" in text
    assert set(re.findall(r"https?://[\w./-]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert len(text) < 1_500_000


def test_a_page_with_what_is_switched_on(tmp_path: Path) -> None:
    with kt.view(PENDULUM, port=0, show=["frames", "names"]) as viewer:
        with_names = viewer.save_html(tmp_path / "with.html").stat().st_size
        viewer.set([0.3, 0.2])
    with kt.view(PENDULUM, port=0) as viewer:
        assert viewer.save_html(tmp_path / "without.html").stat().st_size < with_names


@pytest.mark.parametrize(("fps", "sentence"), [(0.0, "fps is a number above 0"), (True, "not True"), (500, "not 500")])
def test_moments_per_second(tmp_path: Path, fps: float, sentence: str) -> None:
    with pytest.raises(kt.errors.OptionError, match=sentence):
        kt.simulate(PENDULUM, duration=0.01).save_html(tmp_path / "a.html", fps=fps)


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(kt.errors.SaveError, match="missing"):
        kt.simulate(PENDULUM, duration=0.01).save_html(tmp_path / "missing" / "a.html")
