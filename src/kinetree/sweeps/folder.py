"""The folder of a study, and its chunks: each is on disk whole, or is computed again.

study.json      the study; robot.json (store/folder.py)
inputs/         varied values, in Zarr's format, one array per quantity, one value per sample
results/        kept quantities, likewise; "status" is written last, so a chunk that has it is whole
failures/       of chunks with samples that failed: which, when and why
work.pickle     the work of a cluster, until all is done
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from kinetree.errors import TrajectoryFileError
from kinetree.files import read_json, reason
from kinetree.sim.kept_robot import KeptRobot
from kinetree.store.folder import ROBOT, ResultFolder, is_count
from kinetree.sweeps.motion_options import are_kept_options
from kinetree.sweeps.work import Failure, Work

__all__ = ["StudyFolder"]

_LONGEST_FAILURES = 2**26
"""Bytes of the failures of a chunk; one has 100 or so."""


class StudyFolder(ResultFolder):
    """Where a study is kept."""

    kind: ClassVar[str] = "study"
    function: ClassVar[str] = "kt.sweep"
    format: ClassVar[int] = 1
    needed: ClassVar[tuple[str, ...]] = ("robot", "varied")

    def check(self, about: Mapping[str, Any]) -> None:
        for name in ("samples", "chunk"):
            if not is_count(about.get(name)):
                raise ValueError(f"{name} must be a whole number from 1 on, not {about.get(name)!r:.60}")
        if not isinstance(grid := about.get("grid"), dict) or not all(is_count(n) for n in grid.values()):
            raise ValueError(f"grid must be numbers of values by name, not {grid!r:.60}")
        motion = about.get("motion")  # studies of older versions have none
        if motion is not None and not are_kept_options(motion):
            raise ValueError("its motion is not the options of simulate, with a list of those that are missing")

    def robot(self) -> KeptRobot | None:
        """The robot; nothing of it is read before it is asked for."""
        return KeptRobot.of_file(self.path / ROBOT)

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
            failures = [[one.sample, one.time, one.name, one.cause] for one in block.failures]
            self.write_json(f"failures/{number}.json", failures)
        status.write(number, block.arrays["status"])
        return len(block.failures)

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
