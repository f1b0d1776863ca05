"""`kinetree find`: functions and pages by words."""

from __future__ import annotations

from tests.unit.cli.conftest import Command


def test_functions_then_pages(kinetree: Command) -> None:
    found = kinetree("find", "mass", "matrix", "-n", "3")
    assert found.code == 0
    functions, pages, end = found.out.strip().split("\n\n")
    assert functions.splitlines()[0] == "kt.crba, kt.mass_matrix  M"
    assert all("  " in line for line in kinetree("find", "mass", "matrix").out.partition("\n\n")[0].splitlines())
    assert len(functions.splitlines()) == len(pages.splitlines()) == 3
    assert pages.splitlines()[0].startswith("algorithms/mass_matrix.md  ")
    assert end.startswith("the pages are in ")


def test_nothing(kinetree: Command) -> None:
    found = kinetree("find", "xyzzy")
    assert found.code == 1
    assert "nothing is about 'xyzzy'" in found.err
    assert kinetree("find").code == 2
