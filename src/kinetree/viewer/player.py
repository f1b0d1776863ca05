"""The time of a page: a slider, play and pause, speed, repetition, single steps."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.viewer.controls import put

if TYPE_CHECKING:
    from viser import GuiApi, GuiEvent

__all__ = ["Player"]

Array = NDArray[np.float64]

_FRAME = 1.0 / 60.0
_SHOWN_EVERY = 0.1
"""Seconds between moves of the slider while it plays."""
_SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "5", "10")


class Player:
    """Goes through the times of a motion, (T,) in s, and calls `draw(t)`."""

    def __init__(
        self, gui: GuiApi, times: Array, draw: Callable[[float], None], report: Callable[[Exception], None]
    ) -> None:
        """`report` is called with errors while it plays, such as a file that is gone; it pauses then."""
        self._times, self._draw, self._report = times, draw, report
        self.start: float = float(times[0])
        self.end: float = float(times[-1])
        self.now: float = self.start
        self.speed: float = 1.0
        self.repeats: bool = True
        self._plays, self._closed = threading.Event(), False
        self._add(gui)
        self._thread = threading.Thread(target=self._run, name="kinetree player", daemon=True)
        self._thread.start()

    @property
    def is_playing(self) -> bool:
        return self._plays.is_set()

    def play(self) -> None:
        """Begin, or go on; from the start if it is at its end."""
        if self.now >= self.end:
            self.go(self.start)
        self._button.label = "Pause"
        self._plays.set()

    def pause(self) -> None:
        """Stay at this moment."""
        self._plays.clear()
        self._button.label = "Play"
        put(self._slider, self.now)

    def go(self, t: float) -> None:
        """Draw another moment; the nearest one if it is outside the motion."""
        self.now = min(max(t, self.start), self.end)
        self._draw(self.now)
        if not self.is_playing:
            put(self._slider, self.now)

    def step(self, rows: int) -> None:
        """Pause, and go by so many rows of the motion."""
        self.pause()
        row = int(np.searchsorted(self._times, self.now + 1e-9 * (self.end - self.start), side="right")) - 1
        self.go(float(self._times[min(max(row + rows, 0), len(self._times) - 1)]))

    def close(self) -> None:
        """End its thread."""
        self._closed = True
        self._plays.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=2.0)

    def remove(self) -> None:
        """Take it off the page."""
        self.close()
        self._folder.remove()

    def _add(self, gui: GuiApi) -> None:
        span = max(self.end - self.start, 1e-9)
        self._folder = gui.add_folder("Time")
        with self._folder:
            self._slider = gui.add_slider("t, s", self.start, self.start + span, span / 2000.0, self.start)
            self._button = gui.add_button("Play")
            steps = gui.add_button_group("step", ("|<", "<", ">", ">|"), hint="the start, a row back or on, the end")
            speed = gui.add_dropdown("speed", _SPEEDS, initial_value="1", hint="seconds of the motion per second")
            repeats = gui.add_checkbox("repeat", self.repeats)

        @self._slider.on_update
        def _(event: GuiEvent[Any]) -> None:
            if event.client is not None:
                time = self._slider.value
                self.pause()  # moves the slider back to now
                self.go(time)

        @self._button.on_click
        def _(_: GuiEvent[Any]) -> None:
            self.pause() if self.is_playing else self.play()

        @steps.on_click
        def _(_: GuiEvent[Any]) -> None:
            far = len(self._times)
            self.step({"|<": -far, "<": -1, ">": 1, ">|": far}[steps.value])

        @speed.on_update
        def _(_: GuiEvent[Any]) -> None:
            self.speed = float(speed.value)

        @repeats.on_update
        def _(_: GuiEvent[Any]) -> None:
            self.repeats = repeats.value

    def _run(self) -> None:
        before = shown = time.perf_counter()
        while True:
            if not self.is_playing:
                self._plays.wait()
                before = time.perf_counter()
            if self._closed:
                return
            now = time.perf_counter()
            try:
                self._advance((now - before) * self.speed)
            except Exception as error:
                self.pause()
                self._report(error)
            before = now
            if now - shown > _SHOWN_EVERY:
                shown = now
                put(self._slider, self.now)
            time.sleep(max(0.0, _FRAME - (time.perf_counter() - now)))

    def _advance(self, seconds: float) -> None:
        t = self.now + seconds
        if t > self.end:
            if not self.repeats:
                self.pause()
                self.go(self.end)
                return
            t = self.start
        self.now = t
        self._draw(t)
