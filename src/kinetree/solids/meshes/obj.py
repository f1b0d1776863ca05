"""OBJ files, with the meaning that MuJoCo gives them.

All vertices of the file count, but only the faces of its first object or group that has any. Numbers are rounded to 32
bits, polygons are cut into triangles by `polygons.py`. Materials are not read, and no other file is opened.
"""

from __future__ import annotations

import re
import warnings
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.solids.meshes.polygons import triangulated
from kinetree.solids.meshes.triangles import MAX_FACES, Triangles, check_size, checked

__all__ = ["read_obj"]

_Indices = NDArray[np.int64]
_NEWLINE, _BLANKS = ord("\n"), (ord(" "), ord("\t"))
_COMMENT = re.compile(rb"#[^\n]*")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NUMBERS = np.zeros(256, bool)
_NUMBERS[list(b"0123456789+-.eE \t\n")] = True
_AFTER_INDEX = np.zeros(256, bool)
_AFTER_INDEX[list(b"/ \t\n")] = True
_MOST_DIGITS, _MOST_NUMBERS = 9, 8
_MOST_LINES, _MOST_CORNERS = 5_000_000, 4 * MAX_FACES


def read_obj(where: object, data: bytes) -> Triangles:
    """The vertices of an OBJ file and the triangles of its first object or group with faces."""
    if b"\0" in data:
        raise ModelError(f"{where}: the file contains null bytes; an OBJ file is text: is it another format?")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    count = data.count(b"\n")
    if count > _MOST_LINES:
        raise ModelError(f"{where}: the file has {count:,} lines; the limit is {_MOST_LINES:,}: simplify the mesh")
    lines = _Lines(where, data)
    check_size(where, len(lines.of(b"v")), len(lines.of(b"f")))
    points = np.zeros((0, 3), np.float32)
    if len(lines.of(b"v")):
        vertices, sizes = lines.numbers(lines.of(b"v"))
        if (sizes < 3).any():
            raise ModelError(f"{where}: vertex {int(np.argmax(sizes < 3)) + 1} has fewer than three coordinates")
        at = np.cumsum(sizes) - sizes
        with np.errstate(over="ignore"):
            points = vertices[at[:, None] + np.arange(3)].astype(np.float32)
    return checked(where, points, *_faces(where, lines, points))


class _Lines:
    """Where the lines of a file begin, and what they are."""

    def __init__(self, where: object, data: bytes) -> None:
        self.where = where
        self.data = data
        buffer = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(buffer == _NEWLINE)
        if len(buffer) and buffer[-1] != _NEWLINE:
            ends = np.append(ends, len(buffer))
        starts = np.concatenate(([0], ends[:-1] + 1))[: len(ends)]
        first = starts
        if np.isin(buffer[np.minimum(starts, len(buffer) - 1)], _BLANKS).any():
            letters = np.append(np.flatnonzero((buffer != _BLANKS[0]) & (buffer != _BLANKS[1])), len(buffer))
            first = np.minimum(letters[np.searchsorted(letters, starts)], ends)
        padded = np.append(buffer, np.full(2, _NEWLINE, np.uint8))
        self.letter = padded[first]
        self.is_word = np.isin(padded[first + 1], _BLANKS)
        self.first = first
        self.ends = ends

    def of(self, word: bytes) -> _Indices:
        """The numbers of the lines that begin with a word of one letter."""
        return np.flatnonzero((self.letter == word[0]) & self.is_word)

    def numbers(self, lines: _Indices) -> tuple[NDArray[np.float64], _Indices]:
        """The numbers of the given lines, one after the other, and how many each line has."""
        text = self._joined(lines, b"v")
        buffer = np.frombuffer(text, np.uint8)
        known = _NUMBERS[buffer]
        if not known.all():
            line = lines[text.count(b"\n", 0, int(np.argmin(known)))]
            self._fail(line, "plain numbers with blanks between them are expected")
        starts, sizes = _words(buffer)
        if sizes.max() > _MOST_NUMBERS:
            line = lines[int(sizes.argmax())]
            self._fail(line, f"a vertex has {sizes.max():,} numbers; three to {_MOST_NUMBERS} are expected")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # for text that is not a number; counted below
            try:
                values = np.fromstring(text, dtype=np.float64, sep=" ")
            except ValueError:
                values = np.zeros(0)
        if len(values) != len(starts):
            word = next((k for k, word in enumerate(text.split()) if not _NUMBER.fullmatch(word)), 0)
            self._fail(lines[int(np.searchsorted(np.cumsum(sizes), word, side="right"))], "this is not a number")
        return values, sizes

    def indices(self, lines: _Indices) -> tuple[_Indices, _Indices]:
        """The indices of vertices in the given lines of faces, one after the other, and how many each line has.

        Of a corner with several indices, such as 1/2/3, only the first is read.
        """
        buffer = np.frombuffer(self._joined(lines, b"f") + b"\n", np.uint8)
        starts, sizes = _words(buffer[:-1])
        if len(starts) > _MOST_CORNERS:
            raise ModelError(
                f"{self.where}: its faces have {len(starts):,} corners; the limit is {_MOST_CORNERS:,}: simplify it"
            )
        negative = buffer[starts] == ord("-")
        at = starts + (negative | (buffer[starts] == ord("+")))
        values = np.zeros(len(starts), np.int64)
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
        if wrong.any():
            line = lines[int(np.searchsorted(np.cumsum(sizes), int(np.argmax(wrong)), side="right"))]
            self._fail(line, "corners are written as whole numbers, such as 1 or 1/2/3")
        return np.where(negative, -values, values), sizes

    def _joined(self, lines: _Indices, word: bytes) -> bytes:
        """The given lines, each with its newline, and with a blank in place of the word that they begin with."""
        breaks = np.flatnonzero(np.diff(lines) != 1)
        begins = self.first[lines[np.concatenate(([0], breaks + 1))]].tolist()
        ends = self.ends[lines[np.concatenate((breaks, [len(lines) - 1]))]].tolist()
        data = self.data
        text = b"\n".join([data[a:b] for a, b in zip(begins, ends, strict=True)]) + b"\n"
        if word == b"v" and b"#" in text:
            text = _COMMENT.sub(b"", text)
        if text.count(word) != len(lines):
            row = next(k for k, line in enumerate(text.split(b"\n")) if line.count(word) > 1)
            self._fail(lines[row], f"after the letter {word.decode()} follow numbers")
        return text.replace(word, b" ")

    def _fail(self, line: int, why: str) -> NoReturn:
        content = self.data[self.first[line] : self.ends[line]][:60].decode("latin-1")
        raise ModelError(f"{self.where}:{int(line) + 1}: {content!r}: {why}")


def _words(buffer: NDArray[np.uint8]) -> tuple[_Indices, _Indices]:
    """Where the words of a text begin, which itself begins with a blank, and how many each of its lines has."""
    is_blank = (buffer == _BLANKS[0]) | (buffer == _BLANKS[1]) | (buffer == _NEWLINE)
    starts = np.flatnonzero(is_blank[:-1] & ~is_blank[1:]) + 1
    return starts, np.diff(np.searchsorted(starts, np.flatnonzero(buffer == _NEWLINE)), prepend=0)


def _faces(where: object, lines: _Lines, points: NDArray[np.float32]) -> tuple[_Indices, int]:
    """The triangles of the first object or group with faces, or none, and how many are left out."""
    faces = lines.of(b"f")
    if not len(faces):
        return np.zeros((0, 3), np.int64), 0
    index, sizes = lines.indices(faces)
    if (index == 0).any():
        line = faces[int(np.searchsorted(np.cumsum(sizes), int(np.argmax(index == 0)), side="right"))]
        raise ModelError(f"{where}:{int(line) + 1}: a face has the vertex 0; vertices are numbered from 1")
    groups, objects = lines.of(b"g"), lines.of(b"o")
    polygons = faces[sizes >= 3]
    edges = np.sort(np.concatenate((groups, objects)))
    end = len(lines.ends)
    if len(polygons):
        after = edges[edges > polygons[0]]
        end = int(after[0]) if len(after) else end
    _check_first(where, lines, objects[objects < (polygons[0] if len(polygons) else end)])
    chosen = (faces < end) & (sizes >= 3)
    if (index < 0).any():
        before = np.searchsorted(lines.of(b"v"), faces)  # negative indices count back from the last vertex read
        index = np.where(index < 0, index + np.repeat(before, sizes), index - 1)
    else:
        index = index - 1
    index, sizes = index[np.repeat(chosen, sizes)], sizes[chosen]
    known = int(np.searchsorted(lines.of(b"v"), end))
    bad = (index < 0) | (index >= len(points))
    if known < len(points):  # MuJoCo leaves polygons out if they come before their vertices
        bad |= (index >= known) & np.repeat(sizes > 3, sizes)
    if bad.any():
        line = faces[chosen][int(np.searchsorted(np.cumsum(sizes), int(np.argmax(bad)), side="right"))]
        raise ModelError(
            f"{where}:{int(line) + 1}: a face has a vertex that does not exist, or comes after the face's object; the "
            f"file has {len(points)} vertices"
        )
    return triangulated(where, points, index, sizes)


def _check_first(where: object, lines: _Lines, objects: _Indices) -> None:
    """Refuse an object of lines before the first one with faces: MuJoCo would take it for the mesh."""
    if not len(objects):
        return
    for letter in (b"l", b"p"):
        found = lines.of(letter)
        found = found[found < objects[-1]]
        if len(found):
            raise ModelError(
                f"{where}:{int(found[0]) + 1}: the first object of the file has "
                f"{'lines' if letter == b'l' else 'points'} and no faces, and MuJoCo uses only the first; remove it"
            )
