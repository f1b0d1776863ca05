"""The page of a robot at rest: it is there soon, its sliders move the joints that they name, its switches switch."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Locator
from scipy.ndimage import binary_erosion

import kinetree as kt
from kinetree.viewer import Viewer, view
from tests.viewer.browser import Opener, Tab
from tests.viewer.cameras import Eye
from tests.viewer.own_shapes import Expected
from tests.viewer.silhouettes import shown

SIZE = (640, 400)
EYE = Eye((1.6, -2.2, 1.3), (0.0, 0.0, 0.5))
PIXELS = 3.0
START = np.array([0.3, 0.5, 0.9, -0.4, 0.7, 0.2])


@pytest.fixture(scope="module")
def robot() -> kt.Model:
    return kt.zoo.load("arm6")


@pytest.fixture(scope="module")
def expected(robot: kt.Model) -> Expected:
    return Expected(robot, EYE, SIZE)


@pytest.fixture(scope="module")
def viewer(robot: kt.Model) -> Iterator[Viewer]:
    with view(robot, q=START, port=0) as viewer:
        yield viewer


@pytest.fixture(scope="module")
def open_tab(browser: Opener, viewer: Viewer) -> Iterator[Tab]:
    with browser.page(viewer.url, EYE, SIZE) as tab:
        tab.control("ground").uncheck()
        yield tab


@pytest.fixture
def tab(open_tab: Tab, viewer: Viewer, expected: Expected) -> Tab:
    """At its first configuration, without the ground."""
    viewer.set(START)
    open_tab.picture_when(lambda picture: expected.away(picture, START), at_most=PIXELS)
    return open_tab


def test_the_page_comes_up_in_three_seconds(browser: Opener, viewer: Viewer, expected: Expected) -> None:
    """From navigation to a picture of the robot, the best of three times: this machine may do other things, too."""
    inside = binary_erosion(expected.at(START), iterations=3)
    seconds: list[float] = []
    while len(seconds) < 3 and min(seconds, default=np.inf) >= 3.0:
        begun = time.perf_counter()
        with browser.page(viewer.url, EYE, SIZE) as tab:
            tab.picture_when(lambda picture: float((picture[inside].min(axis=-1) > 190).mean()), at_most=0.05)
            seconds.append(time.perf_counter() - begun)
    assert min(seconds) < 3.0, seconds


@pytest.mark.parametrize("joint", ["base_yaw", "shoulder_pitch", "elbow_pitch", "wrist_pitch"])
def test_a_slider_moves_the_joint_that_it_names(joint: str, tab: Tab, robot: kt.Model, expected: Expected) -> None:
    sliders = {name: tab.slider(f"{name}, rad") for name in robot.joints}
    before = {name: _value(slider) for name, slider in sliders.items()}
    np.testing.assert_allclose([*before.values()], START, atol=1e-9)

    for _ in range(3):
        sliders[joint].press("ArrowRight")
    after = {name: _value(slider) for name, slider in sliders.items()}
    assert after[joint] > before[joint]
    assert {**after, joint: 0.0} == {**before, joint: 0.0}

    sliders[joint].press("Home")  # to its lower limit
    q = START.copy()
    q[robot.joints[joint].q_slice] = robot.lower[robot.joints[joint].q_slice]
    assert expected.away(tab.picture_when(lambda picture: expected.away(picture, q), at_most=PIXELS), START) > PIXELS
    assert _value(sliders[joint]) == pytest.approx(float(robot.lower[robot.joints[joint].q_slice][0]))


def test_a_slider_is_dragged(tab: Tab, robot: kt.Model, expected: Expected) -> None:
    track = tab.control("elbow_pitch, rad")
    track.scroll_into_view_if_needed()
    box = track.bounding_box()
    assert box is not None
    mouse = tab.page.mouse
    mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    mouse.down()
    mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.5 * box["height"], steps=5)
    mouse.up()
    q = START.copy()
    q[2] = _value(tab.slider("elbow_pitch, rad"))
    assert q[2] == pytest.approx(-2.6 + 0.2 * 5.2, abs=0.1)
    tab.picture_when(lambda picture: expected.away(picture, q), at_most=PIXELS)


def test_a_configuration_that_is_set_moves_the_sliders(tab: Tab, viewer: Viewer, robot: kt.Model) -> None:
    q = -START
    viewer.set(q)
    for k, name in enumerate(robot.joints):
        slider = tab.slider(f"{name}, rad")
        tab.wait_until(lambda: _value(slider) == pytest.approx(q[k], abs=1e-3))  # noqa: B023


def test_what_is_moved_in_one_page_moves_in_all(
    browser: Opener, tab: Tab, viewer: Viewer, robot: kt.Model, expected: Expected
) -> None:
    with browser.page(viewer.url, EYE, SIZE) as other:
        other.picture_when(lambda picture: expected.away(picture, START), at_most=PIXELS)
        tab.slider("elbow_pitch, rad").press("End")
        q = START.copy()
        q[2] = robot.upper[2]
        other.picture_when(lambda picture: expected.away(picture, q), at_most=PIXELS)
        tab.picture_when(lambda picture: expected.away(picture, q), at_most=PIXELS)
        other.wait_until(lambda: _value(other.slider("elbow_pitch, rad")) == pytest.approx(q[2]))


@pytest.mark.parametrize("switch", ["frames", "joint axes", "centre of mass", "collision shapes"])
def test_a_switch_adds_something_and_takes_it_away(switch: str, tab: Tab, expected: Expected) -> None:
    plain = tab.picture()
    assert plain is not None
    tab.control(switch).check()
    tab.picture_when(lambda picture: -float((picture != plain).any(axis=-1).sum()), at_most=-20)
    tab.control(switch).uncheck()
    tab.picture_when(lambda picture: float((picture != plain).any(axis=-1).sum()), at_most=0)


def test_the_robot_can_be_hidden(tab: Tab) -> None:
    tab.control("shapes").uncheck()
    tab.picture_when(lambda picture: float(shown(picture).sum()))
    tab.control("shapes").check()
    tab.picture_when(lambda picture: -float(shown(picture).sum()), at_most=-1)


def test_names_are_shown(tab: Tab) -> None:
    tab.control("names").check()
    tab.wait_until(lambda: tab.page.evaluate(_LABELS) > 0)
    tab.control("names").uncheck()


_LABELS = "() => 0"


def _value(slider: Locator) -> float:
    return float(slider.get_attribute("aria-valuenow") or "nan")
