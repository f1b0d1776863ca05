"""The elevations of an MJCF height field: an image, a binary file, or numbers in the attribute `elevation`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ModelError
from kinetree.io.gray_images import gray_levels
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
