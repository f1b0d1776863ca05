"""Pages opened in a real browser without a screen, from which pictures are taken.

No page reaches anything but the address it was opened from: requests to elsewhere are refused and remembered, and a
tab that made one, or whose scripts failed, cannot be closed without an AssertionError.
"""

from __future__ import annotations

import base64
import io
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Request, Route, WebSocket

from tests.viewer.cameras import Eye

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")

ELSEWHERE = "elsewhere.test"
"""A name that is this machine to the browser, as anybody's may be who owns a name."""

FLAGS = (
    "--use-gl=angle",
    "--use-angle=swiftshader",  # WebGL on the processor, wherever the tests run
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)

_SELDOM = """(() => {
    const ask = window.requestAnimationFrame.bind(window), stop = window.cancelAnimationFrame.bind(window);
    const drawn = new WeakMap(), timers = {}, asked = {};
    let count = 0;
    window.requestAnimationFrame = draw => {
        const number = ++count, wait = (drawn.get(draw) ?? -Infinity) + 200 - performance.now();
        const go = () => {
            asked[number] = ask(now => { drawn.set(draw, performance.now()); draw(now); });
        };
        if (wait > 0) timers[number] = setTimeout(go, wait);
        else go();
        return number;
    };
    window.cancelAnimationFrame = number => {
        clearTimeout(timers[number]);
        stop(asked[number]);
    };
})()"""
"""Limits pages to five pictures a second, because the browser draws on the processor, which other tests need as well. A
function that asks for a single frame, as after a move of the mouse, gets it at once."""

_PIXELS = """() => {
    const seen = document.querySelector("canvas[data-engine]");
    return seen === null ? "" : seen.toDataURL("image/png");
}"""


def executable() -> str:
    """The browser to use: that of the variable KINETREE_TESTS_BROWSER, or one on the PATH; without one, tests are
    skipped, or fail where CI must run them."""
    found = os.environ.get("KINETREE_TESTS_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is not None:
        return found
    reason = (
        f"no browser is on the PATH, under any of the names {', '.join(NAMES)} (on Debian: apt-get install chromium)"
    )
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


class Tab:
    """A page in the browser, the picture in it, and what it asked for from elsewhere."""

    def __init__(self, page: Page, own: Callable[[str], bool]) -> None:
        self.page = page
        self.elsewhere: list[str] = []
        """Addresses that the page asked for and was refused."""
        self.failures: list[str] = []
        """Errors of its scripts."""
        self._own = own
        page.context.route("**/*", self._answer)
        page.on("websocket", self._connected)
        page.on("pageerror", lambda error: self.failures.append(str(error)))

    def _answer(self, route: Route, request: Request) -> None:
        if self._own(request.url):
            route.continue_()
        else:
            self.elsewhere.append(request.url)
            route.abort()

    def _connected(self, socket: WebSocket) -> None:
        if not self._own(socket.url):
            self.elsewhere.append(socket.url)

    def picture(self) -> NDArray[np.uint8] | None:
        """What the page draws in 3-D now, (height, width, 3), without panels over it; None if there is no canvas."""
        address = self.page.evaluate(_PIXELS)
        if not address:
            return None
        drawn = Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))).convert("RGBA")
        paper = Image.new("RGBA", drawn.size, "white")
        return np.asarray(Image.alpha_composite(paper, drawn).convert("RGB"))

    def picture_when(
        self, measure: Callable[[NDArray[np.uint8]], float], at_most: float = 0.0, within: float = 60.0
    ) -> NDArray[np.uint8]:
        """The first picture of which a measure is small enough, looked for until `within` seconds have passed."""
        until = time.monotonic() + within
        found: float | str = "nothing was drawn"
        while time.monotonic() < until:
            picture = self.picture()
            if picture is not None and (found := measure(picture)) <= at_most:
                return picture
            self.page.wait_for_timeout(100)
        raise AssertionError(f"after {within} s: {found}, where at most {at_most} was expected")

    def wait_until(self, is_so: Callable[[], bool], within: float = 30.0) -> None:
        """Wait for something that is looked for in the page, once it has come up."""
        until = time.monotonic() + within
        while not is_so():
            assert time.monotonic() < until, f"not so within {within} s"
            self.page.wait_for_timeout(20)

    def control(self, label: str) -> Locator:
        """The control beside a label, as viser makes them; there must be one with this label, from its start to end."""
        labels = self.page.locator("label", has_text=re.compile(f"^{re.escape(label)}$"))
        name = labels.get_attribute("for")
        return self.page.locator(f'[id="{name}"]')

    def number(self, label: str) -> Locator:
        """The field beside a slider, which shows its number and takes another one."""
        return self.control(label).locator("xpath=following-sibling::*//input")

    def button(self, name: str) -> Locator:
        """A button with this text."""
        return self.page.get_by_text(name, exact=True)

    def choose(self, label: str, value: str) -> None:
        """Choose from a list that opens."""
        self.control(label).click()
        self.page.get_by_role("option", name=value, exact=True).click()

    def click_at(self, control: Locator, share: float, dragged_from: float | None = None) -> None:
        """Click on a control at a share of its width, or drag the mouse there."""
        control.scroll_into_view_if_needed()
        box = control.bounding_box()
        assert box is not None
        height = box["y"] + 0.5 * box["height"]
        mouse = self.page.mouse
        mouse.move(box["x"] + (share if dragged_from is None else dragged_from) * box["width"], height)
        mouse.down()
        mouse.move(box["x"] + share * box["width"], height, steps=4)
        mouse.up()


class Opener:
    """A browser that opens pages of this machine and files, one tab at a time or several."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser

    @contextmanager
    def page(self, url: str, eye: Eye | None = None, size: tuple[int, int] = (400, 300)) -> Iterator[Tab]:
        """A page served from this machine."""
        served = urlsplit(url)

        def own(address: str) -> bool:
            there = urlsplit(address)
            return there.scheme in {"data", "blob"} or (there.hostname, there.port) == (served.hostname, served.port)

        with self._tab(url, eye, size, own, offline=False) as tab:
            yield tab

    @contextmanager
    def file(self, path: Path, eye: Eye | None = None, size: tuple[int, int] = (400, 300)) -> Iterator[Tab]:
        """A file, opened with the network off; the page may read nothing but this file."""
        url = path.resolve().as_uri()

        def own(address: str) -> bool:
            return urlsplit(address).scheme in {"data", "blob"} or address.partition("?")[0] == url

        with self._tab(url, eye, size, own, offline=True) as tab:
            yield tab

    @contextmanager
    def _tab(
        self, url: str, eye: Eye | None, size: tuple[int, int], own: Callable[[str], bool], *, offline: bool
    ) -> Iterator[Tab]:
        width, height = size
        with self.context(
            viewport={"width": width, "height": height}, device_scale_factor=1, offline=offline
        ) as context:
            tab = Tab(context.new_page(), own)
            query = "fixedDpr=1" + ("" if eye is None else f"&{eye.query()}")
            tab.page.goto(f"{url}{'&' if '?' in url else '?'}{query}", wait_until="commit")
            yield tab
            assert not tab.elsewhere, f"the page asked for {tab.elsewhere}"
            assert not tab.failures, f"scripts of the page failed: {tab.failures}"

    @contextmanager
    def context(self, **options: Any) -> Iterator[BrowserContext]:
        """A browser's window without a history, whose pages draw seldom."""
        context = self.browser.new_context(**options)
        try:
            context.add_init_script(_SELDOM)
            yield context
        finally:
            context.close()
