"""Writing robot files, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from kinetree.errors import ModelError, OptionError, SaveError
from kinetree.files import file_path, write_file
from kinetree.io.native.text import to_text
from kinetree.model import Model

__all__ = ["save"]

_OTHERS = {
    ".urdf": "URDF", ".xacro": "xacro", ".xml": "URDF or MJCF", ".mjcf": "MJCF", ".mjb": "MuJoCo's binary form",
    ".sdf": "SDF", ".world": "SDF", ".srdf": "SRDF", ".usd": "USD", ".usda": "USD", ".usdc": "USD", ".usdz": "USD",
    ".skel": "DART's skeletons", ".lua": "RBDL's models", ".osim": "OpenSim's models", ".yaml": "YAML", ".yml": "YAML",
    ".toml": "TOML", ".npz": "NumPy's arrays", ".npy": "NumPy's arrays", ".csv": "CSV", ".pkl": "pickles",
    ".pickle": "pickles",
}  # fmt: skip
"""Suffixes that promise another format."""


def save(robot: Model, path: str | os.PathLike[str]) -> Path:
    """Write a robot's text form (`to_text`) to a file in UTF-8, which `kinetree.load` reads, and return its path.

    The only format that is written is this one; its usual suffix is .json. A name that promises another format, such
    as "robot.urdf", is refused.

    The file is written whole or not at all: whatever goes wrong, a file that was there before stays as it was.

    Raises:
        ModelError: as `to_text`, or the file cannot be written, for example because its folder does not exist.
        OptionError: the suffix is that of another format.
        DTypeError: `path` is not a path.

    >>> import kinetree as kt, tempfile, pathlib
    >>> robot = kt.zoo.load("double_pendulum")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kt.load(kt.save(robot, pathlib.Path(folder) / "pendulum.json")) == robot
    True
    """
    target = file_path("save", path)
    if promised := _OTHERS.get(target.suffix.lower()):
        raise OptionError(
            f"{target}: a name with {target.suffix} promises {promised}, but save writes kinetree's own text form and "
            f"no other format; name the file {target.with_suffix('.json').name!r}"
        )
    try:
        text = to_text(robot).encode("utf-8")
        write_file(target, lambda file: file.write(text))
    except SaveError as error:
        raise ModelError(str(error)) from error
    except UnicodeEncodeError as error:
        raise ModelError(f"{target}: cannot be written: {error}") from None
    return target
