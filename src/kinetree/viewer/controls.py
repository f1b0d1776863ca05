"""Controls of a page that a program moves, and its texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kinetree.errors import KinetreeError, visible

if TYPE_CHECKING:
    from viser import GuiApi, GuiEvent

__all__ = ["SWITCHES", "Text", "add_list", "add_switches", "put"]

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


SWITCHES: Mapping[str, tuple[str, str]] = {
    "visual": ("shapes", "how the robot looks"),
    "collision": ("collision shapes", "the shapes that touch"),
    "frames": ("frames", "the axes of all frames: red x, green y, blue z"),
    "axes": ("joint axes", "magenta: it turns about them; green: it slides along them"),
    "center of mass": ("centre of mass", "of the whole robot"),
    "contacts": ("contacts and forces", "where shapes touch, and the forces there"),
    "velocities": ("velocities", "of the bodies' centres of mass; an arrow is the path of 0.1 s"),
    "names": ("names", "of the moving bodies; without this, click on a body for its name"),
    "ground": ("ground", ""),
}
"""(label, explanation) for each."""


def add_switches(gui: GuiApi, on: Mapping[str, bool], turn: Callable[[str, bool], None]) -> None:
    """A checkbox for each switch in `on`, which calls `turn(name, whether it is on)`."""
    with gui.add_folder("Show"):
        for name, value in on.items():
            _add_switch(gui, name, value, turn)


def _add_switch(gui: GuiApi, name: str, value: bool, turn: Callable[[str, bool], None]) -> None:
    label, hint = SWITCHES[name]
    box = gui.add_checkbox(label, value, hint=hint or None)

    @box.on_update
    def _(event: GuiEvent[Any]) -> None:
        try:
            turn(name, box.value)
        except KinetreeError as error:
            if event.client is not None:
                event.client.add_notification(f"{label} cannot be shown", str(error), color="yellow")
            if box.value:
                put(box, False)
