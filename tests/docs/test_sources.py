"""The tables of docs/sources*.md: where each thing of the sources is found here, it exists; so do files on all pages.

The table of decisions in docs/README.md has all of them.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import kinetree as kt

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "kinetree"
TEXT = "\n".join(path.read_text() for path in sorted((ROOT / "docs").glob("sources*.md")))
ROWS = [line.split(" | ") for line in TEXT.splitlines() if line.startswith("| ")]
HERE = sorted({token for row in ROWS if len(row) > 2 for token in re.findall(r"`([^`]+)`", " | ".join(row[1:]))})
PAGES = [path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "decisions"]
PLACES = ["src/kinetree", "src/kinetree/algorithms", "src/kinetree/functions", "tests"]
NOT_OURS = {"mimic=", "part="}
"""Arguments, which the function beside them has."""
FILES = [token for token in HERE if re.fullmatch(r"[\w/]+(\.py|/)", token)]
NAMES = [
    token
    for token in HERE
    if token not in FILES and token not in NOT_OURS and re.match(r"[A-Za-z_][\w.]*(\(|$|\[)", token)
]


@cache
def source() -> str:
    return "\n".join(path.read_text() for path in PACKAGE.rglob("*.py"))


def is_defined(name: str) -> bool:
    """Anywhere in the package, or as an option or a column of it."""
    return re.search(rf"^\s*(?:def|class) {name}\b|^\s*{name}: |\b{name} = |\"{name}\"", source(), re.M) is not None


def test_enough_is_found() -> None:
    assert len(FILES) > 30
    assert len(NAMES) > 60


@pytest.mark.parametrize("file", FILES)
def test_a_file_exists(file: str) -> None:
    assert any(
        (base / file).exists() for base in (PACKAGE, PACKAGE / "algorithms", PACKAGE / "functions", ROOT / "tests")
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_pages_name_exist(page: Path) -> None:
    """Decisions name what there was when they were made."""
    named = sorted(set(re.findall(r"`(\w+/[\w/]+\.py)`", page.read_text())))
    assert [file for file in named if not any((ROOT / base / file).exists() for base in (*PLACES, "", "src"))] == []


def test_all_decisions_are_listed_in_their_order() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\((\d[\w-]+\.md)\)", (folder / "README.md").read_text())
    assert listed == sorted(path.name for path in folder.glob("*.md") if path.name != "README.md")


@pytest.mark.parametrize("token", NAMES)
def test_a_name_exists(token: str) -> None:
    first, *rest = re.split(r"[(\[]", token.removeprefix("kt."))[0].split(".")
    if first == "robot":
        first, *rest = "Model", *rest
    if not hasattr(kt, first):
        assert all(is_defined(name) for name in (first, *rest))
        return
    owner = getattr(kt, first)
    for name in rest:
        assert hasattr(owner, name) or name in getattr(owner, "__annotations__", {}) or is_defined(name)
        owner = getattr(owner, name, owner)
