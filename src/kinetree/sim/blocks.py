"""The steps of a piece of a motion, taken in blocks: each is one call of a kernel."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import SimulationError, listed
from kinetree.functions.step_division import Stiffness, most_parts
from kinetree.model import Model
from kinetree.sim.crossings import Watch
from kinetree.sim.endings import Endings, first_not_finite
from kinetree.sim.live import Live
from kinetree.sim.motion import Motion
from kinetree.sim.record import Record, Stall
from kinetree.sim.setting import Setting

__all__ = ["SECONDS_PER_BLOCK", "take_steps"]

Array = NDArray[np.float64]

SECONDS_PER_BLOCK = 0.02
"""Approximate maximum duration of one call that takes many steps: Ctrl-C and `progress` wait for its end."""

_NEVER = 2**62


def take_steps(
    setting: Setting,
    motion: Motion,
    stiffness: Stiffness,
    record: Record,
    endings: Endings,
    watch: Watch,
    progress: Callable[[int], None] | None,
    live: Live | None = None,
) -> None:
    """Fill the record, in blocks of steps.

    A block goes beyond the next look at how stiff the robot is if its steps are likely to be divided there as they are
    now. Steps after a check that finds this wrong are computed again. Looks are at multiples of their period from the
    beginning of the whole motion, so they do not depend on where a piece of it begins.
    """
    robot, first = setting.robot, setting.first
    rows, nq = record.rows, robot.nq
    steps, states = rows.shape[-2] - 1, rows[..., : record.state]
    look = _NEVER if stiffness.is_zero else stiffness.period
    k, block, has_events = 0, 1, bool(watch)
    is_steady = True  # until the first look that finds other parts
    while True:
        have_ended = endings.are_all
        if have_ended:  # blocks may go on beyond the last end
            k = min(k, int(endings.row.max()))
        record.mark, record.stiffness = k, stiffness.carried()
        record.given[..., k, :] = motion.given(k, rows[..., k, :])
        if not endings.going_on.all():
            record.given[..., k, :][~endings.going_on] = 0.0
        record.done = k + 1
        if k == steps or have_ended or not (live is None or live.goes_on(k, rows[..., k, :])):
            motion.accept(record, k, k + 1)
            return
        since = (first + k) % look
        if k == 0 and since == 0 and not stiffness.is_zero:
            _follow(stiffness, states[..., :nq], range(0, 1, look), endings, None)
            endings.stop(record, 0, stiffness.stopped)
        parts = stiffness.parts
        if parts is not record.substeps:
            record.substeps = max(record.substeps, most_parts(parts))
        ahead = 0 if has_events else stiffness.ahead  # with events, all steps of a block are final
        count = min(block, look - since + look * ahead, steps - k, motion.most(k))
        if live is not None:
            count = min(count, live.most(k))
        begin = time.perf_counter()
        motion.advance(record, k, count, parts)
        seconds = time.perf_counter() - begin
        lost = endings.hold(record, k, count) if setting.shape else None
        finite = count if setting.shape else _finite_rows(states[..., k + 1 : k + count + 1, :])
        if has_events:
            endings.settle(record, lost, k + finite)
            if watch.look(motion, record, k, finite, parts, endings):
                motion.accept(record, k, record.done - 1)
                return
        looks = range(k + look - since, min(k + finite + 1, steps), look)
        held = _follow(stiffness, states[..., :nq], looks, endings, lost)
        kept = looks[held] - k if held < len(looks) else finite
        if lost is not None:
            endings.settle(record, lost, k + kept)
        if stiffness.stopped:
            endings.stop(record, k + kept, stiffness.stopped)
        if held == len(looks) and finite < count:
            motion.accept(record, k, k + finite + 1)
            record.done, record.mark, record.stiffness = k + finite + 1, k + finite, stiffness.carried()
            if () in record.stalls:
                raise _stalled(robot, record.stalls[()], setting)
            rows = states[..., max(k + finite - 1, 0) : k + finite + 2, :]
            raise _not_finite(robot, rows, first + k + finite + 1, setting.dt)
        motion.accept(record, k, k + kept)
        k += kept
        record.done = k
        is_steady = is_steady and kept == count
        longer = 8 * block if is_steady else 2 * kept
        block = max(1, min(longer, int(count * SECONDS_PER_BLOCK / seconds)))
        if progress is not None:
            progress(k)


def _follow(stiffness: Stiffness, q: Array, looks: range, endings: Endings, lost: NDArray[np.intp] | None) -> int:
    """How many of the looks find that steps are divided as they must be."""
    stiffness.stopped = {}
    if not looks or stiffness.is_zero:
        return len(looks)
    ended = ~endings.going_on[..., None]
    if lost is not None:
        ended = ended | (lost[..., None] <= np.arange(looks.start, looks.stop, looks.step))
    elif endings.going_on.all():
        return stiffness.follow(q[..., looks.start : looks.stop : looks.step, :])
    return stiffness.follow(q[..., looks.start : looks.stop : looks.step, :], ended)


def _finite_rows(rows: Array) -> int:
    """How many rows (T, n) come before the first one that is not finite."""
    finite, count = np.isfinite(rows), int(rows.shape[-2])
    return count if finite.all() else int(np.argmin(finite.all(axis=-1)))


def _not_finite(robot: Model, rows: Array, step: int, dt: float) -> SimulationError:
    """The error for states [q, v, act] up to a step, where the last one has numbers that are not finite."""
    what = (
        f"the motion of {robot.name!r} is no longer finite at t = {step * dt:g} s "
        f"({first_not_finite(robot, rows[-1])!r} first)"
    )
    for q in rows[:-1, : robot.nq]:
        if singular := robot.near_singular(q, 1e-6):
            return SimulationError(
                f"{what}: the coordinates of {listed(map(repr, singular))} are at a singularity there "
                "(robot.near_singular); start elsewhere, or use joints without singularities, such as Spherical or Free"
            )
    return SimulationError(
        f"{what}: it grew beyond all bounds; try a "
        f"smaller step than {dt:g} s, smaller torques or initial velocities, or more friction"
    )


def _stalled(robot: Model, stall: Stall, setting: Setting) -> SimulationError:
    """The error for a motion without a step that is exact enough."""
    assert setting.tolerances is not None
    return SimulationError(
        f"the motion of {robot.name!r} cannot go on at t = {stall.time:.9g} s: no step of {setting.integrator!r}, "
        f"however short, has an error within rtol={setting.tolerances.rtol:g} and atol={setting.tolerances.atol:g} "
        f"({stall.name!r} first). Either it grows beyond all bounds there, or what acts on it jumps with its state, as "
        'a hard contact or a controller that switches does: take larger tolerances, or integrator="discrete"'
    )
