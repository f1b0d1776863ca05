"""The real robots of the `example-robot-data` wheel, which the tests load but the repository does not hold."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import kinetree as kt

__all__ = ["REFUSED", "load_robot", "robot_files", "robot_path"]

REFUSED = {
    "alex_description/urdf/alex_psyonic_hands.urdf": "mimics 'index_q1', but there is no such joint",
    "romeo_description/urdf/romeo_laas_small.urdf": "negative principal moment",
    "ur_description/urdf/ur3.urdf": "has no bodies",
}
"""Files of the wheel that are no robots, and the reason that kinetree gives."""


@cache
def _folder() -> Path:
    folder = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")))
    assert folder.is_dir(), f"the wheel example-robot-data has no folder {folder}"
    return folder


@cache
def robot_files() -> tuple[str, ...]:
    """Every URDF file of the wheel, sorted, as a path under its folder `robots`."""
    return tuple(sorted(str(path.relative_to(_folder())) for path in _folder().rglob("*.urdf")))


def robot_path(name: str) -> Path:
    """The file of a robot: by its path under `robots`, or by its stem where only one file has it ("panda")."""
    matching = [file for file in robot_files() if name in (file, Path(file).stem)]
    assert len(matching) == 1, f"{name!r} names {len(matching)} files: {matching}"
    return _folder() / matching[0]


def load_robot(name: str, *, floating_base: bool = False, mimic: bool = False) -> kt.Model:
    """A robot of the wheel. Many of them are suspicious in one way or another; that is not what the caller tests.

    As in most peers, joints that mimic others move on their own unless it is asked for.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.ModelWarning)
        return kt.load(robot_path(name), floating_base=floating_base, mimic=mimic)
