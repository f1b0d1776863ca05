"""`kinetree plot`."""

from __future__ import annotations

from pathlib import Path

import pytest

import kinetree as kt

from .conftest import Command

ROBOT = kt.zoo.load("double_pendulum")


@pytest.fixture
def files(kinetree: Command) -> None:  # noqa: ARG001
    """A motion, some motions, and a folder, in the folder that commands run in."""
    kt.simulate(ROBOT, q=[1.0, 0.5], duration=0.05).save("one")
    kt.simulate(ROBOT, q=[[1.0, 0.5]] * 4, duration=0.05).save("many")
    kt.simulate(ROBOT, q=[0.5, 0.5], duration=0.05, record=kt.sim.Recording(stream="folder"))


@pytest.mark.usefixtures("files", "drawn")
@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        (("one.npz",), "one.png"),
        (("folder",), "folder.png"),
        (("many.npz", "--samples", "0-2,3", "--joints", "elb*", "--out", "a.svg"), "a.svg"),
        (("one.npz", "folder", "--what", "positions, velocities"), "one-folder.png"),
    ],
)
def test_a_picture_is_written(kinetree: Command, arguments: tuple[str, ...], written: str) -> None:
    result = kinetree("plot", *arguments)
    assert (result.code, result.out, result.err) == (0, f"wrote {written}\n", "")
    assert Path(written).stat().st_size > 5000


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("none.npz",), 1, "none.npz cannot be read: No such file or directory"),
        (("one.npz", "--what", "speeds"), 2, "there is nothing called 'speeds' to draw"),
        (("one.npz", "--joints", "knee"), 2, "no joint of 'double_pendulum' matches 'knee'"),
        (("many.npz", "--samples", "few"), 2, "'few' is neither a number, such as 3, nor a range"),
        (("many.npz", "--samples", "4"), 2, "there are 4 samples, numbered from 0, and so no 4"),
        (("one.npz", "--out", "a.jpg"), 2, "pictures are written as .png, .svg or .pdf, not as '.jpg'"),
        (("one.npz", "--out", "missing/a.png"), 1, "missing"),
    ],
)
def test_impossible_plots_are_reported(kinetree: Command, arguments: tuple[str, ...], code: int, message: str) -> None:
    result = kinetree("plot", *arguments)
    assert result.code == code
    assert message in " ".join(result.err.replace("│", " ").split())
    assert not list(Path().glob("*.png"))
