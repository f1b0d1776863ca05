"""One process at a time writes into a folder of results."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kinetree.errors import SaveError
from kinetree.files import create_locked, reason, remove_abandoned

__all__ = ["LOCK", "only_writer"]

LOCK = "writing.lock"


@contextmanager
def only_writer(folder: Path, what: str) -> Iterator[None]:
    """Let no other process write `what`, such as "a motion", into the folder. Raises SaveError if one does."""
    path = str(folder / LOCK)
    remove_abandoned(path)
    try:
        lock = create_locked(path, 0o666)
    except FileExistsError:
        raise SaveError(f"{folder}: another process is writing {what} into this folder") from None
    except OSError as error:
        raise SaveError(f"{folder}: no file can be made in this folder: {reason(error)}") from None
    try:
        yield
    finally:
        os.close(lock)
        with suppress(OSError):
            os.unlink(path)
