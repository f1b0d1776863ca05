"""Tables of numbers as CSV: cells separated by commas, a row per line, optionally a first line of names.

Lines without any text are skipped; nothing else is. Errors name the line that cannot be read.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from kinetree.files import open_regular
from kinetree.inputs import repeated

__all__ = ["TableError", "check_names", "first_cells", "is_number", "table_numbers", "write_table"]

_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|nan|inf(?:inity)?)", re.IGNORECASE)


_LONGEST_LINE = 2**22
"""Characters; 100,000 columns of numbers with all digits have 2.5 · 10⁶."""


class TableError(ValueError):
    """A file that is not a table of numbers; the message has the line, after a colon, and no name of the file."""


def is_number(cell: str) -> bool:
    """Whether a cell is a decimal number, which may be infinite or NaN."""
    return _NUMBER.fullmatch(cell.strip()) is not None


def first_cells(path: Path) -> tuple[int, list[str]]:
    """The first line with text: its number, and its cells without spaces around them.

    Raises `TableError`, and `OSError` if the file cannot be opened.
    """
    for line, cells in _lines(path):
        others = [word for mark, word in ((";", "semicolons"), ("\t", "tabs")) if mark in cells[0]]
        if len(cells) == 1 and others:
            raise TableError(f":{line}: cells are separated by commas in this format, and here by {others[0]}")
        return line, [cell.strip() for cell in cells]
    raise TableError(": the file is empty")


def check_names(line: int, names: list[str]) -> None:
    """Raise a `TableError` if a column has the name of another one."""
    if (twice := repeated(names)) is not None:
        raise TableError(f":{line}: there are two columns {twice!r}")


def table_numbers(path: Path, width: int, *, after: int = 0, finite: bool = False) -> NDArray[np.float64]:
    """The numbers (rows, width) below line `after`.

    Raises `TableError` at the first line that has another number of cells, or a cell that is not a number, or not
    a finite one if they must be `finite`; and `OSError` if the file cannot be opened.
    """
    try:
        with _text(path) as file, warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="loadtxt: input contained no data")
            lines = (line for k, line in enumerate(_bounded(file)) if k >= after and line.strip())
            read = np.loadtxt(lines, np.float64, delimiter=",", ndmin=2, comments=None, quotechar='"')
    except ValueError:
        raise _first_fault(path, width, after, finite) from None
    if not read.size:
        read = read.reshape(0, width)
    if read.shape[1] != width or (finite and not np.isfinite(read).all()):
        raise _first_fault(path, width, after, finite)
    return read


def _first_fault(path: Path, width: int, after: int, finite: bool) -> TableError:
    kind = "a finite number" if finite else "a number"
    for line, cells in _lines(path, after):
        if len(cells) != width:
            return TableError(f":{line}: {len(cells)} cells in this line, but {width} are expected")
        for cell in cells:
            if not cell.strip():
                return TableError(f":{line}: an empty cell, where a number is missing")
            if not is_number(cell) or (finite and not isfinite(float(cell))):
                return TableError(f":{line}: {cell.strip()!r} is not {kind}")
    return TableError(": the file is not a table of numbers")


def _lines(path: Path, after: int = 0) -> Iterator[tuple[int, list[str]]]:
    """The number and the cells of each line with text."""
    with _text(path) as file:
        reader = csv.reader(_bounded(file))
        for cells in reader:
            if reader.line_num > after and (len(cells) > 1 or any(cell.strip() for cell in cells)):
                yield reader.line_num, cells


def _bounded(file: TextIOWrapper) -> Iterator[str]:
    """The lines of a file; an error if one is too long for a table."""
    number = 0
    while line := file.readline(_LONGEST_LINE + 1):
        number += 1
        if len(line) > _LONGEST_LINE:
            raise TableError(f":{number}: this line has more than {_LONGEST_LINE:,} characters; is the file a table?")
        yield line


@contextmanager
def _text(path: Path) -> Iterator[TextIOWrapper]:
    try:
        with TextIOWrapper(open_regular(path), newline="", encoding="utf-8-sig") as file:
            yield file
    except (UnicodeDecodeError, csv.Error) as error:
        raise TableError(f": this is not CSV text: {error}") from None


def write_table(file: BinaryIO, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write a line of names and a line per row, with as many digits as make the same 64-bit numbers again."""
    text = TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    csv.writer(text, lineterminator="\n").writerow(columns)
    np.savetxt(
        text, np.column_stack([np.asarray(x, dtype=np.float64) for x in columns.values()]), fmt="%s", delimiter=","
    )
    text.detach()
