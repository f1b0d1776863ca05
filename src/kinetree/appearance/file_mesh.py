"""A mesh file as triangles with colours, ready to be drawn; and as bytes, to be kept on disk."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetree.records import record

__all__ = ["FileMesh", "from_bytes", "to_bytes"]

_LENGTH = struct.Struct("<Q")
_ARRAYS = ("vertices", "faces", "normals", "colors", "is_bare", "uv", "texture")


@record(frozen=True, slots=True, eq=False)
class FileMesh:
    """The triangles of a mesh file, in its own axes and before scaling. Its arrays are those of `Surface`."""

    vertices: NDArray[np.float32]
    faces: NDArray[np.int32]
    normals: NDArray[np.float32]
    colors: NDArray[np.uint8]
    is_bare: NDArray[np.bool_]
    """(n,) which vertices have no colour in the file."""
    uv: NDArray[np.float32] | None = None
    texture: NDArray[np.uint8] | None = None
    remarks: tuple[str, ...] = ()
    """Sentences about everything that differs from the file."""
    is_provisional: bool = False
    """Whether it would look better if a package that is missing were installed."""
    companions: tuple[tuple[str, str], ...] = ()
    """The files that are named in it, and the hash of each; "" for one that is not there."""


def to_bytes(mesh: FileMesh) -> bytes:
    """The mesh as bytes: a header in JSON, then the arrays."""
    arrays: dict[str, Any] = {}
    blocks = []
    for name in _ARRAYS:
        array = getattr(mesh, name)
        if array is not None:
            arrays[name] = [array.dtype.str, list(array.shape)]
            blocks.append(np.ascontiguousarray(array).tobytes())
    header = json.dumps({"arrays": arrays, "remarks": mesh.remarks, "companions": mesh.companions}).encode()
    return b"".join([_LENGTH.pack(len(header)), header, *blocks])


def from_bytes(data: bytes) -> FileMesh:
    """The mesh that `to_bytes` made these bytes of; its arrays cannot be written to."""
    (length,) = _LENGTH.unpack_from(data)
    at = _LENGTH.size + length
    header = json.loads(data[_LENGTH.size : at])
    arrays: dict[str, Any] = {}
    for name, (dtype, shape) in header["arrays"].items():
        kind = np.dtype(dtype)
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(data, kind, count, at).reshape(shape)
        at += count * kind.itemsize
    companions = tuple((name, state) for name, state in header["companions"])
    return FileMesh(**arrays, remarks=tuple(header["remarks"]), companions=companions)
