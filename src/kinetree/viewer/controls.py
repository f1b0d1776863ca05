"""Controls of a page that a program moves, and its texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kinetree.errors import visible

if TYPE_CHECKING:
    from viser import GuiApi

__all__ = ["Text", "add_list", "put"]

_MARKS = re.compile(r"[!-/:-@\[-`{-~]")
"""The characters that Markdown, and the HTML in it, may take for marks; after a backslash they are themselves."""


def put(control: Any, value: object) -> None:
    """Set the value of a control; type checkers take this property of viser's for read-only."""
    control.value = value


def _plain(text: str) -> str:
    """The Markdown of a text that shows it letter by letter, as one line.

    Names and sentences on a page come from files. This is the one place where texts become Markdown; viser shows even
    the HTML in it.
    """
    return _MARKS.sub(r"\\\g<0>", " ".join(visible(text).split()))


class Text:
    """A line of text on a page."""

    def __init__(self, gui: GuiApi, text: str) -> None:
        self._content = text
        self._handle = gui.add_markdown(_plain(text))

    @property
    def content(self) -> str:
        """The text."""
        return self._content

    @content.setter
    def content(self, text: str) -> None:
        if text != self._content:
            self._content, self._handle.content = text, _plain(text)

    @property
    def visible(self) -> bool:
        """Whether it is on the page."""
        return bool(self._handle.visible)

    @visible.setter
    def visible(self, on: bool) -> None:
        self._handle.visible = on


def add_list(gui: GuiApi, items: Iterable[tuple[str, str]]) -> None:
    """A list of things with a remark about each: their names are bold."""
    gui.add_markdown("\n".join(f"- **{_plain(name)}**: {_plain(text)}" for name, text in items))
