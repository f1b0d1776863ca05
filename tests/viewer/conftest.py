"""One browser per process that runs some of these tests, closed after the last of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import sync_playwright

from tests.viewer.browser import FLAGS, Opener, executable


@pytest.fixture(scope="package")
def browser() -> Iterator[Opener]:
    path = executable()
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield Opener(started)
        started.close()
