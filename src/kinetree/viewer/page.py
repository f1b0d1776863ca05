"""A page and its controls: the drawing follows when somebody moves one of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.appearance import Unseen
from kinetree.errors import KinetreeError
from kinetree.model import Model
from kinetree.viewer.bodies import unused_name
from kinetree.viewer.controls import Text, add_list, add_switches
from kinetree.viewer.motions import Frames
from kinetree.viewer.player import Player
from kinetree.viewer.server import address
from kinetree.viewer.sliders import Sliders
from kinetree.viewer.subject import Subject
from kinetree.viewer.surroundings import Surroundings

if TYPE_CHECKING:
    from viser import GuiApi, GuiEvent, GuiFolderHandle, ViserServer

    from kinetree.sim.shown import RecordedMotion
    from kinetree.viewer.stage import Stage

__all__ = ["Page"]

Array = NDArray[np.float64]

_MOST_ENDINGS = 40
"""How many motions that ended early have a line of their own."""


class Page:
    """`Viewer` without the methods for programs."""

    def __init__(self, server: ViserServer, subject: Subject) -> None:
        self.server = server
        """The viser server behind it, for additional elements of the page; see its documentation."""
        self.robot: Model = subject.robot
        """The robot, or that of the first motion."""
        self._subject = subject
        self._lock = threading.RLock()
        self._closed = threading.Event()
        self._sliders: Sliders | None = None
        self._at_rest: GuiFolderHandle | None = None
        self._at_close: list[Callable[[], None]] = []
        self._player: Player | None = None
        with server.atomic():
            self.stages: tuple[Stage, ...] = subject.stages(server.scene)
            """The robots on the page, one for each motion."""
            self._surroundings = Surroundings(server, self.stages)
            self._arrange()
            for name, on in subject.on.items():
                self._turn(name, on)
            self._add_controls()

    @property
    def url(self) -> str:
        """The page's address, for a browser on this machine."""
        return address(self.server)

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """The shapes that are not drawn as the file says, and why."""
        return tuple(dict.fromkeys(unseen_part for stage in self.stages for unseen_part in stage.unseen))

    def become(self, motion: RecordedMotion | None, *, is_at_rest: bool = True) -> None:
        """Show a motion of the robot, from its end; or for None the robot again, which is moved by hand or not."""
        with self._lock:
            before, self._player, self._subject.motions = self._player, None, ()
        if before is not None:
            before.remove()  # without the lock, for which its thread may wait
        with self._lock, self.server.atomic():
            if motion is not None:
                self._subject.motions = (Frames(motion, self.robot),)
                player = self._add_player()
                player.go(player.end)
            if self._at_rest is not None:
                self._at_rest.visible = motion is None and is_at_rest
                self._follow()

    def _add_controls(self) -> None:
        gui, subject = self.server.gui, self._subject
        if subject.motions:
            self._add_player()
        subject.batch.add_controls(gui, self._read, self._arrange)
        add_switches(gui, subject.on, self._turn)
        if not subject.motions and self.robot.nq:
            self._at_rest = gui.add_folder("Configuration")
            with self._at_rest:
                _add_states(gui, self.robot, subject.q[0].copy(), self._go)
                self._sliders = Sliders(gui, self.robot, subject.q[0], self.stages[0].size, self._edit)
        _add_endings(gui, [frames.motion for frames in subject.motions])
        if self.unseen:
            with gui.add_folder("Not drawn", expand_by_default=False):
                add_list(gui, [(unseen_part.part, unseen_part.reason) for unseen_part in self.unseen])

    def _add_player(self) -> Player:
        self._player = Player(self.server.gui, self._subject.times, lambda _: self._redraw(), self._notify)
        return self._player

    def _notify(self, error: Exception) -> None:
        """Show an error on all open pages."""
        for client in self.server.get_clients().values():
            client.add_notification("The motion cannot be shown", str(error), color="red")

    def _turn(self, name: str, on: bool) -> None:
        """Act on a switch."""
        with self._lock, self.server.atomic():
            self._subject.turn(name, on, self.stages, self._surroundings)

    def _read(self, samples: Sequence[int]) -> bool:
        """Read samples to show, while the page continues with the present ones; whether that was possible."""
        subject, t = self._subject, 0.0 if self._player is None else self._player.now
        if subject.holds(samples, t):
            return True
        notifications = [
            client.add_notification("Reading", f"{len(samples)} of the motions on disk", loading=True)
            for client in self.server.get_clients().values()
        ]
        try:
            subject.read(samples, t)
        except KinetreeError as error:
            self._notify(error)
            return False
        finally:
            for notification in notifications:
                notification.remove()
        return True

    def _arrange(self) -> None:
        """Show the selected number of samples."""
        with self._lock, self.server.atomic():
            self._subject.arrange(self.stages)
            self._surroundings.aim(self.stages)
            self._redraw()

    def _redraw(self) -> None:
        """Draw the selected moment."""
        with self._lock, self.server.atomic():
            self._subject.draw(self.stages, 0.0 if self._player is None else self._player.now)

    def _go(self, q: Array, v: Array | None = None, qdd: Array | None = None) -> None:
        """Show a robot at rest at q, (nq,) or (samples, nq), with rates of the first sample."""
        subject, given = self._subject, np.atleast_2d(q)
        with self._lock:
            before, subject.q = len(subject.q), given
            if len(given) != before:
                subject.batch.resize(len(given))
                self._arrange()
            with self.server.atomic():
                self.stages[0].draw(given[subject.batch.samples], v, qdd)
        self._follow()

    def _edit(self, change: Callable[[Array], None]) -> None:
        """Let a slider change the configuration."""
        with self._lock:
            self._subject.q = self._subject.q.copy()
            change(self._subject.q[0])
            self._redraw()

    def _follow(self) -> None:
        """Let the sliders show where the robot is, if they are seen."""
        if self._sliders is not None and self._at_rest is not None and self._at_rest.visible:
            self._sliders.follow(self._subject.q[0])


def _named_states(robot: Model) -> dict[str, Array]:
    """The neutral configuration, and those of keyframes and named states, by name."""
    states = {"neutral": robot.neutral()}
    for number, frame in enumerate(robot.extras.keyframes):
        states[unused_name(states, frame.name or f"keyframe {number}")] = frame.q(robot)
    for state in robot.extras.named_states:
        try:
            q = robot.named_configuration(state.name, group=state.group)
        except KinetreeError:
            continue  # values of a coupling's joints are not coordinates; `named_configuration` reports that
        states[unused_name(states, f"{state.name} of {state.group}")] = q
    return states


def _add_states(gui: GuiApi, robot: Model, start: Array, go: Callable[[Array], None]) -> None:
    """Buttons for the configuration at which the page began and for a random one, and a list of those with names."""
    buttons = gui.add_button_group("go to", ("start", "random"), hint="random: within the limits")

    @buttons.on_click
    def _(_: GuiEvent[Any]) -> None:
        go(start if buttons.value == "start" else robot.random())

    states = _named_states(robot)
    menu = gui.add_dropdown("state", tuple(states), hint="configurations that the robot's file has names for")

    @menu.on_update
    def _(event: GuiEvent[Any]) -> None:
        if event.client is not None:
            go(states[menu.value])


def _add_endings(gui: GuiApi, motions: Sequence[Any]) -> None:
    """A folder with a line for each motion that diverged or ended at an event, if there are any."""
    lines = [
        line for k, one in enumerate(motions) for line in _ending_lines(one, f"{k + 1}, " if len(motions) > 1 else "")
    ]
    if not lines:
        return
    with gui.add_folder("Ended early", expand_by_default=False):
        add_list(gui, lines[:_MOST_ENDINGS])
        if len(lines) > _MOST_ENDINGS:
            Text(gui, f"and {len(lines) - _MOST_ENDINGS:,} more")


def _ending_lines(motion: Any, before: str) -> list[tuple[str, str]]:
    """Lines about a motion; none if its outcome is unknown."""
    if not motion.shape or not hasattr(motion, "diverged"):
        return []
    ended, numbers = motion.ended, np.arange(np.prod(motion.shape, dtype=np.int64)).reshape(motion.shape)
    outcomes = {sample: str(one) for sample, one in motion.diverged.items()}
    for sample in map(tuple, np.argwhere(ended < motion.time[-1]).tolist()):
        outcomes.setdefault(sample, f"ended at t = {ended[sample]:g} s")
    return [(f"{before}{numbers[sample]}", outcomes[sample]) for sample in sorted(outcomes)]
