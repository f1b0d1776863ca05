"""A motion that keeps to a speed while it is computed, and is seen in the browser if it is to be."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from numbers import Real
from typing import Any, TypeVar

from kinetree.errors import OptionError, StiffFrictionError
from kinetree.sim.live import Live
from kinetree.sim.task import Task

__all__ = ["PATIENCE", "watched"]

M = TypeVar("M")

PATIENCE = 10.0
"""Seconds for which a motion waits for somebody to open the page."""
_log = logging.getLogger("kinetree")


def watched(task: Task, compute: Callable[[Live | None], M], view: Any, speed: Any, *, is_streamed: bool) -> M:
    """What `compute` returns; with a view, its motion is shown on a page, and with a speed it keeps to that.

    Raises:
        MissingPackageError: viser is not installed.
        OptionError: view is no page of this robot at rest, or speed is no speed.
    """
    pace = _pace(speed)
    if view is False:
        return compute(None) if speed is None else _paced(compute, pace)
    from kinetree.viewer import LivePage

    viewer = _viewer(task, view)
    live = Live(lambda *moment: page.show(*moment), speed=pace)
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


def _paced(compute: Callable[[Live | None], M], speed: float) -> M:
    """A motion that keeps to a speed, with nobody to see it."""
    live = Live(lambda *_: None, speed=speed)
    motion = compute(live)
    if live.lost:
        _log.warning(
            "computing did not keep up with speed=%g: the motion came to its end %.2g s late", speed, live.lost
        )
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


def _viewer(task: Task, view: Any) -> Any:
    from kinetree import viewer as pages

    robot = task.setting.robot
    if view is True:
        start = task.start.row[..., : robot.nq]
        given = task.setting.parameters.items()
        shown = {name: x for name, x in given if x.ndim == robot.parameter(name).ndim}  # a page has one value of each
        return pages.view(robot, q=start.reshape(math.prod(start.shape[:-1]), robot.nq), parameters=shown)
    if not isinstance(view, pages.Viewer):
        raise OptionError(f"simulate: view must be True, False, or the kt.view of this robot, not {view!r:.60}")
    if view.robot is not robot and view.robot != robot:
        raise OptionError(f"simulate: view is a page of another robot, {view.robot.name!r}, and this is {robot.name!r}")
    if view.is_closed or not view.is_of_robot:
        what = "is closed" if view.is_closed else "shows motions that there are"
        raise OptionError(f"simulate: the page that view is {what}; make a new one with kt.view(robot)")
    return view
