"""Arrays on disk in Zarr's format, version 3: each chunk is one file, written whole or not at all.

The part of the format that is used is small: numbers as they are in memory, one chunk per file, without compression,
since the digits of motions do not shrink. So kinetree needs no package to write and read them, and every package that
knows Zarr reads them. Source: https://zarr-specs.readthedocs.io/en/latest/v3/core/
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import TrajectoryFileError
from kinetree.files import open_regular, read_json, reason, write_file
from kinetree.inputs import whole_number
from kinetree.number_files.arrays import is_excessive

__all__ = ["StoredArray", "write_group"]

_ABOUT = "zarr.json"
_AXES = 32
"""Axes of an array, at most; NumPy has had no more than this for long."""
_PLAIN = 2**30
"""Bytes that rows may take in memory, however few of them are on disk."""
_FEW = 64
"""Number of chunks up to which each is looked for; of more, only existing ones are read."""
_DTYPES = ("float64", "float32", "int64", "int32", "uint8", "bool")


class StoredArray:
    """An array whose first axis is cut into chunks; missing chunks are NaN, zero or false."""

    def __init__(self, path: Path, root: Path | None = None) -> None:
        """`root` is the folder below which nothing is written through links; by default the one that `path` is in."""
        self.path = path
        self._root = root or path.parent
        try:
            about = read_json(path / _ABOUT)
            self.shape: tuple[int, ...] = _sizes(about["shape"], 0)
            self.chunk: int
            self.chunk, *others = _sizes(about["chunk_grid"]["configuration"]["chunk_shape"], 1)
            if not self.shape or others != _chunk_of_a_row(self.shape):
                raise ValueError(f"its chunks {(self.chunk, *others)} are not rows of its shape {self.shape}")
            self.dtype: np.dtype[Any] = np.dtype(_DTYPES[_DTYPES.index(about["data_type"])])
            self.unit: str = str(about["attributes"].get("units", ""))
        except (OSError, ValueError) as error:
            raise TrajectoryFileError(f"{path} holds no array that can be read: {reason(error)}") from None
        except (KeyError, TypeError, AttributeError):
            raise TrajectoryFileError(f"{path} holds no array that can be read: {_ABOUT} describes none") from None

    @classmethod
    def made(
        cls, path: Path, shape: Sequence[int], chunk: int, dtype: Any, axes: Sequence[str], unit: str = "",
        *, root: Path | None = None,
    ) -> StoredArray:  # fmt: skip
        """The array of that folder; it is begun if it is not there. Raises `TrajectoryFileError` if it is another."""
        if not (path / _ABOUT).exists():
            _write_json(path / _ABOUT, _about(shape, chunk, np.dtype(dtype), axes, unit), root or path.parent)
        array, expected = cls(path, root), (tuple(shape), chunk, np.dtype(dtype))
        if (array.shape, array.chunk, array.dtype) != expected:
            raise TrajectoryFileError(
                f"{path} holds an array {array.shape} of {array.dtype} in chunks of {array.chunk}, where one "
                f"{expected[0]} of {expected[2]} in chunks of {chunk} is to be written; take a new folder"
            )
        return array

    def write(self, number: int, rows: NDArray[Any]) -> None:
        """Write a chunk; the last one may have fewer rows, and is filled up."""
        whole = np.full((self.chunk, *self.shape[1:]), _fill(self.dtype), self.dtype.newbyteorder("<"))
        whole[: len(rows)] = rows
        write_file(self._place(number), lambda file: file.write(whole.data), within=self._root)

    def append(self, begin: int, rows: NDArray[Any]) -> None:
        """Write the rows that follow the first `begin`; a chunk that has some of those keeps them."""
        for number in range(begin // self.chunk, -(-(begin + len(rows)) // self.chunk)) if rows.size else ():
            first = number * self.chunk
            low = max(begin, first)
            self.write(number, np.concatenate([self.read(first, low), rows[low - begin : first + self.chunk - begin]]))

    def has(self, number: int) -> bool:
        """Whether a chunk is there."""
        return self._place(number).exists()

    def may_have(self, rows: int) -> bool:
        """Whether the files are large enough for so many rows."""
        row = math.prod(self.shape[1:]) * self.dtype.itemsize
        return rows * row <= self._size(self._there(range(-(-rows // self.chunk))))

    def read(self, begin: int, end: int) -> NDArray[Any]:
        """The rows from `begin` to `end`."""
        numbers = self._there(range(begin // self.chunk, -(-end // self.chunk)) if end > begin else range(0))
        result = self._nothing((max(end - begin, 0), *self.shape[1:]), numbers)
        for number in numbers:
            first = number * self.chunk
            low, high = max(begin, first), min(end, first + self.chunk)
            if (rows := self._chunk(number, low - first, high - first)) is not None:
                result[low - begin : high - begin] = rows
        return result

    def take(self, rows: NDArray[np.intp], axes: int = 0, some: NDArray[np.intp] | None = None) -> NDArray[Any]:
        """Some rows (K, …), which must exist, in any order; a chunk at a time is in memory.

        `some` are places that are wanted of each, counted through the `axes` axes after the first one: (K, m, …).
        """
        count, core = math.prod(self.shape[1 : axes + 1]), self.shape[axes + 1 :]
        where = rows // self.chunk
        numbers = sorted({*where.tolist()})
        result = self._nothing((len(rows), *(self.shape[1:] if some is None else (len(some), *core))), numbers)
        for number in numbers if result.size else ():
            there = np.flatnonzero(where == number)
            own = rows[there] - number * self.chunk
            low, high = int(own.min()), int(own.max()) + 1
            if (chunk := self._chunk(number, low, high)) is None:
                raise TrajectoryFileError(f"{self._place(number)} is missing")
            own -= low
            result[there] = chunk[own] if some is None else chunk.reshape(-1, count, *core)[np.ix_(own, some)]
        return result

    def _nothing(self, shape: tuple[int, ...], numbers: Collection[int]) -> NDArray[Any]:
        """Rows that are not there yet. Raises `TrajectoryFileError` if these chunks hardly fill them."""
        size = math.prod(shape) * self.dtype.itemsize
        if is_excessive(size, self._size(numbers), plain=_PLAIN):
            raise TrajectoryFileError(
                f"{self.path} would take {size / 2**30:,.1f} GiB, of which less than a hundredth is computed yet; read "
                "it later, or a part of it"
            )
        return np.full(shape, _fill(self.dtype), self.dtype)

    def _chunk(self, number: int, low: int, high: int) -> NDArray[Any] | None:
        """Some rows of a chunk; None if it is not there."""
        row = math.prod(self.shape[1:]) * self.dtype.itemsize
        try:
            with open_regular(self._place(number)) as file:
                if os.fstat(file.fileno()).st_size < high * row:
                    raise TrajectoryFileError(f"{self._place(number)} is cut off")
                file.seek(low * row)
                data = file.read((high - low) * row)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise TrajectoryFileError(f"{self._place(number)} cannot be read: {reason(error)}") from None
        return np.frombuffer(data, self.dtype.newbyteorder("<")).reshape(high - low, *self.shape[1:])

    def _there(self, numbers: Collection[int]) -> list[int]:
        """The chunks, of some, that may be on disk."""
        if len(numbers) <= _FEW:
            return [*numbers]
        there = self.path / "c"
        names = [name for name in os.listdir(there) if name.isdecimal()] if there.is_dir() else []
        return sorted(number for name in names if (number := int(name)) in numbers)

    def _size(self, numbers: Iterable[int]) -> int:
        """How many bytes of these chunks are on disk."""
        size = 0
        for number in numbers:
            with suppress(OSError):
                size += os.stat(self._place(number)).st_size
        return size

    def _place(self, number: int) -> Path:
        return self.path.joinpath("c", str(number), *("0" for _ in self.shape[1:]))


def _sizes(given: Any, least: int) -> tuple[int, ...]:
    """The lengths of axes. Raises `ValueError`."""
    sizes = [whole_number(x) for x in given] if isinstance(given, list) else [None]
    if any(n is None or not least <= n < 2**53 for n in sizes) or len(sizes) > _AXES:
        raise ValueError(f"{given!r:.60} are not the lengths of up to {_AXES} axes")
    return tuple(n for n in sizes if n is not None)


def write_group(path: Path, attributes: Mapping[str, Any]) -> None:
    """Describe a folder of arrays; those that are there now are listed in it, so that readers need not search."""
    members = {}
    for about in sorted(path.glob(f"*/{_ABOUT}")):
        try:
            members[about.parent.name] = read_json(about)
        except (OSError, ValueError) as error:
            raise TrajectoryFileError(f"{about} cannot be read: {reason(error)}") from None
    content: dict[str, Any] = {"zarr_format": 3, "node_type": "group", "attributes": dict(attributes)}
    if members:
        content["consolidated_metadata"] = {"kind": "inline", "must_understand": False, "metadata": members}
    _write_json(path / _ABOUT, content, path.parent)


def _about(shape: Sequence[int], chunk: int, dtype: np.dtype[Any], axes: Sequence[str], unit: str) -> dict[str, Any]:
    endian = {"configuration": {"endian": "little"}} if dtype.itemsize > 1 else {}
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [*shape],
        "data_type": _DTYPES[_DTYPES.index(dtype.name)],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [chunk, *_chunk_of_a_row(shape)]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": "NaN" if dtype.kind == "f" else False if dtype.kind == "b" else 0,
        "codecs": [{"name": "bytes", **endian}],
        "attributes": {"units": unit} if unit else {},
        "dimension_names": [*axes],
        "storage_transformers": [],
    }


def _chunk_of_a_row(shape: Sequence[int]) -> list[int]:
    """The lengths of a chunk after the first: all of a row, and in the format none is zero."""
    return [max(1, n) for n in shape[1:]]


def _fill(dtype: np.dtype[Any]) -> Any:
    return np.nan if dtype.kind == "f" else 0


def _write_json(path: Path, content: Mapping[str, Any], root: Path) -> None:
    write_file(path, lambda file: file.write(json.dumps(content, indent=1).encode()), within=root)
