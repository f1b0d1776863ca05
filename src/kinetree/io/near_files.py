"""Which file may have been meant by a path to none."""

from __future__ import annotations

import os
from itertools import islice

from kinetree.errors import nearest_names

__all__ = ["near_files"]

_MOST_FILES = 1000


def near_files(path: str | os.PathLike[str]) -> str:
    """The end of a message about a file that does not exist: names that may have been meant, or nothing."""
    text = os.fspath(path)
    if isinstance(text, str) and text.startswith("~"):
        return "; ~ is not expanded: give Path(…).expanduser()"
    folder, name = os.path.split(text)
    try:
        with os.scandir(folder or ".") as entries:
            files = [entry.name for entry in islice(entries, _MOST_FILES) if entry.is_file()]
    except (OSError, ValueError):
        return "" if os.path.isdir(folder or ".") else f"; there is no folder {folder!r:.200}"
    names = nearest_names(name, files)
    return f"; {names}" if names.startswith("did you mean") else ""
