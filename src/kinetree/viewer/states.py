"""Configurations of a robot that have names, and buttons that go there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import KinetreeError
from kinetree.model import Model

if TYPE_CHECKING:
    from viser import GuiApi, GuiEvent

__all__ = ["add_states", "named_states"]

Array = NDArray[np.float64]


def named_states(robot: Model) -> dict[str, Array]:
    """The neutral configuration, and those of keyframes and named states, by name."""
    found = {"neutral": robot.neutral()}
    for number, frame in enumerate(robot.extras.keyframes):
        found[_new(found, frame.name or f"keyframe {number}")] = frame.q(robot)
    for state in robot.extras.named_states:
        try:
            q = robot.named_configuration(state.name, group=state.group)
        except KinetreeError:
            continue  # values of a coupling's joints are no coordinates; `named_configuration` says so when it is asked
        found[_new(found, f"{state.name} of {state.group}")] = q
    return found


def _new(taken: dict[str, Array], name: str) -> str:
    number, made = 1, name
    while made in taken:
        number += 1
        made = f"{name} ({number})"
    return made


def add_states(gui: GuiApi, robot: Model, start: Array, go: Callable[[Array], None]) -> None:
    """Buttons for the configuration at which the page began and for a random one, and a list of those with names."""
    buttons = gui.add_button_group("go to", ("start", "random"), hint="random: within the limits")

    @buttons.on_click
    def _(_: GuiEvent[Any]) -> None:
        go(start if buttons.value == "start" else robot.random())

    states = named_states(robot)
    chosen = gui.add_dropdown("state", tuple(states), hint="configurations that the robot's file has names for")

    @chosen.on_update
    def _(event: GuiEvent[Any]) -> None:
        if event.client is not None:
            go(states[chosen.value])
