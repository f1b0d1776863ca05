"""A motion that is followed while it is computed: at its own pace or another, with pauses, and pushed by somebody.

The motion does not depend on any of this, unless its bodies are pushed: how many steps are taken between two looks
changes no bit, as for the blocks that they are taken in anyway.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.sim.push import Push

__all__ = ["FRAME", "Live"]

Array = NDArray[np.float64]

FRAME = 1.0 / 60.0
"""Seconds between two moments that are shown."""

_PATIENCE = 0.1
"""Seconds that a motion may be late and still catch up; a later one goes on from where it is, at its pace."""
_MEASURED = 0.5
"""Seconds over which the real-time factor is measured."""
_UNLIMITED = 2**62


class Live:
    """How a motion is followed. The motion's thread asks; any other thread may call methods that change something."""

    def __init__(
        self,
        show: Callable[[float, Array, Array], None],
        *,
        speed: float = 1.0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`show(t, q, v)` is called at the start and every 1/60 s; q (…, nq), v (…, nv).

        `speed`: seconds of the motion per second; infinite for as fast as it goes.
        """
        self._show, self._clock, self._speed = show, clock, speed
        self._changed = threading.Condition()
        self._is_paused = self._is_stopped = self._is_reset = False
        self._granted = 0
        self._push: Push | None = None
        self.is_preparing = False
        """Whether a push waits until the kernel for it is made."""
        self.is_seen = False
        """Whether somebody looks, who may push."""
        self.lost: float = 0.0
        """Seconds that the motion was late and did not catch up."""
        self.factor: float = math.nan
        """How many seconds of the motion are computed per second; NaN until that is known, and in a pause."""
        self.begin(1.0, 0, 0, 0)

    # Called by pages.

    @property
    def speed(self) -> float:
        """Seconds of the motion per second."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        with self._changed:
            self._speed = speed
            self._wakes()

    @property
    def is_paused(self) -> bool:
        """Whether it waits."""
        return self._is_paused

    def pause(self) -> None:
        """Let it wait at the next moment that is shown."""
        self._is_paused, self._due = True, 0

    def go(self) -> None:
        """Let it go on."""
        with self._changed:
            self._is_paused, self._granted = False, 0
            self._wakes()

    def step(self) -> None:
        """Let a motion that waits go on to the next moment that is shown."""
        with self._changed:
            self._is_paused = True
            self._granted += 1
            self._wakes()

    def stop(self) -> None:
        """End the motion, and keep the part computed so far."""
        with self._changed:
            self._is_stopped = True
            self._wakes()

    def reset(self) -> None:
        """Let it begin again, and drop the part computed so far."""
        with self._changed:
            self._is_reset = True
            self._wakes()

    def push(self, body: str, point: ArrayLike, target: ArrayLike) -> None:
        """Push a point of a body, in the body's axes, towards a point of the world, from now on."""
        self._push = Push(body, _three(point), _three(target))
        self._due = 0

    def release(self) -> None:
        """Push nothing any more."""
        self._push = None
        self._due = 0

    # Called by the motion.

    @property
    def pushed(self) -> Push | None:
        """The present push."""
        return self._push

    @property
    def has_stopped(self) -> bool:
        """Whether somebody has ended the motion."""
        return self._is_stopped

    @property
    def begins_again(self) -> bool:
        """Whether the motion is to begin again."""
        return self._is_reset and not self._is_stopped

    @property
    def waits(self) -> bool:
        """Whether it waits for the kernel of the first push."""
        return not self.keeps_time

    @property
    def keeps_time(self) -> bool:
        """Whether it has a pace to keep."""
        return math.isfinite(self._speed)

    def begin(self, dt: float, first: int, nq: int, nv: int) -> None:
        """A motion begins, with steps of `dt` after `first` ones; its rows begin with q and v."""
        self._dt, self._first, self._ends = dt, first, (nq, nq + nv)
        self._is_reset, self._due, self._shown = False, 0, self._clock()
        self._anchor: tuple[float, float] | None = None
        self._measured = self._shown, first * dt

    def most(self, step: int) -> int:
        """How many steps may be taken until it is asked again whether to go on."""
        return max(1, self._due - step)

    def goes_on(self, step: int, row: Array) -> bool:
        """Show the moment before a step if it is time to, and wait until the step is due; whether it is taken."""
        is_whole_step = self._is_paused and self.keeps_time  # it takes 1/60 s, however long that is to compute
        if step < self._due and (is_whole_step or self._clock() - self._shown < FRAME):
            return True
        moment = (self._first + step) * self._dt
        self._wait_for(moment)
        self._measure(moment)
        self._shown = self._clock()
        nq, end = self._ends
        waited = False
        while not waited:
            is_shown_paused = self._is_paused
            self._show(moment, row[..., :nq].copy(), row[..., nq:end].copy())
            waited = self._wait_in_pause(is_shown_paused)
        self._due = step + max(1, round(FRAME * self._speed / self._dt)) if self.keeps_time else _UNLIMITED
        return not (self._is_stopped or self._is_reset)

    def _wait_for(self, moment: float) -> None:
        """Wait until it is time for a moment of the motion."""
        with self._changed:
            while self.keeps_time and not (self._is_stopped or self._is_reset):
                now = self._clock()
                if self._anchor is None:
                    self._anchor = now, moment
                due = self._anchor[0] + (moment - self._anchor[1]) / self._speed
                if due <= now:
                    if now - due > _PATIENCE:
                        self._anchor, self.lost = (now, moment), self.lost + now - due
                    return
                self._changed.wait(due - now)

    def _wait_in_pause(self, is_shown: bool) -> bool:
        """Wait until a pause ends; False at once for one that began too late to be shown with the moment."""
        with self._changed:
            while self._is_paused and not (self._is_stopped or self._is_reset):
                if self._granted:
                    self._granted -= 1
                    self._anchor = None
                    return True
                if not is_shown:
                    return False
                self.factor, self._anchor = math.nan, None
                self._changed.wait(1.0)
                self._measured = self._clock(), math.nan
            return True

    def _measure(self, moment: float) -> None:
        now, (then, before) = self._clock(), self._measured
        if math.isnan(before):
            self._measured = now, moment
        elif now - then >= _MEASURED:
            self.factor = (moment - before) / (now - then)
            self._measured = now, moment

    def _wakes(self) -> None:
        """Something has changed."""
        self._due, self._anchor = 0, None
        self._changed.notify_all()


def _three(x: ArrayLike) -> tuple[float, float, float]:
    first, second, third = (float(c) for c in np.asarray(x))
    return first, second, third
