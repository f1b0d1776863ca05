"""Frames that depend on each other in a circle, in files whose problems are all collected."""

from __future__ import annotations

from pathlib import Path

import pytest

import kinetree as kt
from tests.io.sdf.robots import A, B, joint, model, sdf
from tests.io.sdf.written import written

POSES = A.replace('<link name="a">', '<link name="a"><pose relative_to="b"/>') + B.replace(
    "<pose>", '<pose relative_to="a">'
)
FRAMES = A + B + '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>'


@pytest.mark.parametrize("content", [POSES, FRAMES], ids=["poses", "frames"])
def test_a_circle_is_a_problem_of_the_file_however_it_is_read(content: str, tmp_path: Path) -> None:
    path = written(tmp_path, sdf(model(content + joint("j", "revolute", "f" if "<frame" in content else "a", "b"))))
    with pytest.raises(kt.errors.ModelError, match="in a circle"):
        kt.load(path)
    with pytest.raises(kt.errors.ModelError, match="in a circle"):
        kt.load(path, repair=True)
    assert any("in a circle" in str(problem) for problem in kt.check(path).errors)


def test_frames_that_lead_to_nothing_are_looked_at_more_than_once(tmp_path: Path) -> None:
    """The model's own frame is needed by the joint and by the frame, and its link is not there."""
    content = '<joint name="j" type="revolute"><child>__model__</child></joint><link name="b"/><frame name="h"/>'
    path = written(tmp_path, sdf(model(content, attributes=' canonical_link="k"')))
    for load in (lambda: kt.load(path), lambda: kt.load(path, repair=True)):
        with pytest.raises(kt.errors.ModelError, match="'k'"):
            load()
    assert any("'k'" in str(problem) for problem in kt.check(path).errors)
