"""Random tests draw the same examples each time, wherever they run; `pytest -m explore` runs only these, with new and
more draws. It prints its seed; `--hypothesis-seed=N` repeats its draws.

Of a test with more than two cases one is tried each time, or one in eight of many, unless most are marked `deep`
already. Of the others a quarter is `deep`, another quarter at another commit: `--turn=N` repeats a choice.

Machine code is kept in a folder of the tests' own, never in the user's cache; processes that share the tests share the
folder. The next run finds it there, except in CI and with `--fresh`, where the folder is empty and does not stay. The
variable KINETREE_TESTS_CACHE_DIR names another folder: the runs of .ci/run share one, which is empty at first.
"""

from __future__ import annotations

import gc
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from kinetree.codegen.kept.cache import settings as cache_settings
from tests.quick_code import optimized_code, quick_code, takes_quick_code

_USUAL = settings(deadline=None, database=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", _USUAL, derandomize=True, max_examples=25)
settings.register_profile("explore", _USUAL, derandomize=False, max_examples=100)
settings.load_profile("same")


class _Missing(ModuleType):
    """A package that is not installed; a test that uses it is skipped."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = ModuleSpec(name, None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pytest.skip(f"{self.__name__} is not installed", allow_module_level=True)


for missing in ("pinocchio", "coal"):
    if sys.platform == "win32" and find_spec(missing) is None:  # PyPI has no builds for Windows
        sys.modules[missing] = _Missing(missing)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fresh", action="store_true", help="compile everything anew, as in CI")
    parser.addoption("--turn", type=int, help="the quarter of the deep cases that is tried; by default the commit's")


def _turn_of_commit() -> int:
    """A number from 0 to 3, the same wherever a commit is tested; 0 without git."""
    try:
        found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True)
        return int(found.stdout, 16) % 4
    except (OSError, ValueError):
        return 0


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads the seed
def pytest_configure(config: pytest.Config) -> None:
    """Before anything is collected: some tests compile when their module is imported."""
    if config.option.turn is None:
        config.option.turn = _turn_of_commit()
    if config.option.markexpr == "explore":
        settings.load_profile("explore")
        if config.option.hypothesis_seed is None:
            config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))
    if (
        signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    ):  # as in background jobs; what the tests start would inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(1_000_000, 20, 50)  # programs are many objects that stay: to look through them often takes long
    if hasattr(config, "workerinput"):
        return  # its parent has made the folder
    patch = pytest.MonkeyPatch()
    for name in ("KINETREE_CACHE", "KINETREE_CACHE_DIR", "KINETREE_CACHE_SIZE"):
        patch.delenv(name, raising=False)
    users = cache_settings().directory
    if shared := os.environ.get("KINETREE_TESTS_CACHE_DIR"):
        place = shared
    elif users is None or config.option.fresh or os.environ.get("CI"):
        folder = tempfile.TemporaryDirectory(prefix="kinetree-tests-")
        config.add_cleanup(folder.cleanup)
        place = folder.name
    else:
        place = str(users.with_name(f"{users.name}-tests"))
    patch.setenv("KINETREE_CACHE_DIR", place)
    patch.setenv("KINETREE_OPTIMIZE", "quick")
    config.add_cleanup(patch.undo)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The seed of new draws and the choice of deep cases, also of quiet runs."""
    config = terminalreporter.config
    if config.option.markexpr == "deep":
        terminalreporter.write_line(f"repeat the choice of cases with --turn={config.option.turn}")
    if config.option.markexpr == "explore":
        terminalreporter.write_line(f"repeat these draws with --hypothesis-seed={config.option.hypothesis_seed}")


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the random tests, and most cases of tests that have many; put those that mostly wait for a browser
    first: processes that share the tests then end at about the same time."""
    cases: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("explore")
        if hasattr(item, "callspec"):
            cases.setdefault((item.path, item.nodeid.partition("[")[0]), []).append(item)
    for alike in cases.values():
        usual = [item for item in alike if not item.get_closest_marker("deep")]
        if len(usual) > max(2, len(alike) / 2 - 1):
            # By their names: a new case takes the place of one other at most, and tests of the same cases try all.
            usual.sort(key=lambda item: crc32(item.nodeid.encode()))
            for item in usual[max(1, len(usual) // 8) :]:
                is_next = (crc32(item.nodeid.encode()) + config.option.turn) % 4 == 0
                item.add_marker("deep" if is_next else "rare")
    browsers = Path(__file__).parent / "viewer"
    come_later = {path: browsers not in path.parents for path in {item.path for item in items}}
    items.sort(key=lambda item: come_later[item.path])


def pytest_collection_finish() -> None:
    """Exclude the millions of objects that exist before the first test from all later garbage collections.

    Few of them are garbage, and finding those takes seconds.
    """
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def _code(request: pytest.FixtureRequest) -> Iterator[None]:
    """Few tests are about machine code, and compiling it takes longer than all the rest."""
    with quick_code() if takes_quick_code(request.path) else optimized_code():
        yield
    gc.collect()
    gc.freeze()  # what is no garbage when a module is over stays to the end as well, such as robots that tests share
