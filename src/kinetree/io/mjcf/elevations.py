"""The elevations of an MJCF height field: an image, a binary file, or numbers in the attribute `elevation`.

The gray levels of a PNG image, as height fields are made of them.

Of a coloured image it is the red one, and of 16 bits the upper eight, as MuJoCo reads them.

Source: W3C, "Portable Network Graphics (PNG) Specification", chapters 5 to 10.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.solids.meshes.files import read_asset

__all__ = ["read_elevations"]

_HEADER = 8
_IMAGE, _BINARY = "image/png", "image/vnd.mujoco.hfield"
_FLAT = 1e-14

Floats = NDArray[np.float32]


def read_elevations(where: object, asset: Mapping[str, str], path: Path | None) -> Floats:
    """The elevations (rows, columns) from y = -half, from 0 to 1, rounded as MuJoCo keeps them.

    Args:
        where: the height field, for messages.
        asset: the attributes of the element.
        path: its file, if it has one and it was found.

    Raises:
        ModelError: if they cannot be read, or are not those of a height field.
    """
    if "file" in asset:
        if path is None:
            raise ModelError(
                f"{where}: the file of its height field {asset['file']!r} is not known; give its folder when the "
                "robot is loaded: package_roots=[…]"
            )
        data = _from_file(path, asset.get("content_type", ""))
    else:
        data = _written(where, asset)
    low, high = data.min(), data.max()
    heights: Floats = data - low
    if high - low > _FLAT:
        heights /= high - low
    return heights


def _from_file(path: Path, content_type: str) -> Floats:
    content = read_asset(path, "height field")
    kind = content_type or (_IMAGE if path.suffix.lower() == ".png" else _BINARY)
    if kind == _IMAGE:
        return gray_levels(path, content)[::-1].astype(np.float32)
    if kind != _BINARY:
        raise ModelError(f"{path}: content_type={kind!r} is not one of a height field: {_IMAGE!r}, {_BINARY!r}")
    rows, columns = (int(x) for x in np.frombuffer(content[:_HEADER].ljust(_HEADER, b"\0"), "<i4"))
    if rows < 1 or columns < 1 or len(content) != _HEADER + 4 * rows * columns:
        raise ModelError(
            f"{path}: by its header, it is a height field of {rows} x {columns} numbers, but it is "
            f"{len(content):,} bytes long; such a file has two whole numbers of 32 bits, then that many of 32 bits"
        )
    return _checked(path, np.frombuffer(content, "<f4", offset=_HEADER).astype(np.float32).reshape(rows, columns))


def _written(where: object, asset: Mapping[str, str]) -> Floats:
    """The elevations of the attribute, whose first row is that of the largest y."""
    try:
        rows, columns = int(asset.get("nrow", "0")), int(asset.get("ncol", "0"))
        numbers = [float(word) for word in asset.get("elevation", "").split()]
    except ValueError as error:
        raise ModelError(f"{where}: nrow, ncol and elevation of a height field are numbers: {error}") from None
    if not (rows > 0 and columns > 0 and len(numbers) in (0, rows * columns)):
        raise ModelError(
            f"{where}: its height field has {len(numbers)} elevations for nrow={rows}, ncol={columns}; give a file, or "
            "nrow times ncol elevations"
        )
    values = np.array(numbers or np.zeros(rows * columns), dtype=np.float32).reshape(rows, columns)
    return _checked(where, values[::-1])


def _checked(where: object, data: Floats) -> Floats:
    if not np.isfinite(data).all():
        raise ModelError(f"{where}: an elevation of the height field is not a finite number")
    return data


_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""How many numbers a pixel has: gray, colours, an index of the palette, gray and alpha, colours and alpha."""
_PALETTE = 3
MAX_PIXELS = 2**22

Bytes = NDArray[np.uint8]


def gray_levels(where: object, data: bytes) -> Bytes:
    """The levels, 0 to 255, (rows, columns) from the top of the image.

    Raises:
        ModelError: if the data are not a PNG image, are damaged, or are of a kind that is not read.
    """
    chunks = list(_chunks(where, data))
    kind, header = chunks[0]
    if kind != b"IHDR" or len(header) != 13:
        raise ModelError(f"{where}: the image is damaged: its header is missing")
    width, height = (int.from_bytes(header[k : k + 4], "big") for k in (0, 4))
    depth, color, compression, filtering, interlaced = header[8:]
    if depth not in (8, 16) or color not in _CHANNELS or compression or filtering or interlaced:
        raise ModelError(
            f"{where}: the image has {depth} bits per number, PNG's colour type {color}"
            f"{' and is interlaced' if interlaced else ''}; save it as a gray image of 8 bits without interlacing"
        )
    if not 0 < width * height <= MAX_PIXELS:
        raise ModelError(f"{where}: the image has {width} x {height} pixels; the limit is {MAX_PIXELS:,}")
    per_pixel = _CHANNELS[color] * depth // 8
    lines = _unpacked(where, b"".join(body for kind, body in chunks if kind == b"IDAT"), height, width * per_pixel)
    levels = _unfiltered(where, lines, per_pixel)[:, ::per_pixel]
    if color != _PALETTE:
        return levels
    palette = np.frombuffer(b"".join(body for kind, body in chunks if kind == b"PLTE"), np.uint8)[::3]
    if levels.max() >= len(palette):
        raise ModelError(f"{where}: the image is damaged: a pixel has a colour that is not in its palette")
    return palette[levels]


def _chunks(where: object, data: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not data.startswith(_SIGNATURE):
        raise ModelError(f"{where}: this is not a PNG image")
    at = len(_SIGNATURE)
    while True:
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        if len(kind) < 4 or len(body) < length:
            raise ModelError(f"{where}: the image is damaged: it ends within a part")
        yield kind, body
        at += 12 + length
        if kind == b"IEND":
            return


def _unpacked(where: object, packed: bytes, height: int, length: int) -> Bytes:
    """The lines of the image, each with its filter before it."""
    size = height * (length + 1)
    try:
        data = zlib.decompressobj().decompress(packed, size + 1)
    except zlib.error as error:
        raise ModelError(f"{where}: the image is damaged: {error}") from None
    if len(data) != size:
        raise ModelError(f"{where}: the image is damaged: it holds {len(data)} bytes of pixels instead of {size}")
    return np.frombuffer(data, np.uint8).reshape(height, length + 1)


def _unfiltered(where: object, lines: Bytes, per_pixel: int) -> Bytes:
    """The numbers, of differences from those before and above."""
    image = np.zeros((len(lines) + 1, lines.shape[1] - 1 + per_pixel), np.uint8)
    for k, line in enumerate(lines):
        above, own = image[k], image[k + 1]
        kind, own[per_pixel:] = int(line[0]), line[1:]
        if kind > 4:
            raise ModelError(f"{where}: the image is damaged: line {k} has the filter {kind}, which PNG does not have")
        if kind == 1:
            pixels = own.reshape(-1)[per_pixel:].reshape(-1, per_pixel)
            np.cumsum(pixels, axis=0, dtype=np.uint8, out=pixels)
        elif kind == 2:
            own += above
        elif kind:
            _from_neighbours(own, above, per_pixel, by_mean=kind == 3)
    return image[1:, per_pixel:]


def _from_neighbours(own: Bytes, above: Bytes, per_pixel: int, *, by_mean: bool) -> None:
    """Add the predictions from the numbers to the left, above, and above to the left, one after another."""
    here, up = own.tolist(), above.tolist()
    for i in range(per_pixel, len(here)):
        a, b, c = here[i - per_pixel], up[i], up[i - per_pixel]
        predicted = (a + b) // 2 if by_mean else _paeth(a, b, c)
        here[i] = (here[i] + predicted) & 255
    own[:] = here


def _paeth(a: int, b: int, c: int) -> int:
    """The number that is nearest to a + b - c; of equally near ones the first."""
    estimate = a + b - c
    return min((a, b, c), key=lambda x: abs(x - estimate))
