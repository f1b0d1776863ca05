"""A motion is seen while it is computed, and a body that is dragged with the mouse is pushed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future

import numpy as np
import pytest

import kinetree as kt
from kinetree.viewer import Viewer
from tests.viewer.browser import Opener
from tests.viewer.cameras import Eye
from tests.viewer.own_shapes import Expected

SIZE = (640, 400)
EYE = Eye((0.4, -4.0, 0.6), (0.0, 0.0, 0.2), 0.9)
PIXELS = 3.0


@pytest.fixture
def viewer() -> Iterator[Viewer]:
    with kt.view(kt.zoo.load("double_pendulum"), port=0) as viewer:
        yield viewer


def test_a_body_is_dragged(browser: Opener, viewer: Viewer) -> None:
    """A pendulum hangs at rest and would stay there for ever."""
    robot = viewer.robot
    expected = Expected(robot, EYE)
    rest = np.zeros(robot.nq)
    assert np.abs(kt.gravity_forces(robot, rest)).max() < 1e-12
    computed: Future[kt.Trajectory] = Future()

    def compute() -> None:
        try:
            computed.set_result(kt.simulate(robot, q=rest, duration=1000.0, dt=0.002, every=10, view=viewer))
        except BaseException as error:
            computed.set_exception(error)

    thread = threading.Thread(target=compute, daemon=True)
    with browser.page(viewer.url, EYE, SIZE) as tab:
        tab.control("ground").uncheck()
        tab.picture_when(lambda picture: expected.away(picture, rest), at_most=PIXELS)
        thread.start()
        tab.button("Pause").wait_for()
        tip = np.asarray(kt.frame_placement(robot, rest, "lower_rod"))
        column, row = EYE.pixels((tip[:3, 3] + tip[:3, :3] @ robot.bodies["lower_rod"].center_of_mass)[None], SIZE)[0]
        mouse = tab.page.mouse
        mouse.move(column, row)
        mouse.down()
        mouse.move(column - 80, row, steps=8)
        tab.picture_when(lambda picture: -expected.away(picture, rest), at_most=-20.0)
        mouse.up()
        tab.button("end").click()
        motion = computed.result(timeout=60.0)
    thread.join()
    assert np.abs(motion.q).max() > 0.1
