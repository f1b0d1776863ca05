"""The table of docs/frameworks.md says what is tested, and nothing else."""

from __future__ import annotations

from tests.unit.interop.table.page import PAGE, written


def test_the_table_is_that_of_the_tests() -> None:
    page = PAGE.read_text()
    assert written(page) == page, "run: python -m tests.unit.interop.table.page"
