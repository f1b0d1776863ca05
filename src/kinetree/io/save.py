"""Writing robot files, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from kinetree.errors import ModelError, SaveError
from kinetree.files import file_path, write_file
from kinetree.io.native.text import to_text
from kinetree.model import Model

__all__ = ["save"]


def save(robot: Model, path: str | os.PathLike[str]) -> Path:
    """Write a robot's text form (`to_text`) to a file in UTF-8, which `kinetree.load` reads, and return its path.

    The file is written whole or not at all: whatever goes wrong, a file that was there before stays as it was.

    Raises:
        ModelError: as `to_text`, or the file cannot be written, for example because its folder does not exist.
        DTypeError: `path` is not a path.

    >>> import kinetree as kt, tempfile, pathlib
    >>> robot = kt.zoo.load("double_pendulum")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kt.load(kt.save(robot, pathlib.Path(folder) / "pendulum.json")) == robot
    True
    """
    target = file_path("save", path)
    try:
        text = to_text(robot).encode("utf-8")
        write_file(target, lambda file: file.write(text))
    except SaveError as error:
        raise ModelError(str(error)) from error
    except UnicodeEncodeError as error:
        raise ModelError(f"{target}: cannot be written: {error}") from None
    return target
