"""README, the pages of docs and every docstring run."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

import kinetree

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]
ALL_BLOCKS = {
    f"{page.relative_to(ROOT)}-{k}": code
    for page in PAGES
    if page.parent.name != "tutorials"  # whose blocks go on where the one before ended: test_tutorials.py
    for k, code in enumerate(re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.S | re.M))
}
FIRST = ("README", "ARCHITECTURE", "docs/tour")
"""What is tried each time; of the other pages one block in four, and the others where all is deep."""
BLOCKS = [
    pytest.param(code, id=name, marks=() if name.startswith(FIRST) or not k % 4 else pytest.mark.deep)
    for k, (name, code) in enumerate(ALL_BLOCKS.items())
]
MODULES = ["kinetree", *(m.name for m in pkgutil.walk_packages(kinetree.__path__, "kinetree."))]
WITH_EXAMPLES = [name for name in MODULES if ">>> " in Path(str(find_spec(name).origin)).read_text()]  # type: ignore[union-attr]
LOADED = cache(kinetree.zoo.load)


def check_installed(*packages: str) -> None:
    """Skip a test whose packages are missing; in CI it fails."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing and "CI" not in os.environ:
        pytest.skip(f"not installed: {', '.join(missing)}")


@pytest.fixture(autouse=True)
def _robots_are_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most examples load a robot of the zoo, which keeps the functions that are compiled for it."""
    monkeypatch.setattr(kinetree.zoo, "load", LOADED)


@pytest.mark.parametrize("code", BLOCKS)
def test_a_block_of_the_documentation_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_installed(*re.findall(r"^ *(?:import|from) (\w+)", code, re.M))
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "<documentation>", "exec"), {"__name__": "example"})


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_module_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


def test_every_module_can_be_imported() -> None:
    check_installed("torch")
    for name in MODULES:
        importlib.import_module(name)


def test_there_are_examples() -> None:
    assert len(BLOCKS) > 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_link_to_another_page_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", re.sub(r"```.*?```", "", page.read_text(), flags=re.S))
    assert [link for link in links if not (page.parent / link).exists()] == []
