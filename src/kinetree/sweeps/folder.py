"""The folder of a study, and its chunks: each is on disk whole, or is computed again.

study.json      what the study is, as texts; a continuation must be of the same one
robot.json      the robot (sim/kept_robot.py)
inputs/         varied values, in Zarr's format, one array per quantity, one value per sample
results/        what was kept, likewise; "status" is written last, so a chunk that has it is whole
failures/       of chunks with samples that failed: which, when and why
work.pickle     what workers of a cluster compute, until all is done
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from kinetree.errors import OptionError, SaveError, TrajectoryFileError
from kinetree.files import read_json, reason, write_file
from kinetree.inputs import whole_number
from kinetree.sim.kept_robot import KeptRobot
from kinetree.sim.only_writer import LOCK
from kinetree.sweeps.motion_options import are_kept_options
from kinetree.sweeps.work import Failure, Work
from kinetree.sweeps.zarr_arrays import StoredArray

__all__ = ["FORMAT", "StudyFolder"]

FORMAT = 1
_MOST = 2**53
"""Samples of a study: whole numbers below are exact in every reader of JSON."""
_LONGEST_FAILURES = 2**26
"""Bytes of the failures of a chunk; one has 100 or so."""
_ABOUT, _ROBOT = "study.json", "robot.json"
_PLAIN = " ,:@()[]+="
"""Characters of names that are those of folders, too, besides letters, digits and ".-_~"."""


class StudyFolder:
    """Where a study is kept."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def about(self) -> dict[str, Any]:
        """The contents of study.json."""
        place = self.path / _ABOUT
        try:
            return _checked(read_json(place))
        except FileNotFoundError:
            raise TrajectoryFileError(f"{self.path} holds no study: there is no {_ABOUT} in it") from None
        except (OSError, ValueError) as error:
            raise TrajectoryFileError(f"{place} cannot be read: {reason(error)}") from None

    def make(self) -> None:
        """Make the folder if it is not there."""
        if self.path.is_dir():
            return
        if os.path.lexists(self.path):
            raise SaveError(f"{self.path}: a study is written into a folder, and this is a file")
        try:
            self.path.mkdir()
        except OSError as error:
            if not self.path.parent.is_dir():
                raise SaveError(f"{self.path}: cannot be made; make the folder {self.path.parent} first") from None
            raise SaveError(f"{self.path}: cannot be made: {reason(error)}") from None

    def begin(self, about: Mapping[str, Any], robot: KeptRobot) -> dict[str, Any]:
        """Write what the study is, or see that the folder is of the same one; what is written there then."""
        if not (self.path / _ABOUT).exists():
            others = [x for x in sorted(os.listdir(self.path)) if x not in (LOCK, _ROBOT) and not x.startswith(".")]
            if others:
                raise OptionError(
                    f"kt.sweep: the folder {self.path} holds other files ({others[0]!r}, …) and no study: take a new "
                    "one"
                )
            write_file(self.path / _ROBOT, lambda file: file.write(robot.text.encode()), within=self.path)
            self._write_json(_ABOUT, about)
        there, here = self.about(), about["settings"]
        for name in dict.fromkeys((*here, *there["settings"])):
            if here.get(name) != (known := there["settings"].get(name)):
                raise OptionError(
                    f"kt.sweep: the folder {self.path} holds another study: {name} is {known or 'none'} there, and "
                    f"{here.get(name, 'none')} here; take a new folder, or go on with the arguments of before"
                )
        return there

    def robot(self) -> KeptRobot | None:
        """The robot; nothing of it is read before it is asked for."""
        return KeptRobot.of_file(self.path / _ROBOT)

    def array(self, group: str, name: str) -> StoredArray:
        """One of the arrays."""
        return StoredArray(self.place(group, name), self.path)

    def place(self, group: str, name: str) -> Path:
        """The folder of an array."""
        return self.path / group / _folder_name(name)

    def names(self, group: str) -> list[str]:
        """The names of the arrays that there are."""
        return sorted(unquote(about.parent.name) for about in (self.path / group).glob("*/zarr.json"))

    def whole_chunks(self) -> set[int]:
        """The numbers of the chunks that are whole."""
        place = self.place("results", "status") / "c"
        return {int(name) for name in os.listdir(place) if name.isdecimal()} if place.is_dir() else set()

    def write_chunk(self, work: Work, number: int) -> int:
        """Compute a chunk and write it, unless it is there; how many of its samples failed."""
        status = self.array("results", "status")
        begin = number * status.chunk
        if status.has(number):
            return len(self._failures(number))
        end = min(begin + status.chunk, status.shape[0])
        block = work.block(begin, end)
        for name, x in work.plan.values(begin, end).items():
            if x.size:
                self.array("inputs", name).write(number, x)
        for name, x in block.arrays.items():
            if name != "status":
                self.array("results", name).write(number, x)
        if block.failures:
            told = [[one.sample, one.time, one.name, one.cause] for one in block.failures]
            self._write_json(f"failures/{number}.json", told)
        status.write(number, block.arrays["status"])
        return len(block.failures)

    def _write_json(self, name: str, content: Any) -> None:
        text = json.dumps(content, indent=1)
        write_file(self.path / name, lambda file: file.write(text.encode()), within=self.path)

    def failures(self) -> Iterator[Failure]:
        """The samples that failed, of whole chunks, in order."""
        for number in sorted(self.whole_chunks()):
            yield from self._failures(number)

    def _failures(self, number: int) -> list[Failure]:
        place = self.path / "failures" / f"{number}.json"
        try:
            read = read_json(place, _LONGEST_FAILURES)
            return [
                Failure(int(sample), None if time is None else float(time), str(name), str(cause))
                for sample, time, name, cause in read
            ]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError, OverflowError) as error:
            raise TrajectoryFileError(f"{place} cannot be read: {reason(error)}") from None


def _checked(about: Any) -> dict[str, Any]:
    """The contents of study.json, if they describe a study. Raises `ValueError`."""
    if not isinstance(about, dict):
        raise ValueError(f"it holds {type(about).__name__}, not a description of a study")
    if about.get("format") != FORMAT:
        raise ValueError(f"its format is {about.get('format')!r:.60}, which this kinetree does not read")
    for name in ("samples", "chunk"):
        if not _is_count(about.get(name)):
            raise ValueError(f"{name} must be a whole number from 1 on, not {about.get(name)!r:.60}")
    if not isinstance(grid := about.get("grid"), dict) or not all(_is_count(n) for n in grid.values()):
        raise ValueError(f"grid must be numbers of values by name, not {grid!r:.60}")
    settings = about.get("settings")
    if not isinstance(settings, dict) or not all(isinstance(x, str) for x in settings.values()):
        raise ValueError("its settings are not texts by name")
    if missing := [name for name in ("robot", "varied") if name not in settings]:
        raise ValueError(f"its settings lack {', '.join(missing)}")
    motion = about.get("motion")  # studies of older versions have none
    if motion is not None and not are_kept_options(motion):
        raise ValueError("its motion is not the options of simulate, with a list of those that are missing")
    return about


def _is_count(x: Any) -> bool:
    n = whole_number(x)
    return n is not None and 0 < n < _MOST


def _folder_name(name: str) -> str:
    """A name as that of a folder, of which there are none that are hidden or outside."""
    found = quote(name, safe=_PLAIN)
    return f"%2E{found[1:]}" if found.startswith(".") else found
