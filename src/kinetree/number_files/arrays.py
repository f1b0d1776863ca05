"""NumPy's files, read with suspicion: shapes, types and sizes are known before anything is unpacked.

`numpy.load` allocates as much as a file claims to hold, and lets errors of zipfile and zlib at damaged ones through.
Here only the wanted members of an archive are looked at, and every member that is not an array is an `ArrayFileError`.
"""

from __future__ import annotations

import io
import math
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.files import open_regular, reason

__all__ = [
    "ArrayFileError",
    "ArrayReader",
    "Header",
    "is_excessive",
    "opened_archive",
    "opened_array",
]

_PLAIN = 64 * 2**20
"""Bytes that any file may unpack to."""
_RATIO = 100
"""How many times its own size a file may unpack to beyond that; the numbers of a motion shrink to a third or so."""
_LONGEST_HEADER = 2**14
_CHUNK = 2**20
_DAMAGED = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError, OSError, RuntimeError, OverflowError,
    MemoryError, SyntaxError, tokenize.TokenError, struct.error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""Errors of zipfile, zlib and NumPy at files that are damaged or packed in unknown ways."""


class ArrayFileError(ValueError):
    """A file that does not hold the arrays it should; the message says why, without the file's name."""


class Header(NamedTuple):
    """A description of an array, without its numbers."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran_order: bool
    size: int
    """Bytes before the numbers."""

    @property
    def nbytes(self) -> int:
        """Bytes of the numbers."""
        return math.prod(self.shape) * self.dtype.itemsize


class ArrayReader:
    """Arrays in a file: their headers, and each of them on request."""

    def __init__(self, headers: dict[str, Header], open_stream: Callable[[str], AbstractContextManager[Any]]) -> None:
        self.headers = headers
        self._open = open_stream

    def read(self, name: str) -> NDArray[Any]:
        """One of the arrays."""
        header = self.headers[name]
        data = np.empty(header.nbytes, np.uint8)
        with _damage_reported(repr(name)), self._open(name) as stream:
            stream.read(header.size)
            for begin in range(0, len(data), _CHUNK):
                room = data[begin : begin + _CHUNK]
                piece = stream.read(len(room))
                if len(piece) < len(room):
                    raise ArrayFileError(f"{name!r} is cut off")
                room[:] = np.frombuffer(piece, np.uint8)
        order: Literal["F", "C"] = "F" if header.fortran_order else "C"
        return np.ndarray(header.shape, header.dtype, buffer=data, order=order)


@contextmanager
def opened_archive(path: Path, names: Sequence[str], prefix: str | None = None) -> Iterator[ArrayReader]:
    """Look into an .npz file; the arrays `names`, and all whose names begin with a prefix, can be read in the block.

    Raises `ArrayFileError`, and `OSError` if the file cannot be opened.
    """
    with open_regular(path) as file:
        with _damage_reported("the file"):
            if not zipfile.is_zipfile(file):
                raise ArrayFileError("it is no .npz archive")
            archive = zipfile.ZipFile(file)
        with archive:
            if prefix is not None:
                names = [*names, *_beginning_with(archive, prefix)]
            members = {name: info for name in names if (info := _member(archive, name)) is not None}
            headers = {}
            for name, info in members.items():
                with _damage_reported(repr(name)), archive.open(info) as stream:
                    headers[name] = _header(name, stream, info.file_size)
            unpacked = sum(header.nbytes for header in headers.values())
            if is_excessive(unpacked, os.fstat(file.fileno()).st_size):
                raise ArrayFileError(
                    f"it unpacks to {unpacked / 2**20:,.0f} MiB, more than {_RATIO} times its own size; if that is "
                    "meant, write it without compression (numpy.savez)"
                )
            yield ArrayReader(headers, lambda name: archive.open(members[name]))


@contextmanager
def opened_array(path: Path, name: str) -> Iterator[ArrayReader]:
    """Look into an .npy file; its array can be read by `name` inside the block.

    Raises `ArrayFileError`, and `OSError` if the file cannot be opened.
    """
    with open_regular(path) as file:
        with _damage_reported("the file"):
            header = _header(name, file, os.fstat(file.fileno()).st_size)
        file.seek(0)
        yield ArrayReader({name: header}, lambda _: nullcontext(file))


def is_excessive(unpacked: int, packed: int, plain: int | None = None) -> bool:
    """Whether a file of `packed` bytes holds so much more when unpacked that it is not read; never below `plain`."""
    return unpacked > (_PLAIN if plain is None else plain) and unpacked > _RATIO * packed


def _beginning_with(archive: zipfile.ZipFile, prefix: str) -> list[str]:
    stems = (info.filename.removesuffix(".npy") for info in archive.infolist() if info.filename.endswith(".npy"))
    return [stem for stem in dict.fromkeys(stems) if stem.startswith(prefix)]


def _member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo | None:
    members = [info for info in archive.infolist() if info.filename == f"{name}.npy"]
    if len(members) > 1:
        raise ArrayFileError(f"{name!r} is in it {len(members)} times")
    for info in members:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArrayFileError(f"{name!r} is packed by a method that NumPy does not use")
    return members[0] if members else None


def _header(name: str, stream: Any, size: int) -> Header:
    """The header at the beginning of a stream of `size` bytes, if the numbers behind it fill the rest."""
    start = stream.read(8)
    width = {b"\x93NUMPY\x01\x00": 2, b"\x93NUMPY\x02\x00": 4}.get(start)
    if width is None:
        raise ArrayFileError(f"{name!r} is not a NumPy array")
    length = stream.read(width)
    count = int.from_bytes(length, "little")
    if count > _LONGEST_HEADER:
        raise ArrayFileError(f"the header of {name!r} has {count:,} bytes")
    text = stream.read(count)
    read = np.lib.format.read_array_header_1_0 if width == 2 else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shape, fortran_order, dtype = read(io.BytesIO(length + text))
    if dtype.hasobject:
        raise ArrayFileError(f"{name!r} holds Python objects, which are not read")
    if any(n < 0 for n in shape):
        raise ArrayFileError(f"{name!r} has the shape {shape}")
    header = Header(tuple(int(n) for n in shape), dtype, fortran_order, 8 + width + count)
    if header.size + header.nbytes != size:
        raise ArrayFileError(
            f"{name!r} has the shape {header.shape} of {dtype}, {header.nbytes:,} bytes, but "
            f"{size - header.size:,} bytes are there"
        )
    return header


@contextmanager
def _damage_reported(what: str) -> Iterator[None]:
    """Raise errors of zipfile, zlib and NumPy at damaged files as an `ArrayFileError`."""
    try:
        yield
    except ArrayFileError:
        raise
    except _DAMAGED as error:
        raise ArrayFileError(f"{what} is damaged: {reason(error)}") from None
