"""OBJ files: their lines, and the mesh that MuJoCo makes of them.

`ObjFile` finds lines by their first word and reads their numbers, for inertias and for pictures alike. For MuJoCo, all
vertices of the file count, but only the faces of its first object or group that has any; numbers are rounded to 32
bits, polygons are cut into triangles by `polygons.py`. Materials are not read here, and no other file is opened.
"""

from __future__ import annotations

import re
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.records import record
from kinetree.solids.meshes.numbers import numbers_in
from kinetree.solids.meshes.polygons import triangulated
from kinetree.solids.meshes.triangles import MAX_FACES, Triangles, check_size, checked

__all__ = ["Faces", "ObjFile", "read_obj"]

_Floats = NDArray[np.float64]
_Indices = NDArray[np.int64]
_NEWLINE, _BLANKS = ord("\n"), (ord(" "), ord("\t"))
_INDENT = re.compile(rb"^[ \t]+", re.MULTILINE)
_COMMENT = re.compile(rb"#[^\n]*")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NUMBERS = np.zeros(256, bool)
_NUMBERS[list(b"0123456789+-.eE \t\n")] = True
_AFTER_INDEX = np.zeros(256, bool)
_AFTER_INDEX[list(b"/ \t\n")] = True
_TABLES = (b"v", b"vt", b"vn")
"""The tables of a corner's first, second and third index."""
_LONGEST_WORD = 8
_MOST_DIGITS, _MOST_NUMBERS = 9, 8
_NO_INTEGER = np.iinfo(np.int64).min
_MOST_LINES, _MOST_CORNERS = 5_000_000, 4 * MAX_FACES


@record(frozen=True, slots=True, eq=False)
class Faces:
    """The faces of at least three corners."""

    lines: _Indices
    """(m,) the number of the line of each."""
    sizes: _Indices
    """(m,) how many corners each has."""
    corners: _Indices
    """(c, k) the rows of `v`, and of `vt` and `vn` if they were asked for, of all corners; -1 for none."""
    end: int
    """The line after the first object or group with faces."""


def read_obj(where: object, data: bytes) -> Triangles:
    """The vertices of an OBJ file and the triangles of its first object or group with faces."""
    count = data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
    if count > _MOST_LINES:
        raise ModelError(f"{where}: the file has {count:,} lines; the limit is {_MOST_LINES:,}: simplify the mesh")
    file = ObjFile(where, data)
    check_size(where, len(file.of(b"v")), len(file.of(b"f")))
    with np.errstate(over="ignore"):
        points = file.table(b"v", 3).astype(np.float32)
    faces = file.faces(first_only=True, most_corners=_MOST_CORNERS)
    if len(file.of(b"f")):
        file.check_first_object(int(faces.lines[0]) if len(faces.lines) else faces.end)
    index = faces.corners[:, 0]
    bad = (index < 0) | (index >= len(points))
    points_before = int(np.searchsorted(file.of(b"v"), faces.end))
    if points_before < len(points):  # MuJoCo leaves polygons out if they come before their vertices
        bad |= (index >= points_before) & np.repeat(faces.sizes > 3, faces.sizes)
    file.refuse(
        bad,
        faces.lines,
        faces.sizes,
        f"a face has a vertex that does not exist, or comes after the face's object; the file has {len(points)} "
        "vertices",
    )
    return checked(where, points, *triangulated(where, points, index, faces.sizes))


class ObjFile:
    """The beginnings of a file's lines, and their kinds."""

    def __init__(self, where: object, data: bytes) -> None:
        if b"\0" in data:
            raise ModelError(f"{where}: the file contains null bytes; an OBJ file is text: is it another format?")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self.where = where
        self._data = data
        buffer = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(buffer == _NEWLINE)
        if len(buffer) and buffer[-1] != _NEWLINE:
            ends = np.append(ends, len(buffer))
        first = np.concatenate(([0], ends[:-1] + 1))[: len(ends)]
        is_indented = np.isin(buffer[first], _BLANKS)
        if is_indented.any():
            first[is_indented] = [blanks.end() for blanks in _INDENT.finditer(data)]
        self._padded = np.append(buffer, np.full(_LONGEST_WORD, _NEWLINE, np.uint8))
        self._letter = self._padded[first]
        self._first, self._ends = first, ends
        self._of: dict[bytes, _Indices] = {}

    def of(self, word: bytes) -> _Indices:
        """The numbers of the lines that begin with a word, after which a blank follows."""
        if word not in self._of:
            lines = np.flatnonzero(self._letter == word[0])
            for k, letter in enumerate(word[1:], 1):
                lines = lines[self._padded[self._first[lines] + k] == letter]
            self._of[word] = lines[np.isin(self._padded[self._first[lines] + len(word)], _BLANKS)]
        return self._of[word]

    def rest(self, line: int, word: bytes) -> bytes:
        """The rest of a line after its first word."""
        return self._data[self._first[line] + len(word) : self._ends[line]].strip()

    def table(self, word: bytes, width: int) -> _Floats:
        """The first numbers of all lines of a word, (n, width); zeros where a line has fewer.

        Vertices have at least three numbers; if all have six, these are coordinates and colours, and 6 may be asked
        for. Else their coordinates are returned, (n, 3). Numbers of other tables may also be infinite or none.
        """
        lines = self.of(word)
        if not len(lines):
            return np.zeros((0, width))
        values, sizes = self._numbers(lines, word)
        if word == b"v":
            if (sizes < 3).any():
                raise ModelError(
                    f"{self.where}: vertex {int(np.argmax(sizes < 3)) + 1} has fewer than three coordinates"
                )
            width = width if (sizes >= width).all() else 3
        at = np.cumsum(sizes) - sizes
        table: _Floats = np.append(values, np.zeros(width))[at[:, None] + np.arange(width)]
        table[np.arange(width) >= sizes[:, None]] = 0.0
        return table

    def faces(self, columns: int = 1, *, first_only: bool, most_corners: int | None = None) -> Faces:
        """The faces of at least three corners.

        Args:
            columns: how many indices of each corner are read; further ones are ignored.
            first_only: whether only those of the first object or group with such faces count.
            most_corners: how many corners all faces may have together.
        """
        faces, end = self.of(b"f"), len(self._ends)
        if not len(faces):
            return Faces(faces, faces, np.zeros((0, columns), np.int64), end)
        corners, sizes = self._corners(faces, columns, most_corners)
        is_face = sizes >= 3
        if first_only and is_face.any():
            edges = np.concatenate((self.of(b"g"), self.of(b"o")))
            end = int(edges[edges > faces[is_face][0]].min(initial=end))
            is_face &= faces < end
        return Faces(faces[is_face], sizes[is_face], corners[np.repeat(is_face, sizes)], end)

    def check_first_object(self, face: int) -> None:
        """Reject an object of lines before the first face: MuJoCo would take it for the mesh."""
        objects = self.of(b"o")
        objects = objects[objects < face]
        for word, what in ((b"l", "lines"), (b"p", "points")) if len(objects) else ():
            lines = self.of(word)
            lines = lines[lines < objects[-1]]
            if len(lines):
                self._fail(
                    lines[0],
                    f"the first object of the file has {what} and no faces, and MuJoCo uses only the first; remove it",
                )

    def refuse(self, bad: NDArray[np.bool_], lines: _Indices, sizes: _Indices, why: str) -> None:
        """Raise for the first of the words that are bad; the lines have so many each."""
        if bad.any():
            self._fail(lines[int(np.searchsorted(np.cumsum(sizes), int(np.argmax(bad)), side="right"))], why)

    def _numbers(self, lines: _Indices, word: bytes) -> tuple[_Floats, _Indices]:
        """The numbers of the given lines, one after the other, and how many each line has."""
        text = self._joined(lines, word)
        buffer = np.frombuffer(text, np.uint8)
        is_plain = _NUMBERS[buffer]
        if not is_plain.all() and word == b"v":
            line = lines[text.count(b"\n", 0, int(np.argmin(is_plain)))]
            self._fail(line, "plain numbers with blanks between them are expected")
        starts, sizes = _words(buffer)
        if sizes.max() > _MOST_NUMBERS:
            line = lines[int(sizes.argmax())]
            self._fail(line, f"a vertex has {sizes.max():,} numbers; three to {_MOST_NUMBERS} are expected")
        try:
            values = numbers_in(self.where, text)
        except ModelError:  # the line is named below
            values = np.zeros(0)
        if len(values) != len(starts):
            k = next((k for k, word in enumerate(text.split()) if not _NUMBER.fullmatch(word)), 0)
            self._fail(lines[int(np.searchsorted(np.cumsum(sizes), k, side="right"))], "this is not a number")
        return values, sizes

    def _corners(self, lines: _Indices, columns: int, most: int | None) -> tuple[_Indices, _Indices]:
        """The corners of the given faces, as those of `Faces`, and how many each face has."""
        buffer = np.frombuffer(self._joined(lines, b"f") + b"\n", np.uint8)
        starts, sizes = _words(buffer[:-1])
        if most is not None and len(starts) > most:
            raise ModelError(
                f"{self.where}: its faces have {len(starts):,} corners; the limit is {most:,}: simplify it"
            )
        corners, at = np.empty((len(starts), columns), np.int64), starts
        for k, word in enumerate(_TABLES[:columns]):
            if k:
                at = at + (buffer[at] == ord("/"))
            is_none = _AFTER_INDEX[buffer[at]]
            values, at = _integers(buffer, at)
            wrong = values == _NO_INTEGER
            if k:
                wrong &= ~is_none
                values[is_none] = 0
            self.refuse(wrong, lines, sizes, "corners are written as whole numbers, such as 1 or 1/2/3")
            if not k:
                self.refuse(values == 0, lines, sizes, "a face has the vertex 0; vertices are numbered from 1")
            if (values < 0).any():
                before = np.searchsorted(self.of(word), lines)  # negative indices count back from the last one read
                values = np.where(values < 0, values + np.repeat(before, sizes), values - 1)
            else:
                values -= 1
            corners[:, k] = values
        return corners, sizes

    def _joined(self, lines: _Indices, word: bytes) -> bytes:
        """The given lines, each with its newline, and with a blank in place of the word that they begin with."""
        breaks = np.flatnonzero(np.diff(lines) != 1)
        begins = self._first[lines[np.concatenate(([0], breaks + 1))]].tolist()
        ends = self._ends[lines[np.concatenate((breaks, [len(lines) - 1]))]].tolist()
        data = self._data
        text = b"\n".join([data[a:b] for a, b in zip(begins, ends, strict=True)]) + b"\n"
        if word != b"f" and b"#" in text:
            text = _COMMENT.sub(b"", text)
        if text.count(word) != len(lines):
            row = next(k for k, line in enumerate(text.split(b"\n")) if line.count(word) > 1)
            self._fail(lines[row], f"numbers are expected after {word.decode()!r}")
        return text.replace(word, b" ")

    def _fail(self, line: int, why: str) -> NoReturn:
        content = self._data[self._first[line] : self._ends[line]][:60].decode("latin-1")
        raise ModelError(f"{self.where}:{int(line) + 1}: {content!r}: {why}")


def _words(buffer: NDArray[np.uint8]) -> tuple[_Indices, _Indices]:
    """Where the words of a text begin, which itself begins with a blank, and how many each of its lines has."""
    is_blank = (buffer == _BLANKS[0]) | (buffer == _BLANKS[1]) | (buffer == _NEWLINE)
    starts = np.flatnonzero(is_blank[:-1] & ~is_blank[1:]) + 1
    return starts, np.diff(np.searchsorted(starts, np.flatnonzero(buffer == _NEWLINE)), prepend=0)


def _integers(buffer: NDArray[np.uint8], at: _Indices) -> tuple[_Indices, _Indices]:
    """The whole number at each place, `_NO_INTEGER` if there is something else, and where it ends."""
    negative = buffer[at] == ord("-")
    at = at + (negative | (buffer[at] == ord("+")))
    values = np.zeros(len(at), np.int64)
    digits = buffer[at] - np.uint8(ord("0"))
    wrong = digits > 9
    for _ in range(_MOST_DIGITS):
        more = digits <= 9
        if not more.any():
            break
        values = np.where(more, values * 10 + digits, values)
        at += more
        digits = np.where(more, buffer[at] - np.uint8(ord("0")), digits)
    wrong |= (digits <= 9) | ~_AFTER_INDEX[buffer[at]]
    return np.where(wrong, _NO_INTEGER, np.where(negative, -values, values)), at
