"""The text form as methods of a robot."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from kinetree.errors import DTypeError, ModelError, SaveError
from kinetree.files import file_path, write_file

if TYPE_CHECKING:
    from kinetree.model.joints import JointKind
    from kinetree.model.model import Model

__all__ = ["TextForm"]


class TextForm:
    """Robots as text: versioned, readable line by line, and exact; docs/model_text.md describes it."""

    __slots__ = ()

    def to_text(self) -> str:
        """The robot as JSON text that `from_text` takes back: an equal robot, with the same numbers to the last bit.

        Where meshes lie on this disk is not part of it; their addresses are.

        Raises:
            ModelError: a joint's kind holds something that has no text form, such as a function.

        >>> import kinetree as kt
        >>> robot = kt.zoo.load("arm6")
        >>> kt.Model.from_text(robot.to_text()) == robot
        True
        """
        from kinetree.model.serial.writing import write_text

        return write_text(cast("Model", self))

    @staticmethod
    def from_text(text: str, *, kinds: Sequence[type[JointKind]] = ()) -> Model:
        """The robot of a text that `to_text` made, or a person.

        Args:
            text: the text form, of version 1.
            kinds: the classes of joints in it that are not kinetree's own; the text names them by their `__name__`.

        Returns:
            The robot. It is checked as one from a file is: `ModelWarning` says what is suspicious.

        Raises:
            ModelError: it is not JSON, of a newer version, or no robot; the message names the place, such as
                `joints[3].placement`.
            OptionError: something in `kinds` is no class of joints, or two have one name.
            DTypeError: `text` is no string.
        """
        if not isinstance(text, str):
            raise DTypeError(f"from_text takes a string, not {type(text).__name__}; kinetree.load reads files")
        from kinetree.model.serial.reading import read_text

        return read_text(text, kinds=kinds)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write `to_text` to a file (UTF-8), which `kinetree.load` reads, and return its path.

        The file is written whole or not at all: whatever goes wrong, a file that was there before stays as it was.

        Raises:
            ModelError: as `to_text`, or the file cannot be written, for example because its folder does not exist.
            DTypeError: `path` is no path.

        >>> import kinetree as kt, tempfile, pathlib
        >>> robot = kt.zoo.load("double_pendulum")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     kt.load(robot.save(pathlib.Path(folder) / "pendulum.json")) == robot
        True
        """
        target = file_path("save", path)
        try:
            text = self.to_text().encode("utf-8")
            write_file(target, lambda file: file.write(text))
        except SaveError as error:
            raise ModelError(str(error)) from error
        except UnicodeEncodeError as error:
            raise ModelError(f"{target}: cannot be written: {error}") from None
        return target
