"""Pages of motions: play moves the robot as the motion says, on a page that is served and in a file without network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.viewer import Viewer
from tests.viewer.browser import Opener, Tab
from tests.viewer.cameras import Eye
from tests.viewer.own_shapes import Expected
from tests.viewer.silhouettes import shown

SIZE = (640, 400)
EYE = Eye((0.4, -4.0, 0.6), (0.0, 0.0, 0.2), 0.9)
PIXELS = 3.0
STEP = 0.05


@pytest.fixture(scope="module")
def motion() -> kt.Trajectory:
    """A double pendulum that falls from nearly upright, in steps so long that rows can be distinguished."""
    robot = kt.zoo.load("double_pendulum")
    return kt.simulate(robot, q=[2.0, 0.5], duration=1.0, dt=0.005, record=kt.sim.Recording(every=round(STEP / 0.005)))


@pytest.fixture(scope="module")
def expected(motion: kt.Trajectory) -> Expected:
    return Expected(motion.model, EYE)


@pytest.fixture(scope="module")
def viewer(motion: kt.Trajectory) -> Iterator[Viewer]:
    with kt.view(motion, port=0) as viewer:
        yield viewer


@pytest.fixture(scope="module")
def tab(browser: Opener, viewer: Viewer) -> Iterator[Tab]:
    with browser.page(viewer.url, EYE, SIZE) as tab:
        tab.control("ground").uncheck()
        yield tab


def _time(tab: Tab) -> float:
    return float(tab.number("t, s").input_value())


def test_it_begins_at_the_first_row(tab: Tab, motion: kt.Trajectory, expected: Expected) -> None:
    tab.picture_when(lambda picture: expected.away(picture, motion.q[0]), at_most=PIXELS)
    assert _time(tab) == 0.0


def test_single_steps(tab: Tab, motion: kt.Trajectory, expected: Expected) -> None:
    for name, row in [("|<", 0), (">", 1), (">", 2), ("<", 1), (">|", len(motion.time) - 1), ("|<", 0)]:
        tab.button(name).click()
        tab.picture_when(lambda picture: expected.away(picture, motion.q[row]), at_most=PIXELS)  # noqa: B023
        tab.wait_until(lambda: _time(tab) == pytest.approx(motion.time[row], abs=2e-3))  # noqa: B023


def test_the_slider_chooses_the_time(tab: Tab, motion: kt.Trajectory, expected: Expected) -> None:
    tab.click_at(tab.control("t, s"), 0.6)
    t = _time(tab)
    assert t == pytest.approx(0.6, abs=0.05)
    near = motion.q[round(t / STEP)]
    tab.picture_when(lambda picture: expected.away(picture, near), at_most=3 * PIXELS)  # between two rows


def test_play_moves_the_robot_and_pause_holds_it(tab: Tab, motion: kt.Trajectory, expected: Expected) -> None:
    tab.button("|<").click()
    start = tab.picture_when(lambda picture: expected.away(picture, motion.q[0]), at_most=PIXELS)
    tab.choose("speed", "0.1")
    tab.button("Play").click()
    tab.picture_when(lambda picture: -expected.away(picture, motion.q[0]), at_most=-2 * PIXELS)
    tab.wait_until(lambda: _time(tab) > 2 * STEP)
    tab.button("Pause").click()
    t = _time(tab)
    assert t < motion.time[-1]
    held = tab.picture_when(lambda picture: -expected.away(picture, motion.q[0]), at_most=-2 * PIXELS)
    assert (shown(held) != shown(start)).any()
    tab.wait_until(lambda: tab.button("Play").is_visible())
    rows = [*motion.q[int(t / STEP) : int(t / STEP) + 3]]  # the picture is between two of them
    assert min(expected.away(held, q) for q in rows) < min(expected.away(held, motion.q[row]) for row in (0, -1))


def test_it_ends_where_it_is_not_to_repeat_and_begins_again_where_it_is(
    tab: Tab, motion: kt.Trajectory, expected: Expected
) -> None:
    tab.choose("speed", "2")
    tab.control("repeat").uncheck()
    tab.button("Play").click()
    tab.wait_until(lambda: _time(tab) == motion.time[-1])
    tab.button("Play").wait_for()
    tab.picture_when(lambda picture: expected.away(picture, motion.q[-1]), at_most=PIXELS)

    tab.control("repeat").check()
    tab.button("Play").click()
    times = [0.0]
    tab.wait_until(lambda: times.append(_time(tab)) or bool((np.diff(times) < -0.2).any()))
    tab.button("Pause").click()


def test_a_file_plays_without_a_network(
    browser: Opener, tab: Tab, viewer: Viewer, motion: kt.Trajectory, expected: Expected, tmp_path: Path
) -> None:
    """It shows what the page shows: no ground, here. It plays at once, and its time can be chosen.

    It is looked at between repetitions: at the end of each, viser makes the light of its scenes anew, which takes
    seconds without a graphics processor.
    """
    tab.wait_until(lambda: not tab.control("ground").is_checked())
    path = viewer.save_html(tmp_path / "fall.html", fps=1 / STEP)
    with browser.file(path, EYE, SIZE) as file:
        field = file.page.locator("input").first
        field.wait_for()
        file.wait_until(lambda: float(field.input_value()) > 0.0)
        file.page.keyboard.press("Space")  # pause
        for time in (0.4, 0.7, 0.9):
            field.fill(str(time))
            row = round(time / STEP)
            rows = motion.q[row - 1 : row + 1]  # it has waited for sums of steps, of which each is rounded
            file.picture_when(lambda x: min(expected.away(x, q) for q in rows), at_most=PIXELS)  # noqa: B023
