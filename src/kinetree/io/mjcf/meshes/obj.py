"""OBJ files, with the meaning that MuJoCo gives them.

All vertices of the file count, but only the faces of its first object or group that has any. Numbers are rounded to 32
bits, polygons are cut into triangles by `polygons.py`. Materials are not read, and no other file is opened.
"""

from __future__ import annotations

import re
import warnings

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.io.document import shown
from kinetree.io.mjcf.meshes.polygons import triangulated
from kinetree.io.mjcf.meshes.triangles import Triangles, checked

__all__ = ["read_obj"]

_Indices = NDArray[np.int64]
_NEWLINE, _BLANKS = ord("\n"), (ord(" "), ord("\t"))
_COMMENT = re.compile(rb"#[^\n]*")
_REST_OF_CORNER = re.compile(rb"/[^ \t\n]*")
_NUMBERS = np.zeros(256, bool)
_NUMBERS[list(b"0123456789+-.eE \t\n")] = True


def read_obj(where: object, data: bytes) -> Triangles:
    """The vertices of an OBJ file and the triangles of its first object or group with faces."""
    if b"\0" in data:
        raise ModelError(f"{where}: the file contains null bytes; an OBJ file is text: is it another format?")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    lines = _Lines(where, data)
    vertices, _ = lines.numbers(lines.of(b"v"), np.float64)
    sizes = lines.sizes
    if (sizes < 3).any():
        raise ModelError(f"{where}: vertex {int(np.argmax(sizes < 3)) + 1} has fewer than three coordinates")
    if len(sizes):
        at = np.cumsum(sizes) - sizes
        vertices = (
            vertices.reshape(len(sizes), -1)[:, :3] if (sizes == sizes[0]).all() else vertices[at[:, None] + _XYZ]
        )
    with np.errstate(over="ignore"):
        points = vertices.reshape(-1, 3).astype(np.float32)
    faces = _faces(where, lines, points)
    return checked(where, points, faces)


_XYZ = np.arange(3)


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
        self.sizes: _Indices = np.zeros(0, np.int64)

    def of(self, word: bytes) -> _Indices:
        """The numbers of the lines that begin with a word of one letter."""
        return np.flatnonzero((self.letter == word[0]) & self.is_word)

    def numbers(self, lines: _Indices, kind: type[np.float64] | type[np.int64]) -> tuple[NDArray[np.float64], _Indices]:
        """The numbers of the given lines, one after the other; `sizes` is then how many each line has.

        Of a corner with several indices, such as 1/2/3, only the first is taken.
        """
        if not len(lines):
            self.sizes = np.zeros(0, np.int64)
            return np.zeros(0), self.sizes
        text = self._joined(lines)
        word = bytes([int(self.letter[lines[0]])])
        if b"#" in text and kind is np.float64:
            text = _COMMENT.sub(b"", text)
        if b"/" in text and kind is np.int64:
            text = _REST_OF_CORNER.sub(b"", text)
        if text.count(word) != len(lines):
            self._fail(lines, text, -1, f"a line begins with the letter {word.decode()}, and has numbers after it")
        text = text.replace(word, b" ")
        buffer = np.frombuffer(text, np.uint8)
        known = _NUMBERS[buffer]
        if not known.all():
            self._fail(lines, text, int(np.argmin(known)), "plain numbers with blanks between them are expected")
        is_blank = (buffer == _BLANKS[0]) | (buffer == _BLANKS[1]) | (buffer == _NEWLINE)
        tokens = np.flatnonzero(is_blank[:-1] & ~is_blank[1:])  # the first byte is the blank that the word became
        newlines = np.flatnonzero(buffer == _NEWLINE)
        self.sizes = np.diff(np.searchsorted(tokens, newlines), prepend=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # for text that is not a number; counted below
            try:
                values = np.fromstring(text, dtype=kind, sep=" ")
            except ValueError:
                values = np.zeros(0, kind)
        if len(values) != len(tokens):
            k = min(len(values), len(tokens) - 1)
            self._fail(lines, text, int(tokens[k]) + 1, "this is not a number")
        return values, self.sizes

    def _joined(self, lines: _Indices) -> bytes:
        """The given lines, each with its newline."""
        breaks = np.flatnonzero(np.diff(lines) != 1)
        begins = self.first[lines[np.concatenate(([0], breaks + 1))]].tolist()
        ends = self.ends[lines[np.concatenate((breaks, [len(lines) - 1]))]].tolist()
        data = self.data
        return b"\n".join([data[a:b] for a, b in zip(begins, ends, strict=True)]) + b"\n"

    def _fail(self, lines: _Indices, text: bytes, at: int, why: str) -> None:
        line = lines[text.count(b"\n", 0, at)] if at >= 0 else lines[0]
        content = self.data[self.first[line] : self.ends[line]][:80].decode("latin-1")
        raise ModelError(f"{self.where}:{int(line) + 1}: {shown(content)!r}: {why}")


def _faces(where: object, lines: _Lines, points: NDArray[np.float32]) -> _Indices:
    """The triangles of the first object or group with faces, or none."""
    faces = lines.of(b"f")
    corners, sizes = lines.numbers(faces, np.int64)
    index: _Indices = corners.astype(np.int64, copy=False)
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
