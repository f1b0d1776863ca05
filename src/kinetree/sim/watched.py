"""A motion that keeps to a speed while it is computed, or is seen in the browser."""

from __future__ import annotations

import logging
from collections.abc import Callable
from numbers import Real
from typing import Any, Protocol, TypeVar

from kinetree.display import registered
from kinetree.errors import OptionError
from kinetree.sim.live import Live
from kinetree.sim.task import Task

__all__ = ["Viewer", "watched"]

M = TypeVar("M")

_log = logging.getLogger("kinetree")


class Viewer(Protocol):
    """The page of a robot, which `kt.view` makes."""

    @property
    def is_of_robot(self) -> bool: ...
    @property
    def is_closed(self) -> bool: ...


def watched(task: Task, compute: Callable[[Live | None], M], view: Any, speed: Any, *, is_streamed: bool) -> M:
    """The result of `compute`; with a view, its motion is shown on a page, and with a speed it keeps to that.

    Raises:
        MissingPackageError: viser is not installed.
        OptionError: view is not a page of this robot at rest, or speed is not a speed.
    """
    pace = _pace(speed)
    if view is not False:
        on_page: Callable[..., M] = registered("watched")
        return on_page(task, compute, view, pace, is_streamed=is_streamed)
    if speed is None:
        return compute(None)
    live = Live(lambda *_: None, speed=pace)
    motion = compute(live)
    if live.lost:
        _log.warning("computing did not keep up with speed=%g: the motion came to its end %.2g s late", pace, live.lost)
    return motion


def _pace(speed: Any) -> float:
    if speed is None:
        return 1.0
    if isinstance(speed, bool) or not isinstance(speed, Real) or not float(speed) > 0.0:
        raise OptionError(
            "simulate: speed must be a positive number, seconds of the motion per second, or math.inf, not "
            f"{speed!r:.60}"
        )
    return float(speed)
