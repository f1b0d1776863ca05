"""PNG files by zlib alone.

Source: Portable Network Graphics (PNG) Specification, W3C, third edition (2025), sections 5, 9.2 and 11.2.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetree.files import write_file

__all__ = ["png_bytes", "write_png"]

_TRUE_COLOR, _UP = 2, 2


def png_bytes(picture: NDArray[np.uint8]) -> bytes:
    """The file of a picture (height, width, 3).

    >>> png_bytes(np.zeros((2, 3, 3), np.uint8))[:4]
    b'\\x89PNG'
    """
    height, width, _ = picture.shape
    rows = picture.reshape(height, 3 * width)
    lines = np.empty((height, 1 + 3 * width), np.uint8)
    lines[:, 0] = _UP  # each byte less the one above it: even backgrounds shrink to nothing
    lines[0, 1:] = rows[0]
    lines[1:, 1:] = rows[1:] - rows[:-1]
    head = struct.pack(">IIBBBBB", width, height, 8, _TRUE_COLOR, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def write_png(path: Path, picture: NDArray[np.uint8]) -> None:
    """Write a picture (height, width, 3), whole or not at all. Raises `SaveError`."""
    data = png_bytes(picture)
    write_file(path, lambda file: file.write(data))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
