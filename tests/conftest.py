"""In CI the random examples are the same each time, and fewer; a developer's machine looks for new ones.

Machine code is kept in a folder of the test run's own, never in the user's cache; processes that share the tests
share the folder.
"""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.quick_code import quick_code, takes_quick_code

settings.register_profile("ci", derandomize=True, max_examples=50)
if os.environ.get("CI"):
    settings.load_profile("ci")


def pytest_configure(config: pytest.Config) -> None:
    """Before anything is collected: some tests compile when their module is imported."""
    gc.set_threshold(50_000, 20, 50)  # programs are many objects that stay: to look through them often takes long
    if hasattr(config, "workerinput"):
        return  # its parent has made the folder
    folder = tempfile.TemporaryDirectory(prefix="kinetree-tests-")
    patch = pytest.MonkeyPatch()
    for name in ("KINETREE_CACHE", "KINETREE_CACHE_SIZE"):
        patch.delenv(name, raising=False)
    patch.setenv("KINETREE_CACHE_DIR", folder.name)
    config.add_cleanup(patch.undo)
    config.add_cleanup(folder.cleanup)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that mostly wait for a browser come first: processes that share the tests then end at about one time."""
    browsers = Path(__file__).parent / "viewer"
    come_later = {path: browsers not in path.parents for path in {item.path for item in items}}
    items.sort(key=lambda item: come_later[item.path])


def pytest_collection_finish() -> None:
    """What there is by now stays to the end: no look for garbage needs to go through a million objects of it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def _code(request: pytest.FixtureRequest) -> Iterator[None]:
    """Few tests are about machine code, and compiling it takes longer than all the rest."""
    if not takes_quick_code(request.path):
        yield
        return
    with quick_code():
        yield
