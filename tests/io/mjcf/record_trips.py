"""Records of MJCF files that are written and read again, and what MuJoCo compiles of both files.

As a script, `python -m tests.io.mjcf.record_trips FOLDER …`, it tries every MJCF file in folders; what is written goes
to a file beside each for a moment, so the folders must be copies.
"""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

import mujoco

import kinetree as kt
from kinetree.io.losses import Losses
from kinetree.io.texts import written
from tests.io.mjcf.same_models import unlike

__all__ = ["Trip", "different", "trip"]

ROUNDING = 1e-14
"""Quaternions are normalised, and turned into rotations and back."""
_OF_JOINTS = ("actuated", "armature", "drive", "limits")


class Trip(NamedTuple):
    """What a file became."""

    losses: Losses
    records: list[str]
    """Where the records of the two robots differ."""
    models: list[str]
    """Where the two models of MuJoCo differ."""


def trip(path: Path) -> Trip:
    """A file written and read again."""
    robot = kt.load(path)
    text, losses = written(robot, "mjcf")
    other = path.with_name(f"written_{path.name}")
    other.write_text(text, encoding="utf-8")
    try:
        again = kt.load(other)
        found = list(different(robot.extras, again.extras, "extras"))
        for joint in robot.joints.values():
            for name in _OF_JOINTS:
                mine, theirs = getattr(joint, name), getattr(again.joints[joint.name], name)
                found += different(mine, theirs, f"joint {joint.name}: {name}")
        models = [mujoco.MjModel.from_xml_path(str(one)) for one in (path, other)]
        return Trip(losses, found, unlike(*models))
    finally:
        other.unlink()


def different(a: Any, b: Any, where: str) -> Iterator[str]:
    """Where two records differ by more than rounding."""
    if isinstance(a, float) and isinstance(b, float):
        if a != b and not math.isclose(a, b, rel_tol=ROUNDING, abs_tol=ROUNDING):
            yield f"{where}: {a} and {b}"
    elif is_dataclass(a) and type(a) is type(b):
        for entry in fields(a):
            if entry.compare:
                yield from different(getattr(a, entry.name), getattr(b, entry.name), f"{where}.{entry.name}")
    elif isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        for k, (one, other) in enumerate(zip(a, b, strict=True)):
            yield from different(one, other, f"{where}[{k}]")
    elif a != b:
        yield f"{where}: {a!r:.200} and {b!r:.200}"


def main() -> None:
    """Try all files of some folders."""
    warnings.simplefilter("ignore")
    seen: Counter[str] = Counter()
    for folder in sys.argv[1:]:
        for path in sorted(Path(folder).rglob("*.xml")):
            begin = time.perf_counter()
            what = _differences(path, seen)
            if what:
                print(f"{path} ({time.perf_counter() - begin:.1f} s)", *what, sep="\n  ", flush=True)
    print(dict(seen))


def _differences(path: Path, seen: Counter[str]) -> list[str]:
    try:
        kt.load(path)
    except kt.errors.ModelError:
        seen["files that are not loaded"] += 1
        return []
    try:
        mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        seen["files that MuJoCo refuses"] += 1
        return []
    seen["files"] += 1
    try:
        found = trip(path)
    except (kt.errors.ModelError, ValueError) as error:
        seen["files that fail"] += 1
        return [str(error)]
    seen["equal records"] += not found.records
    seen["equal models"] += not found.models
    seen["without losses"] += not found.losses.lost
    return [*found.losses.lost, *found.losses.impossible, *found.records, *found.models]


if __name__ == "__main__":
    main()
