"""A folder of results, such as a study or a motion, with a description, so that only the same work goes on in it.

KIND.json    the request, as texts by name; a continuation must have the same ones
robot.json   the robot (sim/kept_robot.py)
GROUP/NAME/  arrays in Zarr's format (arrays.py)

One process at a time writes. Files appear whole, so after any stop, the existing ones can be read.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote, unquote

from kinetree.errors import OptionError, SaveError, TrajectoryFileError
from kinetree.files import create_locked, read_json, reason, remove_abandoned, write_file
from kinetree.inputs import whole_number
from kinetree.store.arrays import StoredArray

__all__ = ["ROBOT", "ResultFolder", "is_count"]

ROBOT = "robot.json"
_LOCK = "writing.lock"
_PLAIN = " ,@()[]+="
"""Characters of names that folders have, too, in addition to letters, digits and ".-_~"."""


class ResultFolder:
    """Where results of one kind are kept."""

    kind: ClassVar[str]
    """The kind of its contents, in a word, which is also the name of the file that describes it."""
    function: ClassVar[str]
    """The function that writes it."""
    format: ClassVar[int]
    needed: ClassVar[tuple[str, ...]]
    """The settings that every one has."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def about(self) -> dict[str, Any]:
        """Its description, checked. Raises `TrajectoryFileError`."""
        place = self._about
        try:
            about = read_json(place)
            if not isinstance(about, dict):
                raise ValueError(f"it holds {type(about).__name__}, not a description of a {self.kind}")
            if about.get("format") != self.format:
                raise ValueError(f"its format is {about.get('format')!r:.60}, which this kinetree does not read")
            settings = about.get("settings")
            if not isinstance(settings, dict) or not all(isinstance(x, str) for x in settings.values()):
                raise ValueError("its settings are not texts by name")
            if missing := [name for name in self.needed if name not in settings]:
                raise ValueError(f"its settings lack {', '.join(missing)}")
            self.check(about)
        except FileNotFoundError:
            raise TrajectoryFileError(f"{self.path} holds no {self.kind}: there is no {place.name} in it") from None
        except (OSError, ValueError) as error:
            raise TrajectoryFileError(f"{place} cannot be read: {reason(error)}") from None
        return about

    def check(self, about: Mapping[str, Any]) -> None:
        """Check the entries that only this kind has in its description. Raises `ValueError`."""

    @contextmanager
    def only_writer(self) -> Iterator[None]:
        """Make the folder if it is not there, and let no other process write into it. Raises `SaveError`."""
        self._make()
        path = str(self.path / _LOCK)
        remove_abandoned(path)
        try:
            lock = create_locked(path, 0o666)
        except FileExistsError:
            raise SaveError(f"{self.path}: another process is writing a {self.kind} into this folder") from None
        except OSError as error:
            raise SaveError(f"{self.path}: no file can be made in this folder: {reason(error)}") from None
        try:
            yield
        finally:
            os.close(lock)
            with suppress(OSError):
                os.unlink(path)

    def begin(self, about: Mapping[str, Any], robot: str) -> dict[str, Any]:
        """Write the description and the text of the robot, or check that they are the same; return the description."""
        if not self._about.exists():
            others = [x for x in sorted(os.listdir(self.path)) if x not in (_LOCK, ROBOT) and not x.startswith(".")]
            if others:
                raise OptionError(
                    f"{self.function}: the folder {self.path} holds other files ({others[0]!r}, …) and no {self.kind}: "
                    "take a new one"
                )
            self.write_json(self._about.name, about)
        there, here = self.about(), about["settings"]
        for name in dict.fromkeys((*here, *there["settings"])):
            if here.get(name) != (known := there["settings"].get(name)):
                raise OptionError(
                    f"{self.function}: the folder {self.path} holds another {self.kind}: {name} is {known or 'none'} "
                    f"there, and {here.get(name, 'none')} here; take a new folder, or continue with the arguments of "
                    "before"
                )
        if not (self.path / ROBOT).exists():
            write_file(self.path / ROBOT, lambda file: file.write(robot.encode()), within=self.path)
        return there

    def write_json(self, name: str, content: Any) -> None:
        """Write a file in the folder. Raises `SaveError`."""
        text = json.dumps(content, indent=1)
        write_file(self.path / name, lambda file: file.write(text.encode()), within=self.path)

    def array(self, group: str, name: str) -> StoredArray:
        """One of the arrays."""
        return StoredArray(self.place(group, name), self.path)

    def place(self, group: str, name: str) -> Path:
        """The folder of an array."""
        return self.path / group / _folder_name(name)

    def names(self, group: str) -> list[str]:
        """The names of the arrays that there are."""
        return sorted(unquote(about.parent.name) for about in (self.path / group).glob("*/zarr.json"))

    @property
    def _about(self) -> Path:
        return self.path / f"{self.kind}.json"

    def _make(self) -> None:
        if self.path.is_dir():
            return
        if os.path.lexists(self.path):
            raise SaveError(f"{self.path}: a {self.kind} is written into a folder, and this is a file")
        try:
            self.path.mkdir()
        except OSError as error:
            if not self.path.parent.is_dir():
                raise SaveError(f"{self.path}: cannot be made; make the folder {self.path.parent} first") from None
            raise SaveError(f"{self.path}: cannot be made: {reason(error)}") from None


def is_count(n: Any, least: int = 1) -> bool:
    """Whether a number in a description is a whole one, not too large to be exact in every reader of JSON."""
    number = whole_number(n)
    return number is not None and least <= number < 2**53


def _folder_name(name: str) -> str:
    """A name as that of a folder that is neither hidden nor outside; Windows drops dots and spaces at its end."""
    return re.sub(r"^\.|[. ]$", lambda last: f"%{ord(last[0]):02X}", quote(name, safe=_PLAIN))
