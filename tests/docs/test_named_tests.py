"""Tests that the documentation names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["contact_accuracy.md", "simulation_checks.md"]


@pytest.mark.parametrize("page", PAGES)
def test_tests_that_a_page_names_are_there(page: str) -> None:
    text = (ROOT / "docs" / page).read_text()
    sources = {path: path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}
    known = {name for source in sources.values() for name in re.findall(r"^def (test_\w+)", source, re.MULTILINE)}
    files = {path.name for path in sources}
    named = set(re.findall(r"\b(test_\w+)\b(?!\.py|\w|\*)", text))
    assert len(named) > 15
    assert named <= known, named - known
    assert set(re.findall(r"\b(test_\w+\.py)", text)) <= files


def test_what_backs_the_claims_of_the_readme_is_there() -> None:
    text = (ROOT / "README.md").read_text()
    claims = text.partition("## Why")[2].partition("\n## ")[0]
    comments = re.findall(r"<!-- (.*?) -->", claims)
    assert len(comments) == claims.count("\n- **")
    assert [place for one in comments for place in one.split(", ") if not (ROOT / place).exists()] == []
