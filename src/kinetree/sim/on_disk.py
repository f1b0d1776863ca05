"""Motions on disk, folders and files, opened lazily."""

from __future__ import annotations

import os

from kinetree.files import file_path
from kinetree.sim.folder import TrajectoryFolder
from kinetree.sim.opened_file import TrajectoryFile

__all__ = ["load_trajectory"]


def load_trajectory(path: str | os.PathLike[str]) -> TrajectoryFolder | TrajectoryFile:
    """Open a motion on disk: the folder that `kt.simulate(…, stream=folder)` writes, or a file of `Trajectory.save`.

    Both have `time`, `shape` and `configurations`, which reads the moments and motions that are asked for and nothing
    else. `kt.Trajectory.load` reads a whole file at once.

    Args:
        path: the folder or the file.

    Returns:
        The motion, of whose states nothing is read yet.

    Raises:
        TrajectoryFileError: there is no such folder or file, or it holds no motion.
        DTypeError: `path` is no path.

    >>> import kinetree as kt, tempfile, pathlib
    >>> robot = kt.zoo.load("double_pendulum")
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = kt.simulate(robot, q=[1.0, 0.5], duration=0.1, stream=pathlib.Path(place) / "run")
    ...     motion = kt.load_trajectory(pathlib.Path(place) / "run")
    ...     motion.is_complete, motion.time.shape, motion.configurations(rows=[0, 50]).shape
    (True, (101,), (2, 2))
    """
    place = file_path("load_trajectory", path, what="folder or file")
    return TrajectoryFolder(place) if place.is_dir() else TrajectoryFile(place)
