"""The page of `kinetree demo`: a recorded motion, then rows of physics that run, and keys that steer them."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from numpy.typing import NDArray

import kinetree as kt
from kinetree.cli.demo_server import ALONE, Server, page
from tests.viewer.browser import Opener, Tab

SIZE = (600, 400)


def _drawn(tab: Tab, what: str) -> None:
    tab.page.wait_for_selector(f"[data-drawn={what}]", timeout=60_000)


def _orange(tab: Tab, path: Path) -> NDArray[np.int_]:
    """The pixels of the robot's thighs, (n, 2): row and column."""
    tab.page.screenshot(path=path)
    red, green, blue = np.moveaxis(np.asarray(PIL.Image.open(path).convert("RGB")).astype(int), 2, 0)
    return np.argwhere((red > 120) & (red - blue > 70) & (red - green > 40))


def test_the_page_in_a_file_shows_a_robot_that_moves(browser: Opener, tmp_path: Path) -> None:
    path = tmp_path / "demo.html"
    path.write_bytes(page())
    with browser.file(path, size=SIZE) as tab:
        _drawn(tab, "recorded")
        first = _orange(tab, tmp_path / "picture.png")
        assert 200 < len(first) < 20_000
        middle = first.mean(axis=0) / SIZE[::-1]
        assert np.all(np.abs(middle - 0.5) < 0.2)  # it is in the middle
        tab.page.wait_for_timeout(700)
        later = _orange(tab, tmp_path / "picture.png")
        assert len({*map(tuple, first)} ^ {*map(tuple, later)}) > 0.2 * len(first)
        assert "recorded" in tab.page.inner_text("p")
        assert not tab.page.locator("button:enabled").count()

        robot = kt.zoo.load("quadruped")
        q = robot.random(0)
        names = dict.fromkeys(["trunk", *(joint.child for joint in robot.parts.joints)])
        found = tab.page.evaluate("q => placements(q).slice(1).map(one => [...one])", q.tolist())
        expected = kt.forward_kinematics(robot, q, frames=[*names])
        np.testing.assert_allclose(np.reshape(found, (-1, 4, 4)).transpose(0, 2, 1), expected, atol=1e-5)


def test_rows_that_come_are_shown_and_keys_steer(browser: Opener) -> None:
    server = Server()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    with server, browser.page(server.url, size=SIZE) as tab:
        _drawn(tab, "recorded")
        assert "compiled" in tab.page.inner_text("p")
        tab.wait_until(lambda: server.watching == 1)
        q = [0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0, *[0.0, 0.75, -1.5] * 4]
        server.publish(q)
        _drawn(tab, "live")
        assert "arrow keys" in tab.page.inner_text("p")

        keyboard = tab.page.keyboard
        keyboard.down("ArrowUp")
        tab.wait_until(lambda: server.wanted == (1.0, 0.0, 0.0))
        keyboard.down("ArrowRight")
        tab.wait_until(lambda: server.wanted == (1.0, 0.0, -0.8))
        keyboard.up("ArrowUp")
        keyboard.up("ArrowRight")
        tab.wait_until(lambda: server.wanted == ALONE)
        keyboard.press(" ")
        tab.wait_until(lambda: server.pushes == 1)
        tab.page.get_by_role("button", name="back").dispatch_event("pointerdown")
        tab.wait_until(lambda: server.wanted == (-0.6, 0.0, 0.0))
        server.shutdown()


@pytest.mark.deep
def test_the_physics_takes_over_until_the_command_is_interrupted(browser: Opener) -> None:
    command = [sys.executable, "-m", "kinetree", "demo", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split(" at ")[1].split()[0]
        try:
            with browser.page(url, size=SIZE) as tab:
                _drawn(tab, "live")
                before = tab.page.evaluate("live")
                tab.wait_until(lambda: abs(tab.page.evaluate("live")[0] - before[0]) > 0.2)  # it walks
                process.send_signal(signal.SIGINT)
                _drawn(tab, "recorded")
                assert "ended" in tab.page.inner_text("p")
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
