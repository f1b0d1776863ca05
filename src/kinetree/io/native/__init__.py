"""Robots as text and back: the versioned text form of `kinetree docs model_text`, and files that hold it."""

from __future__ import annotations

__all__ = ["MARK", "is_native"]

MARK = b"\xef\xbb\xbf"
"""The mark of UTF-8, with which a file may begin."""


def is_native(data: bytes) -> bool:
    """Whether the first non-blank character of a file opens a JSON object."""
    return data.removeprefix(MARK).lstrip(b" \t\r\n").startswith(b"{")
