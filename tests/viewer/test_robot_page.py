"""The page of a robot at rest: it comes up, its sliders move the joints that they name, its switches switch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import binary_erosion

import kinetree as kt
from kinetree.viewer import Viewer, view
from tests.unit.viewer.pages import clicked, descriptions
from tests.viewer.browser import Opener, Tab
from tests.viewer.cameras import Eye
from tests.viewer.own_shapes import Expected
from tests.viewer.silhouettes import shown

SIZE = (640, 400)
WIDE = (1000, 400)
EYE = Eye((1.6, -2.2, 1.3), (0.0, 0.0, 0.5))
PIXELS = 3.0
START = np.array([0.3, 0.5, 0.9, -0.4, 0.7, 0.2])


@pytest.fixture(scope="module")
def robot() -> kt.Model:
    return kt.zoo.load("arm6")


@pytest.fixture(scope="module")
def expected(robot: kt.Model) -> Expected:
    return Expected(robot, EYE)


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
def tab(open_tab: Tab, viewer: Viewer, expected: Expected) -> Iterator[Tab]:
    """At its first configuration, to which it comes back, without the ground."""
    open_tab.picture_when(lambda picture: expected.away(picture, START), at_most=PIXELS)
    yield open_tab
    viewer.set(START)


@pytest.fixture
def wide_tab(tab: Tab, viewer: Viewer) -> Iterator[Tab]:
    """So wide that no panel is over the robot; afterwards it is as it was, without descriptions."""
    tab.page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    yield tab
    _put_mouse_aside(tab)
    for text in descriptions(viewer):
        clicked(viewer, text.partition(",")[0])
    tab.page.set_viewport_size({"width": SIZE[0], "height": SIZE[1]})


def test_the_page_comes_up_with_the_robot_on_it(browser: Opener, viewer: Viewer, expected: Expected) -> None:
    inside = binary_erosion(expected.at(START, SIZE), iterations=3)
    with browser.page(viewer.url, EYE, SIZE) as tab:
        tab.picture_when(lambda picture: float((picture[inside].min(axis=-1) > 190).mean()), at_most=0.05)


@pytest.mark.parametrize("joint", ["base_yaw", "elbow_pitch", "wrist_pitch"])
def test_a_slider_moves_the_joint_that_it_names(joint: str, tab: Tab, robot: kt.Model, expected: Expected) -> None:
    before = _sliders(tab, robot)
    np.testing.assert_allclose(before, START, atol=1e-9)
    tab.number(f"{joint}, rad").fill("-1.1")
    q = START.copy()
    q[robot.joints[joint].q_slice] = -1.1
    picture = tab.picture_when(lambda picture: expected.away(picture, q), at_most=PIXELS)
    assert expected.away(picture, START) > PIXELS
    np.testing.assert_allclose(_sliders(tab, robot), q, atol=1e-9)


def test_a_slider_is_dragged(tab: Tab, robot: kt.Model, expected: Expected) -> None:
    tab.click_at(tab.control("elbow_pitch, rad"), 0.2, dragged_from=0.5)
    q = _sliders(tab, robot)
    np.testing.assert_allclose(np.delete(q, 2), np.delete(START, 2), atol=1e-9)
    assert q[2] == pytest.approx(-2.6 + 0.2 * 5.2, abs=0.3)
    tab.picture_when(lambda picture: expected.away(picture, q), at_most=PIXELS)


def test_a_configuration_that_is_set_moves_the_sliders(tab: Tab, viewer: Viewer, robot: kt.Model) -> None:
    viewer.set(-START)
    tab.wait_until(lambda: np.allclose(_sliders(tab, robot), -START, atol=1e-3))


@pytest.mark.deep
def test_what_is_moved_in_one_page_moves_in_all(
    browser: Opener, tab: Tab, viewer: Viewer, robot: kt.Model, expected: Expected
) -> None:
    with browser.page(viewer.url, EYE, SIZE) as other:
        other.picture_when(lambda picture: expected.away(picture, START), at_most=PIXELS)
        tab.number("elbow_pitch, rad").fill("-1.1")
        q = START.copy()
        q[2] = -1.1
        for each in (other, tab):
            each.picture_when(lambda picture: expected.away(picture, q), at_most=PIXELS)
        other.wait_until(lambda: np.allclose(_sliders(other, robot), q))


@pytest.mark.parametrize("switch", ["frames", "joint axes", "centre of mass", "names"])
def test_a_switch_adds_something_and_takes_it_away(switch: str, tab: Tab) -> None:
    plain = tab.picture()
    assert plain is not None
    with _turned(tab, switch, on=True):
        tab.picture_when(lambda picture: -_differing(picture, plain), at_most=-30)
    tab.picture_when(lambda picture: _differing(picture, plain))


def test_velocities_are_arrows_while_something_moves(tab: Tab, viewer: Viewer) -> None:
    plain = tab.picture()
    assert plain is not None
    with _turned(tab, "velocities", on=True):
        viewer.set(START, np.full(6, 3.0))
        tab.picture_when(lambda picture: -_differing(picture, plain), at_most=-50)
        viewer.set(START)
        tab.picture_when(lambda picture: _differing(picture, plain))


def test_contacts_are_seen(tab: Tab, viewer: Viewer, expected: Expected) -> None:
    """The forearm is folded into the upper arm."""
    folded = START.copy()
    folded[2] = 2.75
    viewer.set(folded)
    plain = tab.picture_when(lambda picture: expected.away(picture, folded), at_most=PIXELS)
    with _turned(tab, "contacts and forces", on=True):
        tab.picture_when(lambda picture: -_differing(picture, plain), at_most=-50)
    tab.picture_when(lambda picture: _differing(picture, plain))


def test_a_click_on_a_body_shows_its_name(wide_tab: Tab, viewer: Viewer, robot: kt.Model, expected: Expected) -> None:
    elbow, wrist = (kt.frame_placement(robot, START, name)[:3, 3] for name in ("forearm", "wrist"))
    x, y = EYE.pixels([0.4 * elbow + 0.6 * wrist], WIDE)[0]

    def picture(of: Callable[[NDArray[np.uint8]], float], at_most: float) -> NDArray[np.uint8]:
        _put_mouse_aside(wide_tab)
        return wide_tab.picture_when(of, at_most)

    plain = picture(lambda picture: expected.away(picture, START), PIXELS)
    wide_tab.page.mouse.click(x, y)
    wide_tab.wait_until(lambda: descriptions(viewer) == [viewer.stages[0].bodies.about(3)])
    picture(lambda picture: -_differing(picture, plain), -100)
    wide_tab.page.mouse.click(x, y)
    wide_tab.wait_until(lambda: descriptions(viewer) == [])
    picture(lambda picture: _differing(picture, plain), 0)


def test_the_robot_can_be_hidden(tab: Tab) -> None:
    with _turned(tab, "shapes", on=False):
        tab.picture_when(lambda picture: float(shown(picture).sum()))
    tab.picture_when(lambda picture: -float(shown(picture).sum()), at_most=-1)


@contextmanager
def _turned(tab: Tab, switch: str, *, on: bool) -> Iterator[None]:
    """A switch turned on or off, and back whatever happens: the tests share a page."""
    tab.control(switch).set_checked(on)
    try:
        yield
    finally:
        tab.control(switch).set_checked(not on)


def _put_mouse_aside(tab: Tab) -> None:
    """What is under the mouse has an outline."""
    tab.page.mouse.move(5, SIZE[1] - 5)


def _differing(picture: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """How many pixels of two pictures differ."""
    return float((picture != other).any(axis=-1).sum())


def _sliders(tab: Tab, robot: kt.Model) -> NDArray[np.float64]:
    return np.array([float(tab.number(f"{name}, rad").input_value()) for name in robot.joints])
