"""Switches for optional drawings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kinetree.errors import KinetreeError
from kinetree.viewer.controls import put

if TYPE_CHECKING:
    from viser import GuiApi, GuiEvent

__all__ = ["SWITCHES", "add_switches"]

SWITCHES: Mapping[str, tuple[str, str]] = {
    "visual": ("shapes", "how the robot looks"),
    "collision": ("collision shapes", "what touches"),
    "frames": ("frames", "the axes of all frames: red x, green y, blue z"),
    "axes": ("joint axes", "magenta: it turns about them; green: it slides along them"),
    "center of mass": ("centre of mass", "of the whole robot"),
    "contacts": ("contacts and forces", "where shapes touch, and what is exerted there"),
    "velocities": ("velocities", "of the bodies' centres of mass; an arrow is what is passed in 0.1 s"),
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
