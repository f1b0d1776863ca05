"""How robots and motions are shown: by functions of applications, which their rooms know by name only."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal

__all__ = ["Samples", "Shapes", "Size", "html_of", "register", "registered"]

Size = tuple[int, int]
"""Width and height of a picture in pixels."""
Shapes = Literal["visual", "collision", "both"]
Samples = Literal["side by side", "ghosts"]

_places: dict[str, str] = {}


def register(**places: str) -> None:
    """Register functions of rooms above by name; each as "module:function", which is imported when it is needed."""
    _places.update(places)


def registered(name: str) -> Callable[..., Any]:
    """The function of that name."""
    module, _, function = _places[name].partition(":")
    result: Callable[..., Any] = getattr(import_module(module), function)
    return result


def html_of(text: str, png: bytes | None) -> str | None:
    """A text below a picture; None without a picture, so that a notebook shows the text alone."""
    if png is None:
        return None
    from base64 import b64encode  # `import kinetree` does not wait for what only notebooks need
    from html import escape

    return (
        f'<img src="data:image/png;base64,{b64encode(png).decode("ascii")}" alt="a picture"><pre>{escape(text)}</pre>'
    )
