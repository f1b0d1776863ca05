"""A motion on a page while it is computed: the buttons, and a body that is pushed with the mouse."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.viewer import view
from tests.viewer.browser import Opener, Tab
from tests.viewer.cameras import Eye

SIZE = (800, 500)
_GO_ON = """() => [...document.querySelectorAll("button")].find(one => one.innerText == "Go on").click()"""
EYE = Eye((0.8, -4.5, -0.5), (0.8, 0.0, -0.5))  # the robot is beside the panel


def within(seconds: float, condition: Callable[[], object], tab: Tab) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        tab.page.wait_for_timeout(20)


def shown_time(tab: Tab) -> float:
    """The time that the page shows, s."""
    found = re.search(r"t = ([\d.]+) s", tab.page.inner_text("body"))
    return float(found[1]) if found else -1.0


def at_rest(tab: Tab) -> float:
    """The time that the page shows once it has not changed for half a second."""
    for _ in range(60):
        before = shown_time(tab)
        tab.page.wait_for_timeout(500)
        if shown_time(tab) == before:
            return before
    raise AssertionError("a motion that is paused goes on")


@pytest.mark.filterwarnings("ignore::kinetree.errors.SimulationWarning")  # it swings through its stops
def test_buttons_and_a_push_with_the_mouse(browser: Opener) -> None:
    robot = kt.zoo.load("double_pendulum")
    found: list[kt.Trajectory] = []
    with view(robot, port=0, q=[0.0, 0.0]) as viewer, browser.page(viewer.url, EYE, SIZE) as tab:
        assert viewer.wait_for_somebody(60.0)
        options: dict[str, Any] = {"q": [0.0, 0.0], "duration": 120.0, "view": viewer}
        thread = threading.Thread(target=lambda: found.append(kt.simulate(robot, **options)), daemon=True)
        thread.start()
        within(60.0, lambda: shown_time(tab) > 0.1, tab)

        tab.page.get_by_role("button", name="Pause").click()
        within(60.0, lambda: "paused" in tab.page.inner_text("body"), tab)
        paused = at_rest(tab)
        tab.page.get_by_role("button", name="step", exact=True).click()
        within(60.0, lambda: shown_time(tab) > paused, tab)
        assert shown_time(tab) - paused == pytest.approx(1.0 / 60.0, abs=2e-3)

        held = viewer.stages[0].placements[2] @ [0.0, 0.0, -0.25, 1.0]
        cursor = np.array([-0.6, 0.0, -0.6])
        (x, y), (column, row) = EYE.pixels(np.array([held[:3], cursor]), SIZE)
        tab.page.mouse.move(x, y)
        tab.page.mouse.down()
        tab.page.mouse.move(0.5 * (x + column), 0.5 * (y + row), steps=5)
        tab.page.mouse.move(column, row, steps=5)
        tab.page.wait_for_timeout(200)
        tab.page.evaluate(_GO_ON)  # the mouse is busy
        begun = shown_time(tab)
        within(60.0, lambda: shown_time(tab) > begun + 2.0, tab)
        tab.page.mouse.up()
        tab.page.get_by_role("button", name="end", exact=True).click()
        thread.join(60.0)
    (motion,) = found
    bodies = motion.recorded["push.body"]
    pushed = np.flatnonzero(bodies == [*robot.bodies].index("lower_rod"))
    assert pushed.size > 1000
    assert bodies[-1] == -1
    points = motion.recorded["push.point"][pushed]
    assert np.linalg.norm(points[-1] - cursor) < 0.15
    assert np.linalg.norm(points[0] - cursor) > 0.3
