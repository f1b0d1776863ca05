"""What the other tests here rely on: pictures are of what is in the page, and nothing else can be reached from it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import viser
from numpy.typing import NDArray

from tests.viewer.browser import Opener
from tests.viewer.cameras import Eye
from tests.viewer.silhouettes import apart, mask, outside, shown

SIZE = (400, 300)
EYE = Eye((1.5, -2.0, 1.2), (0.1, 0.0, 0.3))
CENTRES = np.array([[0.0, 0.0, 0.0], [0.6, 0.1, 0.2], [-0.3, 0.4, 0.7]])
SIDE = 0.08
CORNERS = SIDE / 2 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


@pytest.fixture(scope="module")
def server() -> Iterator[viser.ViserServer]:
    """Three boxes, and nothing else."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = viser.ViserServer(host="127.0.0.1", port=port, verbose=False)
    server.scene.configure_environment_map(None)
    for k, centre in enumerate(CENTRES):
        server.scene.add_box(f"/box/{k}", color=(200, 30, 30), dimensions=(SIDE, SIDE, SIDE), position=centre)
    yield server
    server.stop()


def _address(server: viser.ViserServer) -> str:
    return f"http://{server.get_host()}:{server.get_port()}"


def _expected() -> NDArray[np.bool_]:
    """Convex hulls of the corners, by triangles between all of them."""
    k = np.array([[a, b, c] for a in range(8) for b in range(a) for c in range(b)])
    return mask(np.concatenate([EYE.pixels(centre + CORNERS, SIZE)[k] for centre in CENTRES]), SIZE)


def test_boxes_are_where_the_camera_puts_them(browser: Opener, server: viser.ViserServer) -> None:
    with browser.page(_address(server), EYE, SIZE) as tab:
        picture = tab.picture_when(lambda picture: apart(shown(picture), _expected()), at_most=1.5)
        assert picture.shape == (300, 400, 3)
        corners = np.concatenate([EYE.pixels(centre + CORNERS, SIZE) for centre in CENTRES])
        assert outside(corners, shown(picture)) <= 1.5

        server.scene.add_box("/box/0", color=(200, 30, 30), dimensions=(SIDE,) * 3, position=CENTRES[0] + (0, 0, 0.05))
        moved = tab.picture_when(lambda picture: -apart(shown(picture), _expected()), at_most=-3.0)
        assert outside(corners, shown(moved)) > 3.0


def test_a_page_that_asks_for_something_elsewhere_fails_the_test(browser: Opener, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text('<html><body><img src="http://example.com/a.png"></body></html>')
    with pytest.raises(AssertionError, match=r"asked for .*example\.com"), browser.file(path) as tab:
        tab.page.wait_for_load_state()
    path.write_text("<html><body><script>fetch('other.html').catch(() => 0)</script></body></html>")
    with pytest.raises(AssertionError, match=r"asked for .*other\.html"), browser.file(path) as tab:
        tab.page.wait_for_load_state()


def test_a_page_whose_scripts_fail_fails_the_test(browser: Opener, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("<html><body><script>throw new Error('so it is')</script></body></html>")
    with pytest.raises(AssertionError, match="so it is"), browser.file(path) as tab:
        tab.page.wait_for_load_state()


def test_a_page_that_draws_nothing_is_reported(browser: Opener, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("<html></html>")
    with browser.file(path) as tab, pytest.raises(AssertionError, match="nothing was drawn"):
        tab.picture_when(lambda _: 0.0, within=0.1)


def test_silhouettes_that_are_apart() -> None:
    square = np.zeros((40, 40), bool)
    square[10:30, 10:30] = True
    shifted = np.roll(square, 5, axis=1)
    assert apart(square, square) == 0
    assert apart(square, shifted) == 5
    hollow = square.copy()
    hollow[14:26, 14:26] = False
    assert apart(square, hollow) > 5
    assert outside(np.array([[10.5, 10.5], [34.5, 20.5]]), square) == 5
