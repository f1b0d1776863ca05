"""A motion that is written to disk in pieces while it is computed, and goes on after a stop (motion_folder.py)."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinetree.errors import SaveError, SimulationError
from kinetree.files import file_path
from kinetree.sim.folder import TrajectoryFolder
from kinetree.sim.kept_robot import KeptRobot
from kinetree.sim.live import Live
from kinetree.sim.motion_folder import MotionFolder
from kinetree.sim.snapshot import digest_of
from kinetree.sim.task import Piece, Task
from kinetree.sim.trajectory import SimulationInterrupted, Trajectory, coordinate_names

__all__ = ["inputs_of", "streamed"]

_NUMBERS_PER_PIECE = 2**20
"""Numbers in the rows of a piece: rows lost by a kill are computed again within a second or so."""
_NUMBERS_AT_ONCE = 2**22
"""Numbers in all steps of a piece, also where only some rows are kept."""


def streamed(
    task: Task,
    path: Any,
    given: Mapping[str, str],
    progress: Callable[[int, int], None] | None,
    on_piece: Callable[[Trajectory], None],
    live: Live | None = None,
) -> TrajectoryFolder:
    """Compute a motion into a folder, from where it stopped before. `on_piece` gets each piece.

    Somebody may follow it and end it early; nobody can push it, since its continuation must be the same motion.
    """
    folder, robot = MotionFolder(file_path("simulate: stream", path, what="folder")), task.setting.robot
    first, last, stride = task.start.step, task.start.step + task.steps, task.wanted.stride
    rows = 1 - (-last // stride) + (-first // stride)
    chunks = -(-rows // _rows_per_piece(task))
    about = {"format": folder.format, "settings": {**task.identity, **given}, "shape": [*task.setting.shape]}
    about |= {"rows": rows, "chunk": -(-rows // chunks)}
    with folder.only_writer():
        folder.begin(about | coordinate_names(robot), KeptRobot(robot).text)
        motion = TrajectoryFolder(folder.path, KeptRobot(robot))
        try:
            _compute(task, folder, motion, progress, on_piece, live)
        except SaveError as error:
            raise _what_is_kept(error, motion) from error
        except KeyboardInterrupt as stop:
            if isinstance(stop, SimulationInterrupted) or not motion.pieces:
                raise
            raise SimulationInterrupted(motion.piece(motion.pieces - 1), task.steps, _place(motion)) from stop
    return motion


def _compute(
    task: Task,
    folder: MotionFolder,
    motion: TrajectoryFolder,
    progress: Callable[[int, int], None] | None,
    on_piece: Callable[[Trajectory], None],
    live: Live | None,
) -> None:
    number, start = 0, task.start
    if motion.is_complete:
        return
    if (kept := folder.last_snapshot()) is not None and kept[0]:
        number, snapshot = kept
        snapshot.check(task.identity)
        start = snapshot.start
    folder.forget(number)
    length, last = folder.description["chunk"] * task.wanted.stride, task.start.step + task.steps

    def keep(piece: Piece, *, is_last: bool) -> Trajectory | None:
        """Write a piece, if it has rows."""
        nonlocal number
        trajectory = piece.trajectory(is_last=is_last)
        if not trajectory.time.size:
            return None
        folder.write(number, trajectory, is_last=is_last)
        number += 1
        return trajectory

    while start.step < last:
        done = start.step - task.start.step  # pieces end where chunks do, except interrupted ones
        piece = task.piece(start, min(length - done % length, last - start.step))
        try:
            piece.run(progress, live)
        except KeyboardInterrupt as stop:
            if piece.end().step < last:  # without a step nothing could go on to the end's row
                keep(piece, is_last=False)
            if not number:
                raise
            raise SimulationInterrupted(motion.piece(number - 1), task.steps, _place(motion)) from stop
        except SimulationError as error:
            keep(piece, is_last=False)
            if number:
                error.trajectory = motion
            raise
        is_last = piece.has_ended or piece.end().step == last
        stops = not is_last and live is not None and live.has_stopped
        if (trajectory := keep(piece, is_last=is_last)) is not None:
            on_piece(trajectory)
        if is_last or stops:
            return
        start = piece.end()


def _rows_per_piece(task: Task) -> int:
    robot, stride = task.setting.robot, task.wanted.stride
    motions = max(1, int(np.prod(task.setting.shape)))
    width = motions * (robot.nq + 3 * robot.nv + 6 + 16 * len(task.wanted.frames))
    return max(1, min(_NUMBERS_PER_PIECE // width, _NUMBERS_AT_ONCE // width // stride))


def inputs_of(task: Task, options: Mapping[str, Any]) -> dict[str, str]:
    """The inputs of a motion other than its settings, as texts by name: it must be the same when it goes on.

    `options` are the arguments of `simulate`.
    """
    texts = {"steps": str(task.steps), "start": digest_of(task.start.row), "first step": str(task.start.step)}
    texts |= {"recorded": repr(task.wanted), "until": ", ".join(event.name for event in task.events) or "none"}
    for name in ("tau", "ctrl", "f_ext", "arguments", "rows", "state"):
        if isinstance(x := options[name], Mapping):
            texts[name] = ", ".join(f"{key!r}: {_identifier(value)}" for key, value in x.items()) or "none"
        else:
            texts[name] = _identifier(x)
    return texts


def _identifier(x: Any) -> str:
    """A text for a given value; functions are identified by their names alone."""
    if x is None:
        return "none"
    return f"the function {getattr(x, '__name__', type(x).__name__)}" if callable(x) else digest_of(np.asarray(x))


def _what_is_kept(error: SaveError, motion: TrajectoryFolder) -> SaveError:
    """The error, with the part of the motion that exists in spite of it."""
    if not motion.pieces:
        kept = "nothing of the motion is kept yet"
    else:
        kept = f"the motion until t = {motion.time[-1]:g} s is whole in {motion.path}"
    advice = "free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else "mend that"
    extended = SaveError(f"{error}; {kept}: {advice}, and the same call goes on from there")
    extended.errno = error.errno
    return extended


def _place(motion: TrajectoryFolder) -> str:
    return f"in the folder {motion.path}, from which the same call goes on"
