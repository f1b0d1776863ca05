"""The content of files that an MJCF file names, such as meshes, with a limit on their size."""

from __future__ import annotations

from pathlib import Path

from kinetree.errors import ModelError
from kinetree.files import read_regular, reason

__all__ = ["read_asset"]

MAX_BYTES = 64 * 2**20


def read_asset(path: Path, what: str) -> bytes:
    """Read a file, `what` says which kind of asset it is in messages; a `ModelError` says why it cannot be read."""
    try:
        return read_regular(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: the {what} cannot be read: {reason(error)}") from None
