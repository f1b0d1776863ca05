"""A motion that keeps to a speed while it is computed, or is seen in the browser, or reports its progress."""

from __future__ import annotations

import logging
from collections.abc import Callable
from numbers import Real
from typing import Protocol, TypeVar

from kinetree.display import registered
from kinetree.errors import OptionError
from kinetree.records import record
from kinetree.sim.live import Live
from kinetree.sim.task import Task

__all__ = ["Viewer", "Viewing", "watched"]

M = TypeVar("M")

_log = logging.getLogger("kinetree")


class Viewer(Protocol):
    """The page of a robot, which `kt.view` makes."""

    @property
    def is_of_robot(self) -> bool: ...
    @property
    def is_closed(self) -> bool: ...


@record(frozen=True, slots=True)
class Viewing:
    """How `simulate` shows a motion while it is computed.

    Attributes:
        page: whether a page in the browser shows it; or that page, the `kt.view` of this robot.
        speed: how many seconds of the motion pass per second. None is 1 with a page; without one the motion is computed
            as fast as possible, which is math.inf. speed=1 without a page keeps to real time, for a Python function as
            controller that reads a joystick or answers a program. The motion waits at every 1/60 s; no number of it
            depends on the speed.
        progress: a function that is called with (done, steps) now and then.

    Raises:
        OptionError: speed is not a positive number, or progress is not a function.

    >>> import kinetree as kt
    >>> counts = []
    >>> seen = kt.sim.Viewing(page=False, progress=lambda done, steps: counts.append(done))
    >>> motion = kt.simulate(kt.zoo.load("double_pendulum"), duration=0.1, view=seen)
    >>> counts[-1]
    100
    """

    page: bool | Viewer = True
    speed: float | None = None
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        speed, progress = self.speed, self.progress
        if speed is not None and (isinstance(speed, bool) or not isinstance(speed, Real) or not speed > 0.0):
            raise OptionError(
                "Viewing: speed must be a positive number, seconds of the motion per second, or math.inf, not "
                f"{speed!r:.60}"
            )
        if progress is not None and not callable(progress):
            raise OptionError(f"Viewing: progress must be a function of (done, steps), not {progress!r:.60}")


def watched(task: Task, compute: Callable[[Live | None], M], viewing: Viewing, *, is_streamed: bool) -> M:
    """The result of `compute`; its motion is shown on a page, or keeps to a speed, as `viewing` says.

    Raises:
        MissingPackageError: viser is not installed.
        OptionError: the page is not one of this robot at rest.
    """
    pace = 1.0 if viewing.speed is None else float(viewing.speed)
    if viewing.page is not False:
        on_page: Callable[..., M] = registered("watched")
        return on_page(task, compute, viewing.page, pace, is_streamed=is_streamed)
    if viewing.speed is None:
        return compute(None)
    live = Live(lambda *_: None, speed=pace)
    motion = compute(live)
    if live.lost:
        _log.warning("computing did not keep up with speed=%g: the motion came to its end %.2g s late", pace, live.lost)
    return motion
