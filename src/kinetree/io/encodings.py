"""Text in another encoding than UTF-8, for repairs."""

from __future__ import annotations

import re

__all__ = ["from_windows_1252"]


def from_windows_1252(data: bytes) -> tuple[bytes, int] | None:
    """Bytes that are not UTF-8, as if they were Windows-1252, in UTF-8; and the line of the first that is wrong.

    None if the bytes are UTF-8, or the text names another encoding, or has zeros in it.
    """
    declared = re.match(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([^"']*)""", data[:200])
    if b"\0" in data or (declared and declared[1].lower() not in (b"utf-8", b"utf8", b"us-ascii", b"ascii")):
        return None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data.decode("cp1252", "replace").encode("utf-8"), data.count(b"\n", 0, error.start) + 1
    return None
