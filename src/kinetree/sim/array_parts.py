"""Rows of an array of a batch of motions in an archive, read without the rest of it."""

from __future__ import annotations

import math
import zipfile
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from kinetree.number_files.arrays import ArrayFileError, Header, damage_reported
from kinetree.sim.member_parts import MemberParts

__all__ = ["ArrayParts"]

_GAP = 2**16
"""Bytes between two rows up to which they are read together."""
_SPAN = 2**22
"""Bytes that are read together at most, unless one row has more."""


class ArrayParts:
    """An array (*shape, T, *core) of a member of an archive."""

    def __init__(self, name: str, header: Header, axes: int, file: BinaryIO, info: zipfile.ZipInfo) -> None:
        """`axes`: how many axes the batch has. Raises `ArrayFileError`."""
        self._name, self._header = name, header
        self._count, self.core = header.shape[axes], header.shape[axes + 1 :]
        with damage_reported(repr(name)):
            self._parts = MemberParts(file, info)

    def read(self, file: BinaryIO, samples: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[Any]:
        """Some rows of some motions (m, K, *core), each from 0 on and in any order. Raises `ArrayFileError`.

        The member is read from its beginning to its end, whatever the order of the samples and rows.
        """
        if self._header.fortran_order:
            raise ArrayFileError(f"{self._name!r} is in it column by column; kt.Trajectory.load reads it as a whole")
        found = np.empty((len(samples), len(rows), *self.core), self._header.dtype.newbyteorder("="))
        if found.size:
            own, back = np.unique(rows, return_inverse=True)
            with damage_reported(repr(self._name)):
                for k in np.argsort(samples, kind="stable"):
                    found[k] = self._rows(file, int(samples[k]), own)[back]
        return found

    def _rows(self, file: BinaryIO, sample: int, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Rows of a motion, which increase, (K, *core)."""
        size = math.prod(self.core) * self._header.dtype.itemsize
        found = np.empty((len(rows), *self.core), self._header.dtype)
        for begin, end in _together(rows * size, size):
            first, last = int(rows[begin]), int(rows[end - 1])
            place = self._header.size + (sample * self._count + first) * size
            piece = self._parts.read(file, place, place + (last + 1 - first) * size).view(self._header.dtype)
            found[begin:end] = piece.reshape(last + 1 - first, *self.core)[rows[begin:end] - first]
        return found


def _together(places: NDArray[np.intp], size: int) -> list[tuple[int, int]]:
    """Which rows (begin, end) are read together, of rows of `size` bytes at increasing places."""
    found: list[tuple[int, int]] = []
    begin = 0
    for k in range(1, len(places) + 1):
        if k == len(places) or places[k] - places[k - 1] > _GAP + size or places[k] + size - places[begin] > _SPAN:
            found.append((begin, k))
            begin = k
    return found
