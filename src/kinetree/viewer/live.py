"""A motion that is seen on a page while it is computed: the contents of the page, and its buttons."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import OptionError, StiffFrictionError
from kinetree.sim.live import Live
from kinetree.viewer.arrows import Arrows
from kinetree.viewer.controls import Text
from kinetree.viewer.stage import Stage
from kinetree.viewer.view import view
from kinetree.viewer.viewer import Viewer

if TYPE_CHECKING:
    from viser import GuiEvent, SceneApi

    from kinetree.sim.live import Live
    from kinetree.sim.task import Task

__all__ = ["PATIENCE", "Hand", "LivePage", "watched"]

Array = NDArray[np.float64]
M = TypeVar("M")

PATIENCE = 10.0
"""Seconds for which a motion waits for somebody to open the page."""

_SPEEDS = {"0.01": 0.01, "0.05": 0.05, "0.1": 0.1, "0.25": 0.25, "0.5": 0.5, "1": 1.0, "2": 2.0, "5": 5.0}
_SPEEDS |= {"10": 10.0, "as fast as it goes": math.inf}
_UPDATED_EVERY = 0.2
"""Seconds between two updates of the displayed time."""
_BEHIND = 0.95
"""The part of the speed that was chosen, below which the page says that the motion is late."""
_log = logging.getLogger("kinetree")


def watched(task: Task, compute: Callable[[Live], M], view: Any, speed: float, *, is_streamed: bool) -> M:
    """The motion that `compute` returns, shown on a page while it is computed: that of `view`, or a new one.

    Raises:
        MissingPackageError: viser is not installed.
        OptionError: view is not True, nor a page of this robot at rest.
    """
    viewer = _viewer(task, view)
    live = Live(lambda *moment: page.show(*moment), speed=speed)
    page = LivePage(viewer, live, is_one=task.can_be_pushed and not is_streamed, begins_again=not is_streamed)
    if view is True:
        _log.warning("the motion can be seen at %s", viewer.url)
        viewer.wait_for_somebody(PATIENCE)
    try:
        motion = compute(live)
    except StiffFrictionError:  # another integrator may do
        page.leave()
        raise
    except KeyboardInterrupt as stop:
        page.end(getattr(stop, "trajectory", None), "The motion was interrupted here.")
        raise
    except BaseException as error:
        page.end(getattr(error, "trajectory", None), str(error) or type(error).__name__)
        raise
    page.end(motion, "The motion was ended here." if live.has_stopped else "The motion is complete.")
    return motion


def _viewer(task: Task, given: Any) -> Viewer:
    robot = task.setting.robot
    if given is True:
        start = task.start.row[..., : robot.nq]
        values = task.setting.parameters.items()
        shown = {name: x for name, x in values if x.ndim == robot.parameter(name).ndim}  # a page has one value of each
        return view(robot, q=start.reshape(math.prod(start.shape[:-1]), robot.nq), parameters=shown)
    if not isinstance(given, Viewer):
        raise OptionError(
            "simulate: view must be True, False or a kt.view of the robot (as must page of kt.sim.Viewing), not "
            f"{given!r:.60}"
        )
    if given.robot is not robot and given.robot != robot:
        raise OptionError(
            f"simulate: view is a page of another robot, {given.robot.name!r}, and this is {robot.name!r}"
        )
    if given.is_closed or not given.is_of_robot:
        what = "is closed" if given.is_closed else "shows motions that there are"
        raise OptionError(f"simulate: the page that view is {what}; make a new one with kt.view(robot)")
    return given


class LivePage:
    """A viewer of a robot, while its motion is computed."""

    def __init__(self, viewer: Viewer, motion: Live, *, is_one: bool = True, begins_again: bool = True) -> None:
        """`is_one`: whether it is a single motion, whose bodies can be pushed; `begins_again`: whether it can."""
        self._viewer, self._motion, self._updated = viewer, motion, -math.inf
        self._hand: Hand | None = None
        with viewer.server.atomic():
            viewer.become(None, is_at_rest=False)
            self._add_controls(is_one, begins_again)
            if is_one:
                self._hand = Hand(viewer.server.scene, viewer.stages[0], motion)
        viewer.when_closed(motion.go)  # nobody could end a pause

    def show(self, t: float, q: Array, v: Array) -> None:
        """Show a moment; nothing once the page is closed."""
        viewer = self._viewer
        if viewer.is_closed:
            return
        samples = math.prod(q.shape[:-1])
        with viewer.server.atomic():
            viewer.set(q.reshape(samples, q.shape[-1]), v.reshape(samples, v.shape[-1])[0])
            if self._hand is not None:
                self._hand.follow()
            now = time.monotonic()
            if now - self._updated > _UPDATED_EVERY or self._motion.is_paused:
                self._updated = now
                self._motion.is_seen = bool(viewer.server.get_clients())
                self._text.content = _clock(t, self._motion)

    def end(self, motion: Any, why: str) -> None:
        """Let the page play the computed part, if any, and show why the motion ended."""
        viewer = self._viewer
        if viewer.is_closed:
            return
        with viewer.server.atomic():
            if self._hand is not None:
                self._hand.let_go()
            for control in self._controls:
                control.visible = False
            self._text.content = why
            viewer.become(motion if motion is not None and len(motion.time) else None)

    def leave(self) -> None:
        """Let the page be as it was before."""
        if not self._viewer.is_closed:
            self.end(None, "")
            self._folder.remove()

    def _add_controls(self, is_one: bool, begins_again: bool) -> None:
        gui, motion = self._viewer.server.gui, self._motion
        self._folder = gui.add_folder("Simulation", order=-1.0)
        with self._folder:
            self._text = Text(gui, "The motion begins when this page is there.")
            run = gui.add_button("Go on" if motion.is_paused else "Pause")
            names = ("step", "begin again", "end") if begins_again else ("step", "end")
            more = gui.add_button_group(
                "more", names, hint="step: go on by 1/60 s, and wait; end: keep the computed part"
            )
            speed = gui.add_dropdown(
                "speed", tuple(_SPEEDS), initial_value=_named(motion.speed), hint="seconds of the motion per second"
            )
            hint = Text(gui, "Drag a body with the mouse to push it, and the background to turn the view.")
        hint.visible = is_one
        self._controls: list[Any] = [run, more, speed, hint]

        @run.on_click
        def _(_: GuiEvent[Any]) -> None:
            if motion.is_paused:
                motion.go()
            else:
                motion.pause()
            label()

        @more.on_click
        def _(_: GuiEvent[Any]) -> None:
            {"step": motion.step, "begin again": motion.reset, "end": motion.stop}[more.value]()
            label()

        @speed.on_update
        def _(event: GuiEvent[Any]) -> None:
            if event.client is not None:
                motion.speed = _SPEEDS[speed.value]

        def label() -> None:
            run.label = "Go on" if motion.is_paused else "Pause"


def _named(speed: float) -> str:
    return next((name for name, value in _SPEEDS.items() if value == speed), "1")


def _clock(t: float, motion: Live) -> str:
    """The time, and how quickly it passes."""
    if motion.is_paused:
        return f"t = {t:.3f} s, paused"
    later = "; pushes are being prepared, once" if motion.is_preparing else ""
    if math.isnan(motion.factor):
        return f"t = {t:.2f} s{later}"
    is_late = math.isfinite(motion.speed) and motion.factor < _BEHIND * motion.speed
    late = ", as computing takes longer" if is_late else ""
    return f"t = {t:.2f} s, at {motion.factor:.2f} × real time{late}{later}"


_COLOR = (220, 60, 40)


class Hand:
    """The mouse of whoever began to drag a body last."""

    def __init__(self, scene: SceneApi, stage: Stage, motion: Live) -> None:
        self._stage, self._motion = stage, motion
        self._arrows = Arrows(scene, "/push", _COLOR, stage.size)
        self._arrows.show(True)
        self._followed: dict[int, Any] = {}
        self._held: tuple[int, int, Array, Array] | None = None
        """(whose mouse, the piece, the point in the axes of that piece, the cursor)."""

    def follow(self) -> None:
        """Let all shapes be dragged that are there now, and draw the arrow where the body is now."""
        for handle, pieces in self._stage.grips():
            if id(handle) not in self._followed:
                self._followed[id(handle)] = handle
                self._let_be_dragged(handle, pieces)
        held = self._held
        if held is None:
            self._arrows.put(np.zeros((1, 3)), np.zeros((1, 3)))
            return
        _, piece, point, cursor = held
        there = _at(self._stage.placements[piece], point)
        self._arrows.put(there[None], (cursor - there)[None])

    def let_go(self) -> None:
        """Let nothing be dragged any more."""
        self._held = None
        self._motion.release()
        alive = {id(handle) for handle, _ in self._stage.grips()}
        for key, handle in self._followed.items():
            if key in alive:
                handle.remove_drag_callback("all")
        self._followed.clear()
        self._arrows.show(False)

    def _let_be_dragged(self, handle: Any, pieces: Sequence[int]) -> None:
        if not any(self._is_loose(piece) for piece in pieces):
            return

        @handle.on_drag  # type: ignore[untyped-decorator, unused-ignore]
        async def _(event: Any) -> None:  # awaited in the order in which the mouse moves
            self.drag(event, pieces[(event.instance_index or 0) % len(pieces)])

    def drag(self, event: Any, piece: int) -> None:
        """Act on a movement of a mouse; the one that began last is followed."""
        mouse = event.client_id
        if event.phase == "start" and self._is_loose(piece):
            inverse = np.linalg.inv(self._stage.placements[piece])
            cursor = np.array(event.end_position)
            self._held = mouse, piece, _at(inverse, np.array(event.start_position)), cursor
        elif self._held is None or self._held[0] != mouse:
            return
        elif event.phase == "end":
            self._held = None
            self._motion.release()
            return
        else:
            self._held = (*self._held[:3], np.array(event.end_position))
        _, piece, point, cursor = self._held
        bodies = self._stage.bodies
        name = bodies.bodies[piece]
        _, placement = bodies.place_on(name)
        self._motion.push(name, _at(np.linalg.inv(placement), point), cursor)

    def _is_loose(self, piece: int) -> bool:
        """Whether it moves at all; the first piece is the world, with everything fixed to it."""
        return piece > 0


def _at(placement: NDArray[Any], point: Array) -> Array:
    point_there: Array = placement[:3, :3] @ point + placement[:3, 3]
    return point_there
