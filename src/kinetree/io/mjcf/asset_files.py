"""The content of files that an MJCF file names, such as meshes, with a limit on their size."""

from __future__ import annotations

from pathlib import Path

from kinetree.errors import ModelError
from kinetree.files import open_regular, reason

__all__ = ["read_asset"]

MAX_BYTES = 64 * 2**20


def read_asset(path: Path, what: str) -> bytes:
    """Read a file, `what` says which kind of asset it is in messages; a `ModelError` says why it cannot be read."""
    try:
        with open_regular(path) as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: the {what} cannot be read: {reason(error)}") from None
    if len(content) > MAX_BYTES:
        raise ModelError(f"{path}: the file is larger than {MAX_BYTES // 2**20} MiB, the limit for a {what}")
    return content
