"""Tables of numbers as CSV, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinetree.number_files.csv_tables import TableError, first_cells, is_number, table_numbers


def test_numbers_below_a_line_of_names(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b'\xef\xbb\xbf\r\n time , "q" \r\n0,1e-3\r\n \r\n"2",-.5\r\n3,nan\r\n')
    assert first_cells(path) == (2, ["time", '"q"'])  # a quote after a space is part of the cell
    read = table_numbers(path, 2, after=2)
    assert np.array_equal(read, [[0.0, 1e-3], [2.0, -0.5], [3.0, np.nan]], equal_nan=True)
    with pytest.raises(TableError, match=r"^:6: 'nan' is not a finite number$"):
        table_numbers(path, 2, after=2, finite=True)
    path.write_text("a,b\n")
    assert table_numbers(path, 2, after=1).shape == (0, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2\n\n3\n", ":3: 1 cells in this line, but 2 are expected"),
        ("1,2\n3,\n", ":2: an empty cell, where a number is missing"),
        ("1,2\n3,1_0\n", ":2: '1_0' is not a number"),
        ("1,2\n3,0x10\n", ":2: '0x10' is not a number"),
        ("1,2\n#3,4\n", ":2: '#3' is not a number"),
        ("1,2,3\n4,5,6\n", ":1: 3 cells in this line, but 2 are expected"),
    ],
)
def test_the_first_fault_is_reported_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(TableError, match=f"^{message}$"):
        table_numbers(path, 2)


@pytest.mark.parametrize(("mark", "word"), [(";", "semicolons"), ("\t", "tabs")])
def test_other_separators_are_named(tmp_path: Path, mark: str, word: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"time{mark}q\n0{mark}1\n")
    with pytest.raises(TableError, match=f"^:1: cells are separated by commas in this format, and here by {word}$"):
        first_cells(path)


def test_what_is_a_number() -> None:
    assert all(is_number(cell) for cell in (" 1", "-.5e-3", "+2.", "nan", "-inf"))
    assert not any(is_number(cell) for cell in ("", "1_0", "0x1", "e3", "1,5", "time"))
