"""A motion that is written to disk in pieces while it is computed, and goes on after a stop.

Each piece is written whole, then the snapshot at its end; so whatever stops the process, the folder holds a motion up
to a snapshot, and the same call goes on from there. Pieces after the last snapshot are computed again, to the same
bits.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.errors import SaveError, SimulationError
from kinetree.files import file_path, write_file
from kinetree.sim.folder import COMPLETE, MotionFolder, TrajectoryFolder
from kinetree.sim.identity import digest_of
from kinetree.sim.kept_robot import KeptRobot
from kinetree.sim.live import Live
from kinetree.sim.pieces import piece_name, snapshot_name
from kinetree.sim.snapshot import Snapshot
from kinetree.sim.task import Piece, Task
from kinetree.sim.trajectory import SimulationInterrupted, Trajectory
from kinetree.sim.trajectory_file import write_trajectory

__all__ = ["inputs_of", "streamed"]

_NUMBERS_PER_PIECE = 2**20
"""Numbers in the rows of a piece: what a kill may lose is computed again within a second or so."""
_NUMBERS_AT_ONCE = 2**22
"""The same for all steps of a piece, of which only some rows may be kept."""


def streamed(
    task: Task,
    path: Any,
    given: Mapping[str, str],
    progress: Callable[[int, int], None] | None,
    told: Callable[[Trajectory], None],
    live: Live | None = None,
) -> TrajectoryFolder:
    """Compute a motion into a folder, from where it stopped before. `told` gets each piece.

    Somebody may follow it and end it early; nobody can push it, since what goes on later must be the same motion.
    """
    folder, robot = MotionFolder(file_path("simulate: stream", path, what="folder")), KeptRobot(task.setting.robot)
    with folder.only_writer():
        folder.begin({"format": folder.format, "settings": {**task.identity, **given}}, robot.text)
        motion = TrajectoryFolder(folder.path, robot)
        try:
            _compute(task, motion, progress, told, live)
        except SaveError as error:
            raise _what_is_kept(error, motion) from error
        except KeyboardInterrupt as stop:
            if isinstance(stop, SimulationInterrupted) or not motion.pieces:
                raise
            raise SimulationInterrupted(motion.piece(motion.pieces - 1), task.steps, _place(motion)) from stop
    return motion


def _compute(
    task: Task,
    motion: TrajectoryFolder,
    progress: Callable[[int, int], None] | None,
    told: Callable[[Trajectory], None],
    live: Live | None,
) -> None:
    if motion.is_complete:
        return
    number, start = motion.last_snapshot() or 0, task.start
    if number:
        snapshot = Snapshot.load(motion.path / snapshot_name(number))
        snapshot.check(task.identity)
        start = snapshot.start
    for k in range(number, motion.pieces):
        (motion.path / piece_name(k)).unlink()
    length, last = _steps_per_piece(task), task.start.step + task.steps
    while start.step < last:
        piece = task.piece(start, min(length, last - start.step))
        try:
            piece.run(progress, live)
        except KeyboardInterrupt as stop:
            number = _keep(motion.path, number, piece, is_last=False)
            if not number:
                raise
            raise SimulationInterrupted(motion.piece(number - 1), task.steps, _place(motion)) from stop
        except SimulationError as error:
            if _keep(motion.path, number, piece, is_last=False):
                error.trajectory = motion
            raise
        is_last = piece.has_ended or piece.end().step == last
        if not is_last and live is not None and live.has_stopped:
            _keep(motion.path, number, piece, is_last=False, told=told)
            return
        number = _keep(motion.path, number, piece, is_last=is_last, told=told)
        start = piece.end()
        if is_last:
            break
    MotionFolder(motion.path).write_json(COMPLETE, {"pieces": number})


def _keep(
    folder: Path, number: int, piece: Piece, *, is_last: bool, told: Callable[[Trajectory], None] | None = None
) -> int:
    """Write a piece, if it has rows, and the snapshot at its end; how many pieces there are then."""
    trajectory = piece.trajectory(is_last=is_last)
    if not trajectory.time.size:
        return number
    if told is not None:
        told(trajectory)
    rows = replace(trajectory, kept=None)
    write_file(folder / piece_name(number), lambda file: write_trajectory(file, rows), within=folder)
    if trajectory.end is not None:
        write_file(folder / snapshot_name(number + 1), trajectory.end.write, within=folder)
        with suppress(OSError):
            (folder / snapshot_name(number)).unlink()
    return number + 1


def _steps_per_piece(task: Task) -> int:
    """A multiple of the stride."""
    robot, stride = task.setting.robot, task.wanted.stride
    motions = max(1, int(np.prod(task.setting.shape)))
    width = motions * (robot.nq + 3 * robot.nv + 6 + 16 * len(task.wanted.frames))
    steps = min(stride * max(1, _NUMBERS_PER_PIECE // width), max(1, _NUMBERS_AT_ONCE // width))
    return max(stride, steps - steps % stride)


def inputs_of(task: Task, given: Mapping[str, Any]) -> dict[str, str]:
    """What a motion is given besides its settings, as texts by name: it must be the same when it goes on."""
    found = {"steps": str(task.steps), "start": digest_of(task.start.row), "first step": str(task.start.step)}
    found |= {"recorded": repr(task.wanted), "until": ", ".join(event.name for event in task.events) or "none"}
    for name, x in given.items():
        if isinstance(x, Mapping):
            found[name] = ", ".join(f"{key!r}: {_told(value)}" for key, value in x.items()) or "none"
        else:
            found[name] = _told(x)
    return found


def _told(x: Any) -> str:
    """A text for a given value; functions are told by their names alone."""
    if x is None:
        return "none"
    return f"the function {getattr(x, '__name__', type(x).__name__)}" if callable(x) else digest_of(np.asarray(x))


def _what_is_kept(error: SaveError, motion: TrajectoryFolder) -> SaveError:
    """The error, with what there is in spite of it."""
    if not motion.pieces:
        kept = "nothing of the motion is kept yet"
    else:
        kept = f"the motion until t = {motion.piece(motion.pieces - 1).time[-1]:g} s is whole in {motion.path}"
    advice = "free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else "mend that"
    told = SaveError(f"{error}; {kept}: {advice}, and the same call goes on from there")
    told.errno = error.errno
    return told


def _place(motion: TrajectoryFolder) -> str:
    return f"in the folder {motion.path}, from which the same call goes on"
