"""STL files, binary and text: triangles without colours."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance.formats.piece import Piece, numbers_in
from kinetree.appearance.welding import mixed, welded
from kinetree.errors import ModelError

__all__ = ["read_stl"]

_HEADER, _RECORD = 84, 50
_MANY = 2_000_000
"""Triangles from which corners in the same cell of a grid become one, so that memory suffices."""
_CELLS = 320
_AT_ONCE = 500_000
_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_VERTEX = re.compile(rb"vertex\s+(\S+\s+\S+\s+\S+)")


def read_stl(where: object, data: bytes) -> list[Piece]:
    """The triangles of an STL file; what follows the last triangle is not looked at."""
    count = int.from_bytes(data[80:_HEADER], "little")
    if len(data) >= _HEADER + _RECORD * count and count:
        facets = np.frombuffer(data, _FACET, count, _HEADER)
        if count > _MANY:
            return [_coarse(facets)]
        corners = np.ascontiguousarray(facets["corners"]).reshape(-1, 3)
    elif data[:512].lstrip().lower().startswith(b"solid"):
        found = _VERTEX.findall(data.lower())
        corners = numbers_in(where, b" ".join(found)).astype(np.float32).reshape(-1, 3)
        if len(corners) % 3:
            raise ModelError(f"{where}: {len(corners)} corners do not make triangles; is the file cut off?")
    else:
        announced = f"its header announces {count:,} triangles" if len(data) >= _HEADER else "it ends in its header"
        raise ModelError(f"{where}: this is not an STL file: {announced}, and it is {len(data):,} bytes long")
    first, place = welded(corners)
    return [Piece(corners[first].astype(np.float64), place.reshape(-1, 3))]


def _coarse(facets: NDArray[Any]) -> Piece:
    """The triangles whose corners are in three cells of a grid, one of each kind; a cell's vertex is its middle."""
    parts = [facets["corners"][k : k + _AT_ONCE] for k in range(0, len(facets), _AT_ONCE)]
    with np.errstate(all="ignore"):
        low = np.min([part.min(axis=(0, 1)) for part in parts], axis=0).astype(np.float64)
        high = np.max([part.max(axis=(0, 1)) for part in parts], axis=0).astype(np.float64)
    size = float((high - low).max()) or 1.0
    kept = []
    for part in parts:
        cell = np.clip((part - low) * (_CELLS / size), 0, _CELLS - 1).astype(np.int64)
        key = (cell[..., 0] * _CELLS + cell[..., 1]) * _CELLS + cell[..., 2]
        first = key.argmin(axis=1)[:, None]
        key = np.take_along_axis(key, (first + np.arange(3)) % 3, axis=1)  # the same order for each that is the same
        key = key[(key[:, 0] != key[:, 1]) & (key[:, 1] != key[:, 2]) & (key[:, 2] != key[:, 0])]
        kept.append(key[_first_of_each(key)])
    found = np.concatenate(kept)
    found = found[_first_of_each(found)]
    cells, faces = np.unique(found, return_inverse=True)
    middles = np.stack([cells // _CELLS**2, cells // _CELLS % _CELLS, cells % _CELLS], axis=1) + 0.5
    return Piece(low + middles * (size / _CELLS), faces.reshape(-1, 3), left_out=len(facets) - len(found))


def _first_of_each(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each row (n, 3) of cells occurs first; two with the same mixture, which is unlikely, count as one."""
    return np.unique(mixed(rows), return_index=True)[1]
