"""What a notebook shows of a robot: its text, and a picture. What draws is made known here by its room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["draw_with", "html_of", "png_of"]

_drawing: list[Callable[[Any], bytes | None]] = []


def draw_with(function: Callable[[Any], bytes | None]) -> None:
    """Make known what draws robots: a function from a robot to the bytes of a PNG file, or None if it cannot."""
    _drawing[:] = [function]


def png_of(robot: object) -> bytes | None:
    """The PNG file of a picture of a robot; None if none can be drawn."""
    return _drawing[0](robot) if _drawing else None


def html_of(text: str, png: bytes | None) -> str | None:
    """A text below a picture; None without a picture, so that a notebook shows the text alone."""
    if png is None:
        return None
    from base64 import b64encode  # `import kinetree` does not wait for what only notebooks need
    from html import escape

    return (
        f'<img src="data:image/png;base64,{b64encode(png).decode("ascii")}" alt="a picture"><pre>{escape(text)}</pre>'
    )
